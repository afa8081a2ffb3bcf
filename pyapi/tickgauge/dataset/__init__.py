"""The tables that were read, and the views on them: calls, boot stages."""
