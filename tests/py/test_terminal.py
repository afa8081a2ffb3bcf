"""Verbs on terminals of 80 and 140 columns, in a pipe, and without colour; help of every verb."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

import tickgauge as tg
from support.terminals import open_terminal
from tickgauge.cli import VERBS, main
from tickgauge.cli.common import EXAMPLES
from tickgauge.comparison.labels import two_lengths
from tickgauge.frame.grid import Grid
from tickgauge.frame.screen import fitted
from tickgauge.limits import Limits

DATA = Path(__file__).parent.parent / "data"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STATS = [DATA / "stats" / f"tfa-{v}.json.gz" for v in ("2.12", "2.14")]
CAPTURES = [DATA / "zynq" / f"{name}.csv.xz" for name in "AB"]
PAGE = DATA / "tfa" / "psci-performance-n1sdp.rst"

COMMANDS: dict[str, list[object]] = {
    "show": ["show", DATA / "tfa" / "console" / "example_console.log"],
    "show why": ["show", "--why", DATA / "tfa" / "console" / "example_console.log"],
    "calls": ["calls", DATA / "optee" / "ree.log.gz"],
    "calls each": ["calls", "--each", DATA / "optee" / "ree.log.gz"],
    "compare": ["compare", *STATS],
    "gate": ["gate", *STATS],
    "trend": ["trend", DATA / "tfa" / "published.csv.gz", "--board", "juno"],
    "audit": ["audit", DATA / "tfa" / "published.csv.gz"],
    "axi": ["axi", CAPTURES[0]],
    "axi of two": ["axi", *CAPTURES],
    "table": ["table", f"{PAGE}@v2.9", f"{PAGE}@v2.10"],
    "runs": ["runs", DATA / "zynq" / "v2019.1.log"],
    "batch": ["batch", DATA / "tfa" / "console", "--jobs", "1"],
    "versions": ["versions"],
}


def on_terminal(
    columns: int, rows: int, *arguments: object, feed: Path | None = None, **environment: str
) -> str:
    """The output of the command on a terminal of that size; `feed` grows while it runs."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    parent, child = open_terminal()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    setting = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    command = [sys.executable, "-m", "tickgauge", *map(str, arguments)]
    out = b""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.PIPE,
        env={**setting, "TERM": "xterm", **environment},
    ) as running:  # fmt: skip
        os.close(child)
        begun = feed.read_bytes() if feed is not None else b""
        last = time.monotonic()
        while True:
            try:
                piece = os.read(parent, 1 << 16)
            except OSError:
                break
            if not piece:
                break
            out += piece
            if feed is not None and time.monotonic() > last + 0.3:
                last = time.monotonic()
                with feed.open("ab") as file:
                    file.write(begun)
        error = running.stderr.read() if running.stderr is not None else b""
        running.wait(60)
    os.close(parent)
    assert b"Traceback" not in error, error.decode()
    return out.decode("utf-8", "replace").replace("\r\n", "\n")


