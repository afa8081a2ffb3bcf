"""What holds for every test."""

import signal


def pytest_configure() -> None:
    """Take Ctrl-C as a shell's foreground job does.

    A run in the background of a plain shell ignores SIGINT, and so would each child: those that
    wait for it would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
