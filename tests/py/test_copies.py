"""A boot that is seen twice is one: copies never make evidence."""

from __future__ import annotations

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.comparison.copies import ENOUGH, repeats
from tickgauge.comparison.inputs import side_of

KEYS = 12


def boots(rng, n, factor=1.0):
    """Readings of `n` boots: one of each key a boot."""
    return (rng.lognormal(9, 0.2, (n, KEYS)) * factor).astype("i8")


def data(values, order=None):
    """A data set whose boots are the rows."""
    n = len(values)
    value, boot = values.ravel(), np.repeat(np.arange(n), KEYS)
    test = np.tile([f"t{k}" for k in range(KEYS)], n).astype("O")
    order = np.arange(len(value)) if order is None else order
    return tg.from_columns(value[order], test=test[order], boot=boot[order])


def said(comparison):
    """Everything of a comparison that its rows say."""
    return [(r["key"], r["verdict"], r["percent"], r["p"]) for r in comparison.rows]


@pytest.mark.parametrize("seed", range(8))
def test_copies_change_no_verdict(seed):
    rng = np.random.default_rng(seed)
    old, new = boots(rng, 5), boots(rng, 6, 1.1)
    want = tg.compare(data(old), data(new))
    more = np.concatenate([old, old[rng.integers(0, 5, 3)]])
    order = np.argsort(np.repeat(np.arange(8), KEYS) + rng.random(8 * KEYS) * 0.9)  # inside a boot
    found = tg.compare(data(more, order), data(np.concatenate([new, new[:1]])))
    assert said(found) == said(want)
    assert (found.units, want.units) == ((5, 6), (5, 6))
    assert found.notes[0].startswith("old: 3 boots have all readings of another one to the last")
    assert found.notes[1].startswith("new: 1 boot has all readings")


def test_copies_of_one_boot_show_nothing():
    rng = np.random.default_rng(1)
    old, new = boots(rng, 1).repeat(5, 0), boots(rng, 1, 1.3).repeat(5, 0)
    made = tg.compare(data(old), data(new))
    assert set(made.rows["verdict"]) == {"unreplicated"}
    gate = tg.gate(data(old), data(new))
    assert gate.outcome == "not enough data"
    assert tg.gate(data(old), data(new), deterministic=True).outcome == "regressed"


def test_gate_trend_and_plan_count_a_copy_once():
    rng = np.random.default_rng(2)
    releases = [boots(rng, 4) for _ in range(4)]
    twice = [np.concatenate([one, one[:1]]) for one in releases]
    gate = tg.gate(data(twice[0]), data(twice[1]))
    assert gate.comparison.units == (4, 4)
    assert "counted once" in gate.to_text()
    labels = ["1", "2", "3", "4"]
    trend = tg.trend(*map(data, twice), labels=labels)
    assert sum("counted once" in note for note in trend.notes) == 4
    want = tg.trend(*map(data, releases), labels=labels)
    assert trend.to_text().count("\n") == want.to_text().count("\n") + 4
    plan = tg.plan(data(twice[0]))
    assert plan.needed == tg.plan(data(releases[0])).needed
    assert "counted once" in plan.to_text()


@pytest.mark.parametrize("differ", [0, 1])
def test_few_values_may_be_the_same_by_chance(differ):
    values = np.arange(ENOUGH - 1 + differ).repeat(4)[None, :].repeat(2, 0)
    value, boot = values.ravel(), np.repeat([0, 1], values.shape[1])
    assert repeats(side_of(tg.from_columns(value, boot=boot))) == ({1: 0} if differ else {})


def test_one_other_reading_makes_another_boot():
    rng = np.random.default_rng(3)
    one = boots(rng, 1)
    other = one.copy()
    other[0, [0, 1]] += [1, -1]  # as many readings with the same sum
    swapped = one[:, ::-1]  # the same values of other keys
    assert repeats(side_of(data(np.concatenate([one, other, swapped])))) == {}


def test_boots_of_an_interleaved_run_keep_their_partners():
    rng = np.random.default_rng(4)
    old, new = boots(rng, 5), boots(rng, 5)
    old[1] = old[0]
    assert tg.compare(data(old), data(new), paired=True).units == (5, 5)


def test_a_boot_on_both_sides_is_told():
    rng = np.random.default_rng(5)
    old, new = boots(rng, 5), boots(rng, 5)
    assert tg.compare(data(old), data(new)).notes == []
    new[[1, 3]] = old[[4, 0]]
    notes = tg.compare(data(old), data(new)).notes
    assert notes == ["2 boots of new have all readings of one of old"]
