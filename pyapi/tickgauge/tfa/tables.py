"""Release tables out: the pages' cells from two joined sides, in the forms a page is made of."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .delta import DEFAULT_THRESHOLD, close, number_text, percent
from .join import Join, JoinedTable, SideRow, SideTable
from .model import METRICS, TESTS, exchange_class

__all__ = ["STYLES", "ReleaseTable", "ReleaseTables", "block_figures", "build"]

STYLES = ("tfa-csv", "rst", "md", "html")
MISSING = "-"
_UNITS = {"ns": "ns", "us": "µs"}


def block_figures(values: Sequence[int], exchange: str) -> dict[str, int]:
    """Figures that the labels of a parallel test cannot change: min and max, and the lock ladder.

    Parameters
    ----------
    values
        Whole ns of all cpus of a block, in any order.
    exchange
        Class of exchange; the ladder is given for ``"all"``.

    Returns
    -------
    dict
        ``base`` and ``step`` of the least-squares line a + b*rank through the sorted values
        (rank from 0), rounded half to even to whole ns, not where the line begins below 0; ``min``
        and ``max``. Empty for no values.

    Notes
    -----
    Cpus that queue for one lock finish one after the other: the first after *a*, each next *b*
    later. Ordinary least squares on exact fractions.
    """
    if not values:
        return {}
    ordered = sorted(values)
    found: dict[str, int] = {}
    n = len(ordered)
    if exchange == "all" and n >= 2:
        mean_rank = Fraction(n - 1, 2)
        mean = Fraction(sum(ordered), n)
        top = sum(((k - mean_rank) * (v - mean) for k, v in enumerate(ordered)), Fraction(0))
        bottom = sum(((k - mean_rank) ** 2 for k in range(n)), Fraction(0))
        step = top / bottom
        base = round(mean - step * mean_rank)
        found = {"base": base, "step": round(step)} if base >= 0 else {}
    return {**found, "min": ordered[0], "max": ordered[-1]}


@dataclass(frozen=True)
class ReleaseTable:
    """One table as text: two label columns, then one column a metric.

    ``rows`` has a row per cpu, sorted by cpu; ``summary`` those over the block of a parallel test,
    where they were asked for; ``values`` the numbers behind the rows: (old, new) in ns by metric,
    None where missing. ``printed`` has the place in ``rows`` and the two labels of each row of the
    new side, in the order in which its source has them. ``fault`` is why the table should not be
    published, or empty.
    """

    test: str
    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    summary: tuple[tuple[str, ...], ...]
    values: tuple[dict[str, tuple[int | None, int | None]], ...] = ()
    printed: tuple[tuple[int, str, str], ...] = ()
    fault: str = ""

    @property
    def file(self) -> str:
        """The name of its CSV file in a page's data folder."""
        return f"test_rt_instr_{self.test}.csv" if self.test in TESTS else f"{self.test}.csv"

    def all_rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows of the cpus, then those over the block."""
        return self.rows + self.summary

    def to_text(self) -> str:
        """Aligned for a terminal, under its caption."""
        rows = [self.headers, *self.all_rows()]
        widths = [max(len(r[k]) for r in rows) for k in range(len(self.headers))]
        lines = [
            "  "
            + "  ".join(
                f"{c:<{w}}" if k < 2 else f"{c:>{w}}"
                for k, (c, w) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.caption.replace("``", ""), *lines]) + "\n"

    def to_csv(self) -> str:
        """As the pages' CSV: no header, every field quoted, rows and labels as the source has them.

        Only whole rows of numbers: a script of the next release reads every row as such.
        """
        out = io.StringIO()
        writer = csv.writer(out, dialect="unix")
        for at, cluster, core in self.printed:
            cells = self.rows[at][2:]
            if MISSING not in cells:
                writer.writerow((cluster, core, *cells))
        return out.getvalue()

    def _directive(self, caption: str, *options: str) -> str:
        widths = ", ".join(["1", "1", *(["3" if len(self.headers) > 3 else "2"] * self._metrics)])
        lines = [f".. csv-table:: {caption}", f":header: {', '.join(self.headers)}",
                 ":width: 95%", f":widths: {widths}", *options]  # fmt: skip
        return "\n    ".join(lines) + "\n"

    @property
    def _metrics(self) -> int:
        return len(self.headers) - 2

    def to_rst(self) -> str:
        """As the pages' ``csv-table`` directive, with its caption and the rows in it."""
        out = io.StringIO()
        csv.writer(out, dialect="unix").writerows(self.all_rows())
        body = "".join(f"    {line}\n" for line in out.getvalue().splitlines())
        return f"{self._directive(self.caption)}\n{body}"

    def to_page(self, data: str, title: str) -> str:
        """The two directives of a page that show this table from the files below `data`."""
        return "\n".join(
            self._directive(f"{title} ({name} release)", f":file: {data}/{name}/{self.file}")
            for name in ("current", "previous")
        )

    def to_md(self) -> str:
        """As a Markdown table under its caption."""
        clean = self.caption.replace("``", "`")
        out = [f"**{clean}**", "", "| " + " | ".join(self.headers) + " |"]
        out.append("|" + "|".join(["---:"] * len(self.headers)) + "|")
        out += ["| " + " | ".join(row) + " |" for row in self.all_rows()]
        return "\n".join(out) + "\n"

    def to_html(self) -> str:
        """As an HTML table; every text is escaped."""

        def cells(row: Iterable[str], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in row)

        caption = html.escape(self.caption.replace("``", ""))
        rows = "\n".join(f"<tr>{cells(r, 'td')}</tr>" for r in self.all_rows())
        return (
            f"<table>\n<caption>{caption}</caption>\n<thead><tr>{cells(self.headers, 'th')}</tr>"
            f"</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
        )


