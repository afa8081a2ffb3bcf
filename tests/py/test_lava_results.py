"""Results of LAVA, as its views write them: each measurement once, with its job as boot."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.exports.ci import _slug, lava
from tickgauge.exports.findings import findings_of

STATS = Path(__file__).resolve().parents[1] / "data" / "stats"

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
    columns = (r["labels"], r["test"], r["boot"])
    got = sorted(zip(*(c.tolist() for c in columns), r.ns.tolist(), strict=True))
    # the suite without the number of its place in the job; a failed case is in the distribution
    assert got == [
        ("suite=io", "wakeup", 0, 7.25e6),
        ("suite=latency", "suspend", 0, 900e3),
        ("suite=latency", "wakeup", 0, 41500.0),
        ("suite=latency", "wakeup", 1, 42000.0),
    ]
    assert set(r["metric"].tolist()) == {"measurement"}
    lines = path.read_text().splitlines()
    for i in range(len(r)):  # a reading points at its own row
        at = r.row(i)["line"]
        assert r.row(i)["test"] in "\n".join(lines[at - 1 : at + len(NAMES)])
    assert len(data.problems) == 0
    assert "4 with a measurement (1 of cases that did not pass)" in " ".join(data.infos[0].why)


def test_two_exports_are_compared_by_job(tmp_path, capsys):
    (tmp_path / "old.csv").write_text(as_csv())
    (tmp_path / "new.csv").write_text(as_csv().replace("41.5", "61.5").replace("42.0", "62.0"))
    made = tg.compare(tmp_path / "old.csv", tmp_path / "new.csv")
    row = next(r for r in made.to_records() if r["test"] == "wakeup" and r["n_old"] == 2)
    assert (row["n_old"], row["n_new"]) == (2, 2) and row["new"] > row["old"]


def test_results_without_measurement_say_so(tmp_path, capsys):
    path = tmp_path / "results.csv"
    path.write_text("\n".join(as_csv().splitlines()[:2]) + "\n")
    assert main(["show", str(path)]) in (0, 3)
    assert "no result has a measurement" in "".join(capsys.readouterr())


def as_console():
    """The signals of the test shells of both jobs, as `lava-test-case` prints them."""
    out = []
    for job, suite, name, result, measurement, unit in CASES:
        if suite != "lava":
            out.append(f"<LAVA_SIGNAL_STARTRUN {suite} {job}_1.2.3>")
            words = f"TEST_CASE_ID={name} RESULT={result}"
            if measurement != "None":
                words += f" UNITS={unit} MEASUREMENT={float(measurement)}"
            out.append(f"<LAVA_SIGNAL_TESTCASE {words}>")
    return "\n".join(out) + "\n"


def test_the_console_and_the_results_of_a_job_have_the_same_keys():
    from_console, from_results = tg.read(as_console().encode()), tg.read(as_csv().encode())

    def told(data):
        r = data.readings
        names = ("format", "test", "metric", "labels")
        return sorted(zip(*(r[n].tolist() for n in names), r.ns.tolist(), strict=True))

    assert told(from_console) == told(from_results)
    assert len(told(from_console)) == 4


@pytest.mark.parametrize(("unit", "places"), [("s", 10), ("us", 6), ("MB/s", 6)])
@pytest.mark.parametrize("printed", [repr, "{:.20f}".format, "{:.12e}".format])
def test_a_figure_with_more_digits_than_the_database_keeps_is_rounded(unit, places, printed):
    """`repr` is Python's, twenty places are those of bc -l; LAVA itself keeps ten."""
    values = [n / 3 * 10.0**e for e in range(-1, 6) for n in (1, 2, 7, 100)]
    signal = "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=c{} RESULT=pass UNITS={} MEASUREMENT={}>\n"
    text = "".join(signal.format(i, unit, printed(v)) for i, v in enumerate(values))
    data = tg.read(text.encode())
    assert len(data.problems) == 0
    power = Decimal(10) ** -places
    got = [int(v) * power for v in data.readings["value"]]
    assert got == [Decimal(printed(v)).quantize(power) for v in values]


