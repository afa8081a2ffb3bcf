"""The audit of printed deltas, on the published figures and on planted errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfa_pages as pages
from tickgauge.tfa.audit import audit
from tickgauge.tfa.pages import read_published


def _folders(base: Path, platform: str, new: list[pages.Row], old: list[pages.Row]) -> Path:
    pages.write_folder(base / platform / "current", new, quoted=False)
    pages.write_folder(base / platform / "previous", old, quoted=False)
    return base / platform


def test_v2_15(tmp_path: Path) -> None:
    result = audit(pages.data_tree(tmp_path / "data"))
    juno, n1sdp = (r for r in result.releases if r.release.label == "current")
    assert (len(juno.wrong), juno.signs, juno.cells) == (94, 15, 96)
    assert (len(n1sdp.wrong), n1sdp.signs, n1sdp.cells) == (30, 3, 64)
    assert juno.threshold == n1sdp.threshold == 0.02
    assert juno.interval is not None and juno.interval.low <= 0.02 < juno.interval.high
    assert juno.paired == "row"
    assert all(w.cause.startswith("row order: compared with cpu") for w in result.wrong)
    for name, found in (("juno", juno), ("n1sdp", n1sdp)):
        right = {
            (r["test"][14:], f"{r['cluster']},{r['core']}", r["metric"]): r["correct_delta_pct"]
            for r in pages.corrected(name)
        }
        for wrong in found.wrong:
            assert wrong.change == right[wrong.test, wrong.cpu, wrong.metric] + "%"
            assert wrong.right in (None, wrong.change)
    flush = next(
        w
        for w in juno.wrong
        if (w.test, w.cpu, w.metric) == ("cpu_off_serial", "0,0", "cache_flush")
    )
    assert (flush.printed, flush.change) == ("+3508.15%", "-0.19%")
    assert flush.cause.endswith("cpu 1,2")
    assert any("0,0 1,0 0,0 1,0 read as cpu 0,0 0,1 1,0 1,1" in a for a in result.assumptions)
    assert result.exit_status == 1
    assert "94 of 96 cells wrong, 15 with the wrong sign" in result.to_text()


def test_v2_10_is_right() -> None:
    result = audit(pages.PAGE)
    found = result["v2.10"]
    assert (found.state, found.threshold, found.wrong) == ("right", 0.25, [])
    assert found.interval is not None and found.interval.low == 0.25
    assert result.exit_status == 0


def test_all_published_tables_at_once() -> None:
    result = audit(pages.DATA / "published.csv.gz")
    state = {r.release.name: r for r in result.releases}
    for name in ("n1sdp v2.10", "juno v2.10", "n1sdp v2.11", "n1sdp v2.14"):
        assert state[name].state == "right", name
    for name in ("juno v2.14", "n1sdp v2.12", "n1sdp v2.13"):
        assert state[name].state == "baseline not given", name
    assert len(state["juno v2.15"].wrong) == 94
    assert len(state["n1sdp v2.15"].wrong) == 30
    assert state["n1sdp v2.10"].unit == "us"
    assert result.exit_status == 1


def test_baseline_not_given(tmp_path: Path) -> None:
    new = pages.cells("970203555", "juno", "v2.14")
    old = pages.cells("94276a569", "juno", "v2.10")
    result = audit(_folders(tmp_path, "juno", new, old))
    assert result["current"].state == "baseline not given"
    assert result["current"].printed == 90
    assert result.exit_status == 3
    assert "baseline not given" in repr(result)


def test_no_deltas_is_nothing_to_tell(tmp_path: Path) -> None:
    rows = pages.cells("94276a569", "juno", "v2.9")
    result = audit(pages.write_folder(tmp_path / "juno", rows, quoted=False))
    assert result.exit_status == 3


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        ("+99.99", "not explained by any given table"),
        ("", "threshold: the change is large enough for a bracket"),
    ],
)
def test_one_planted_error(tmp_path: Path, printed: str, cause: str) -> None:
    new = pages.cells("02e82d024", "n1sdp", "v2.14")
    old = pages.cells("02e82d024", "n1sdp", "v2.13")
    cell = next(r for r in new if r["printed_delta_pct"] == "+3.74")
    cell["printed_delta_pct"] = printed
    found = audit(_folders(tmp_path, "n1sdp", new, old))["current"]
    (wrong,) = found.wrong
    assert (wrong.right, wrong.cause) == ("+3.74%", cause)
    assert found.threshold == 0.01


def test_a_small_change_that_got_a_bracket(tmp_path: Path) -> None:
    new = pages.cells("02e82d024", "n1sdp", "v2.14")
    old = pages.cells("02e82d024", "n1sdp", "v2.13")
    cell = next(
        r for r in new if not r["printed_delta_pct"] and r["test"].endswith("cpu_off_serial")
    )
    before = next(
        r
        for r in old
        if (r["test"], r["row"], r["metric"]) == (cell["test"], cell["row"], cell["metric"])
    )
    change = 100 * (int(cell["value_ns"]) - int(before["value_ns"])) / int(before["value_ns"])
    cell["printed_delta_pct"] = f"{change:+.2f}"
    (wrong,) = audit(_folders(tmp_path, "n1sdp", new, old))["current"].wrong
    assert wrong.right is None
    assert wrong.cause == "threshold: the change is too small for a bracket"


def test_wrong_baseline_and_wrong_row_are_named(tmp_path: Path) -> None:
    rows = {
        label: pages.cells(commit, "juno", label)
        for label, commit in (("v2.9", "94276a569"), ("v2.10", "94276a569"))
    }
    third = pages.cells("a3077ae1e", "juno", "v2.9(rc0)")

    def value(source: list[pages.Row], like: pages.Row, **other: str) -> int:
        want = {k: other.get(k, like[k]) for k in ("test", "cluster", "core", "metric")}
        (row,) = [r for r in source if all(r[k] == v for k, v in want.items())]
        return int(row["value_ns"])

    new = rows["v2.10"]
    for row in new:  # every delta, so that two planted ones do not decide the baseline
        old = value(rows["v2.9"], row)
        row["printed_delta_pct"] = f"{100 * (int(row['value_ns']) - old) / old:+.2f}"
    a, b = (r for r in new if r["metric"] == "wakeup" and r["test"].endswith("deep_serial")
            and r["core"] == "0")  # fmt: skip
    other = value(third, a)
    a["printed_delta_pct"] = f"{100 * (int(a['value_ns']) - other) / other:+.2f}"
    wrong_row = value(rows["v2.9"], b, core="1")
    b["printed_delta_pct"] = f"{100 * (int(b['value_ns']) - wrong_row) / wrong_row:+.2f}"
    base = _folders(tmp_path, "juno", new, rows["v2.9"])
    pages.write_folder(base / "rc0", third, quoted=False)
    found = audit(base)["current"]
    causes = {(w.cpu): w.cause for w in found.wrong}
    assert causes[f"{a['cluster']},{a['core']}"] == "other baseline: rc0"
    assert causes[f"{b['cluster']},{b['core']}"].startswith("row order: compared with cpu")
    assert found.threshold is None  # every cell has a bracket


def test_releases_already_read(tmp_path: Path) -> None:
    releases = read_published(pages.PAGE)
    assert audit(*releases).exit_status == 0
