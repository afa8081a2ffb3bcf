"""The core's statistics against scipy, numpy, statsmodels and against lists of all arrangements."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import stats_oracles as slow
from tickgauge import _core

scipy_stats = pytest.importorskip("scipy.stats")

ticks = st.integers(20, 26)  # few distinct values: ties are the normal case
side = st.lists(ticks, min_size=1, max_size=5)
wide = st.integers(-(10**9), 10**9)


def ints(values):
    return np.array(values, "i8")


@given(side, side)
@settings(max_examples=150, deadline=None)
def test_u_equals_all_arrangements(x, y):
    statistic, p, p_min, exact = _core.u_test(ints(x), ints(y))
    assert exact
    assert statistic == slow.u_statistic(x, y)
    assert p == pytest.approx(float(slow.permutation_p(x, y, slow.u_statistic)), abs=1e-12)
    assert p_min <= p + 1e-12


@given(st.lists(st.one_of(ticks, wide), min_size=1, max_size=5), side)
@settings(max_examples=100, deadline=None)
def test_difference_of_means_equals_all_arrangements(x, y):
    statistic, p, _, exact = _core.mean_test(ints(x), ints(y))
    assert exact
    assert statistic == pytest.approx(float(slow.mean_difference(x, y)), rel=1e-12)
    assert p == pytest.approx(float(slow.permutation_p(x, y, slow.mean_difference)), abs=1e-12)


@given(st.lists(ticks, min_size=2, max_size=6), st.lists(ticks, min_size=2, max_size=6))
@settings(max_examples=25, deadline=None)
def test_u_equals_scipys_exact_permutation_test(x, y):
    def statistic(a, b):
        return scipy_stats.rankdata([*a, *b])[: len(a)].sum()

    result = scipy_stats.permutation_test((x, y), statistic, n_resamples=np.inf, vectorized=False)
    assert _core.u_test(ints(x), ints(y))[1] == pytest.approx(result.pvalue, abs=1e-9)


@given(st.lists(wide, min_size=2, max_size=30, unique=True), st.integers(1, 29))
@settings(max_examples=60, deadline=None)
def test_u_without_ties_equals_scipy(values, cut):
    cut = min(cut, len(values) - 1)
    x, y = values[:cut], values[cut:]
    result = scipy_stats.mannwhitneyu(x, y, method="exact")
    statistic, p, _, _ = _core.u_test(ints(x), ints(y))
    assert statistic == result.statistic
    assert p == pytest.approx(result.pvalue, rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_sign_flips_equal_all_patterns(d):
    assert _core.signflip_test(ints(d))[1] == pytest.approx(float(slow.signflip_p(d)), abs=1e-12)


@given(side, side, st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(1, 2)]))
@settings(max_examples=120, deadline=None)
def test_shift_and_interval_equal_the_sorted_differences(x, y, alpha):
    shift, lo, hi, level = _core.hl_shift(ints(x), ints(y), float(alpha))
    assert shift == slow.median([b - a for a in x for b in y])
    want_lo, want_hi, want_level = slow.hl_interval(x, y, alpha)
    assert (lo, hi) == (want_lo, want_hi)
    assert level == pytest.approx(float(want_level), abs=1e-12)


@given(st.lists(wide, min_size=1, max_size=40), st.lists(wide, min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_shift_equals_numpys_median_of_differences(x, y):
    shift = _core.hl_shift(ints(x), ints(y))[0]
    assert shift == np.median(np.subtract.outer(ints(y), ints(x)))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_paired_shift_is_the_median_of_walsh_averages(d):
    walsh = [(a + b) / 2 for i, a in enumerate(d) for b in d[i:]]
    shift, lo, hi, level = _core.hl_paired(ints(d))
    assert shift == np.median(walsh)
    assert min(walsh) <= lo <= shift <= hi <= max(walsh)
    assert 0 <= level < 1


@given(
    st.floats(1e-12, 0.4999),
    st.one_of(st.integers(1, 6000), st.sampled_from([10**4, 10**6, 10**9])),
)
@settings(max_examples=200, deadline=None)
def test_t_quantile_equals_scipy(upper, df):
    assert _core.t_quantile(upper, df) == pytest.approx(scipy_stats.t.isf(upper, df), rel=1e-8)


@given(st.floats(0, 30), st.integers(1, 6000))
@settings(max_examples=200, deadline=None)
def test_t_tail_equals_scipy(t, df):
    assert _core.t_two_sided(t, df) == pytest.approx(2 * scipy_stats.t.sf(t, df), rel=1e-8)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(max_examples=80, deadline=None)
def test_bh_equals_statsmodels(p):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    want = multitest.multipletests(p, method="fdr_bh")[1]
    np.testing.assert_allclose(_core.bh(p), want, rtol=1e-12, atol=1e-15)


@given(st.lists(wide, min_size=2, max_size=60))
@settings(max_examples=80, deadline=None)
def test_series_stats_equal_numpy(x):
    mean, sd, _ = _core.series_stats(ints(x))
    assert mean == pytest.approx(np.mean(x), rel=1e-12, abs=1e-6)
    assert sd == pytest.approx(np.std(x, ddof=1), rel=1e-9)


@given(st.lists(ticks, min_size=1, max_size=60))
@settings(max_examples=100, deadline=None)
def test_summary_equals_numpys_inverted_cdf(values):
    n = len(values)
    one = np.ones(1, "u8")
    samples = (ints(values), None, np.arange(n + 1, dtype="u8"), np.array([0, n], "u8"), one, one,
               one)  # fmt: skip
    table = _core.summarize(samples)
    assert table.column("n")[0] == n
    assert table.column("p50")[0] == np.quantile(values, 0.5, method="inverted_cdf")
    assert bool(table.valid("p90")[0]) == (n >= 10)
    if n >= 10:
        assert table.column("p90")[0] == np.quantile(values, 0.9, method="inverted_cdf")
    assert table.column("mean")[0] == pytest.approx(np.mean(values), rel=1e-12)
    deviations = np.abs(ints(values) - int(table.column("p50")[0]))
    assert table.column("mad")[0] == np.quantile(deviations, 0.5, method="inverted_cdf")


@given(
    st.lists(st.tuples(*[st.integers(10, 16)] * 3), min_size=1, max_size=3),
    st.lists(st.tuples(*[st.integers(10, 16)] * 3), min_size=1, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_sorted_vectors_equal_all_arrangements_of_runs(old, new):
    def vectors(runs):
        one = np.ones(1, "u8")
        shape = (np.array([len(runs)], "u8"), np.array([3], "u8"))
        return (ints(runs).reshape(-1), *shape, one, one, one)

    table = _core.compare_vectors(vectors(old), vectors(new))
    x, y = np.sort(old, axis=1).mean(axis=0), np.sort(new, axis=1).mean(axis=0)
    assert table.column("w1")[0] == pytest.approx(np.abs(x - y).mean(), abs=1e-12)
    assert table.column("w1_p")[0] == pytest.approx(float(slow.w1_p(old, new)), abs=1e-12)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.lists(st.integers(0, 9), min_size=1))
@settings(max_examples=60, deadline=None)
def test_w1_of_single_vectors_is_scipys_distance(x, y):
    n = min(len(x), len(y))
    x, y = x[:n], y[:n]
    one = np.ones(1, "u8")
    table = _core.compare_vectors(
        (ints(x), one, np.array([n], "u8"), one, one, one),
        (ints(y), one, np.array([n], "u8"), one, one, one),
    )
    assert table.column("w1")[0] == pytest.approx(scipy_stats.wasserstein_distance(x, y))


@given(st.lists(st.integers(0, 30), min_size=2, max_size=12))
@settings(max_examples=60, deadline=None)
def test_ladder_equals_scipy(y):
    y = sorted(y)
    a, b, ts_a, ts_b = _core.ladder(np.array(y, "f8"))
    fit = scipy_stats.linregress(range(len(y)), y)
    assert (a, b) == (pytest.approx(fit.intercept, abs=1e-9), pytest.approx(fit.slope, abs=1e-9))
    sen = scipy_stats.theilslopes(y, range(len(y)))
    assert ts_b == pytest.approx(sen.slope, abs=1e-9)
    assert ts_a == pytest.approx(np.median(y) - sen.slope * np.median(range(len(y))), abs=1e-9)


def jackknife_of_lines(runs, step):
    """Base and step of the sorted vector: (estimate, standard error), a unit left out each time."""
    runs = np.sort(np.asarray(runs, "f8"), axis=1)
    n, rank = len(runs), np.arange(runs.shape[1])
    whole = np.polynomial.Polynomial.fit(rank, runs.mean(0), 1).convert().coef
    whole = np.pad(whole, (0, 2 - len(whole)))
    left = []
    for i in range(n):
        coef = np.polynomial.Polynomial.fit(rank, np.delete(runs, i, 0).mean(0), 1).convert().coef
        left.append(n * whole - (n - 1) * np.pad(coef, (0, 2 - len(coef))))
    weights = np.linalg.pinv(np.vander(rank, 2, increasing=True))
    floor = step * np.abs(weights).sum(axis=1) / np.sqrt(6)
    return whole, np.maximum(np.std(left, axis=0, ddof=1), floor) / np.sqrt(n)


cpus_of_a_unit = st.lists(st.integers(0, 60), min_size=4, max_size=4)


@given(
    st.lists(cpus_of_a_unit, min_size=2, max_size=6),
    st.lists(cpus_of_a_unit, min_size=2, max_size=6),
    st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_intervals_of_ladders_equal_the_jackknife_over_units(old, new, step):
    one = np.ones(1, "u8")
    args = [
        (ints(runs).reshape(-1), np.array([len(runs)], "u8"), one * 4, one, one, one * n)
        for runs, n in ((old, step), (new, 1))
    ]
    table = _core.compare_vectors(*args)
    sides = [jackknife_of_lines(runs, n) for runs, n in ((old, step), (new, 1))]

    def interval(name):
        return [table.column(f"ols_{name}_{end}")[0] for end in ("lo", "hi")]

    for word, runs, (line, error) in zip(("old", "new"), (old, new), sides, strict=True):
        half = scipy_stats.t.ppf(0.975, len(runs) - 1) * error
        for i, part in enumerate("ab"):
            assert interval(f"{part}_{word}") == pytest.approx(
                [line[i] - half[i], line[i] + half[i]], abs=1e-7
            )
    for i, part in enumerate("ab"):
        (x, ex), (y, ey) = ((line[i], error[i]) for line, error in sides)
        df = (ex**2 + ey**2) ** 2 / (ex**4 / (len(old) - 1) + ey**4 / (len(new) - 1))
        lo, hi = interval(f"{part}_shift")
        assert (lo + hi) / 2 == pytest.approx(y - x, abs=1e-7)
        t = (hi - lo) / 2 / np.hypot(ex, ey)
        ends = [scipy_stats.t.ppf(0.975, max(1, np.floor(df + e))) for e in (1e-6, -1e-6)]
        assert min(ends) - 1e-6 <= t <= max(ends) + 1e-6


@given(st.lists(st.integers(0, 9), min_size=4, max_size=6))
@settings(max_examples=40, deadline=None)
def test_energy_equals_all_orders(x):
    from itertools import permutations

    at, q, p, _, exact = _core.energy_step(ints(x))

    def best(order):
        return max(slow.energy(order, t) for t in range(2, len(order) - 1))

    assert exact
    assert q == pytest.approx(float(best(x)), abs=1e-12)
    assert slow.energy(x, at) == best(x)
    orders = set(permutations(x))
    assert p == pytest.approx(sum(best(o) >= best(x) for o in orders) / len(orders), abs=1e-12)


def test_detectable_differences_by_simulation():
    """The table of the core against the power of scipy's U at the published sizes."""
    rng = np.random.default_rng(11)
    for m, n, published in ((4, 4, 2.9), (5, 5, 2.3), (6, 6, 1.9)):
        d, level = _core.detectable_sd(m, n)
        assert d == pytest.approx(published, abs=0.05)
        x, y = rng.standard_normal((4000, m)), rng.standard_normal((4000, n)) + d
        u = (x[:, :, None] > y[:, None, :]).sum(axis=(1, 2))
        critical = max(
            k for k in range(m * n)
            if 2 * sum(slow.null_counts(m, n)[: k + 1]) <= 0.05 * sum(slow.null_counts(m, n))
        )  # fmt: skip
        assert np.mean(u <= critical) == pytest.approx(0.8, abs=0.03)
        want = 2 * sum(slow.null_counts(m, n)[: critical + 1]) / sum(slow.null_counts(m, n))
        assert level == pytest.approx(want)


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=1, max_size=12),
    st.integers(1, 7),
)
@settings(max_examples=60, deadline=None)
def test_histogram_counts_every_reading_once(pairs, resolution):
    value = ints([v for v, _ in pairs])
    weight = np.array([w for _, w in pairs], "u8")
    table = _core.histogram(value, weight, resolution, 9)
    lo, hi, n = (table.column(c) for c in ("lo", "hi", "n"))
    assert len(table) <= 9
    assert n.sum() == weight.sum() == table.column("below")[-1]
    assert (lo % resolution == 0).all()
    assert (lo[1:] == hi[:-1]).all()
    for a, b, count in zip(lo, hi, n, strict=True):
        assert count == weight[(value >= a) & (value < b)].sum()


