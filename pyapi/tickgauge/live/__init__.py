"""A console while it is written."""
