"""The ``tickgauge`` command: one verb a question.

Exit status, the first that applies: 2 usage, unreadable or unrecognised input; 1 the answer is
bad; 3 nothing to tell it from; 0 done; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterable, Sequence

__all__ = ["main"]

# Every verb and its question: one line for a new one, in the order of `tickgauge --help`.
# The module of that name in this folder has add(subparsers) and run(args) -> exit status.
VERBS = {
    "show": "what is in the sources, and why they were read so",
    "boot": "where the time of a boot goes, firmware to user space; two versions of it",
    "calls": "OP-TEE calls and their hops, over many calls",
    "compare": "what changed between two sides, and whether to believe it",
    "gate": "the same for CI: pass, regressed, or not enough data",
    "plan": "in which order to take boots, and how many show a change",
    "bisect": "one commit of a git bisection: good, bad, or more boots",
    "trend": "steps over releases",
    "snapshot": "a baseline that lives in git",
    "axi": "AXI transactions of a capture, what blocks them; two captures compared",
    "table": "release tables of TF-A's performance pages",
    "audit": "are the printed deltas of published tables right?",
    "runs": "run logs of an accelerator, one or two side by side",
    "report": "a comparison as one HTML file",
    "batch": "statistics of many logs, on all cores or a cluster",
    "watch": "a console while it is being written",
    "completion": "completion for bash, zsh and fish; the man page",
    "versions": "what runs here: for bug reports",
}


def _parser(
    chosen: str | None, every: bool = False
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The parser, and the chosen verb's: only its module is imported, the others are names."""
    parser = argparse.ArgumentParser(
        prog="tickgauge",
        description="Latency of firmware and boards, read off their consoles.",
        epilog="tickgauge VERB --help tells more. Exit status: 0 done, 1 the answer is bad, "
        "2 usage or input, 3 nothing to tell it from, 130 interrupted.",
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for verb, answers in VERBS.items():
        if verb == chosen or every:
            importlib.import_module(f".{verb}", __name__).add(subparsers)
        else:
            subparsers.add_parser(verb, help=answers, add_help=False)
    return parser, subparsers.choices.get(chosen or "", parser)


def whole_parser() -> argparse.ArgumentParser:
    """The parser with the options of every verb, for completion scripts and the man page."""
    parser, _ = _parser(None, every=True)
    return parser


def _parsed(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """The arguments; a misspelled verb or option is told with its nearest neighbour."""
    chosen = next((a for a in arguments if not a.startswith("-")), None)
    parser, verb = _parser(chosen)
    if chosen is not None and chosen not in VERBS:
        parser.error(f"no verb {chosen!r}{_close(chosen, VERBS) or ': ' + ', '.join(VERBS)}")
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        close = _close(unknown[0].partition("=")[0], verb._option_string_actions)
        verb.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
    return parser, args


def _close(word: str, words: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(word, words, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; ``sys.argv[1:]`` by default.

    Returns
    -------
    int
        The exit status.
    """
    # No verb multiplies matrices; threads that wait for one cost more than importing NumPy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "--bisect" not in arguments and arguments[:1] != ["bisect"]:
        return _run(arguments)
    try:
        return _BISECT.get(_run(arguments), _BROKEN)
    except SystemExit as error:  # usage: argparse gives 2, which a bisection takes for "bad"
        raise SystemExit(_BROKEN if error.code else 0) from None


#: Exit statuses as `git bisect run` reads them: 125 skips a commit, 128 and above end the run.
_BROKEN = 128
_BISECT = {0: 0, 1: 1, 3: 125, 130: 130}


def _run(arguments: list[str]) -> int:
    parser, args = _parsed(arguments)
    if args.version:
        from .. import __version__

        print(f"tickgauge {__version__}")
        return 0
    if args.verb is None:
        parser.print_help(sys.stderr)
        return 2
    from . import common

    return common.guarded(args)
