"""Words and numbers for people, safe for a terminal: control bytes are escaped, long words cut."""

from __future__ import annotations

import math
import unicodedata

__all__ = ["WORD", "clean", "clip", "counted", "number", "width_of"]

#: Characters of a word in text and HTML tables; longer ones are cut in the middle.
WORD = 60


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def counted(n: int, what: str) -> str:
    """ "1 boot", "2 boots": a number with its word."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def clean(text: str) -> str:
    """Make text safe for a terminal: bytes that are not printable become escapes.

    Control characters, and the format characters that turn the direction of writing, are shown
    as ``\\x1b`` or ``\\u202e``.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        `text` itself if nothing had to be done.

    Examples
    --------
    >>> clean("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or unicodedata.category(c) == "Zs" else _visible(c) for c in text
    )


def width_of(text: str) -> int:
    """Columns of a terminal that the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def clip(text: str, width: int = WORD) -> str:
    """Cut over-long text in the middle: ``begin...end``.

    Parameters
    ----------
    text : str
    width : int
        Characters that may stay, at least 8.
    """
    if len(text) <= width:
        return text
    head = (width - 3) * 2 // 3
    return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"


def number(value: float, digits: int = 6) -> str:
    """A float for a person: `digits` significant digits, no exponent for everyday sizes.

    Parameters
    ----------
    value : float
    digits : int

    Examples
    --------
    >>> number(1234567.891), number(0.5), number(2.0)
    ('1234568', '0.5', '2')
    """
    if math.isnan(value):
        return "-"
    size = abs(value)
    if 10**digits <= size < 10**15:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"
