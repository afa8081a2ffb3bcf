"""Traces against known truth: every form of the kernel's tools, order, differences, lost events."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import tickgauge as tg
from support import trace_truth as truth

SEEDS = 4


def totals(data):
    return sorted(total for _, _, total in truth.spans(data))


@pytest.mark.parametrize("form", truth.FORMS)
def test_every_form_gives_the_same_totals(form):
    events, right = truth.generated(1)
    lines = truth.lines_of(events, form)
    data = truth.read(lines)
    assert totals(data) == right
    assert len(data.problems) == 0
    metric = data.readings.select(format="ftrace", metric="total")
    assert sorted(metric["value"].tolist()) == right


def test_a_graph_or_a_context_without_time_is_told():
    data = tg.read(
        b" 0)               |  /* optee_invoke_fn_begin: param=0a (32000003, 0) */\n"
        b" optee_invoke_fn_end: param=0a ret (0, 0, 0, 0)\n"
    )
    assert len(data.readings) == 0
    assert len(data.problems) == 2


def shuffled(lines, rng):
    return rng.sample(lines, len(lines))


def near(lines, rng):
    out = list(lines)
    for i in range(len(out) - 1):
        if rng.random() < 0.1:
            out[i], out[i + 1] = out[i + 1], out[i]
    return out


def by_cpu(lines, rng):
    return truth.by_cpu(lines)


@pytest.mark.parametrize("order", [shuffled, near, by_cpu])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_lines_out_of_order_are_sorted_and_said(order, seed):
    events, right = truth.generated(seed)
    data = truth.read(order(truth.lines_of(events), random.Random(seed)))
    assert totals(data) == right
    assert data.problems["reason"].tolist() == ["time-back"]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_differences_of_one_thread_are_added_up_and_said(seed):
    events, right = truth.generated(seed, threads=1)
    data = truth.read(truth.deltas(truth.lines_of(events, "perf script")))
    assert totals(data) == right
    assert data.problems["reason"].tolist() == ["deltas"]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_differences_of_several_threads_cannot_be_told_from_disorder(seed):
    events, _ = truth.generated(seed, threads=3)
    data = truth.read(truth.deltas(truth.lines_of(events, "perf script")))
    assert totals(data) == []
    assert data.problems["reason"].tolist() == ["time-back"]


def test_two_traces_behind_each_other_are_read_apart():
    events, right = truth.generated(7)
    lines = truth.lines_of(events)
    data = truth.read(lines + lines)
    assert totals(data) == sorted(right + right)
    assert "2 traces stand one behind the other" in data.problems["detail"][0]


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_lost_events_make_no_wrong_total(share):
    kept = 0
    for seed in range(SEEDS):
        events, _ = truth.generated(seed)
        lines = truth.lines_of(events)
        right = set(truth.spans(truth.read(lines)))
        rng = random.Random(seed)
        found = truth.spans(truth.read([line for line in lines if rng.random() >= share]))
        assert set(found) <= right
        kept += len(found)
    if share <= 0.01:  # more than that leaves calls that look like one
        assert kept >= 0.6 * 120 * SEEDS


def test_threads_that_lack_too_many_events_are_named():
    events, _ = truth.generated(3)
    rng = random.Random(3)
    data = truth.read([line for line in truth.lines_of(events) if rng.random() >= 0.2])
    assert totals(data) == []
    assert "two calls may look like one" in data.problems["detail"][0]


def test_an_idle_state_whose_end_is_missing_gives_no_length():
    """Times go back by 2 us: state 1 is 2 us long, the end of state 0 is not in the file."""
    text = "".join(
        f"          <idle>-0     [006] d..1.    71.{t}: cpu_idle: state={s} cpu_id=6\n"
        for t, s in (
            ("000624", 0),
            ("000811", 4294967295),
            ("000809", 1),
            ("010809", 4294967295),
        )
    )
    data = tg.read(text.encode())
    idle = data.readings.select(metric="idle")
    assert [(r["labels"], r["value"]) for r in map(idle.row, range(len(idle)))] == [
        ("state=0x1", 2000)
    ]
    assert data.problems["reason"].tolist() == ["time-back"]


REAL = ["trace2/07-threads8x50.txt", "trace2/08-threads2x200.txt", "trace2/20-perf-script.txt"]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.05, 0.2])
def test_real_traces_with_lost_events(name, share):
    folder = Path(os.environ.get("TICKGAUGE_CASES", "")) / "optee" / "real"
    if not os.environ.get("TICKGAUGE_CASES") or not folder.is_dir():
        pytest.skip("TICKGAUGE_CASES names no folder")
    text = (folder / name).read_text(errors="replace")
    lines = [line for line in text.splitlines() if "optee_invoke" in line]
    right = set(truth.spans(truth.read(lines)))
    for seed in range(SEEDS):
        rng = random.Random(seed)
        found = truth.spans(truth.read([x for x in lines if rng.random() >= share]))
        assert set(found) <= right
