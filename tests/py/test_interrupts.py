"""Ctrl-C inside long calls, and two threads on one object.

A timer's handler is run inside a call that looks for signals, again and again; inside one that
does not, once at its end. So a handler that raises at its third run tells the two apart, however
fast the machine is: no test looks at a clock.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge import _core

MIB = 1 << 20
RULE = {"name": "r", "pattern": "fft {n:uint} usec", "values": "n=n", "unit": "us"}
ONES = np.ones(1, np.uint64)


class ticking:
    """Runs `handler(nth, frame)` every millisecond as a signal's handler."""

    def __init__(self, handler):
        self.runs = 0
        self.handler = handler

    def _run(self, _number, frame):
        self.runs += 1
        self.handler(self.runs, frame)

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self._run)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def interrupt(call):
    """KeyboardInterrupt at the third run of the handler inside `call`, a function of one line."""
    inside = 0

    def handler(_nth, frame):
        nonlocal inside
        if frame.f_code is call.__code__:
            inside += 1
            if inside == 3:
                raise KeyboardInterrupt

    with ticking(handler), pytest.raises(KeyboardInterrupt):
        call()


def records():
    """80,000 stamps of an OP-TEE driver: 80 ms of reduction."""
    lines = "".join(
        f"TEEDriver: do smc call, cmd=1, cntvct=0x{20 * i + 5:x}\n"
        f"TEEDriver: finish smc call, cmd=1, cntvct=0x{20 * i + 15:x}\n"
        for i in range(1, 40_000)
    )
    reader = _core.Reader(_core.RuleSet())
    reader.feed(lines.encode())
    return reader.finish()


def handshakes(times=32_000):
    """A finished capture of read data that flow on and on: seconds of analysis."""
    names = zip("abrs", ["arvalid", "arready", "rvalid", "rready"], strict=True)
    text = "$timescale 1ps $end\n"
    text += "".join(f"$var wire 1 {code} s_{name} $end\n" for code, name in names)
    text += "$enddefinitions $end\n#0\n0a\n1b\n1r\n1s\n"
    text += "".join(f"#{250 * i}\n{i % 2}b\n" for i in range(1, times))
    core = _core.Capture("vcd")
    core.feed(text.encode())
    core.finish()
    return core


def side(n, seed):
    """One key with `n` units of one reading each."""
    starts = np.arange(n + 1, dtype=np.uint64)
    keys = np.array([0, n], np.uint64)
    values = np.random.default_rng(seed).integers(0, 1 << 40, n)
    return (values, None, starts, keys, ONES, ONES, ONES)


def sides(keys, units, seed):
    """`keys` keys with `units` units of one reading each; between two keys the hook is asked."""
    n = keys * units
    starts = np.arange(n + 1, dtype=np.uint64)
    bounds = np.arange(keys + 1, dtype=np.uint64) * np.uint64(units)
    values = np.random.default_rng(seed).integers(1 << 39, 1 << 40, n)
    ones = np.ones(keys, np.uint64)
    return (values, None, starts, bounds, ones, ones, ones)


def test_a_reduction():
    source = records()
    several = [source] * 64  # 5 s of them
    interrupt(lambda: _core.reduce(several, together=True))
    assert len(source) == 2 * 39_999
    assert len(_core.reduce([source])["calls"]) == 39_999


def test_one_line_of_16_mib():
    rule = {"name": "r.slow", "pattern": "abc{a:text}{b:text}{c:text}x", "tag": "abc"}
    reader = _core.Reader(_core.RuleSet([rule], builtin=False), max_line=MIB << 5)
    text = b"abc1x\nabc" + b"1" * (MIB << 4) + b"\n"
    interrupt(lambda: reader.feed(text))
    with pytest.raises(ValueError, match="takes no more bytes"):
        reader.feed(b"abc1x\n")
    assert len(reader.finish()) == 1  # the line before it


