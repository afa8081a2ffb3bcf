"""Slow statistics, written for reading: every arrangement is listed, every number is exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb


def two_sided(low: int, high: int, total: int) -> Fraction:
    """Twice the smaller tail, at most 1."""
    return min(Fraction(1), 2 * Fraction(min(low, high), total))


def u_statistic(x, y) -> Fraction:
    """Pairs in which x exceeds y, ties one half."""
    return sum((Fraction((a > b) - (a < b) + 1, 2) for a in x for b in y), Fraction(0))


def permutation_p(x, y, statistic) -> Fraction:
    """Two-sided p of a statistic of the first side over all ways to choose it."""
    pool = [*x, *y]
    seen = statistic(x, y)
    low = high = total = 0
    for chosen in combinations(range(len(pool)), len(x)):
        rest = [i for i in range(len(pool)) if i not in chosen]
        now = statistic([pool[i] for i in chosen], [pool[i] for i in rest])
        low += now <= seen
        high += now >= seen
        total += 1
    return two_sided(low, high, total)


def mean_difference(x, y) -> Fraction:
    return Fraction(sum(y), len(y)) - Fraction(sum(x), len(x))


def signflip_p(d) -> Fraction:
    """Share of sign patterns whose sum is as far from 0."""
    seen = abs(sum(d))
    patterns = list(product((1, -1), repeat=len(d)))
    far = sum(abs(sum(s * v for s, v in zip(signs, d, strict=True))) >= seen for signs in patterns)
    return Fraction(far, len(patterns))


def median(values) -> Fraction:
    ordered = sorted(values)
    n = len(ordered)
    return Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)


def null_counts(m: int, n: int) -> list[int]:
    """How many arrangements of m and n distinct values have U = 0, 1, ..., mn."""
    out = [0] * (m * n + 1)
    for places in combinations(range(m + n), m):
        out[sum(p - i for i, p in enumerate(places))] += 1
    return out


def hl_interval(x, y, alpha: Fraction):
    """R's rule: order statistics of the differences, and the level they reach."""
    m, n = len(x), len(y)
    counts, total = null_counts(m, n), comb(m + n, m)
    qu = cumulated = 0
    for u, count in enumerate(counts):
        cumulated += count
        if Fraction(cumulated, total) >= alpha / 2:
            qu = u
            break
    qu = max(qu, 1)
    level = 1 - 2 * Fraction(sum(counts[:qu]), total)
    d = sorted(b - a for a in x for b in y)
    return d[qu - 1], d[m * n - qu], level


def w1_p(old, new) -> Fraction:
    """Share of arrangements of whole runs whose mean sorted vectors lie as far apart."""
    runs = [sorted(run) for run in [*old, *new]]

    def distance(chosen) -> Fraction:
        rest = [i for i in range(len(runs)) if i not in chosen]
        total = Fraction(0)
        for c in range(len(runs[0])):
            x = Fraction(sum(runs[i][c] for i in chosen), len(chosen))
            y = Fraction(sum(runs[i][c] for i in rest), len(rest))
            total += abs(x - y)
        return total

    ways = list(combinations(range(len(runs)), len(old)))
    seen = distance(tuple(range(len(old))))
    return Fraction(sum(distance(way) >= seen for way in ways), len(ways))


def energy(x, t) -> Fraction:
    """Q(t) in its unbiased form."""
    a, b = x[:t], x[t:]
    n, m = len(a), len(b)
    cross = Fraction(sum(abs(p - q) for p in a for q in b), n * m)

    def inner(v):
        pairs = [abs(p - q) for p, q in combinations(v, 2)]
        return Fraction(sum(pairs), len(pairs))

    return Fraction(n * m, n + m) * (2 * cross - inner(a) - inner(b))
