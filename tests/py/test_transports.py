"""Every way in which a console reaches a file reads the same: the table in docs/transports.md."""

from __future__ import annotations

import gzip
import html
import json
import re
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.limits import LIMITS
from tickgauge.reading.line_prefix import common_prefix
from tickgauge.sources.decode import decoder_of

#: A console with records that need no anchor (RT_INSTR), a banner, and a table whose rows do.
CONSOLE = [
    "NOTICE:  Booting Trusted Firmware",
    "NOTICE:  BL31: v2.14.0(release):v2.14.0",
    "NOTICE:  BL31: Built : 10:00:00, May 18 2026",
    "> Executing 'CPU suspend on all cores in parallel'",
    *(
        f"<RT_INSTR:test_rt_instr_cpu_susp_parallel\t{c}\t{k}"
        f"\t{200000 + 100 * k + c}\t20{k}00\t4{c}00/>"
        for c in (0, 1)
        for k in (0, 1)
    ),
    "  TEST COMPLETE" + " " * 49 + "Passed",
    "* benchmark_1001 TEE Trusted Storage Performance Test (WRITE)",
    "-----------------+---------------+----------------",
    " Data Size (B) \t | Time (s)\t | Speed (kB/s)\t ",
    "-----------------+---------------+----------------",
    "      256 \t |    0.326 \t |    0.767",
    "      512 \t |    0.088 \t |    5.682",
    "-----------------+---------------+----------------",
    "  benchmark_1001 OK",
    'xtest \u00b5s & <done> "quoted"',
]