def test_a_figure_of_which_rounding_leaves_too_little_is_a_problem():
    line = b"<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=c RESULT=pass UNITS=us MEASUREMENT=0.00123456>\n"
    data = tg.read(line)
    assert len(data.readings) == 0
    assert data.problems["reason"].tolist() == ["precision"]


def test_units_that_are_no_times_have_no_better_direction():
    text = as_csv().replace('"us"', '"MB/s"')
    keys = tg.read(text.encode()).keys
    better = dict(zip(keys["unit"].tolist(), keys["better"].tolist(), strict=True))
    assert better == {"MB/s": "none", "ms": "lower"}


def stored_by_lava(console):
    """What LAVA stores of a console: its pattern, its split into name=value, ten places."""
    suite = None
    for word, text in re.findall(r"<LAVA_SIGNAL_(\S+) ([^>]+)>", console):
        if word == "STARTRUN":
            suite = text.split()[0]
        elif word == "TESTCASE":
            cells = dict(piece.split("=", 1) for piece in text.split())
            cells = {name.lower(): value for name, value in cells.items()}
            assert suite and cells["result"] in ("pass", "fail", "skip", "unknown")
            measurement = "None"
            if "measurement" in cells:
                measurement = f"{Decimal(float(cells['measurement'])):.10f}"
            yield cells["test_case_id"], suite, cells["result"], measurement, cells.get("units", "")


def test_a_gate_through_lava_and_back_is_equal():
    """Printed by a definition, stored by LAVA, exported as CSV: the same medians return."""
    made = tg.gate(*(str(STATS / f"tfa-{v}.json.gz") for v in ("2.12", "2.14")))
    found = findings_of(made)
    console = "<LAVA_SIGNAL_STARTRUN 0_gate 77_1.5.2>\n" + lava(made, found)
    out = io.StringIO()
    writer = csv.DictWriter(out, NAMES, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    for name, suite, result, measurement, unit in stored_by_lava(console):
        row = dict.fromkeys(NAMES, "") | {"job": "77", "suite": suite, "name": name}
        writer.writerow(row | {"result": result, "measurement": measurement, "unit": unit})
    due = {_slug(f.key): f.new for f in found if f.new is not None}
    assert len(due) > 40
    for source in (console, out.getvalue()):
        data = tg.read(source.encode())
        assert len(data.problems) == 0
        r = data.readings
        assert set(r["labels"].tolist()) == {"suite=gate"}
        assert dict(zip(r["test"].tolist(), r.ns.tolist(), strict=True)) == pytest.approx(due)


def test_the_lines_that_the_gate_prints_for_lava_are_read_back(tmp_path, capsys):
    """Each key's new median is one reading, in its unit."""
    row = "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t{cpu}\t{down}\t1000\t4000/>\n"
    for name, more in (("old", 0), ("new", 20)):
        head = (
            "NOTICE:  Booting trusted firmware test framework\nNOTICE:  v2.14(juno,release):v2.14\n"
        )
        head += "> Executing 'CPU suspend on all cores in sequence'\n"
        rows = "".join(row.format(cpu=cpu, down=2000 + cpu + more) for cpu in range(4))
        end = "  TEST COMPLETE" + " " * 30 + "Passed\n"
        (tmp_path / name).write_text(head + rows + end)
    main(["gate", str(tmp_path / "old"), str(tmp_path / "new"), "--format", "lava"])
    printed = capsys.readouterr().out
    back = tg.read(printed.encode())
    want = [line.split("MEASUREMENT=")[1].rstrip(">") for line in printed.splitlines()]
    assert len(back.readings) == len(want) > 0
    assert back.readings.ns.tolist() == [float(value) for value in want]
    assert "UNITS=ns" in printed and len(back.problems) == 0
