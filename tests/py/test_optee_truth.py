"""OP-TEE joins against known truth: generated boots and real ones, damaged over seeds.

A wrong reading is the difference of two stamps of different calls; a call is intact where all its
lines are there unchanged.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import optee_truth as truth

SEEDS = 3

#: (damage, share, most wrong readings of 10 000, least share of intact calls kept).
ONE_CLIENT = [
    ("drop", 0.0, 0, 1.0),
    ("drop", 0.01, 0, 0.97),
    ("drop", 0.05, 0, 0.90),
    ("drop", 0.2, 2, 0.85),
    ("digit", 0.01, 0, 0.90),
    ("split", 0.01, 0, 0.97),
    ("split", 0.05, 0, 0.90),
    ("double", 0.05, 0, 1.0),
    ("order", 0.05, 0, 0.97),
]
TWO_CLIENTS = [
    ("drop", 0.0, 0, 0.75),
    ("drop", 0.01, 2, 0.75),
    ("drop", 0.05, 2, 0.75),
    ("digit", 0.01, 0, 0.75),
    ("double", 0.05, 0, 0.75),
]


def total(boots, kind, share, seeds=SEEDS):
    score = truth.Score()
    for boot in boots:
        for seed in range(seeds):
            score += truth.trial(boot, kind, share, seed * 77 + 1)
    return score


def check(score, wrong, kept):
    assert score.readings > 0 and score.intact > 0
    assert score.wrong <= wrong * score.readings / 10_000, vars(score)
    assert score.kept_share >= kept, vars(score)


def test_the_truth_itself_is_read_back():
    boot = truth.generated(5)
    data = truth.read(boot.consoles)
    for metric, right in boot.pairs.items():
        assert set(truth.pairs_of(data, metric)) == right
        assert len(right) == 60


@pytest.mark.parametrize(("kind", "share", "wrong", "kept"), ONE_CLIENT)
def test_one_client(kind, share, wrong, kept):
    check(total([truth.generated(seed) for seed in range(SEEDS)], kind, share), wrong, kept)


@pytest.mark.parametrize(("kind", "share", "wrong", "kept"), TWO_CLIENTS)
def test_two_clients_that_call_at_the_same_time(kind, share, wrong, kept):
    boots = [truth.generated(seed, clients=2, idle=8) for seed in range(SEEDS)]
    check(total(boots, kind, share), wrong, kept)


@pytest.mark.parametrize(
    ("kind", "share"), [("drop", 0.0), ("drop", 0.01), ("drop", 0.05), ("digit", 0.01)]
)
def test_two_clients_that_call_all_the_time(kind, share):
    boots = [truth.generated(seed, clients=2) for seed in range(SEEDS)]
    check(total(boots, kind, share), 2, 0.60)


@pytest.mark.parametrize("clients", [2, 3])
def test_a_client_that_prints_no_lines_spoils_no_others(clients):
    """The last of two or three clients is silent: its driver and core lines are there alone."""
    score = truth.Score()
    for seed in range(SEEDS):
        boot = truth.generated(seed, clients=clients)
        silent = {truth.client(call) for call in boot.calls[-60:]}
        lines = {**boot.consoles}
        lines["client"] = [line for line in lines["client"] if line not in silent]
        score += truth.score(boot, lines, truth.read(lines))
    check(score, 0, 0.35)


def real_boots():
    folder = Path(os.environ.get("TICKGAUGE_CASES", "")) / "optee" / "real"
    if not os.environ.get("TICKGAUGE_CASES") or not folder.is_dir():
        pytest.skip("TICKGAUGE_CASES names no folder")
    names = {"legacy-1": "loop500.txt", "legacy-24MHz": "loop200.txt", "legacy-smp4": "loop200.txt"}
    return [
        truth.real(
            {
                "ree": (folder / name / "ree.log").read_text(errors="replace"),
                "tee": (folder / name / "tee.log").read_text(errors="replace"),
                "client": (folder / name / loop).read_text(),
            }
        )
        for name, loop in names.items()
    ]


@pytest.mark.parametrize(("kind", "share", "wrong", "kept"), ONE_CLIENT)
def test_real_boots(kind, share, wrong, kept):
    check(total(real_boots(), kind, share, 2), wrong, kept)


def small(step, n=12, first=0x10000000, miss=()):
    """A client that calls at equal steps, and its driver and core, without the lines of `miss`."""
    ree, tee, client = [], [], ["CounterTimerFrequency: 0x3b9aca0"]
    for k in range(n):
        at = first + k * step
        stamps = tuple(at + d for d in (0, 0x400, 0x800, 0x1000, 0x1800, 0x1C00, 0x2000))
        lines = {
            "do": (ree, truth.smc("ree", "do", 1, stamps[1])),
            "receiving": (tee, truth.smc("tee", "receiving", 1, stamps[2])),
            "tee": (tee, truth.smc("tee", "finish", 1, stamps[4])),
            "finish": (ree, truth.smc("ree", "finish", 1, stamps[5])),
            "client": (client, truth.client(stamps)),
        }
        for name, (console, line) in lines.items():
            if (k, name) not in miss:
                console.append(line)
    return {"ree": ree, "tee": tee, "client": client}


def test_lost_driver_lines_harm_their_own_calls_only():
    calls = truth.read(small(0x4000, miss={(1, "finish"), (10, "do")})).calls
    assert len(calls) == 12
    assert [i for i in range(12) if not calls["complete"][i]] == [1, 10]
    assert "ambiguous" not in calls["state"].tolist()


def test_a_start_that_lost_a_digit_is_a_problem_and_no_window():
    consoles = small(0x4000)
    at = next(i for i, line in enumerate(consoles["client"]) if "start=0x10014000" in line)
    consoles["client"][at] = consoles["client"][at].replace("0x10014000", "0x1014000")
    data = truth.read(consoles)
    complete = [
        int(row)
        for row, whole in zip(data.calls["client_start"], data.calls["complete"], strict=True)
        if whole
    ]
    assert complete == [0x10000000 + 0x4000 * k for k in range(12) if k != 5]
    assert data.problems["reason"].tolist() == ["out-of-range"]


def test_no_pair_reaches_over_a_torn_line():
    lines = small(0x4000, n=4)["tee"]
    torn = [
        lines[1][:15] + "REE user line",
        lines[1][15:],
        lines[2][:9] + "REE user line",
        lines[2][9:],
    ]
    data = truth.read({"tee": [lines[0], *torn, *lines[3:]]})
    assert len(data.calls) == 4
    tee = truth.pairs_of(data, "tee")
    assert [b - a for a, b in tee] == [4096, 4096]
    assert len(data.problems) == 2


# --- which consoles are of one boot ------------------------------------------------------------


@pytest.mark.parametrize(
    "order",
    [
        ("ree", "tee", "client"),
        ("ree", "client", "tee"),
        ("tee", "ree", "client"),
        ("tee", "client", "ree"),
        ("client", "ree", "tee"),
        ("client", "tee", "ree"),
    ],
)
def test_parts_of_one_file_join_in_any_order(order):
    boot = truth.generated(3, n=20)
    data = truth.read(boot.consoles, list(order))
    assert len(data.boots) == 1
    assert data.calls["complete"].tolist() == [True] * 20
    assert len(data.problems) == 0


def test_a_client_that_only_one_console_confirms_joins():
    """The driver's lines of these calls are not on the console (its level was too low)."""
    boot = truth.generated(4, n=20)
    early = truth.generated(5, n=5, first=0x1000000)
    consoles = {**boot.consoles, "ree": early.consoles["ree"]}
    consoles["tee"] = early.consoles["tee"] + boot.consoles["tee"]
    data = truth.read(consoles)
    assert len(data.boots) == 1
    assert set(truth.pairs_of(data, "tee_to_ta")) == boot.pairs["tee_to_ta"]