def stamp(i, form):
    return form.format(i=i, s=i % 60, m=14 + i // 60, pid=1000 + i % 3)


#: What stamps a line: name, prefix with {i} the line, {s} seconds, {m} minutes, {pid} a process.
PREFIXES = {
    "minicom": "[2026-05-18 09:{m:02d}:{s:02d}.123] ",
    "ts": "May 18 09:{m:02d}:{s:02d} ",
    "ts -s": "00:{m:02d}:{s:02d} ",
    "ISO 8601": "2026-05-18T09:{m:02d}:{s:02d}.104233Z ",
    "syslog": "May 18 09:{m:02d}:{s:02d} board xtest[{pid}]: ",
    "journalctl -o short-iso": "2026-05-18T09:{m:02d}:{s:02d}+0000 board xtest[{pid}]: ",
    "logcat": "05-18 09:{m:02d}:{s:02d}.123  {pid}  {pid} I xtest   : ",
    "grabserial": "[{i}.123456 0.00{i:04d}] ",
    "Tera Term": "[Mon May 18 09:{m:02d}:{s:02d}.123 2026] ",
    "kernel": "[{i:5d}.123456] ",
    "docker compose": "board-1  | ",
    "CRI": "2026-05-18T09:{m:02d}:{s:02d}.123456789Z stdout F ",
    "GitLab": "2026-05-18T09:{m:02d}:{s:02d}.123456Z 01O ",
    "LAVA text": "2026-05-18T09:{m:02d}:{s:02d} target: ",
    "mail quote": "> > ",
    "cpu tag": "[cpu 0x0100] ",
    "conserver": "|uart1| ",
}


def text_of(lines, end="\n"):
    return "".join(line + end for line in lines)


def prefixed(form):
    return text_of(stamp(i, form) + line for i, line in enumerate(CONSOLE)).encode()


def yaml_block(lines):
    return "".join(
        f"- dt: '2026-05-18T09:14:00.{i:06d}'\n  lvl: target\n  msg: {json.dumps(line)}\n"
        for i, line in enumerate(lines)
    )


def jsonl(lines, member, **more):
    return text_of(json.dumps({**more, member: line}) for line in lines)


def cast(lines):
    """Events that end anywhere, as a terminal writes them."""
    text = text_of(lines, "\r\n")
    pieces = [text[i : i + 37] for i in range(0, len(text), 37)]
    head = json.dumps({"version": 2, "width": 80, "height": 24})
    events = [json.dumps([round(0.1 * i, 1), "o", piece]) for i, piece in enumerate(pieces)]
    events.insert(3, json.dumps([0.35, "i", "ls\r"]))
    return "\n".join([head, *events]) + "\n"


ENCODINGS = {
    "plain": text_of(CONSOLE).encode(),
    "CRLF": text_of(CONSOLE, "\r\n").encode(),
    "lone CR": text_of(CONSOLE, "\r").encode(),
    "LFCR": text_of(CONSOLE, "\n\r").encode(),
    "gzip": gzip.compress(text_of(CONSOLE).encode()),
    "UTF-8 with a mark": b"\xef\xbb\xbf" + text_of(CONSOLE).encode(),
    "UTF-16 little endian, mark": b"\xff\xfe" + text_of(CONSOLE, "\r\n").encode("utf-16-le"),
    "UTF-16 big endian, mark": b"\xfe\xff" + text_of(CONSOLE).encode("utf-16-be"),
    "UTF-16 little endian": text_of(CONSOLE).encode("utf-16-le"),
    "UTF-16 big endian": text_of(CONSOLE).encode("utf-16-be"),
    "HTML entities": text_of(map(html.escape, CONSOLE)).encode(),
    "HTML page": (
        "<!DOCTYPE html><html><head><title>#12 Console</title></head><body>\n<pre>"
        + text_of(f'<span class="t">{html.escape(line)}</span>' for line in CONSOLE)
        + "</pre></body></html>\n"
    ).encode(),
    "UTF-16 of an HTML page": ("\ufeff<html><pre>\n" + text_of(map(html.escape, CONSOLE))).encode(
        "utf-16-le"
    ),
    "docker json-file": jsonl([line + "\n" for line in CONSOLE], "log", stream="stdout").encode(),
    "JSON lines, log": jsonl(CONSOLE, "log", time="2026").encode(),
    "JSON lines, message": jsonl(CONSOLE, "message", level="info").encode(),
    "JSON lines, escaped": jsonl(CONSOLE, "msg").replace("<", "\\u003c").encode(),
    "journalctl -o json": jsonl(CONSOLE, "MESSAGE", PRIORITY="6").encode(),
    "JSON array of texts": json.dumps(CONSOLE).encode(),
    "JSON array of objects": json.dumps([{"msg": line} for line in CONSOLE], indent=1).encode(),
    "asciicast 2": cast(CONSOLE).encode(),
    "asciicast 1": json.dumps({"stdout": [[0.1, line + "\r\n"] for line in CONSOLE]}).encode(),
    "LAVA YAML, a line each": text_of(
        f'- {{"dt": "2026-05-18T09:14:00", "lvl": "target", "msg": {json.dumps(line)}}}'
        for line in CONSOLE
    ).encode(),
    "LAVA YAML, block style": yaml_block(CONSOLE).encode(),
    "LAVA YAML, folded flow": yaml_block(CONSOLE)
    .replace("- dt", "- {dt")
    .replace("\n  lvl", ",\n   lvl")
    .replace("\n  msg", ",\n   msg")
    .replace("\n- {", "}\n- {")
    .rstrip("\n")
    .encode()
    + b"}\n",
    "colour": text_of(f"\x1b[1;30m{line}\x1b[0m" for line in CONSOLE).encode(),
    "colour without ESC": text_of(f"[1;30m{line}[0m" for line in CONSOLE).encode(),
    "window titles": text_of(f"\x1b]0;board\x07{line}\x1b[K" for line in CONSOLE).encode(),
}


def facts(data):
    """Readings without their places, what else the console says, and the count of problems."""
    rows = [data.readings.row(i) for i in range(len(data.readings))]
    names = ("format", "test", "operation", "metric", "labels", "cluster", "core", "value", "exp10")
    boots = data.boots
    said = [
        [boots.row(i)[name] for name in ("version", "build", "built")] for i in range(len(boots))
    ]
    return [tuple(row[name] for name in names) for row in rows], said, len(data.problems)


@pytest.fixture(scope="module")
def right():
    data = tg.read(ENCODINGS["plain"])
    readings, said, problems = facts(data)
    # 4 records of 3 values, 2 rows of the storage table
    assert (len(readings), problems) == (14, 0)
    assert said == [["v2.14.0", "release", "10:00:00, May 18 2026"]]
    return readings, said, problems


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoded_console_reads_the_same(name, right):
    if "block" in name or "folded" in name:
        pytest.importorskip("yaml")
    assert facts(tg.read(ENCODINGS[name])) == right


@pytest.mark.parametrize("name", PREFIXES)
def test_a_console_behind_a_prefix_reads_the_same(name, right):
    assert facts(tg.read(prefixed(PREFIXES[name]))) == right


@pytest.mark.parametrize("outer", ["docker json-file", "HTML entities", "UTF-16 little endian"])
def test_a_prefix_inside_an_encoding(outer, right):
    lines = [stamp(i, PREFIXES["syslog"]) + line for i, line in enumerate(CONSOLE)]
    text = {
        "docker json-file": jsonl([line + "\n" for line in lines], "log", stream="stdout"),
        "HTML entities": text_of(map(html.escape, lines)),
        "UTF-16 little endian": text_of(lines),
    }[outer]
    code = "utf-16-le" if outer.startswith("UTF-16") else "utf-8"
    assert facts(tg.read(text.encode(code))) == right


def test_a_prefix_that_was_used_is_said():
    why = tg.read(prefixed(PREFIXES["syslog"])).infos[0].why
    assert any("behind a prefix, such as 'May 18 09:14:00 board xtest[1000]: '" in w for w in why)
    assert not any("prefix" in w for w in tg.read(ENCODINGS["plain"]).infos[0].why)


def test_a_column_of_records_is_no_prefix():
    raw = b"".join(b"NOTICE:  %d cycles\t%d ns\n" % (i, 16 * i) for i in range(100))
    assert common_prefix(raw) is None
    assert common_prefix(b"") is None
    assert common_prefix(b"May 18 09:14:00 board x: hello\n") is None  # one line says nothing


def test_what_was_decoded_is_said():
    why = tg.read(ENCODINGS["HTML page"]).infos[0].why
    assert any("decoded from a page of HTML" in line for line in why)


def test_pieces_of_any_size_decode_the_same():
    for name, data in ENCODINGS.items():
        if "YAML" in name or decoder_of(data, LIMITS) is None:
            continue
        whole = decoder_of(data, LIMITS)
        want = whole.feed(data) + whole.finish()
        for step in (1, 7, 64):
            decoder = decoder_of(data, LIMITS)
            got = b"".join(decoder.feed(data[i : i + step]) for i in range(0, len(data), step))
            assert got + decoder.finish() == want, (name, step)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 4096,
        bytes(range(256)) * 16,
        b"{not json}\n" * 10,
        b"[    1.0] kernel line\n" * 10,
        b'{\n "a": 1\n}\n',
        b"x &lt; y once\n",
        b"\x17\x08\x44tracing6\x00\x01" + b"\x00\x41" * 300,
    ],
)
def test_other_bytes_stay_as_they_are(data):
    assert decoder_of(data, LIMITS) is None


@pytest.mark.parametrize("cut", [0.3, 0.9])
@pytest.mark.parametrize("name", ["JSON array of texts", "asciicast 1"])
def test_a_document_that_was_cut_is_an_error(name, cut):
    data = ENCODINGS[name]
    with pytest.raises(tg.InputError, match="no whole JSON document"):
        tg.read(data[: int(len(data) * cut)])


@pytest.mark.parametrize(
    ("magic", "command"),
    [
        (b"\x17\x08\x44tracing6\x00", "trace-cmd report {} > trace.txt"),
        (b"PERFILE2\x68\x00", "perf script -i {} > trace.txt"),
    ],
)
def test_a_binary_recording_names_the_command_that_converts_it(tmp_path, capsys, magic, command):
    path = tmp_path / "recording.dat"
    path.write_bytes(magic + bytes(range(256)) * 8)
    assert main(["show", str(path)]) == 2
    assert command.format(path) in capsys.readouterr().err


def test_the_table_in_the_docs_names_every_transport():
    page = Path(__file__).parents[2] / "docs" / "transports.md"
    named = set(re.findall(r"`test: ([^`]+)`", page.read_text(encoding="utf-8")))
    assert named == set(ENCODINGS) | set(PREFIXES)
