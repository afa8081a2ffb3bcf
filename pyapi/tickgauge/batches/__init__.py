"""Many logs: read by many workers, merged into the same bytes whoever read them."""
