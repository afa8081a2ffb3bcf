"""Modules of the standard library that few readings need, imported when they are first used.

Together they cost a tenth of the start of a command.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["futures", "hashlib", "html", "late", "tomllib"]


class _Late:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def late(name: str) -> Any:
    """A stand-in for a module, which several threads may use.

    Parameters
    ----------
    name : str
        The whole name of the module.
    """
    return _Late(name)


if TYPE_CHECKING:
    import hashlib
    import html
    import tomllib
    from concurrent import futures
else:
    futures = late("concurrent.futures")
    hashlib = late("hashlib")
    html = late("html")
    tomllib = late("tomllib")
