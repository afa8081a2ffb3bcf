"""Run logs of an accelerator: the public functions of `tickgauge.captures.run_logs`."""

from .captures.run_logs import *  # noqa: F403
from .captures.run_logs import __all__ as __all__
