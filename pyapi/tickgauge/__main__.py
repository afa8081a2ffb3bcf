"""``python -m tickgauge``."""

from .cli import main

raise SystemExit(main())