def test_a_client_of_another_boot_is_left_apart_or_told():
    """Overlapping counters prove nothing: 0 of 100 are joined without a word."""
    for seed in range(25):
        for shift in (-0x40000, 0, 0x1234, 0x60000):
            boot = truth.generated(seed, n=30)
            other = truth.generated(seed + 1000, n=30, first=0x10000000 + shift)
            data = truth.read({**boot.consoles, "client": other.consoles["client"]})
            assert len(data.boots) == 2 or len(data.problems) > 0, (seed, shift)


def test_a_client_file_of_few_lines_is_joined_with_a_word_or_not_at_all():
    """Three windows of another boot hold calls by chance often: 0 of 200 without a word."""
    for seed in range(50):
        for first in (0, 10, 20, 30):
            boot = truth.generated(seed, n=40)
            other = truth.generated(seed + 1000, n=40).consoles["client"]
            lines = [other[0], *other[1 + first : 4 + first]]
            data = truth.read({**boot.consoles, "client": lines})
            assert len(data.boots) == 2 or len(data.problems) > 0, (seed, first)


def test_two_steps_that_nest_by_chance_only():
    """60 pairs of step 0x9000 and 60 windows of step 0x9400: 6 windows hold a pair."""
    ree = small(0x9000, n=60)["ree"]
    foreign = small(0x9400, n=60, first=0x10000000 - 0x180)["client"]
    data = truth.read({"ree": ["NOTICE:  BL1: v2.10(release):x", *ree], "client": foreign})
    assert len(data.boots) == 2
    assert truth.pairs_of(data, "client_to_driver") == []


def test_consoles_that_name_two_clocks_are_a_problem_that_names_both():
    consoles = small(0x4000)
    consoles["ree"].insert(0, "CounterTimerFrequency: 0x16e3600")
    consoles.pop("tee")
    data = truth.read(consoles)
    assert len(data.boots) == 1
    (row,) = [data.problems.row(i) for i in range(len(data.problems))]
    assert row["reason"] == "conflict"
    assert "24000000 Hz and 62500000 Hz" in row["detail"]
