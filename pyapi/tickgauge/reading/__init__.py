"""From a source to tables: detection, options, readers."""