@pytest.mark.parametrize("name", ["u_test", "mean_test", "hl_shift"])
def test_what_is_not_an_integer_array_is_refused(name):
    with pytest.raises((TypeError, ValueError)):
        getattr(_core, name)(np.array([1.5]), np.array([2.5]))
    with pytest.raises(ValueError):
        getattr(_core, name)(np.zeros((2, 2), "i8"), np.zeros(2, "i8"))


def test_packed_arrays_that_do_not_fit_are_refused():
    one = np.ones(1, "u8")
    good = (ints([1, 2]), None, np.array([0, 1, 2], "u8"), np.array([0, 2], "u8"), one, one, one)
    assert len(_core.compare(good, good)) == 1
    for place, wrong in (
        (0, ints([1])),
        (1, np.array([1], "u8")),
        (2, np.array([0, 9, 2], "u8")),
        (2, np.array([0, 1, 9], "u8")),
        (3, np.array([0, 7], "u8")),
        (3, np.array([2, 0], "u8")),
        (4, np.array([0], "u8")),
        (5, np.array([], "u8")),
        (6, np.array([0], "u8")),
    ):
        bad = tuple(wrong if i == place else part for i, part in enumerate(good))
        with pytest.raises(ValueError):
            _core.compare(good, bad)
    with pytest.raises(ValueError):
        _core.compare_vectors((ints([1, 2, 3]), one, np.array([2], "u8"), one, one, one),
                              (ints([1, 2]), one, np.array([2], "u8"), one, one, one))  # fmt: skip
