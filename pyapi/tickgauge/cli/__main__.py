"""``python -m tickgauge.cli``."""

from . import main

raise SystemExit(main())
