"""Ctrl-C that is never forgotten: some imports print it or make another error of it."""

import signal
from types import FrameType

__all__ = ["install", "interrupted", "uninstall"]

_seen = False


def _note(number: int, frame: FrameType | None) -> None:
    global _seen
    _seen = True
    raise KeyboardInterrupt


def install() -> None:
    """Note each Ctrl-C before it is raised; one that is ignored stays so.

    The handler before is Python's, or that of the command's first lines.
    """
    if callable(signal.getsignal(signal.SIGINT)):
        signal.signal(signal.SIGINT, _note)


def uninstall() -> None:
    """Let Ctrl-C end the process at once, as nothing is left to do."""
    if signal.getsignal(signal.SIGINT) is _note:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(error: BaseException | None) -> bool:
    """Whether a Ctrl-C came, or is behind an error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return _seen or error is not None
