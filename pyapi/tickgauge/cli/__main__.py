"""``python -m tickgauge.cli``."""

from ..cli import main

raise SystemExit(main())