def test_an_analysis():
    core = handshakes()
    interrupt(lambda: core.axi(0))
    assert core.about()["samples"] == 250 * 31_999 + 1
    assert handshakes(3).axi(0)["figures"]["cycles"] == 501


def test_one_big_feed_of_a_capture():
    head = b"Sample in Buffer,Sample in Window,TRIGGER,s_arvalid,s_arready\n"
    rows = b"".join(b"%d,%d,0,%d,1\n" % (i, i, i % 3 % 2) for i in range(100, 1000))
    data = head + rows * (96 * MIB // len(rows))
    core = _core.Capture("csv")
    interrupt(lambda: core.feed(data))
    core.feed(b"")  # it goes on
    core.finish()
    samples = core.about()["samples"]
    # whole pieces of 8 MiB, at least three of them: nothing lost, nothing beyond
    ends = [data[:n].count(b"\n") - 1 for n in range(24 * MIB, len(data), 8 * MIB)]
    assert samples in ends


def test_one_big_feed_of_a_reader():
    line = b"fft 12 usec\nother lines\n"
    data = line * (160 * MIB // len(line))
    reader = _core.Reader(_core.RuleSet([RULE], builtin=False))
    interrupt(lambda: reader.feed(data))
    found = reader.finish()
    totals = found.totals()
    assert totals["bytes"] % (16 * MIB) == 0
    assert 48 * MIB <= totals["bytes"] < len(data)
    assert len(found) == data[: totals["bytes"]].count(b"usec\n")


def series(keys=50, releases=1000):
    n = keys * releases
    values = np.random.default_rng(1).integers(0, 1 << 30, n)
    release = np.tile(np.arange(releases, dtype=np.uint32), keys)
    start = np.arange(keys + 1, dtype=np.uint64) * np.uint64(releases)
    ones = np.ones(keys, np.uint64)
    return (values, release, start, ones, ones, ones)


def vectors(seed):
    shape = np.array([300], np.uint64)
    values = np.random.default_rng(seed).integers(0, 1 << 30, 90_000)
    return (values, shape, shape, ONES, ONES, ONES)


STATISTICS = {
    "compare": (_core.compare, (sides(2000, 200, 1), sides(2000, 200, 2))),
    "compare_vectors": (_core.compare_vectors, (vectors(1), vectors(2))),
    "trend": (_core.trend, series()),
    "mean_test": (_core.mean_test, (side(200_000, 1)[0], side(200_000, 2)[0])),
    "signflip_test": (_core.signflip_test, (side(200_000, 1)[0],)),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_a_statistic(name):
    function, args = STATISTICS[name]
    interrupt(lambda: function(*args))


def test_whatever_the_handler_raises_comes_out():
    function, args = STATISTICS["compare"]

    def handler(nth, _frame):
        if nth == 3:
            raise tg.LimitError("enough")

    with ticking(handler), pytest.raises(tg.LimitError, match="enough"):
        function(*args)


def test_a_handler_that_raises_nothing_changes_nothing():
    source = records()
    quiet = _core.reduce([source] * 2, together=True)
    with ticking(lambda _nth, _frame: None) as ticks:
        noisy = _core.reduce([source] * 2, together=True)
    assert ticks.runs > 0
    for name, table in quiet.items():
        assert len(noisy[name]) == len(table)
    assert (noisy["readings"].column("value") == quiet["readings"].column("value")).all()


# ---- two threads ---------------------------------------------------------------------------------


def meanwhile(call, is_inside, work):
    """Runs `work` on a second thread while the main one is inside `call`, which then ends with
    KeyboardInterrupt. What `work` gives; what it raises is raised."""
    answer = []
    entered = False

    def other():
        try:
            answer.append((work(), None))
        except BaseException as error:
            answer.append((None, error))

    def handler(_nth, _frame):
        nonlocal entered  # further ticks find it set: they come while this one waits, too
        if not entered and is_inside():
            entered = True
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            raise KeyboardInterrupt

    with ticking(handler), pytest.raises(KeyboardInterrupt):
        call()
    value, error = answer[0]
    if error is not None:
        raise error
    return value


def refused(call):
    """Whether the object says that it is in use; anything else is raised."""
    try:
        call()
    except RuntimeError as error:
        return "thread" in str(error)
    return False


def test_a_reader_is_one_thread_s():
    data = b"fft 12 usec\n" * (10 * MIB)
    rules = _core.RuleSet([RULE], builtin=False)
    reader = _core.Reader(rules)
    calls = [lambda: reader.feed(b"fft 1 usec\n"), lambda: reader.feed_fd(0), reader.finish]

    def work():
        with pytest.raises(RuntimeError, match="in use by another reader"):
            _core.Reader(rules)
        return [refused(call) for call in calls]

    assert meanwhile(lambda: reader.feed(data), lambda: refused(calls[0]), work) == [True] * 3
    found = reader.finish()
    whole = found.totals()["bytes"]
    assert 0 < whole <= len(data)
    assert len(found) == whole // 12


CAPTURE_CALLS = {
    "feed": lambda c: c.feed(b"1"),
    "finish": lambda c: c.finish(),
    "adopt": lambda c: c.adopt(_core.Capture("csv")),
    "about": lambda c: c.about(),
    "word": lambda c: c.word("clock"),
    "table": lambda c: c.table("problems"),
    "changes": lambda c: c.changes(0),
    "axi": lambda c: c.axi(0),
}


def test_a_capture_is_one_thread_s():
    core = handshakes()
    other = _core.Capture("dmp")
    other.feed(b"ILA Data Dump\nsample_count :8\ngaps :3\n")
    other.finish()
    calls = {**CAPTURE_CALLS, "adopt": lambda c: c.adopt(other)}

    def work():
        return {name: refused(lambda call=call: call(core)) for name, call in calls.items()}

    got = meanwhile(lambda: core.axi(0), lambda: refused(core.about), work)
    assert got == dict.fromkeys(calls, True)
    assert core.about()["samples"] == 250 * 31_999 + 1
    core.adopt(other)  # no thread is inside any more


def test_records_are_read_by_several_threads_and_changed_by_none():
    source, small = records(), _core.Reader(_core.RuleSet()).finish()

    def work():
        if not refused(lambda: source.append(small)):
            return None
        return len(source), sum(source.counts()), len(_core.reduce([source])["calls"])

    got = meanwhile(
        lambda: _core.reduce([source] * 64, together=True),
        lambda: refused(lambda: source.append(small)),
        work,
    )
    assert got == (79_998, 79_998, 39_999)
    assert not refused(lambda: source.append(small))  # nobody reads them now


#: As the command's script: Ctrl-C is guarded before the first import, "ready" comes behind that.
READY = """
import _signal, os, sys
_signal.signal(_signal.SIGINT, lambda *_: os._exit(130))
print("ready", flush=True)
from tickgauge.__main__ import main
sys.exit(main())
"""


@pytest.mark.noasan
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_ctrl_c_at_any_moment_has_its_status_and_no_traceback(tmp_path, seed):
    """From the first import on: 20 moments, some before and some after the end of the command."""
    rng = random.Random(seed)
    (tmp_path / "a.log").write_bytes(b"<RT_INSTR:t\t0\t1\t20\t50\t60/>\n" * 20_000)
    statuses = []
    for _ in range(20):
        with subprocess.Popen(
            [sys.executable, "-c", READY, "show", str(tmp_path / "a.log")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        ) as command:  # fmt: skip
            assert command.stdout is not None
            assert command.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0, 0.4))
            command.send_signal(signal.SIGINT)
            _, said = command.communicate(timeout=60)
        statuses.append(command.returncode)
        assert command.returncode != 2, said.decode()
        assert b"Traceback" not in said, said.decode()
        assert b"KeyboardInterrupt" not in said, said.decode()
    assert {*statuses} <= {0, 130, -signal.SIGINT}
    assert 130 in statuses


IMPORTS = {
    "waits": ("print('importing', flush=True)\nimport time\ntime.sleep(30)\n", 130, b""),
    "no memory": ("raise MemoryError\n", 2, b"tickgauge: MemoryError: \n"),
    "missing": ("import no_such_module\n", 2, b"tickgauge: ModuleNotFoundError: "),
}


@pytest.mark.noasan
@pytest.mark.parametrize("name", IMPORTS)
def test_the_command_is_guarded_before_its_first_import(tmp_path, name):
    """A package that never gets imported stands in for ours: no answer's status, no traceback.

    Where `env` cannot hold signals back, Python itself answers a Ctrl-C in its own start.
    """
    package, status, said = IMPORTS[name]
    (tmp_path / "tickgauge").mkdir()
    (tmp_path / "tickgauge" / "__init__.py").write_text(package)
    script = Path(sys.executable).with_name("tickgauge")
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, str(script), "show", "a.log"], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as command:  # fmt: skip
        if status == 130:
            assert command.stdout is not None
            assert command.stdout.readline() == b"importing\n"
            command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=60)
    assert command.returncode == status, errors.decode()
    assert errors.startswith(said) and b"Traceback" not in errors
    assert bool(errors) == bool(said)


