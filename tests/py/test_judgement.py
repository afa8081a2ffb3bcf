"""The judgement against slow oracles over random inputs, and what must hold for any input."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tickgauge as tg
from support import stats_oracles as slow
from support.sides import boots
from tickgauge import _core
from tickgauge.comparison.verdicts import ORDER

ticks = st.integers(3, 12)  # few distinct values, and steps that are a large part of them
small = st.lists(ticks, min_size=2, max_size=6)
wide = st.lists(st.integers(1, 10**12), min_size=2, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)


def packed(rows, step=1):
    """The arrays of the core for boots x keys."""
    rows = np.asarray(rows, "i8")
    n, keys = rows.shape
    one = np.ones(keys, "u8")
    return (
        np.ascontiguousarray(rows.T).reshape(-1), None, np.arange(n * keys + 1, dtype="u8"),
        np.arange(keys + 1, dtype="u8") * n, one, one, one * step,
        np.tile(np.arange(n, dtype="u4"), keys),
    )  # fmt: skip


def one_key(x, y, **options):
    """The row of one key as a dict."""
    table = _core.compare(packed([[v] for v in x]), packed([[v] for v in y]), **options)
    row = {n: table.column(n)[0] if table.valid(n)[0] else None for n in table.names}
    return row | {n: table.words(n)[row[n]].decode() for n in ("verdict", "method")}


def percent(ratio):
    return float(100 * (ratio - 1))


@given(st.one_of(small, wide), st.one_of(small, wide))
@settings(max_examples=150, deadline=None)
def test_ratios_and_intervals_equal_the_sorted_pairs(x, y):
    row = one_key(x, y)
    ratios = sorted(Fraction(b, a) for a in x for b in y)
    low, high = ratios[(len(ratios) - 1) // 2], ratios[len(ratios) // 2]
    assert row["percent"] == pytest.approx(100 * (float(low * high) ** 0.5 - 1), rel=1e-9, abs=1e-9)
    want = slow.ratio_bounds(x, y, 1, Fraction(1, 20))
    if want is None:
        assert row["level"] is None
        assert row["lo"] is None
    elif len(set(x)) > 1 and len(set(y)) > 1:
        assert row["percent_lo"] == pytest.approx(percent(want[0]), rel=1e-9, abs=1e-9)
        assert row["percent_hi"] == pytest.approx(percent(want[1]), rel=1e-9, abs=1e-9)
        assert (row["lo"], row["hi"]) == (float(want[2]), float(want[3]))
    else:  # the hull of a constant side may reach further, never less far
        assert row["lo"] <= float(want[2])
        assert row["hi"] >= float(want[3])


@given(SEEDS, st.integers(60, 300), st.integers(60, 300))
@settings(max_examples=15, deadline=None)
def test_large_sides_select_the_same_pairs_without_listing_them(seed, m, n):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(1, 10 ** int(rng.integers(1, 17)), m), rng.integers(1, 10**9, n)
    row = one_key(x, y)
    ratios = np.sort((y[None, :] / x[:, None]).ravel())
    pairs = len(ratios)
    want = np.sqrt(ratios[(pairs - 1) // 2] * ratios[pairs // 2])
    assert row["percent"] == pytest.approx(100 * (want - 1), rel=1e-9, abs=1e-9)
    assert row["shift"] == np.median(np.subtract.outer(y, x))


@given(st.one_of(small, wide), st.one_of(small, wide), st.sampled_from([0.01, 0.05, 0.5]))
@settings(max_examples=150, deadline=None)
def test_swapped_sides_say_the_mirror_image(x, y, margin):
    there, back = one_key(x, y, margin=margin), one_key(y, x, margin=margin)
    mirror = {"regressed": "improved", "improved": "regressed"}
    assert back["verdict"] == mirror.get(there["verdict"], there["verdict"])
    if min(there["percent"], back["percent"]) > -99.9:  # nearer to -100 a percentage has few digits
        assert (1 + there["percent"] / 100) * (1 + back["percent"] / 100) == pytest.approx(1)
    assert back["shift"] == -there["shift"]
    if there["lo"] is not None:
        assert (back["lo"], back["hi"]) == (-there["hi"], -there["lo"])
    if there["percent_hi"] is not None and (back["percent_lo"] or -100) > -99.9:  # digits enough
        product = (1 + there["percent_hi"] / 100) * (1 + back["percent_lo"] / 100)
        assert product == pytest.approx(1)
    assert there["tail_p_slower"] == pytest.approx(back["tail_p_faster"])


@given(st.one_of(small, wide), st.one_of(small, wide))
@settings(max_examples=150, deadline=None)
def test_ratio_and_shift_exclude_no_change_together(x, y):
    row = one_key(x, y)
    if row["level"] is None:
        return
    low = -100 if row["percent_lo"] is None else row["percent_lo"]
    high = np.inf if row["percent_hi"] is None else row["percent_hi"]
    assert (low > 0, high < 0) == (row["lo"] > 0, row["hi"] < 0)
    assert low <= row["percent"] <= high
    assert row["lo"] <= row["shift"] <= row["hi"]
    assert row["percent"] > -100
    assert low >= -100


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6),
       st.lists(st.integers(1, 30), min_size=2, max_size=6))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_tails_equal_all_orders_of_labels(x, y):
    for margin in (Fraction(0), Fraction(1, 20)):
        row = one_key(x, y, margin=float(margin))
        if row["flags"] & 512:  # two modes: Fisher's test, from the counts of the row
            continue
        gap = sorted([*x, *y])
        if len(gap) >= 4 and max(
            Fraction(gap[i + 1], gap[i]) for i in range(1, len(gap) - 2)
        ) > 1 + margin:  # fmt: skip
            continue  # may be taken for two modes that part the sides
        assert row["tail_p_slower"] == pytest.approx(float(slow.path_p(x, y, margin)), rel=1e-9)
        assert row["tail_p_faster"] == pytest.approx(float(slow.path_p(y, x, margin)), rel=1e-9)


def test_the_path_test_is_met_by_values_that_climb_evenly():
    """Ladders of 4 %: no gap is wide enough for two modes, so the path test is taken."""
    rng = np.random.default_rng(3)
    ladder = np.rint(1000 * 1.04 ** np.arange(11)).astype(int)
    for _ in range(25):
        order = rng.permutation(ladder)
        x, y = order[:6].tolist(), order[6:].tolist()
        row = one_key(x, y, margin=0.05)
        want = float(slow.path_p(x, y, Fraction(1, 20)))
        assert row["tail_p_slower"] == pytest.approx(want, rel=1e-9)


@given(SEEDS, st.sampled_from([(3, 3), (4, 2), (5, 2), (4, 4)]), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_gate_equals_all_arrangements(seed, sides, keys):
    rng = np.random.default_rng(seed)
    base = rng.integers(20, 5000, keys)
    old, new = (
        np.maximum(np.rint(base * np.exp(0.1 * rng.standard_t(3, (n, keys)))), 1).astype(int)
        for n in sides
    )
    new[:, 0] = np.rint(new[:, 0] * rng.choice([1.0, 1.1, 1.6]))
    table, whole = _core.gate(packed(old), packed(new))
    t, p = slow.gate_p(old.tolist(), new.tolist(), 0.05)
    assert whole["listed"]
    assert table.column("t") == pytest.approx(t, rel=1e-6, abs=1e-9)
    assert table.column("p_gate") == pytest.approx(p, abs=1e-12)
    red = [q <= 0.05 + 1e-12 and s > 0 for q, s in zip(p, t, strict=True)]
    if whole["alpha_tail"] != 0:
        return
    for k, (one, found) in enumerate(zip(red, table.column("found") > 0, strict=True)):
        if one != found:  # two modes: no guard, and the rank sums do not tell them apart
            ranks = slow.permutation_p(old[:, k].tolist(), new[:, k].tolist(), slow.u_statistic)
            assert one and not table.valid("guard")[k] and ranks > 0.05


def test_the_gate_bears_missing_readings():
    rng = np.random.default_rng(4)
    old, new = rng.integers(900, 1100, (6, 5)), rng.integers(900, 1100, (6, 5))
    new[:, 2] += 900
    whole, _ = _core.gate(packed(old), packed(new))
    values, lengths, boot = [], [], []
    for key in range(5):  # boot 3 of old lacks key 1
        rows = [b for b in range(6) if (b, key) != (3, 1)]
        values += [old[b, key] for b in rows]
        boot += rows
        lengths.append(len(rows))
    one = np.ones(5, "u8")
    some = (np.array(values, "i8"), None, np.arange(len(values) + 1, dtype="u8"),
            np.concatenate([[0], np.cumsum(lengths)]).astype("u8"), one, one, one,
            np.array(boot, "u4"))  # fmt: skip
    torn, _ = _core.gate(some, packed(new))
    for table in (whole, torn):
        assert (table.column("found") > 0).tolist() == [False, False, True, False, False]


@given(SEEDS, st.integers(3, 6), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_single_boots_equal_the_residuals_one_by_one(seed, n, keys):
    rng = np.random.default_rng(seed)
    old, new = rng.integers(50, 200, (n, keys)), rng.integers(50, 200, (1, keys))
    table = _core.compare(packed(old), packed(new), alpha=0.4)
    want = slow.single_p(old.tolist(), new[0].tolist())
    judged = [word != b"none" for word in np.array(table.words("method"))[table.column("method")]]
    if 1 / (1 + n * keys) > 0.2:
        assert not any(judged)
    else:
        assert all(judged)
        assert table.column("p") == pytest.approx(want)
    assert set(table.column("reference")) == {n * keys}


@pytest.mark.parametrize("n", [5, 10])
def test_a_key_that_scatters_more_than_the_others_is_not_called_changed(n):
    """25 keys of 1 % and 5 of 20 %, nothing changed: 2.5 % may be called slower, of either kind."""
    rng = np.random.default_rng(n)
    scatter = np.repeat([0.01, 0.2], [25, 5])
    slower = np.zeros(30)
    found = 0
    for _ in range(150):
        value = np.exp(np.log(1e6) + scatter * rng.standard_normal((n + 1, 30)))
        value = np.rint(value).astype("i8")
        table = _core.compare(packed(value[:n]), packed(value[n:]), margin=0.0)
        words = np.array(table.words("verdict"))[table.column("verdict")]
        slower += words == b"regressed"
        value[n, 0] *= 2
        table = _core.compare(packed(value[:n]), packed(value[n:]), margin=0.05)
        found += table.words("verdict")[table.column("verdict")[0]] == b"regressed"
    assert slower[:25].sum() / (25 * 150) <= 0.03
    assert slower[25:].sum() / (5 * 150) <= 0.03  # 5 to 7 % with a scatter that keys share
    assert found == 150


@given(SEEDS, st.integers(2, 4), st.integers(1, 4), st.integers(1, 6))
@example(3, 4, 4, 1)  # a statistic of 0 but for rounding
@settings(max_examples=30, deadline=None)
def test_drift_equals_all_orders_of_boots(seed, m, n, keys):
    rng = np.random.default_rng(seed)
    old, new = rng.integers(1, 9, (m, keys)), rng.integers(1, 9, (n, keys))
    statistic, p = _core.drift(packed(old), packed(new))
    want = slow.drift_p(old.tolist(), new.tolist())
    assert statistic == pytest.approx(want[0], abs=1e-9)
    assert p == pytest.approx(want[1], abs=1e-12)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=9))
@settings(max_examples=100, deadline=None)
def test_the_change_of_a_series_is_that_of_all_cuts(x):
    assert _core.change(np.array(x, "i8")) == pytest.approx(slow.change(x))


def test_a_step_of_a_series_has_the_p_of_its_cost():
    """One key, 4 of 8 releases: no order of the residuals gains as much, 2 of 70 places do."""
    value = np.array([1000, 1003, 998, 1001, 1499, 1503, 1500, 1498], "i8")
    one = np.ones(1, "u8")
    _, steps = _core.trend(value, np.arange(8, dtype="u4"), np.array([0, 8], "u8"), one, one, one)
    assert steps.column("at").tolist() == [4]
    assert 2 / 70 <= steps.column("p")[0] <= 2 / 70 + 0.02
    assert steps.column("kind").tolist() == [0]
    assert steps.column("percent")[0] == pytest.approx(
        100 * ((1499 * 1500) ** 0.5 / (1000 * 1001) ** 0.5 - 1)
    )


# ---- what no row may say ------------------------------------------------------------------------


@given(st.lists(st.integers(-5, 40), min_size=1, max_size=8),
       st.lists(st.integers(-5, 40), min_size=1, max_size=8))  # fmt: skip
@settings(max_examples=120, deadline=None)
def test_no_row_contradicts_itself(x, y):
    made = tg.compare(boots(x), boots(y))
    (row,) = made.rows
    assert row["verdict"] in ORDER
    assert row["sentence"]
    assert "-100 %" not in str(made)
    assert "-100.0 %" not in str(made)
    if row["percent"] is None:
        assert min([*x, *y]) <= 0
        return
    assert row["percent"] > -100
    moved, effect = row["new"] - row["old"], row["percent"]
    if moved * effect < 0 or row["shift"] * effect < 0:
        assert row["flags"] & 2048
        assert "another way" in row["sentence"]
    if row["verdict"] == "regressed":
        assert effect > 5
        assert row["shift"] > row["step"]
    if row["flags"] & 16384:
        assert "margin here" in row["sentence"]


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_the_table_of_large_sides_is_that_of_the_exact_test(seed):
    """From 161 boots on p is approximated: near the exact one, which scipy counts."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(seed)
    values = rng.permutation(170) * 7 + 1000
    x, y = values[:85], values[85:]
    want = stats.mannwhitneyu(x, y, method="exact").pvalue
    assert one_key(x, y)["p"] == pytest.approx(want, abs=2e-4)


@given(st.lists(st.integers(1, 2**61), min_size=2, max_size=8),
       st.lists(st.integers(1, 2**61), min_size=2, max_size=8))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_no_figure_is_longer_than_a_reader_can_take(x, y):
    x = [*x, 100, 101, 100]
    for made in (tg.compare(boots(x), boots(y)), tg.compare(boots(y), boots(x))):
        text = str(made).split("--all")[0]
        assert not re.search(r"\d{5,} %", text), text
        assert "0.00 % is seen" not in text
    made = tg.compare(boots([1000000] * 6), boots([1000000] * 5 + [1000001]))
    assert "one step (1 ns) is seen in 4 of 5 cases" in made.rows.row(0)["sentence"]
