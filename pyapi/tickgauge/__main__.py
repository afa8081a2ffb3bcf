"""The ``tickgauge`` command and ``python -m tickgauge``: a guard around every import.

Ctrl-C and a lack of memory have their exit statuses from here on, whatever is being imported; no
failure of Python itself ends with status 0 or 1, which are answers.
"""

import sys

INTERRUPTED, FAILED = 130, 2


def main() -> int:
    """Run the command; the exit status."""
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
        return _failed(f"{type(error).__name__}: {error}")


def _failed(message: str) -> int:
    status = 128 if "--bisect" in sys.argv or sys.argv[1:2] == ["bisect"] else FAILED
    try:
        sys.stderr.write(f"tickgauge: {message}\n")
    except Exception:  # nobody reads it: the status tells
        return status
    return status


if __name__ == "__main__":
    sys.exit(main())
