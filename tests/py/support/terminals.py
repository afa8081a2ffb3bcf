"""A terminal for a test, where the system has any to give."""

from __future__ import annotations

import pytest


def open_terminal() -> tuple[int, int]:
    """Both ends of a new pseudo terminal; the test is skipped, with the reason, without one."""
    pty = pytest.importorskip("pty", reason="no pseudo terminals on this system")
    try:
        parent, child = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be opened here (is /dev/pts mounted?): {error}")
    return parent, child