def in_pipe(*arguments: object) -> str:
    command = [sys.executable, "-m", "tickgauge", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout


def longest(text: str) -> int:
    return max(map(len, re.split(r"[\r\n]", ESCAPE.sub("", text))))


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_wider_than_the_terminal(name: str, columns: int) -> None:
    text = on_terminal(columns, 24, *COMMANDS[name])
    assert text.strip()
    assert longest(text) <= columns


@pytest.mark.parametrize("name", ["show", "compare", "axi"])
def test_columns_left_out_are_said_and_wide_shows_all(name: str) -> None:
    command = [*COMMANDS[name], *(["--all"] if name == "compare" else [])]
    piped = in_pipe(*command)
    assert longest(piped) > 80  # nothing changes in a pipe
    assert "(--wide)" not in piped
    text = on_terminal(80, 24, *command, NO_COLOR="1")
    assert not ESCAPE.search(text)
    assert "no room at 80 columns for: " in text
    assert "--wide)" in text.replace("\n  ", " ")
    assert on_terminal(80, 24, *command, "--wide", NO_COLOR="1") == piped


@pytest.mark.parametrize("columns", [80, 100])
def test_a_comparison_cuts_no_sentence(columns: int) -> None:
    text = on_terminal(columns, 24, *COMMANDS["compare"], NO_COLOR="1")
    assert len(text.splitlines()) <= 24
    assert not [line for line in text.splitlines() if line.endswith("...")]
    assert "(p 0.0008): perhaps not interchangeable" in " ".join(text.split())


def test_columns_of_the_environment_do_not_change_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = in_pipe(*COMMANDS["compare"])
    monkeypatch.setenv("COLUMNS", "60")
    assert in_pipe(*COMMANDS["compare"]) == wide


def test_a_table_says_shared_values_once_and_drops_the_least_important() -> None:
    rows = [("a", f"key number {i}", 0.5, 7, i) for i in range(4)]
    grid = Grid(("format", "key", "p", "n", "new"), rows, headings={"p": "p"})
    with fitted(40) as now:
        text = grid.to_text()
    assert text == grid.to_text()  # 36 columns: there is room
    with fitted(40) as now:
        wide = Grid(
            ("format", "key", "p", "change", "new"),
            [
                ("a", f"{i}. of the keys of these four in all", i / 8, "+12.5 %", i)
                for i in range(4)
            ],
        )
        text = wide.to_text()
        assert now is not None
        done = now.finish(text)
    assert text.split("\n") == [
        "all rows: format a, change +12.5 %",
        "key                                  new",
        "0. of the keys of these four in all    0",
        "1. of the keys of these four in all    1",
        "2. of the keys of these four in all    2",
        "3. of the keys of these four in all    3",
    ]
    assert done.split("\n")[-2] == "no room at 40 columns for: p (--wide)"


def test_rows_that_begin_alike_stand_below_their_begin() -> None:
    rows = [(f"test_{i // 3}_of_the_whole_suite", f"metric_{i % 3}", 1000 * i) for i in range(6)]
    with fitted(40):
        text = Grid(("test", "metric", "median"), rows, headings={"median": "median ns"}).to_text()
    assert text.split("\n")[:5] == [
        "test",
        "  metric    median ns",
        "test_0_of_the_whole_suite",
        "  metric_0          0",
        "  metric_1       1000",
    ]


@pytest.mark.parametrize("lines", [1, 40])
def test_watch_draws_in_place_and_keeps_its_head(lines: int, tmp_path: Path) -> None:
    """Every picture is at most as tall as the screen, so the cursor can go back to its head."""
    pytest.importorskip("rich")
    log = tmp_path / "grow.log"
    data = (DATA / "tfa" / "console" / "example_console.log").read_bytes()
    log.write_bytes(data if lines > 1 else data[: data.index(b"> Executing")])
    text = on_terminal(80, 24, "watch", log, "--seconds", "2", "--refresh", "0.3", feed=log)
    assert longest(text) <= 80
    pictures = re.split(r"(?:\x1b\[2K|\x1b\[1A|\r)+", text)
    drawn = [ESCAPE.sub("", one) for one in pictures if "bytes, " in one][:-1]
    assert drawn
    for one in drawn:
        assert one.count("\n") <= 23
        assert re.match(r"[0-9]+ bytes, ", one.lstrip())
    assert sum("bytes, " in line for line in ESCAPE.sub("", text).split("\n")) >= len(drawn)


def test_without_rich_a_terminal_gets_plain_lines(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("raise ModuleNotFoundError('not here', name='rich')\n")
    log = DATA / "tfa" / "console" / "example_console.log"
    text = on_terminal(80, 24, "watch", log, "--seconds", "0.5", PYTHONPATH=str(tmp_path))
    assert text.startswith("4534 bytes, 1 boot complete\n")
    assert "\x1b" not in text
    assert longest(text) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_one_example_and_fits(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    text = capsys.readouterr().out
    assert longest(text) <= 80
    assert text.count("example: ") == 1
    assert f"example: tickgauge {verb}" in text
    assert set(EXAMPLES) == set(VERBS)


def test_limits_are_a_line_of_help_and_a_list_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["show", "--limit", "list"])
    names = re.findall(r"^  (\w+)", capsys.readouterr().out, re.MULTILINE)
    assert set(names) == {"line", *(field.name for field in fields(Limits))}


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_sentence_in_the_last_column_is_wrapped_and_never_cut(columns):
    note = "n = 1 on a side, so that nobody knows the scatter"
    rows = [
        ("160x160x64x32 1x1", 694, note),
        ("80x80", 12, "one more, of several words"),
    ]
    with fitted(columns):
        shown = Grid(("key", "old", "note"), rows).to_text()
    assert max(map(len, shown.splitlines())) <= columns
    words = " ".join(shown.split())
    for word in note.split():
        assert word in words
    assert "..." not in shown


def test_one_row_says_its_long_texts_above_it():
    note = "n = 1: no scatter is known"
    row = ("160x160x64x32 1x1 th=1 random", 1, 694, 1, 1408, "+102.9 %", "x2.03", note)
    names = ("key", "n old", "old", "n new", "new", "change", "ratio", "note")
    with fitted(80):
        shown = Grid(names, [row]).to_text().splitlines()
    assert shown[0] == f"the row: note {note}"
    assert shown[2].split()[:3] == ["160x160x64x32", "1x1", "th=1"]


def test_a_column_without_a_heading_is_named_where_it_is_left_out():
    rows = [(f"stage {i} of a boot that has a long name", 1.5, "+" * 30) for i in range(4)]
    with fitted(40) as now:
        Grid(("stage", "old", "bar"), rows, headings={"bar": ""}).to_text()
        assert "" not in now.left_out


def test_an_error_has_whole_words_in_the_columns_of_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = (DATA / "tfa" / "console" / "example_console.log").read_bytes()
    for n in range(12):  # boots of two kinds; no two files are the same
        rest = console.replace(b"<RT_INSTR:", b"", n % 2)
        (tmp_path / f"{n:02}.log").write_bytes(rest + b"hello\r\n" * n)
    assert main(["table", str(tmp_path), str(tmp_path)]) == 2
    in_one = capsys.readouterr().err
    assert "boots 0, 2, 4, 6, 8, 10: " in in_one
    assert "boots 1, 3, 5, 7, 9, 11: " in in_one
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["table", str(tmp_path), str(tmp_path)]) == 2
    wrapped = capsys.readouterr().err
    assert wrapped.split() == in_one.split()
    assert longest(in_one) > 80
    # a path that is itself longer stays whole
    assert all(len(line) <= 80 or str(tmp_path) in line for line in wrapped.splitlines())
    template = tmp_path / "own.toml"
    template.write_text(f'[[rule]]\nname = "n"\ntemplate = "{"word " * 30}{{t:unt}}"\n')
    assert main(["show", "--rules", str(template), str(tmp_path)]) == 2
    mark = capsys.readouterr().err.splitlines()
    assert mark[-1].rstrip().endswith("^")
    assert mark[-2].startswith("  word word")


def test_two_lengths_of_like_size_stand_in_one_unit() -> None:
    assert two_lengths(7000, 10000, "ns") == ("7000 ns", "10000 ns")
    assert two_lengths(10000, 7000, "ns") == ("10000 ns", "7000 ns")
    assert two_lengths(7000, 204496, "ns") == ("7000 ns", "204.5 us")
    assert two_lengths(9.5e6, 12.5e6, "ns") == ("9500.0 us", "12500.0 us")
    assert two_lengths(None, 12.5e6, "ns") == ("-", "12.5 ms")
    assert two_lengths(500, 5000, "cycle") == ("500 cycle", "5000 cycle")


def test_nothing_to_compare_draws_no_empty_table() -> None:
    console = DATA / "tfa" / "console" / "example_console.log"
    fft = tg.read(DATA / "rules" / "fft.log", rules=DATA / "rules" / "fft.toml")
    text = tg.compare(console, fft)
    assert "no matched key" in text.to_text()
    assert "verdict" not in text.to_text()


def test_a_label_that_all_keys_share_leaves_its_room_to_their_names() -> None:
    names = ["filesystems sync", "noirq resume", "early resume", "late suspend"]
    rows = [[f"{name} mode=deep", f"+{10 + n} %", "1147.0 us", "equivalent", "x" * 50 + str(n)]
            for n, name in enumerate(names)]  # fmt: skip
    grid = Grid(["key", "change", "old", "verdict", "interval"], rows)
    with fitted(80):
        lines = grid.to_text().splitlines()
    assert lines[0] == "all rows: old 1147.0 us, verdict equivalent, key mode=deep"
    assert all(name in text for name, text in zip(names, lines[2:], strict=True))
    assert "mode=deep" not in "".join(lines[1:])
    rows[0][0] = "filesystems sync mode=s2idle"
    with fitted(80):
        assert "key mode=" not in Grid(grid.names, rows).to_text()  # they share none
