"""The ``tickgauge`` command and ``python -m tickgauge``: a guard around every import.

Ctrl-C and a lack of memory have their exit statuses from here on, whatever is being imported; no
failure of Python itself ends with status 0 or 1, which are answers.
"""

import os
import sys

INTERRUPTED, FAILED = 130, 2


def main() -> int:
    """Run the command; the exit status."""
    try:
        from .util import interrupts

        interrupts.install()
        sys.unraisablehook = _dropped
        status = _run()
        interrupts.uninstall()
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _run() -> int:
    try:
        if sys.argv[1:] == ["--version"]:
            from . import __version__

            print("tickgauge", __version__)
            sys.stdout.flush()
            return 0
        from .cli import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        return _failed("out of memory")
    except Exception as error:
        from .util.interrupts import interrupted

        return INTERRUPTED if interrupted(error) else _failed(f"{type(error).__name__}: {error}")


def _dropped(unraisable: "sys.UnraisableHookArgs") -> None:
    """End where Python would print and forget a Ctrl-C: one that comes inside its own callbacks."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(unraisable)


def _failed(message: str) -> int:
    status = 128 if "--bisect" in sys.argv or sys.argv[1:2] == ["bisect"] else FAILED
    try:
        sys.stderr.write(f"tickgauge: {message}\n")
    except Exception:  # nobody reads it: the status tells
        return status
    return status


if __name__ == "__main__":
    sys.exit(main())
