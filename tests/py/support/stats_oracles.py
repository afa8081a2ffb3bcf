"""Slow statistics, written for reading: every arrangement is listed, every number is exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, exp, log, sqrt


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


# ---- ratios, tails, gates, single boots, drift: listed one by one -------------------------------


def critical(m: int, n: int, alpha: Fraction) -> int:
    """The largest c with 2 P(U <= c - 1) <= alpha, 0 where there is none."""
    counts, total = null_counts(m, n), comb(m + n, m)
    c = cumulated = 0
    for count in counts:
        cumulated += count
        if 2 * Fraction(cumulated, total) > alpha:
            break
        c += 1
    return c


def ratio_bounds(x, y, step: int, alpha: Fraction):
    """Bounds of ratio and shift, widened by half a step (a whole one beside a constant side)."""
    m, n = len(x), len(y)
    c = critical(m, n, alpha)
    if c == 0:
        return None
    wide = Fraction(step, 1 if len(set(x)) == 1 or len(set(y)) == 1 else 2)
    half = wide / 2
    low = sorted((b - half) / (a + half) for a in x for b in y)
    high = sorted((b + half) / (a - half) for a in x for b in y)
    d = sorted(b - a for a in x for b in y)
    return low[c - 1], high[m * n - c], d[c - 1] - wide, d[m * n - c] + wide


def path_p(x, y, margin: Fraction) -> Fraction:
    """Share of label orders whose path comes as high as the observed one."""
    pool = sorted([(v * (1 + margin), 0) for v in x] + [(Fraction(v), 1) for v in y], reverse=True)
    value, label = [v for v, _ in pool], [mine for _, mine in pool]
    total, new = len(pool), len(y)
    ends = [k for k in range(2, total // 2 + 1) if value[k - 1] != value[k]]

    def tail(k: int, h: int) -> Fraction:
        ways = sum(comb(new, i) * comb(total - new, k - i) for i in range(h, min(k, new) + 1))
        return Fraction(ways, comb(total, k))

    def smallest(labels) -> Fraction:
        return min((tail(k, sum(labels[:k])) for k in ends), default=Fraction(1))

    if not ends:
        return Fraction(1)
    seen = smallest(label)
    orders = [
        [int(i in chosen) for i in range(total)] for chosen in combinations(range(total), new)
    ]
    return Fraction(sum(smallest(order) <= seen for order in orders), len(orders))


def _middle(values: list[float]) -> float:
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _statistic(new: list[float], old: list[float], usual: float, least: float) -> float:
    """Difference of means over a scale drawn towards `usual`."""
    m, n = len(old), len(new)
    mean_old, mean_new = sum(old) / m, sum(new) / n
    within = sum((v - mean_old) ** 2 for v in old) + sum((v - mean_new) ** 2 for v in new)
    df = m + n - 2
    scale = max(sqrt(within / df), least)
    shrunk = max(exp((2 * log(usual) + df * log(scale)) / (2 + df)), least)
    return (mean_new - mean_old) / (shrunk * sqrt(1 / m + 1 / n))


def gate_p(old, new, margin: float) -> tuple[list[float], list[float]]:
    """Statistics beyond the margin, and adjusted p, of boots x keys of positive readings."""
    keys, m, n = len(old[0]), len(old), len(new)
    both = []
    for moved in (0.0, log(1 + margin)):
        columns, least, variance = [], [], []
        for j in range(keys):
            raw = [row[j] for row in [*old, *new]]
            z = [log(v) + (moved if i < m else 0) for i, v in enumerate(raw)]
            floor = max(0.001, log(1 + 1 / _middle(raw)) / sqrt(6))
            med = _middle(z)
            reach = 3 * max(1.4826 * _middle([abs(v - med) for v in z]), floor)
            z = [min(max(v, med - reach), med + reach) for v in z]
            mean = sum(z) / len(z)
            columns.append(z)
            least.append(floor)
            variance.append(sum((v - mean) ** 2 for v in z) / (len(z) - 1))
        usual = sqrt(_middle(variance)) if _middle(variance) > 0 else least[-1]

        def all_t(chosen, columns=columns, least=least, usual=usual) -> list[float]:
            rest = [i for i in range(m + n) if i not in chosen]
            return [
                _statistic([z[i] for i in chosen], [z[i] for i in rest], usual, floor)
                for z, floor in zip(columns, least, strict=True)
            ]

        seen = all_t(tuple(range(m, m + n)))
        ways = [all_t(chosen) for chosen in combinations(range(m + n), n)]
        order = sorted(range(keys), key=lambda j: -seen[j])
        p, running = [0.0] * keys, 0.0
        for place, j in enumerate(order):
            far = sum(max(t[k] for k in order[place:]) >= seen[j] - 1e-12 for t in ways)
            running = max(running, far / len(ways))
            p[j] = running
        both.append((seen, p))
    return both[1][0], [max(a, b) for a, b in zip(both[0][1], both[1][1], strict=True)]


def single_p(old, new) -> list[float]:
    """Two-sided p of one new boot of several keys of one metric, by the residuals of old boots.

    Once in units of a scatter that is drawn to the middle one of all keys, once of each key's own;
    the larger p of either
    direction counts.
    """
    keys = len(new)

    def fit(rows, prior):
        centre, scale = [], []
        for j in range(keys):
            z = [log(row[j]) for row in rows]
            mean = sum(z) / len(z)
            sd = sqrt(sum((v - mean) ** 2 for v in z) / (len(z) - 1))
            centre.append(_middle(z))
            scale.append(max(sd, 0.001, log(1 + 1 / exp(centre[-1])) / sqrt(6)))
        usual, df = _middle([log(s) for s in scale]), len(rows) - 1
        return centre, [exp((df * log(s) + prior * usual) / (df + prior)) for s in scale]

    up, down = [0.0] * keys, [0.0] * keys
    for prior in (2, 0):
        reference = []
        for i, left in enumerate(old):
            centre, scale = fit([row for k, row in enumerate(old) if k != i], prior)
            reference += [(log(left[j]) - centre[j]) / scale[j] for j in range(keys)]
        centre, scale = fit(old, prior)
        for j in range(keys):
            z = (log(new[j]) - centre[j]) / scale[j]
            slack = 1e-9 * (1 + abs(z))
            above = (1 + sum(r >= z - slack for r in reference)) / (1 + len(reference))
            below = (1 + sum(r <= z + slack for r in reference)) / (1 + len(reference))
            up[j], down[j] = max(up[j], above), max(down[j], below)
    return [min(1.0, 2 * min(a, b)) for a, b in zip(up, down, strict=True)]


def drift_p(old, new) -> tuple[float, float]:
    """Statistic and p of a drift inside the sides, boots x keys, over all orders of boots."""
    keys = len(old[0])

    def standard(values):
        mean = sum(values) / len(values)
        sd = sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        return [(v - mean) / sd if sd > 0 else 0.0 for v in values]

    def ranks(values):
        return standard([
            sum(w < v for w in values) + (sum(w == v for w in values) - 1) / 2 for v in values
        ])  # fmt: skip

    sides = [[ranks([row[j] for row in side]) for j in range(keys)] for side in (old, new)]
    places = [
        [v / sqrt(len(side)) for v in standard(list(range(len(side))))] for side in (old, new)
    ]

    def total(orders) -> float:
        u = [
            sum(
                places[s][at] * sides[s][j][boot]
                for s in range(2)
                for at, boot in enumerate(orders[s])
            )
            for j in range(keys)
        ]
        return sum(v * v for v in u)

    seen = total([list(range(len(old))), list(range(len(new)))])
    every = list(product(permutations(range(len(old))), permutations(range(len(new)))))
    return seen, sum(total(one) >= seen * (1 - 1e-9) - 1e-12 for one in every) / len(every)


def change(x) -> float:
    """The most that one step saves, or half of what two save; inner segments of two or more."""

    def cost(part) -> float:
        return sum(abs(v - median(part)) for v in part)

    n, whole, one, two = len(x), cost(x), Fraction(0), Fraction(0)
    for i in range(1, n):
        one = max(one, whole - cost(x[:i]) - cost(x[i:]))
        for j in range(i + 2, n):
            two = max(two, whole - cost(x[:i]) - cost(x[i:j]) - cost(x[j:]))
    return float(max(one, two / 2))
