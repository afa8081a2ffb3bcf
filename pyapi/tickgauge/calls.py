"""OP-TEE calls and their hops: the public functions of `tickgauge.dataset.calls`."""

from .dataset.calls import *  # noqa: F403
from .dataset.calls import __all__ as __all__
