"""Results of LAVA, as its views write them: each measurement once, with its job as boot."""

from __future__ import annotations

import csv
import io

import pytest

import tickgauge as tg
from tickgauge.cli import main

NAMES = ["job", "suite", "result", "measurement", "unit", "duration", "timeout", "logged"]
NAMES += ["level", "metadata", "url", "name", "id", "log_start_line", "log_end_line"]
#: job, suite, name, result, measurement, unit
CASES = [
    ("7", "lava", "validate", "pass", "0.0100000000", "seconds"),
    ("7", "0_latency", "wakeup", "pass", "41.5000000000", "us"),
    ("7", "0_latency", "boots", "pass", "None", ""),
    ("7", "0_latency", "suspend", "fail", "900.0000000000", "us"),
    ("7", "1_io", "wakeup", "pass", "7.2500000000", "ms"),
    ("8", "0_latency", "wakeup", "pass", "42.0000000000", "us"),
]


def rows():
    for i, (job, suite, name, result, measurement, unit) in enumerate(CASES):
        row = dict.fromkeys(NAMES, "") | {"job": job, "suite": suite, "name": name, "id": str(i)}
        yield row | {"result": result, "measurement": measurement, "unit": unit}


def as_csv():
    out = io.StringIO()
    writer = csv.DictWriter(out, NAMES, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows())
    return out.getvalue()


def as_yaml():
    yaml = pytest.importorskip("yaml", reason="the extra 'yaml' is not installed")
    return yaml.safe_dump(list(rows()), default_flow_style=False)


@pytest.mark.parametrize("form", [as_csv, as_yaml])
def test_measurements_are_readings(form, tmp_path):
    path = tmp_path / "results"
    path.write_text(form())
    data = tg.read(path)
    r = data.readings
    got = sorted(zip(r["test"].tolist(), r["boot"].tolist(), r.ns.tolist(), strict=True))
    assert got == [("io", 0, 7.25e6), ("latency", 0, 41500.0), ("latency", 1, 42000.0)]
    assert set(r["metric"].tolist()) == {"wakeup"}
    lines = path.read_text().splitlines()
    for i in range(len(r)):  # a reading points at its own row
        at = r.row(i)["line"]
        assert r.row(i)["test"] in "\n".join(lines[at - 1 : at + len(NAMES)])
    (problem,) = [data.problems.row(i) for i in range(len(data.problems))]
    assert "suspend: the test ended with 'fail'" in problem["detail"]


def test_two_exports_are_compared_by_job(tmp_path, capsys):
    (tmp_path / "old.csv").write_text(as_csv())
    (tmp_path / "new.csv").write_text(as_csv().replace("41.5", "61.5").replace("42.0", "62.0"))
    made = tg.compare(tmp_path / "old.csv", tmp_path / "new.csv")
    row = next(r for r in made.to_records() if r["test"] == "latency")
    assert (row["n_old"], row["n_new"]) == (2, 2) and row["new"] > row["old"]


def test_results_without_measurement_say_so(tmp_path, capsys):
    path = tmp_path / "results.csv"
    path.write_text("\n".join(as_csv().splitlines()[:2]) + "\n")
    assert main(["show", str(path)]) in (0, 3)
    assert "no result has a measurement" in "".join(capsys.readouterr())
