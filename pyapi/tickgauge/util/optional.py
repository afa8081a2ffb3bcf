"""Optional libraries, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import MissingExtra

__all__ = ["need"]


def need(module: str, extra: str) -> Any:
    """Import an optional library.

    Parameters
    ----------
    module : str
        Name to import, for example ``"matplotlib.pyplot"``.
    extra : str
        The extra of this package that brings it.

    Returns
    -------
    module

    Raises
    ------
    MissingExtra
        It is not installed; the message is the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != top:
            raise  # installed, but something it needs itself is not
        raise MissingExtra(
            f"{top} is not installed: pip install 'tickgauge[{extra}]'", path=None
        ) from error
