"""The drop-in against the script of 2015: its outputs on the cases, and a slow model of it."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import performance_analysis
from support import slow_dropin

DATA = Path(__file__).parents[1] / "data" / "dropin"
CASES = sorted(path.name for path in DATA.iterdir() if path.name[:1].isdigit())
SCRIPT = Path(sysconfig.get_path("scripts")) / "performance_analysis.py"
REAL = os.environ.get("TICKGAUGE_CASES", "")
LAST_LINE = b"ZeroDivisionError: long division or modulo by zero"


def content(path: Path) -> bytes:
    """The bytes of a data file, which may be kept as `path`.gz."""
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()


def run(
    *args: str | bytes | Path,
    command: tuple[str | Path, ...] = (SCRIPT,),
    cwd: Path | None = None,
    **more: object,
) -> subprocess.CompletedProcess[bytes]:
    """Run the installed script (or `command`) in a process of its own."""
    return subprocess.run([*command, *args], cwd=cwd, capture_output=True, **more)  # type: ignore[call-overload,no-any-return]


def analyse(log: Path) -> tuple[str, int]:
    """Stdout and exit status, within this process."""
    out = io.StringIO()
    try:
        performance_analysis.analyse(str(log), out.write)
    except ZeroDivisionError as error:
        assert str(error) == "long division or modulo by zero"
        return out.getvalue(), 1
    return out.getvalue(), 0


# ---- the cases ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    folder = DATA / name
    args = ["log.txt"]
    if (folder / "args.txt").exists():
        args = (folder / "args.txt").read_text().split("\n")[:-1]
    if "directory" not in name and "no-arg" not in name:
        (tmp_path / "log.txt").write_bytes(content(folder / "log.txt"))
    done = run(*args, cwd=tmp_path)
    stdout = done.stdout.replace(bytes(SCRIPT.parent) + b"/", b"")  # argv[0], as it was called
    assert stdout == content(folder / "expected.txt")
    assert done.returncode == int((folder / "status").read_text())
    last = folder / "stderr_last_line.txt"
    if last.exists():
        assert done.stderr.splitlines()[-1] == last.read_bytes().strip()
    else:
        assert done.stderr == b""


def test_the_sample_report_to_the_byte() -> None:
    done = run(DATA / "01-readme-sample" / "log.txt")
    assert len(done.stdout) == 2818
    assert hashlib.md5(done.stdout).hexdigest() == "8ca9587213b868ea3047d7856d1fc5f6"


@pytest.mark.parametrize("report", sorted((DATA / "real").glob("*.report")), ids=lambda p: p.stem)
def test_real_consoles(report: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(content(report.with_suffix(".txt")))
    out, status = analyse(log)
    assert out == report.read_text()
    assert status == (0 if "resolution" in out else 1)


@pytest.mark.skipif(not REAL, reason="TICKGAUGE_CASES names no folder")
def test_all_real_consoles(tmp_path: Path) -> None:
    reports = sorted(Path(REAL).glob("optee/real/*/cut/*.report"))
    assert len(reports) >= 52
    log = tmp_path / "log"
    for report in reports:
        if report.stem == "whole":
            boot = report.parents[1]
            log.write_bytes(content(boot / "ree.log") + content(boot / "tee.log"))
        else:
            log.write_bytes(content(report.with_suffix(".txt")))
        assert analyse(log)[0] == report.read_text(), report


# ---- against the model ----------------------------------------------------------------------

TAGS = [
    b"CounterTimerFrequency:",
    b"ClientOpenSession:",
    b"ClientInvokeCommand:",
    b"SecureSysCall:",
    b"TEEDriver:",
    b"TEECore:",
]
blanks = st.sampled_from([b" "] * 12 + [b"\t", b"\v", b"\f", b"\r", b"\n", b"", b"  ", b"\xa0"])
numbers = st.one_of(
    st.sampled_from([b"0", b"00", b"3b9aca0", b"1", b"48A1", b"A", b"", b"12g4", b"f" * 40]),
    st.integers(0, 2**70).map(lambda value: b"%x" % value),
    st.integers(0, 2**33).map(lambda value: b"0%x" % value),
)
commands = st.sampled_from([b"0", b"1", b"0", b"1", b"2", b"3", b"9", b"10", b"a", b""])


@st.composite
def event(draw: st.DrawFn) -> bytes:
    """A line of one of the eight kinds, now and then not quite."""
    tag = draw(st.sampled_from(TAGS))
    if tag.startswith(b"Counter"):
        text = tag + b" 0x%b" % draw(numbers)
    elif tag.startswith(b"TEE"):
        verb = draw(st.sampled_from([b"do", b"finish", b"receiving"]))
        command, stamp = draw(commands), draw(numbers)
        text = tag + b" %b smc call, cmd=%b, cntvct=0x%b" % (verb, command, stamp)
    else:
        middle = b"enter_svc" if tag.startswith(b"Sec") else b"enter_ta"
        three = (draw(numbers), middle, draw(numbers), draw(numbers))
        text = tag + b" start=0x%b, %b=0x%b, return=0x%b" % three
    if draw(st.integers(0, 4)) == 0:
        words = text.split(b" ")
        text = b"".join(draw(blanks) + word for word in words)
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from([b"", *TAGS, b"x", b"\n", b"T"])) + text[at + 1 :]
    return text


logs = st.lists(
    st.tuples(
        st.one_of(
            event(), event(), event(), st.sampled_from(TAGS), st.binary(max_size=20), numbers
        ),
        st.sampled_from([b"\n"] * 8 + [b"\r\n", b"\r", b" ", b"", b"\0"]),
    ),
    max_size=25,
).map(lambda parts: b"".join(a + b for a, b in parts))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dropin") / "log"


@settings(max_examples=5000 if os.environ.get("TICKGAUGE_SLOW") else 500, deadline=None)
@given(log=logs)
def test_equals_the_model(log: bytes, scratch: Path) -> None:
    scratch.write_bytes(b"CounterTimerFrequency: 0x3b9aca0\n" + log)
    assert analyse(scratch) == slow_dropin.run(scratch.read_bytes())


@settings(max_examples=200, deadline=None)
@given(log=logs)
def test_equals_the_model_without_a_frequency(log: bytes, scratch: Path) -> None:
    scratch.write_bytes(log)
    assert analyse(scratch) == slow_dropin.run(log)


@pytest.mark.parametrize("name", CASES)
def test_the_model_agrees_with_the_cases(name: str) -> None:
    folder = DATA / name
    if "directory" in name or "no-arg" in name or "4000" in name:
        return
    out, status = slow_dropin.run(content(folder / "log.txt"))
    assert out.encode() == content(folder / "expected.txt")
    assert status == int((folder / "status").read_text())


def test_a_line_across_many_reads(scratch: Path) -> None:
    """One line of 3 MB whose second tag comes first, and an event on each side of its end."""
    line = b"TEEDriver: do smc call, cmd=0, cntvct=0x7 " + b"ClientOpen" * 300_000
    line += b"Session: start=0x1, enter_ta=0x2, return=0x3"
    log = b"CounterTimerFrequency: 0x1\n" + line + b"\nTEEDriver: do smc call, cmd=1, cntvct=0x9"
    scratch.write_bytes(log)
    assert analyse(scratch) == slow_dropin.run(log)
    assert "Client Start Command                       1" in analyse(scratch)[0]


def test_numbers_of_any_length(scratch: Path) -> None:
    """6000 hex digits print as what they are, and the limit on int digits is as it was."""
    scratch.write_bytes(
        b"CounterTimerFrequency: 0x3b9aca00\nSecureSysCall: start=0x0, enter_svc=0x%b, return=0x0"
        % (b"f" * 6000)
    )
    limit = sys.get_int_max_str_digits()
    out, _ = analyse(scratch)
    assert sys.get_int_max_str_digits() == limit
    row = next(line for line in out.split("\n") if line.startswith("Secure OS Receive"))
    printed = row[30:]
    assert len(printed) == 2 * 7225  # 16**6000 has 7225 digits
    value = 0
    for at in range(0, 7225, 1000):  # Horner in base 1000 digits, below every limit
        piece = printed[at : min(at + 1000, 7225)]
        value = value * 10 ** len(piece) + int(piece)
    assert value == 16**6000 - 1


# ---- how it is called -----------------------------------------------------------------------

SAMPLE = DATA / "01-readme-sample"
EXPECTED = content(SAMPLE / "expected.txt")


def test_as_a_module() -> None:
    done = run(SAMPLE / "log.txt", command=(sys.executable, "-m", "performance_analysis"))
    assert (done.stdout, done.stderr, done.returncode) == (EXPECTED, b"", 0)


def test_a_copy_of_the_file_works_anywhere(tmp_path: Path) -> None:
    copy = tmp_path / "performance_analysis.py"
    shutil.copy(performance_analysis.__file__, copy)
    done = run("log.txt", command=(sys.executable, copy), cwd=SAMPLE)
    assert (done.stdout, done.stderr, done.returncode) == (EXPECTED, b"", 0)


def test_usage_names_it_as_it_was_called(tmp_path: Path) -> None:
    copy = tmp_path / os.fsdecode(b"per\xffformance.py")
    shutil.copy(performance_analysis.__file__, copy)
    done = run(command=(sys.executable, copy.name), cwd=tmp_path)
    assert (done.stdout, done.returncode) == (b"Usage: per\xffformance.py <filename>\n", 0)


def test_importing_runs_nothing_and_loads_little() -> None:
    code = (
        "import sys; before = set(sys.modules); import performance_analysis as p\n"
        "assert set(sys.modules) - before == {'performance_analysis'}, set(sys.modules) - before\n"
        "status = p.main(['x', sys.argv[1]])\n"
        "print(sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(status)"
    )
    done = run("-c", code, SAMPLE / "log.txt", command=(sys.executable,))
    assert (done.stdout, done.returncode) == (EXPECTED, 0)
    assert done.stderr == b"['_tickgauge_legacy', 'performance_analysis']\n"


def test_standard_input() -> None:
    done = run("/dev/stdin", input=(SAMPLE / "log.txt").read_bytes())
    assert (done.stdout, done.returncode) == (EXPECTED, 0)


@pytest.mark.parametrize("name", ["nowhere", "", "-", "--help", "-h", ".", "/proc/self/mem"])
def test_what_cannot_be_read(name: str, tmp_path: Path) -> None:
    done = run(name, cwd=tmp_path)
    assert (done.stdout, done.returncode) == (b"can not open file\n", 1)
    assert done.stderr.splitlines()[-1] == LAST_LINE


def test_a_large_file_is_read_ahead_to_the_same_end(scratch: Path) -> None:
    """20 MB, read on a second thread, with what matters at both ends and across every piece."""
    frequency = b"CounterTimerFrequency: 0x3b9aca0\n"
    noise = b"x" * 999 + b"\nTEEDriver: do smc call, cmd=2, cntvct=0x1\n"
    log = b"TEEDriver: do smc call, cmd=0, cntvct=0x0\n" + noise * 19_000
    log += frequency + b"TEECore: finish smc call, cmd=7, cntvct=0x1\n" + noise * 100
    log += b"SecureSysCall: start=0x1, enter_svc=0x20, return=0x300"
    scratch.write_bytes(log)
    assert analyse(scratch) == slow_dropin.run(log)


@pytest.mark.noasan
def test_an_error_in_mid_read(tmp_path: Path) -> None:
    """What was read counts, but for a line that did not end, as in the original."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    source = tmp_path / "shim.c"
    source.write_text(
        "#include <errno.h>\n#include <stdio.h>\n#include <string.h>\n"
        "#include <sys/syscall.h>\n#include <unistd.h>\n"
        "static int reads;\n"
        "static int is_log(int fd) {\n"
        "  char link[64], name[4096];\n"
        '  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);\n'
        "  ssize_t n = readlink(link, name, sizeof name);\n"
        '  return n > 4 && memcmp(name + n - 4, "/log", 4) == 0;\n}\n'
        "ssize_t read(int fd, void *p, size_t n) {\n"
        "  if (!is_log(fd)) return syscall(SYS_read, fd, p, n);\n"
        "  if (++reads == 2) { errno = EIO; return -1; }\n"
        "  return syscall(SYS_read, fd, p, n < 100 ? n : 100);\n}\n"
    )
    shim = tmp_path / "shim.so"
    subprocess.run([cc, "-shared", "-fPIC", "-o", shim, source], check=True)
    log = b"TEECore: finish smc call, cmd=7, cntvct=0x1\nCounterTimerFrequency: 0x10\n"
    log += b"CounterTimerFrequency: 0x2" + b"0" * 200
    (tmp_path / "log").write_bytes(log)
    done = run("log", cwd=tmp_path, env={**os.environ, "LD_PRELOAD": str(shim)})
    whole_lines = log[: log.index(b"0x2")].rpartition(b"\n")[0]
    assert (done.stdout.decode(), done.returncode) == slow_dropin.run(whole_lines, readable=False)


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"TEECore: finish smc call, cmd=7, cntvct=0x1\n" * 20_000)
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([SCRIPT, log], stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert (done.stderr, done.returncode) == (b"", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([SCRIPT, SAMPLE / "log.txt"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_interrupted_while_it_waits(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([SCRIPT, fifo], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        with fifo.open("wb"):  # it has opened the file, and waits for bytes now or soon
            while child.poll() is None:
                child.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=0.5)
        out, err = child.communicate()
    assert (out, err.splitlines()[-1], child.returncode) == (b"", b"KeyboardInterrupt", 1)
