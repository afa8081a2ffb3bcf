"""Labels of keys and lengths, as tables and sentences show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..util.text import counted
from .side import Key

__all__ = [
    "apart",
    "few",
    "label_of",
    "length_text",
    "places_text",
    "two_lengths",
    "units_word",
    "where_of",
]


def label_of(key: Key, rank: tuple[int, int] | None) -> str:
    """A key as one short text: test, metric, operation, labels, cpu."""
    words = [w for w in (key.test, key.operation, key.metric, key.labels) if w]
    return " ".join([*map(str, words), where_of(key, rank)]).strip()


def where_of(key: Key, rank: tuple[int, int] | None) -> str:
    """The cpu, or the rank among cpus that may be interchanged."""
    if rank is not None:
        at, n = rank
        cluster = "" if key.cluster is None else f"cluster {key.cluster} "
        deep = key.cluster is not None and "deep" in (key.test or "")
        if key.metric == "cache_flush" and deep and at == n - 1:
            return f"{cluster}last down"
        return f"{cluster}rank {at + 1} of {n}"
    kind, *value = key.where
    if kind == "core":
        return f"{value[0]},{value[1]}"
    if kind in ("cpu", "part"):
        names = ("cpu", "cluster", "core") if kind == "cpu" else ("cluster", "core", "")
        words = [f"{n} {v}".strip() for n, v in zip(names, value, strict=True) if v is not None]
        return " ".join(words)
    return str(value[0] or "")


def length_text(value: float | None, shown: str | None, like: float | None = None) -> str:
    """A length in the unit that is shown; times in the unit that fits their size, or `like`'s."""
    if value is None:
        return "-"
    if shown == "ns":
        size = abs(value if like is None else like)
        for limit, divisor, unit in ((1e4, 1, "ns"), (1e7, 1e3, "us"), (1e10, 1e6, "ms")):
            if size < limit:
                return (
                    f"{value / divisor:.{0 if divisor == 1 and value == int(value) else 1}f} {unit}"
                )
        return f"{value / 1e9:.2f} s"
    return f"{value:g} {shown or ''}".strip()


def two_lengths(old: float | None, new: float | None, shown: str | None) -> tuple[str, str]:
    """Two lengths as they stand side by side: those of like size in one unit, the finer."""
    like = None
    if old is not None and new is not None:
        small, large = sorted((abs(old), abs(new)))
        like = small if large < 10 * small else None
    return length_text(old, shown, like), length_text(new, shown, like)


_RANK = re.compile(r"(.*)rank ([0-9]+) of ([0-9]+)")


def places_text(places: Iterable[str], most: int = 4) -> str:
    """Places of one metric in a line: ranks of one cluster together, the rest counted."""
    groups: dict[str, list[str]] = {}
    for place in sorted(filter(None, places)):
        found = _RANK.fullmatch(place)
        name = place if found is None else f"{found[1]}rank \0 of {found[3]}"
        groups.setdefault(name, []).append("" if found is None else found[2])
    known = [name.replace("\0", ", ".join(ranks)) for name, ranks in groups.items()]
    if len(known) <= most:
        return "; ".join(known)
    return f"{'; '.join(known[: most - 1])} and {len(known) - most + 1} more"


def _unlike_ranks(unmatched: dict[str, list[str]]) -> tuple[list[str], dict[str, list[str]]]:
    """Keys that both sides have among unlike numbers of cpus, a sentence each; the other keys."""
    among: dict[str, dict[str, set[int]]] = {}
    for side, keys in unmatched.items():
        for match in filter(None, map(_RANK.fullmatch, keys)):
            among.setdefault(match[1], {}).setdefault(side, set()).add(int(match[3]))
    both = {name: sides for name, sides in among.items() if len(sides) == len(unmatched)}
    told = [
        f"{name.strip()}: "
        + ", ".join(
            f"{' or '.join(map(str, sorted(n)))} cpus in {side}" for side, n in sides.items()
        )
        + ": ranks among unlike numbers are not compared; a row may be torn or missing"
        for name, sides in both.items()
    ]
    rest = {
        side: [k for k in keys if (found := _RANK.fullmatch(k)) is None or found[1] not in both]
        for side, keys in unmatched.items()
    }
    return told, rest


def few(keys: Sequence[str]) -> str:
    """The first three keys, and how many more there are."""
    return ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")


def apart(unmatched: dict[str, list[str]], not_comparable: Sequence[tuple[str, str]]) -> list[str]:
    """A line a reason why keys were not compared, with the first of them.

    Parameters
    ----------
    unmatched : dict
        The keys that only that side has.
    not_comparable : sequence of (key, reason)
    """
    lines, rest = _unlike_ranks(unmatched)
    lines += [f"only in {side}: {few(keys)}" for side, keys in rest.items() if keys]
    reasons: dict[str, list[str]] = {}
    for key, reason in not_comparable:
        reasons.setdefault(reason, []).append(key)
    return lines + [
        f"not comparable ({counted(len(keys), 'key')}): {reason}: {few(keys)}"
        for reason, keys in reasons.items()
    ]


def units_word(unit: str, old: int, new: int) -> str:
    """The unit as every header states it."""
    return f"{unit} ({old} v {new})"
