"""One-file HTML reports (the ``report`` extra)."""

from .compare import report

__all__ = ["report"]
