"""Release tables out of the history of a checkout: a small repository with the published tables."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tfa_pages as pages
import tickgauge as tg
from tickgauge.errors import InputError

#: Each release of N1SDP, and the commit that published it.
N1SDP = {
    "v2.10": "fe7d06a67",
    "v2.11": "e9c335fbd",
    "v2.12": "012cc2cb6",
    "v2.13": "08e6f24b7",
    "v2.14": "02e82d024",
}


def git(folder: Path, *arguments: str) -> str:
    environment = {
        **os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One commit and tag a release: a page up to v2.13, then data folders."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    top = tmp_path_factory.mktemp("checkout")
    git(top, "init", "-q")
    perf = top / "docs" / "perf"
    perf.mkdir(parents=True)
    (perf / "tsp.rst").write_text("Test\n====\n\nNo table at all.\n")
    current = perf / "data" / "n1sdp" / "current"
    for number, (label, commit) in enumerate(N1SDP.items()):
        rows = pages.cells(commit, "n1sdp", label)
        if label == "v2.14":
            (perf / "psci-performance-n1sdp.rst").unlink()
            pages.write_folder(current, rows, quoted=True)
            old = pages.cells("02e82d024", "n1sdp", "v2.13")
            pages.write_folder(current.parent / "previous", old, quoted=True)
        else:
            text = page(label, rows)
            (perf / "psci-performance-n1sdp.rst").write_text(text)
        git(top, "add", "-A")
        day = f"2026-01-0{number + 1}T00:00:00Z"
        os.environ["GIT_COMMITTER_DATE"] = day
        try:
            git(top, "commit", "-q", "-m", f"perf: {label}")
            git(top, "tag", f"{label}-rc0")
            git(top, "tag", label)
        finally:
            del os.environ["GIT_COMMITTER_DATE"]
    return top


def page(label: str, rows: list[pages.Row]) -> str:
    """A page of N1SDP with the tables of one release."""
    out = ["Runtime Instrumentation Testing - N1SDP", "=" * 40, ""]
    for test in pages.TESTS:
        lines = pages.grid(rows, test)
        names = ", ".join(pages.HEADERS[cell["metric"]] for cell in lines[0])
        out += [f".. csv-table:: test_rt_instr_{test} (ns) ({label})",
                f"    :header: Cluster, Core, {names}", ""]  # fmt: skip
        for line in lines:
            cells = [line[0]["cluster"], line[0]["core"], *map(pages.text_of, line)]
            out.append("    " + ",".join(f'"{cell}"' for cell in cells))
        out.append("")
    return "\n".join(out)


def values(label: str) -> list[int]:
    return sorted(int(r["value_ns"]) for r in pages.cells(N1SDP[label], "n1sdp", label))


def test_a_range_is_the_releases_between_its_ends(checkout: Path) -> None:
    data = tg.read(f"{checkout}/docs/perf@v2.10..v2.14", platform="n1sdp")
    assert data.boots["version"].tolist() == list(N1SDP)
    for boot, label in enumerate(N1SDP):
        got = data.readings.select(boot=boot)
        assert sorted(int(ns) for ns in got.ns.tolist()) == values(label)
    part = tg.read(f"{checkout}/docs/perf@v2.11..v2.13", platform="n1sdp")
    assert part.boots["version"].tolist() == ["v2.11", "v2.12", "v2.13"]


def test_one_revision_of_a_folder(checkout: Path) -> None:
    data = tg.read(f"{checkout}/docs/perf@v2.12", platform="n1sdp")
    assert data.boots["version"].tolist() == ["v2.12"]
    tables = tg.tables(f"{checkout}/docs/perf@v2.13", f"{checkout}/docs/perf@v2.14", threshold=None)
    assert (tables.old, tables.new) == ("v2.13", "v2.14")
    assert len(tables.to_records()) == 64


def test_a_trend_needs_no_hand_picked_files(checkout: Path) -> None:
    trend = tg.trend(f"{checkout}/docs/perf@v2.10..v2.14")
    assert list(trend.releases) == list(N1SDP)


def test_ends_that_are_no_revisions_are_told(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no revision 'v9\.9' in this repository"):
        tg.read(f"{checkout}/docs/perf@v2.10..v9.9")
    with pytest.raises(InputError, match=r"no revision '--output=x'"):
        tg.read(f"{checkout}/docs/perf@v2.10..--output=x")
    with pytest.raises(InputError, match=r"no release table at v2\.10"):
        tg.read(f"{checkout}/docs/perf/tsp.rst@v2.10..v2.10")
    assert git(checkout, "status", "--porcelain") == ""
