"""Facts that formats state of themselves: the core's own, and those of a user's rules."""

from __future__ import annotations

from functools import cache

from .._core import formats

__all__ = ["observation_of"]

_formats = cache(formats)


def observation_of(name: str | None) -> str:
    """The independent observation of a format: ``"boot"`` or ``"run"``.

    Readings without a format are of boots; of a format that is not built in, of runs: its keys say
    it themselves where it is otherwise.
    """
    if not name:
        return "boot"
    about = _formats().get(name.split(".")[0])
    return str(about["observation"]) if about else "run"
