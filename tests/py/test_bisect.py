"""Bisections end at the right commit: a board with noise, a step, and one below the margin."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys

import pytest

import tickgauge as tg
from tickgauge.comparison.sequential import decide, keys_to_follow

COMMITS, MARGIN, NOISE = 30, 0.05, 0.02
KEY = "wakeup"


def history(seed):
    """The latency at each commit: +15 % at one, +2 % (below the margin) at another."""
    draw = random.Random(seed)
    step, small = draw.sample(range(3, COMMITS - 2), 2)
    levels = [
        1e6 * (1.15 if c >= step else 1) * (1.02 if c >= small else 1) for c in range(COMMITS)
    ]
    return levels, step, draw


def boot(level, draw):
    values = [round(level * draw.lognormvariate(0, NOISE)) for _ in range(3)]
    return tg.from_columns(values, unit="ns", metric=KEY, run=[0, 1, 2], name=f"b{draw.random()}")


def bisected(seed):
    """The first bad commit that a binary search over `decide` finds."""
    levels, step, draw = history(seed)
    good = [boot(levels[0], draw) for _ in range(10)]
    bad = [boot(levels[-1], draw) for _ in range(6)]
    keys = keys_to_follow(good, bad, [], margin=MARGIN)
    low, high = 0, COMMITS - 1
    while high - low > 1:
        at = (low + high) // 2

        def boots(at=at):
            while True:
                yield boot(levels[at], draw)

        word = decide(good, boots(), keys, margin=MARGIN).outcome
        if word == "undecided":
            return None, step
        low, high = (at, high) if word == "good" else (low, at)
    return high, step


def test_the_right_commit_in_19_of_20_histories():
    found = [bisected(seed) for seed in range(20)]
    assert sum(at == step for at, step in found) >= 19


BOARD = """
import pathlib, random, sys
count = pathlib.Path(sys.argv[1])
n = int(count.read_text()) + 1
count.write_text(str(n))
level = float(pathlib.Path("level").read_text())
draw = random.Random(int(sys.argv[2]) * 100000 + n)
print("booting")
for _ in range(3):
    print(f"fft 1024 points: {level * draw.lognormvariate(0, 0.02) / 1e3:.3f} usec")
"""
RULE = 'template = "fft {n:uint} points: {t:dec} usec"\nvalue = "t"\nunit = "us"\n'


def git(*words, cwd):
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    run = ["git", *names, *words]
    return subprocess.run(run, cwd=cwd, env=env, capture_output=True, text=True, timeout=600)


def real(tmp_path, seed):
    """`git bisect run` in a repository of 30 commits; the subject it blames, and the right one."""
    levels, step, _ = history(seed)
    repo, board, count = tmp_path / "repo", tmp_path / "board.py", tmp_path / "count"
    repo.mkdir()
    board.write_text(BOARD)
    count.write_text("0")
    (tmp_path / "fft.toml").write_text(f'[[rule]]\nname = "fft"\n{RULE}')
    git("init", "-q", cwd=repo)
    for c, level in enumerate(levels):
        (repo / "level").write_text(str(level))
        (repo / "commit").write_text(str(c))
        git("add", ".", cwd=repo)
        git("commit", "-q", "-m", f"commit {c}", cwd=repo)
    command = [sys.executable, str(board), str(count), str(seed)]
    for name, level, boots in (("good", levels[0], 8), ("bad", levels[-1], 5)):
        (tmp_path / name).mkdir()
        (tmp_path / "level").write_text(str(level))
        for i in range(boots):
            made = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
            (tmp_path / name / f"{i}.log").write_bytes(made.stdout)
    git("bisect", "start", "HEAD", f"HEAD~{COMMITS - 1}", cwd=repo)
    judge = [sys.executable, "-m", "tickgauge", "bisect", str(tmp_path / "good")]
    judge += ["--bad", str(tmp_path / "bad"), "--rules", str(tmp_path / "fft.toml")]
    done = git("bisect", "run", *judge, "--", *command, cwd=repo)
    assert "is the first bad commit" in done.stdout, done.stdout + done.stderr
    return git("log", "-1", "--format=%s", "refs/bisect/bad", cwd=repo).stdout.strip(), step


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 21))]
)
def test_git_bisect_run_names_the_commit(tmp_path, seed):
    blamed, step = real(tmp_path, seed)
    assert blamed == f"commit {step}"


def run(tmp_path, *words):
    command = [sys.executable, "-m", "tickgauge", "bisect", *map(str, words)]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)


def test_statuses_of_commands_that_fail(tmp_path):
    (tmp_path / "fft.toml").write_text(f'[[rule]]\nname = "fft"\n{RULE}')
    good = tmp_path / "good"
    good.mkdir()
    for i in range(6):
        (good / f"{i}.log").write_text(f"fft 1024 points: {100 + i}.5 usec\n")
    base = (good, "--rules", "fft.toml", "--key", "fft", "--")
    assert run(tmp_path, *base, "false").returncode == 125  # a build that fails: skip the commit
    assert run(tmp_path, *base, "sh", "-c", "exit 130").returncode == 128
    assert run(tmp_path, *base, "no-such-command").returncode == 128
    assert (
        run(tmp_path, good, "--rules", "fft.toml", "--key", "nothing", "--", "true").returncode
        == 125
    )
    assert run(tmp_path, "missing", "--key", "fft", "--", "true").returncode == 128
    assert run(tmp_path, "--no-such-option").returncode == 128


def test_compare_gate_and_bisect_recommend_in_the_same_words(tmp_path):
    words = "tickgauge plan says in which order to take more boots, and how many show a change"
    (tmp_path / "fft.toml").write_text(f'[[rule]]\nname = "fft"\n{RULE}')
    for name, values in (("good", (100, 140, 90)), ("new", (120, 95, 150))):
        (tmp_path / name).mkdir()
        for i, value in enumerate(values):
            (tmp_path / name / f"{i}.log").write_text(f"fft 1024 points: {value}.5 usec\n")
    again = "n = len(list(pathlib.Path('k').iterdir())); print(open(f'new/{n % 3}.log').read())"
    again = f"import pathlib; {again}"
    bisect = ("bisect", "good", "--key", "fft", "--boots", "5", "--keep", "k")
    for verb, status, more in (
        (("compare", "good", "new"), 0, ()),
        (("gate", "good", "new"), 3, ("--guard", "1%")),
        (bisect, 125, ("--", sys.executable, "-c", again)),
    ):
        run = [sys.executable, "-m", "tickgauge", *verb, "--rules", "fft.toml", *more]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stderr
        assert words in " ".join((done.stdout + done.stderr).split()), verb
