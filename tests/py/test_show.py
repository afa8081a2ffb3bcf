"""``tickgauge show``: what a person and a program get, exit status, bad input."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from tickgauge.cli import main

DATA = Path(__file__).parents[1] / "data"
LOG = "boot\nfft 256 points: 12.5 usec\nfft 512 points: 30 usec\nfft 256 points: 13.5 usec\n"
TORN = "fft 999 points: 1x usec\n"
TOML = """
[[rule]]
template = "fft {n:uint} points: {t:dec} usec"
value = "t"
metric = "time"
unit = "us"
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.log").write_text(LOG)
    (tmp_path / "torn.log").write_text(LOG + TORN)
    (tmp_path / "none.log").write_text("hello\n")
    (tmp_path / "boot.log").write_text("NOTICE:  BL31: v2.10.0(release):v2.10.0\n")
    (tmp_path / "fft.toml").write_text(TOML)
    return tmp_path


def show(capsys, *args):
    status = main(["show", "--rules", "fft.toml", *args])
    out, err = capsys.readouterr()
    return status, out, err


def test_text(files, capsys):
    status, out, err = show(capsys, "good.log")
    assert status == 0
    assert err == ""
    assert out.startswith("1 source, 1 boot, 3 readings of 2 keys, 0 problems\n")
    keys = out[out.index("\nkeys") :].splitlines()
    assert keys[2].split() == [
        "format",
        "metric",
        "operation",
        "labels",
        "n",
        "min",
        "median",
        "max",
        "unit",
    ]
    assert keys[3].split() == ["fft", "time", "fft", "n=256", "2", "12.5", "12.5", "13.5", "us"]


def test_json(files, capsys):
    status, out, _ = show(capsys, "torn.log", "--format", "json")
    document = json.loads(out)
    assert status == 0
    assert document["command"] == "show"
    assert document["sources"][0]["format"] == "fft"
    assert document["sources"][0]["boots"] == 1
    assert len(document["sources"][0]["digest"]) == 64
    assert document["rows"][0]["n"] == "2"  # u64 columns are strings
    assert document["rows"][0]["median"] == 12500.0
    assert document["problems"][0]["line"] == "5"
    assert document["problems"][0]["source"] == "torn.log"


def test_json_follows_its_schema(files, capsys):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        resources.files("tickgauge").joinpath("schemas/show.json").read_text("utf-8")
    )
    for sources in (["good.log"], ["torn.log", "good.log"], ["boot.log"]):
        document = json.loads(show(capsys, *sources, "--format", "json")[1])
        jsonschema.validate(document, schema)


def test_csv_file_and_two_boots(files, capsys):
    status, out, _ = show(capsys, "good.log", "torn.log", "--format", "csv", "-o", "out.csv")
    assert (status, out) == (0, "")
    rows = list(csv.DictReader(io.StringIO((files / "out.csv").read_text())))
    assert [row["n"] for row in rows] == ["4", "2"]


def test_strict_and_problems(files, capsys):
    assert show(capsys, "torn.log", "--strict")[0] == 1
    assert show(capsys, "good.log", "--strict")[0] == 0
    out = show(capsys, "torn.log", "--problems")[1]
    assert "1 problem\n" in out
    assert TORN.strip() in out
    assert "no problems" in show(capsys, "good.log", "--problems")[1]


def test_why(files, capsys):
    out = show(capsys, "--why", "torn.log")[1]
    assert "read as console lines" in out
    ledger = out[out.index("what was looked for") :].splitlines()
    assert ledger[2].split() == ["fft", "4", "3", "1", "0"]
    matched = out[out.index("what matched") :].splitlines()
    assert matched[2].split() == ["fft.fft", "3", "torn.log", "2", "5", "n=256", "t=12.5"]
    near = out[out.index("what came near") :]
    assert "fft 999 points: 1x usec" in near


def test_status_of_bad_input(files, capsys):
    status, out, err = show(capsys, "none.log")
    assert (status, out) == (2, "")
    assert "no known kind of line was found" in err
    assert "fft" in err  # what was looked for
    assert show(capsys, "boot.log")[0] == 3  # recognised, and without readings
    assert show(capsys, "good.log", "none.log")[0] == 2
    assert show(capsys, "missing.log") == (
        2,
        "",
        "tickgauge: missing.log: No such file or directory\n",
    )
    assert show(capsys, "good.log", "--rules", "good.log")[0] == 2
    assert show(capsys, "good.log", "--clock", "fast")[0] == 2
    assert main(["show"]) == 2
    assert main(["show", "--formats"]) == 0
    assert "optee" in capsys.readouterr().out