@dataclass
class ReleaseTables:
    """The tables of a release against the one before.

    ``notes`` states the basis of the figures: platform maps, missing cpus, boots. ``faults``
    are reasons not to publish them: a test that failed, hung or lacks a cpu.
    """

    old: str
    new: str
    unit: str
    threshold: float | None
    tables: list[ReleaseTable]
    notes: list[str] = field(default_factory=list)
    commit: str = ""
    true_ids: bool = True
    faults: list[str] = field(default_factory=list)

    def __getitem__(self, test: str) -> ReleaseTable:
        for table in self.tables:
            if table.test == test:
                return table
        raise KeyError(f"{test!r}; there are {', '.join(t.test for t in self.tables)}")

    @property
    def heading(self) -> str:
        """One line: which release, against which, unit and threshold."""
        sha = f" ({self.commit})" if self.commit else ""
        rule = (
            "all changes"
            if self.threshold is None
            else f"changes beyond {100 * self.threshold:g} %"
        )
        return f"{self.new}{sha} against {self.old}, {self.unit}, {rule}"

    def to_text(self) -> str:
        """All tables for a terminal, the notes below."""
        notes = "".join(f"note: {note}\n" for note in self.notes)
        return "\n".join([self.heading + "\n", *(t.to_text() for t in self.tables), notes])

    def to_records(self) -> list[dict[str, Any]]:
        """One cell a row: test, cluster, core, metric, old and new in ns, change in percent,
        and the cell as printed.
        """
        found = []
        for table in self.tables:
            for row, values in zip(table.rows, table.values, strict=True):
                for text, (metric, (old, new)) in zip(row[2:], values.items(), strict=True):
                    change = None if not old or new is None else 100 * (new - old) / old
                    found.append(
                        {
                            "test": table.test, "cluster": row[0], "core": row[1],
                            "metric": metric, "old_ns": old, "new_ns": new,
                            "change_percent": change, "printed": text,
                        }
                    )  # fmt: skip
        return found

    def to_csv(self) -> dict[str, str]:
        """The CSV files by name."""
        return {t.file: t.to_csv() for t in self.tables}

    def to_tfa_csv(self) -> str:
        """All CSV files one after the other, each under a ``#`` line with its name."""
        return "\n".join(f"# {t.file}\n{t.to_csv()}" for t in self.tables)

    def to_rst(self) -> str:
        """All tables as RST, the notes as comments."""
        head = [f".. {self.heading}"] + (
            [".. tickgauge: true cpu ids"] if self.true_ids else []
        )  # fmt: skip
        head += [f".. note: {note}" for note in self.notes]
        return "\n\n".join([*head, *(t.to_rst() for t in self.tables)])

    def to_page(self, data: str) -> str:
        """The directives of a page that show all tables from the files below `data`."""
        titles = {t.test: _title(t.test, self.unit) for t in self.tables}
        return "\n".join(t.to_page(data, titles[t.test]) for t in self.tables)

    def to_md(self) -> str:
        """All tables as Markdown, the notes below."""
        notes = "".join(f"- {note}\n" for note in self.notes)
        tables = "\n".join(t.to_md() for t in self.tables)
        return f"{self.heading}\n\n{tables}" + (f"\n{notes}" if notes else "")

    def to_html(self) -> str:
        """All tables as an HTML fragment."""
        notes = "".join(f"<li>{html.escape(n)}</li>" for n in self.notes)
        tables = "".join(t.to_html() for t in self.tables)
        return f"<p>{html.escape(self.heading)}</p>\n{tables}" + (
            f"<ul>{notes}</ul>\n" if notes else ""
        )

    def text(self, style: str) -> str:
        """All tables in one of `STYLES`, or ``"text"``."""
        forms = {
            "text": self.to_text, "tfa-csv": self.to_tfa_csv, "rst": self.to_rst,
            "md": self.to_md, "html": self.to_html,
        }  # fmt: skip
        if style not in forms:
            raise ValueError(f"style is one of {', '.join(STYLES)}, not {style!r}")
        return forms[style]()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        cells = sum(len(t.rows) * (len(t.headers) - 2) for t in self.tables)
        return f"<release tables: {self.heading}; {len(self.tables)} tables, {cells} cells>"


