"""Several new sides in order: at which of them a key changed, and between which it may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .labels import length_text, places_text
from .result import Comparison

__all__ = ["Change", "changes_of"]


@dataclass(frozen=True)
class Change:
    """Keys of one test and metric that changed at the same side, in one direction.

    Attributes
    ----------
    at : str
        The first side that is shown to differ from OLD.
    after : str
        The last side before it that is shown to be like OLD, or to change by less, or OLD: the
        change lies behind it.
    open : list of str
        Sides between the two, which may have the change or not.
    likely : str
        Of `open` and `at` the side with the largest step of the medians.
    back : str
        The first side behind `at` that is like OLD again; "" for none.
    up : bool
        Slower, or larger.
    title : str
        Test and metric.
    keys : list of str
    sentence : str
    """

    at: str
    after: str
    open: list[str]
    likely: str
    back: str
    up: bool
    title: str
    keys: list[str]
    sentence: str


def _direction(row: dict[str, Any] | None) -> int | None:
    """1 up, -1 down, 0 like OLD, None for open."""
    if row is None or row["verdict"] not in ("regressed", "improved", "changed", "equivalent"):
        return None
    if row["verdict"] == "equivalent":
        return 0
    return 1 if row["shift"] > 0 else -1


def _apart(row: dict[str, Any] | None, changed: dict[str, Any]) -> bool:
    """Whether the interval of a side ends before that of the changed one begins: it lacks it."""
    if row is None or row["level"] is None or changed["level"] is None:
        return False
    up = changed["shift"] > 0
    return bool(row["hi"] < changed["lo"] if up else row["lo"] > changed["hi"])


def _place(rows: Sequence[dict[str, Any] | None]) -> tuple[int, int, int, int, int] | None:
    """First side that differs, last one like OLD before it, likely one, first one back, direction.

    Sides count from 0; -1 is OLD, or none.
    """
    turns = [_direction(row) for row in rows]
    at = next((i for i, turn in enumerate(turns) if turn), None)
    if at is None:
        return None
    first = rows[at]
    assert first is not None
    after = max((i for i in range(at) if turns[i] == 0 or _apart(rows[i], first)), default=-1)
    back = next((i for i in range(at + 1, len(turns)) if turns[i] == 0), -1)
    medians = [first["old"], *(None if row is None else row["new"] for row in rows)]
    likely, size = at, -1.0
    for i in range(after + 1, at + 1):
        before = next((m for m in reversed(medians[: i + 1]) if m is not None), None)
        if medians[i + 1] is None or before is None:
            continue
        step = (medians[i + 1] - before) * (turns[at] or 1)
        if step > size:
            likely, size = i, step
    return at, after, likely, back, turns[at] or 1


def changes_of(
    comparisons: Sequence[Comparison], names: Sequence[str], old: str = "OLD"
) -> list[Change]:
    """At which of several ordered sides the keys changed.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Of each new side with one baseline, in order, as `compare_all` gives them.
    names : sequence of str
        Of the new sides.
    old : str
        Of the baseline.

    Returns
    -------
    list of Change
        In order of the sides.
    """
    tables = [{row["key"]: row for row in made.rows} for made in comparisons]
    keys = dict.fromkeys(key for table in tables for key in table)
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for key in keys:
        place = _place([table.get(key) for table in tables])
        if place is None:
            continue
        row = tables[place[0]][key]
        name = tuple(row[n] for n in ("test", "operation", "metric", "labels", "quantile"))
        found.setdefault((*place, name), []).append(row)
    out: list[Change] = []
    for (at, after, likely, back, turn, name), rows in sorted(found.items(), key=lambda i: i[0][0]):
        title = " ".join(str(w) for w in name[:-1] if w)
        places = [r["key"].removesuffix(f" @p{name[-1]}").removeprefix(title) for r in rows]
        title += "" if name[-1] == 50 else f" @p{name[-1]}"
        undecided = [names[i] for i in range(after + 1, at)]
        before = old if after < 0 else names[after]
        out.append(
            Change(
                names[at], before, undecided, names[likely], names[back] if back >= 0 else "",
                turn > 0, title, [r["key"] for r in rows],
                _sentence(rows, places, title, names[at], before, undecided, names[likely],
                          names[back] if back >= 0 else "", turn),
            )
        )  # fmt: skip
    return out


def _sentence(
    rows: Sequence[dict[str, Any]],
    places: Sequence[str],
    title: str,
    at: str,
    before: str,
    undecided: Sequence[str],
    likely: str,
    back: str,
    turn: int,
) -> str:
    where = places_text(place.strip() for place in places)
    first = rows[0]
    size = f"{length_text(first['old'], first['shown'])} to "
    size += length_text(first["new"], first["shown"])
    text = f"changes at {at}: {title}" + (f" ({where})" if where else "")
    text += f" {'up' if turn > 0 else 'down'}, {size}"
    if undecided:
        text += f"; it lies behind {before}, at {at} or before: {', '.join(undecided)} not decided"
        text += f", most likely at {likely}" if likely != at else ""
    else:
        text += f"; between {before} and {at}"
    return f"{text}; back at {back}" if back else text