def test_an_unreadable_source_keeps_the_others(files, capsys, monkeypatch):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (files / "locked.log").write_text(LOG)
    (files / "locked.log").chmod(0)
    assert show(capsys, "locked.log")[0] == 2


def test_a_pipe_and_a_closed_pipe(files):
    command = f"{sys.executable} -m tickgauge show --rules fft.toml - < good.log"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 readings" in done.stdout
    done = subprocess.run(
        ["bash", "-c", command + " --format csv | true"], capture_output=True, timeout=60
    )
    assert done.stderr == b""


def test_ctrl_c_is_status_130_and_silent(files):
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job may ignore it
        "from tickgauge.cli import main\n"
        "sys.exit(main(['show', '--rules', 'fft.toml', '-']))\n"
    )
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe)
    child.stdin.write(LOG.encode() * 20_000)  # more than a pipe holds: then the child reads
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 130
    assert (child.stdout.read(), child.stderr.read()) == (b"", b"")


def test_progress_is_shown_on_standard_error(files, capsys):
    pytest.importorskip("tqdm")
    status, out, err = show(capsys, "good.log", "--progress")
    assert status == 0
    assert out.startswith("1 source")
    assert "100%" in err


def test_together(files, capsys):
    status, out, _ = show(capsys, "--together", "good.log", "torn.log")
    assert status == 0
    assert out.startswith("2 sources, 1 boot, 6 readings")


@pytest.mark.parametrize(
    ("log", "rows"),
    [
        ("crash-2.12stock-boot-01", [["susp_deep_parallel", "plat/qemu/common/qemu_pm.c:160"]]),
        (
            "skipped-head-boot-01",
            [
                [name, "Skipped"]
                for name in (
                    "susp_deep_parallel", "susp_deep_serial", "cpu_susp_parallel",
                    "cpu_susp_serial", "cpu_off_serial", "psci_version_parallel",
                )
            ],
        ),
        ("multi-reset-3boots", []),
    ],
)  # fmt: skip
def test_tests_that_did_not_pass_are_shown(capsys, log, rows):
    main(["show", str(DATA / "tfa/console" / f"{log}.log.gz")])
    out = capsys.readouterr().out
    shown = [] if "did not pass" not in out else out.split("did not pass\n")[1].splitlines()[1:]
    assert [line.split()[2:4] for line in shown] == rows


def test_a_folder_that_is_not_there_is_told_by_the_name_given(files, capsys):
    status, _, err = show(capsys, "good.log", "-o", "nowhere/x.txt")
    assert status == 2
    assert err == "tickgauge: nowhere/x.txt: No such file or directory\n"


def test_an_empty_name_is_not_the_working_directory(files, capsys):
    assert show(capsys, "") == (2, "", "tickgauge: an empty name is no source\n")


def test_a_folder_of_other_files_is_told_in_two_lines(files, capsys):
    (files / "more").mkdir()
    for i in range(9):
        (files / "more" / f"{i}.txt").write_text(f"hello {i}\n")
    status, _, err = show(capsys, "good.log", "more")
    assert status == 2
    first, second = err.splitlines()
    assert first.startswith("tickgauge: more/0.txt: no known kind of line was found in 1 line;")
    assert "8 more not recognised: more/1.txt, more/2.txt, more/3.txt, ..." in second


def test_control_bytes_do_not_reach_the_terminal(files, capsys):
    (files / "evil.log").write_bytes(
        b"fft \x1b[2J points\nfft 1 points: 1\x1b[31m usec\n" + LOG.encode()
    )
    for form in ("text", "csv", "md", "rst", "json"):
        out = show(capsys, "evil.log", "--problems", "--format", form)[1]
        assert "\x1b" not in out


def test_forms_with_objects_of_their_own(files, capsys):
    assert main(["snapshot", "good.log", "--rules", "fft.toml", "-o", "base.json"]) == 0
    capsys.readouterr()
    status, out, _ = show(capsys, "base.json")
    assert status == 0
    assert out.startswith("tickgauge snapshot: 1 source")
    head, *rows = (line.split() for line in out.split("\nkeys\n")[1].splitlines())
    assert [dict(zip(head, row, strict=True))["n"] for row in rows] == ["2", "1"]
    document = json.loads(show(capsys, "base.json", "--format", "json")[1])
    assert document["sources"][0]["format"] == "snapshot"
