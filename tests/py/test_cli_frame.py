"""The frame of the command: parser, answers, files, exit status, errors."""

from __future__ import annotations

import argparse
import json
import os
import stat
import subprocess
import sys

import pytest

from tickgauge import errors
from tickgauge.cli import VERBS, common, main
from tickgauge.frame.answer import Answer
from tickgauge.frame.grid import Grid

COMMAND = [sys.executable, "-m", "tickgauge"]


def run(*args, **more):
    return subprocess.run([*COMMAND, *args], capture_output=True, text=True, timeout=60, **more)


def answer():
    return Answer(
        "show",
        Grid(["word", "offset"], [["a\x1bb", 2**64 - 1], [None, 0]], wide=["offset"]),
        notes=["said\x07 so"],
        unit="boot",
        sources=[{"digest": "d", "format": "optee", "boots": 1}],
    )


def test_worst_status_follows_the_precedence():
    assert common.worst() == 0
    assert common.worst(0, 3) == 3
    assert common.worst(3, 1, 0) == 1
    assert common.worst(1, 2, 3) == 2


def test_json_is_one_document_with_the_envelope():
    document = json.loads(answer().to_json())
    assert list(document) == [
        "schema",
        "version",
        "command",
        "unit",
        "margin",
        "sources",
        "rows",
        "problems",
        "notes",
    ]
    assert document["schema"] == "tickgauge"
    assert document["rows"][0] == {"word": "a\x1bb", "offset": "18446744073709551615"}
    assert "\x1b" not in answer().to_json()


@pytest.mark.parametrize("form", ["text", "csv", "md", "rst"])
def test_control_bytes_never_leave_raw(form):
    text = answer().render(form)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert r"a\x1bb" in text.replace("\\\\", "\\")
    assert text.endswith("\n")


def test_a_file_is_written_whole(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o640)
    common.emit(argparse.Namespace(format="json", output=str(target)), answer())
    assert json.loads(target.read_text())["command"] == "show"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "out.txt"
    target.write_text("old")
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(OSError):
        common.emit(argparse.Namespace(format="text", output=str(target)), answer())
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (errors.InputError("torn", path="a.log", line=3), 2, "tickgauge: a.log, line 3: torn\n"),
        (errors.NotEnoughData("one boot"), 3, "tickgauge: one boot\n"),
        (errors.NotComparableError("clock"), 3, "tickgauge: clock\n"),
        (FileNotFoundError(2, "No such file", "x\x1b.log"), 2, "tickgauge: x\\x1b.log: No such"),
        (MemoryError(), 2, "tickgauge: out of memory\n"),
        (ZeroDivisionError("oops"), 2, "ZeroDivisionError: oops (--debug shows where)"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_are_one_line_and_a_status(error, code, says, capsys):
    def fail(args):
        raise error

    assert common.guarded(argparse.Namespace(run=fail, debug=False)) == code
    written = capsys.readouterr().err
    assert says in written
    assert "Traceback" not in written
    assert written.count("\n") <= 1


def test_debug_shows_where(capsys):
    def fail(args):
        raise errors.InputError("torn")

    assert common.guarded(argparse.Namespace(run=fail, debug=True)) == 2
    assert "Traceback" in capsys.readouterr().err


def test_usage_is_status_2():
    for args in ([], ["nothing"], ["versions", "--nothing"]):
        done = run(*args)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("usage: tickgauge")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb, capsys):
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: tickgauge {verb}")
    assert "--debug" in text


#: Verbs that take no source, or more than a source that must be there.
OTHER = ("versions", "completion", "batch", "watch", "bisect")


@pytest.mark.parametrize("verb", [v for v in VERBS if v not in OTHER])
def test_a_missing_source_is_one_line_and_status_2(verb, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = {"compare": 2, "gate": 2, "trend": 2, "table": 2, "report": 2}.get(verb, 1)
    extra = {"report": ["-o", "r.html"], "snapshot": ["-o", "s.json"]}.get(verb, [])
    status = main([verb, *(f"none{i}.log" for i in range(count)), *extra])
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert "none0.log" in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_and_version():
    done = run("--help")
    assert done.returncode == 0
    assert "versions" in done.stdout
    assert run("--version").stdout.startswith("tickgauge ")
    assert "numpy" in run("versions").stdout


def test_a_misspelled_verb_or_option_is_told_with_what_it_is_close_to(capsys):
    for args, said in (
        (["shwo", "x"], "no verb 'shwo' (did you mean show?)"),
        (["show", "--ruels", "x", "y"], "--ruels (did you mean --rules?)"),
        (["compare", "--nosie=f", "x", "y"], "--nosie=f (did you mean --noise?)"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(args)
        assert stop.value.code == 2
        err = capsys.readouterr().err
        assert said in err
        assert err.startswith("usage: tickgauge " + (args[0] if args[0] in VERBS else ""))
    assert "compare" in run().stderr  # without a verb all of them are named


def test_a_closed_pipe_is_silent():
    shell = f"{sys.executable} -m tickgauge versions | true"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shell}"], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""


def test_main_is_callable(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tickgauge ")


def test_an_interrupt_while_a_class_is_made_is_one() -> None:
    """Up to Python 3.11 it comes out as a RuntimeError whose cause it is."""
    from argparse import Namespace

    from tickgauge.cli import common

    class Interrupted:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def run(args: Namespace) -> int:
        type("Made", (), {"field": Interrupted()})
        return 0

    assert common.guarded(Namespace(run=run)) == 130
