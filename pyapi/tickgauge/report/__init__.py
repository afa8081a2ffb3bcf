"""One-file HTML reports (the ``report`` extra)."""
