"""TOML files of users, within the bounds that the parser of the standard library stands."""

from __future__ import annotations

import re
from typing import Any

from ..errors import InputError, LimitError
from .late import tomllib

__all__ = ["LARGEST", "parse_toml"]

#: Bytes of a file. The parser reads about 1 MB in a second.
LARGEST = 4 << 20

#: Dots of a key, or of a part of a value: the parser's time grows with the square of a key's parts.
DOTS = 64


def parse_toml(data: bytes, name: str) -> dict[str, Any]:
    """The content of a TOML file.

    Parameters
    ----------
    data : bytes
    name : str
        How messages call the file.

    Raises
    ------
    InputError
        Not TOML.
    LimitError
        The file is larger, or a key in it has more parts, than the parser stands.
    """
    if len(data) > LARGEST:
        raise LimitError(f"a TOML file of more than {LARGEST} bytes", path=name)
    try:
        text = data.decode("utf-8")
        for part in re.finditer(r"[^\n=,{}]+", text):
            if part[0].count(".") > DOTS and not part[0].lstrip().startswith("#"):
                line = text.count("\n", 0, part.start()) + 1
                raise LimitError(f"more than {DOTS} dots in a key", path=name, line=line)
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, no end of digits
        raise InputError(f"not a TOML file: {error}", path=name) from error
