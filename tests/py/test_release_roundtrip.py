"""What the tables print is read back as it was, for any values, boards and styles."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tickgauge.boards.platforms import Cpu, Platform, load
from tickgauge.tfa.audit import audit
from tickgauge.tfa.join import Side, SideRow, SideTable, join
from tickgauge.tfa.model import TESTS
from tickgauge.tfa.pages import read_published
from tickgauge.tfa.tables import build

BOARDS = [load()["juno"], load()["n1sdp"]]


def _metrics(test: str) -> tuple[str, ...]:
    return ("latency",) if "version" in test else ("powerdown", "wakeup", "cache_flush")


@st.composite
def sides(draw: st.DrawFn, board: Platform, name: str) -> Side:
    """A whole release on a board; every value is a whole number of its ticks."""
    ticks = st.integers(min_value=1, max_value=10**7)
    tables = {}
    for test in TESTS:
        rows = tuple(
            SideRow(str(c), c, {m: 20 * draw(ticks) for m in _metrics(test)}) for c in board.cpus
        )
        tables[test] = SideTable(test, _metrics(test), rows)
    return Side(name, "console", board.name, board.clock_hz, "", tables, cpus=board.cpus)


def _values(side: Side) -> dict[str, dict[Cpu | None, dict[str, int]]]:
    return {t: {r.cpu: dict(r.values) for r in table.rows} for t, table in side.tables.items()}


@settings(max_examples=8, deadline=None)
@given(st.data(), st.sampled_from(BOARDS), st.sampled_from(["ns", "us"]))
def test_rst_reads_back_and_audits_right(data: st.DataObject, board: Platform, unit: str) -> None:
    old, new = (data.draw(sides(board, name)) for name in ("v2.15", "v2.16"))
    assume(_values(old) != _values(new))  # equal ones are a reprint: one data set
    threshold = data.draw(st.sampled_from([0.01, 0.02, 0.25]))
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.rst"
        first = build(join(old, old), release="v2.15", threshold=1 - 1e-9, unit=unit)
        second = build(join(old, new), release="v2.16", threshold=threshold, unit=unit)
        page.write_text(f"{board.name}\n{'=' * 8}\n\n{first.to_rst()}\n\n{second.to_rst()}")
        before, after = read_published(page)
        assert (before.unit, before.label, after.label) == (unit, "v2.15", "v2.16")
        assert before.platform is not None and before.platform.name == board.name
        assert _values(Side.of_release(before)) == _values(old)
        assert _values(Side.of_release(after)) == _values(new)
        found = audit(before, after)["v2.16"]
        if found.state != "baseline not given":  # half of the cells need a delta to tell
            assert found.wrong == []


@settings(max_examples=8, deadline=None)
@given(st.data(), st.sampled_from(BOARDS))
def test_csv_reads_back(data: st.DataObject, board: Platform) -> None:
    old, new = (data.draw(sides(board, name)) for name in ("v2.15", "v2.16"))
    made = build(join(old, new), release="v2.16")
    with TemporaryDirectory() as folder:
        base = Path(folder) / board.name / "current"
        base.mkdir(parents=True)
        for name, text in made.to_csv().items():
            (base / name).write_text(text)
        (release,) = read_published(base)
        assert _values(Side.of_release(release)) == _values(new)
        one = Path(folder) / board.name / "all.csv"
        one.write_text(made.to_tfa_csv())
        (again,) = read_published(one)
        assert _values(Side.of_release(again)) == _values(new)