@pytest.fixture
def command_with(tmp_path):
    """The command beside a ``python3`` that runs a line of sh in front of Python's own start."""

    def make(line, **programs):
        for name, text in {"python3": f'{line}\nexec "{sys.executable}" "$@"', **programs}.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        shutil.copy(Path(sys.executable).with_name("tickgauge"), tmp_path)
        path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}

        def run(*args):
            return subprocess.run(
                [tmp_path / "tickgauge", *args], env=os.environ | path, capture_output=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )  # fmt: skip

        return run

    return make


def env_blocks():
    """Whether `env` can hold a signal back (GNU coreutils from 8.31 on)."""
    return not subprocess.run(
        ["env", "--block-signal=INT", "--version"], capture_output=True
    ).returncode


@pytest.mark.noasan
@pytest.mark.skipif(not env_blocks(), reason="env has no --block-signal: GNU coreutils 8.31 has")
def test_ctrl_c_in_python_s_own_start_waits_for_the_guard(command_with):
    """It is sent before Python begins, so that all of its start is under it."""
    done = command_with("kill -INT $$")("--version")
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.noasan
def test_nothing_that_the_command_starts_has_ctrl_c_blocked(tmp_path, command_with):
    """A package that tells its mask stands in for ours."""
    package = tmp_path / "packages" / "tickgauge"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import _signal\nprint(_signal.pthread_sigmask(_signal.SIG_BLOCK, []))\nraise SystemExit"
    )
    done = command_with(f'export PYTHONPATH="{package.parent}"')("--version")
    assert (done.returncode, done.stdout) == (0, b"set()\n"), done.stderr


@pytest.mark.noasan
def test_the_command_needs_no_env_that_blocks_signals(command_with):
    run = command_with(":", env="echo env: unknown option >&2; exit 125")
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == f"tickgauge {tg.__version__}\n"


@pytest.mark.noasan
@pytest.mark.parametrize("called", ["beside", "by a link", "by PATH"])
def test_the_command_finds_its_python_in_a_folder_with_blanks(tmp_path, called):
    """An environment made in a CI job's folder, pipx's link to one, and one user's packages."""
    home, other = tmp_path / "my jobs" / "job=1" / "bin", tmp_path / "other folder"
    home.mkdir(parents=True)
    other.mkdir()
    shutil.copy(Path(sys.executable).with_name("tickgauge"), home)
    python = (other if called == "by PATH" else home) / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    command = home / "tickgauge"
    if called == "by a link":
        command = other / "tickgauge"
        command.symlink_to(home / "tickgauge")
    env = os.environ | {"PATH": f"{other}:{os.environ['PATH']}"}
    done = subprocess.run([command, "--version"], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"tickgauge {tg.__version__}\n"), done.stderr
