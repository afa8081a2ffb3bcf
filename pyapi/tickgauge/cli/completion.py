"""``tickgauge completion``: completion scripts for shells, and the man page."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from ..util.atomic_write import write_whole
from ..util.optional import need
from . import common


def _data() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _config() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


#: Kind of script and the file in which a shell, or man, looks for it.
PLACES: dict[str, Callable[[], Path]] = {
    "bash": lambda: _data() / "bash-completion" / "completions" / "tickgauge",
    "zsh": lambda: _data() / "zsh" / "site-functions" / "_tickgauge",
    "fish": lambda: _config() / "fish" / "completions" / "tickgauge.fish",
    "man": lambda: _data() / "man" / "man1" / "tickgauge.1",
}


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "completion",
        run,
        "Completion for bash, zsh and fish, and the man page. Printed, or put in place for the "
        "user with --install (the extra 'completion').",
        output=False,
    )
    parser.add_argument("kind", choices=tuple(PLACES), help="a shell, or man for the man page")
    parser.add_argument(
        "--install", action="store_true", help="write the file where the shell looks for it"
    )


def run(args: argparse.Namespace) -> int:
    """Print or install one script."""
    from . import whole_parser

    parser = whole_parser()
    text = _man(parser) if args.kind == "man" else _script(parser, args.kind)
    if not args.install:
        common.write_text(text)
        return common.DONE
    path = PLACES[args.kind]()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
    common.say(f"wrote {path}")
    if args.kind == "zsh":
        common.say(f"zsh finds it where {path.parent} stands in fpath before compinit")
    return common.DONE


def _script(parser: argparse.ArgumentParser, shell: str) -> str:
    shtab = need("shtab", "completion")
    for verb in _verbs(parser):
        for action in verb._get_positional_actions():
            if action.choices is None:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    script: str = shtab.complete(parser, shell)
    return script


def _man(parser: argparse.ArgumentParser) -> str:
    page = need("argparse_manpage.manpage", "completion").Manpage(parser)
    return f"{page}\n"


def _verbs(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return list(action.choices.values())
    return []
