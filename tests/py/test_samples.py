"""Grouping in the core against NumPy's structured sorts and Counter."""

from collections import Counter

import numpy as np
import pytest

from tickgauge import _core

MISSING = 2**32 - 1


def columns_of(rng: np.random.Generator, n: int, kind: str) -> list[np.ndarray]:
    """Id columns: runs that rise as a log gives them, or in any order, with missing ids."""
    if kind == "log":
        boot = np.sort(rng.integers(0, 9, n))
        return [np.zeros(n, "u4"), boot.astype("u4"), np.full(n, -1, "i8")]
    ids = rng.integers(-1, 6, (3, n))
    return [ids[0].astype("u4"), ids[1], np.where(ids[2] < 0, MISSING, ids[2]).astype("u4")]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["log", "any"])
def test_codes_are_those_of_unique_rows(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    columns = columns_of(rng, int(rng.integers(0, 3000)), kind)
    signed = [np.where(c == MISSING, -1, c.astype("i8")) for c in columns]
    _, first, codes = np.unique(np.stack(signed, 1), axis=0, return_index=True, return_inverse=True)
    code, row = _core.codes(columns)
    assert code.tolist() == codes.reshape(-1).tolist()
    assert row.tolist() == first.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_samples_are_those_of_lexsort(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4000))
    key = rng.integers(0, 6, n)
    unit = np.sort(rng.integers(0, 30, n)) if seed % 2 else rng.integers(0, 30, n)
    value, weight = rng.integers(-9, 9, n), rng.integers(1, 5, n).astype("u8")
    given = np.where(key == 5, MISSING, key).astype("u4")
    got = _core.samples(given, unit.astype("u4"), value, weight, n_keys=7, n_units=30)
    order = np.lexsort((unit, key))
    order = order[key[order] < 5]
    assert got[2].tolist() == order.tolist()
    assert got[0].tolist() == value[order].tolist()
    assert got[1] is not None
    assert got[1].tolist() == weight[order].tolist()
    pairs = list(zip(key[order].tolist(), unit[order].tolist(), strict=True))
    starts = [i for i in range(len(pairs)) if i == 0 or pairs[i] != pairs[i - 1]]
    assert got[4].tolist() == [*starts, len(pairs)]
    assert got[5].tolist() == [pairs[i][1] for i in starts]
    assert got[3].tolist() == [sum(pairs[i][0] < k for i in starts) for k in range(8)]


def test_counts_of_groups_are_those_of_counter() -> None:
    rng = np.random.default_rng(3)
    value = rng.integers(-5, 5, 500)
    start = np.array([0, 10, 10, 300, 500], "u8")
    values, counts, at, folded = _core.count_groups(value, None, start)
    assert not folded.any()
    for g in range(4):
        have = dict(
            zip(values[at[g] : at[g + 1]].tolist(), counts[at[g] : at[g + 1]].tolist(), strict=True)
        )
        want = Counter(value[start[g] : start[g + 1]].tolist())
        assert have == want
        assert list(have) == sorted(want)


def test_group_beyond_the_bound_is_folded() -> None:
    value = np.arange(3000) ** 2
    weight = np.ones(3000, "u8")
    values, counts, _, folded = _core.count_groups(value, weight, [0, 3000], 100)
    assert folded.tolist() == [True]
    assert 100 < len(values) < 3000
    assert counts.sum() == 3000
    assert (np.diff(values) > 0).all()


def test_lengths_and_ranges_are_checked() -> None:
    four = np.zeros(4, "u4")
    with pytest.raises(ValueError, match="lengths"):
        _core.codes([four, np.zeros(3, "u4")])
    with pytest.raises(ValueError, match="1 to 16"):
        _core.codes([])
    with pytest.raises(ValueError, match="lengths"):
        _core.samples(four, None, np.zeros(3, "i8"), n_keys=1)
    with pytest.raises(ValueError):
        _core.samples(four + 1, None, np.zeros(4, "i8"), n_keys=1)
    for start in ([], [1, 4], [0, 3], [0, 5, 4]):
        with pytest.raises(ValueError, match="lengths"):
            _core.count_groups(np.zeros(4, "i8"), None, np.array(start, "u8"))
