"""Other tools judge the same medians: pyperf loads them, an independent U test agrees."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from scipy import stats

import tickgauge as tg
from tickgauge.cli import main

DATA = Path(__file__).resolve().parents[1] / "data" / "stats"
SIDES = [str(DATA / f"tfa-{v}.json.gz") for v in ("2.12", "2.14")]


def samples(path, capsys):
    assert main(["show", path, "--format", "gobench"]) == 0
    found: dict[str, list[float]] = {}
    for line in capsys.readouterr().out.splitlines():
        match = re.fullmatch(r"(Benchmark[A-Z]\S*[a-z]) 1 (\S+) ns/op", line)
        if match:
            found.setdefault(match[1], []).append(float(match[2]))
        else:
            assert re.fullmatch(r"[a-z][^A-Z ]*: .*", line)  # a configuration line
    return found


def test_the_u_test_of_the_exported_samples_is_ours(capsys):
    old, new = (samples(path, capsys) for path in SIDES)
    name = "BenchmarkSusp_deep_serial/cache_flush/0,1/x"
    assert len(old[name]) == len(new[name]) == 15
    theirs = stats.mannwhitneyu(old[name], new[name], method="exact").pvalue
    made = tg.compare(*SIDES)
    row = next(r for r in made.to_records() if r["key"] == "susp_deep_serial cache_flush 0,1")
    assert row["p"] == pytest.approx(theirs)


def test_pyperf_loads_the_benchmarks(capsys, tmp_path):
    pyperf = pytest.importorskip("pyperf")
    assert main(["show", SIDES[1], "--format", "pyperf", "-o", str(tmp_path / "new.json")]) == 0
    suite = pyperf.BenchmarkSuite.load(str(tmp_path / "new.json"))
    bench = suite.get_benchmark("susp_deep_serial cache_flush 0,1")
    assert bench.get_nrun() == 15
    assert bench.median() == pytest.approx(204496e-9)
    assert json.loads((tmp_path / "new.json").read_text())["metadata"]["unit"] == "second"