def _cell(old: int | None, new: int | None, unit: str, threshold: float | None) -> str:
    if new is None:
        return MISSING
    text = number_text(new, unit)
    if old is None:
        return text
    before, after = float(number_text(old, unit)), float(text)
    if close(before, after, threshold):
        return text
    return f"{text} ({percent(before, after)})"


def _value(row: SideRow | None, metric: str) -> int | None:
    return row.values.get(metric) if row else None


def _values(table: SideTable | None, metric: str) -> list[int]:
    return [r.values[metric] for r in table.rows if metric in r.values] if table else []


def _summary(table: JoinedTable, unit: str, threshold: float | None) -> tuple[tuple[str, ...], ...]:
    """Rows over the block of a parallel test; a change only where both blocks are whole."""
    columns: list[tuple[dict[str, int], dict[str, int]]] = []
    for metric in table.metrics:
        exchange = exchange_class(table.test, metric)
        new, old = _values(table.new, metric), _values(table.old, metric)
        whole = len(new) == len(old) == len(table.rows)
        columns.append(
            (block_figures(new, exchange), block_figures(old, exchange) if whole else {})
        )
    rows = []
    for name in ("base", "step", "min", "max"):
        cells = [_cell(old.get(name), new.get(name), unit, threshold) for new, old in columns]
        if any(c != MISSING for c in cells):
            rows.append((name, "", *cells))
    return tuple(rows)


def _title(test: str, unit: str) -> str:
    return TESTS.get(test, f"{test} latencies ({{u}})").format(u=_UNITS[unit])


def _caption(test: str, unit: str, release: str, boots: int, fault: str) -> str:
    several = f", lower median of {boots} boots" if boots > 1 else ""
    marked = f", NOT TO BE PUBLISHED: {fault}" if fault else ""
    return f"{_title(test, unit)} ({release}{several}{marked})"


def _printed(table: JoinedTable) -> tuple[tuple[int, str, str], ...]:
    """Place in the joined rows, and labels, of the rows of the new side in their own order."""
    place = {id(row.new): at for at, row in enumerate(table.rows) if row.new is not None}
    return tuple(
        (place[id(row)], *_label(row.printed)) for row in table.new.rows if id(row) in place
    )


def _label(text: str) -> tuple[str, str]:
    """Cluster and core of a label; one that is something else stands alone."""
    cluster, _, core = text.partition(",")
    return cluster, core


def build(
    joined: Join,
    *,
    release: str | None = None,
    commit: str = "",
    threshold: float | None = DEFAULT_THRESHOLD,
    unit: str | None = None,
    summary: bool = False,
) -> ReleaseTables:
    """The cells of the pages from two joined sides.

    Parameters
    ----------
    joined
        From `join`.
    release, commit
        The name of the new side in captions; by default its own name.
    threshold
        A change stands where it exceeds this share of the larger value; None prints all.
    unit
        ``"ns"`` or ``"us"``, by default us where both sides were published in us. The change is
        computed in binary64 from the numbers as this unit prints them, as the pages did.
    summary
        Whether parallel tests get rows over all cpus: base, step, min, max.
    """
    if threshold is not None and not 0 <= threshold < 1:
        raise ValueError("threshold is a share of at least 0 and below 1, or None")
    if unit is None:
        unit = "us" if joined.old.unit == joined.new.unit == "us" else "ns"
    if unit not in _UNITS:
        raise ValueError(f"unit is 'ns' or 'us', not {unit!r}")
    name = release or joined.new.name
    done: list[ReleaseTable] = []
    for table in joined.tables:
        rows = []
        values = []
        for row in table.rows:
            cells = [
                _cell(_value(row.old, m), _value(row.new, m), unit, threshold)
                for m in table.metrics
            ]
            rows.append((*_label(row.label), *cells))
            values.append({m: (_value(row.old, m), _value(row.new, m)) for m in table.metrics})
        headers = ("Cluster", "Core", *(METRICS.get(m, m) for m in table.metrics))
        parallel = table.test.endswith("_parallel") and joined.how == "cpu"
        fault = joined.new.faults.get(table.test, "")
        done.append(
            ReleaseTable(
                table.test, _caption(table.test, unit, name, joined.new.boots, fault), headers,
                tuple(rows), _summary(table, unit, threshold) if parallel and summary else (),
                tuple(values), _printed(table), fault,
            )
        )  # fmt: skip
    return ReleaseTables(
        joined.old.name, name, unit, threshold, done, list(joined.notes), commit,
        joined.how == "cpu", joined.faults(),
    )  # fmt: skip
