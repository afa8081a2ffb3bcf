"""Codes of distinct rows against NumPy's own, on every way that they are made."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tickgauge.frame.distinct import distinct_rows


def agrees(columns: list[npt.NDArray[np.integer]]) -> None:
    first, code = distinct_rows(columns)
    rows = np.stack(columns, axis=1)
    _, index, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    assert first.tolist() == index.tolist()
    assert code.tolist() == inverse.reshape(-1).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_codes_are_those_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    runs = int(rng.integers(1, 9))
    spans = [1, 3, 50, 1 << 20, 1 << 40, 1 << 62]
    columns = []
    for _ in range(int(rng.integers(1, 5))):
        span = spans[int(rng.integers(0, len(spans)))]
        column = rng.integers(-1, span, size=n // runs + 1).repeat(runs)[:n]
        columns.append(column.astype("i8"))
    agrees(columns)


def test_the_ends_of_64_bits() -> None:
    ends = np.array([-(2**63), 2**63 - 1, 0, -(2**63)])
    agrees([ends])
    agrees([ends, ends[::-1]])
    agrees([np.array([2**32 - 1, 0, 2**32 - 1], "u4"), np.array([-1, -1, -1])])


def test_no_row_has_no_code() -> None:
    first, code = distinct_rows([np.zeros(0, "u4"), np.zeros(0, "i8")])
    assert len(first) == len(code) == 0
