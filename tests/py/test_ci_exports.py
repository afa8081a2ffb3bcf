"""Each form for continuous integration is taken by its consumer's parser, or obeys its schema."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.exports import ci
from tickgauge.exports.findings import PASS, Finding, findings_of

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "stats"
OLD, NEW = str(DATA / "tfa-2.12.json.gz"), str(DATA / "tfa-2.14.json.gz")


def run(form, tmp_path, capsys, *more):
    status = main(["gate", OLD, NEW, "--format", form, *more])
    assert status == 1  # the regression of v2.14
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def gate():
    return tg.gate(OLD, NEW)


def test_junit_parses_and_counts(tmp_path, capsys, gate):
    parser = pytest.importorskip("junitparser")
    text = run("junit", tmp_path, capsys)
    path = tmp_path / "gate.xml"
    path.write_text(text)
    xml = parser.JUnitXml.fromfile(str(path))
    (suite,) = list(xml)
    cases = list(suite)
    failed = [c for c in cases if any(isinstance(r, parser.Failure) for r in c.result)]
    skipped = [c for c in cases if any(isinstance(r, parser.Skipped) for r in c.result)]
    assert suite.tests == len(cases) == gate.gated + len(gate.missing)
    assert suite.failures == len(failed) == len(gate.failing)
    assert suite.skipped == len(skipped)
    names = [(c.classname, c.name) for c in cases]
    assert len(set(names)) == len(names)  # GitLab shows only the first of two equal ones
    assert {f"{c.classname} {c.name}" for c in failed} == {key for key, _ in gate.failing}
    for case in failed:  # GitLab shows the text, Jenkins the message
        (failure,) = case.result
        assert failure.text == failure.message and "to " in failure.text
        assert failure.type in failure.text


@pytest.mark.parametrize("limit", ["JUNIT_BYTES", "JUNIT_CASES"])
def test_a_junit_report_that_gitlab_would_refuse_is_cut_behind_the_failures(
    gate, limit, monkeypatch
):
    findings = findings_of(gate)
    whole = ci.junit(gate, findings)
    bound = 12_000 if limit == "JUNIT_BYTES" else len(gate.failing) + 2
    monkeypatch.setattr(ci, limit, bound)
    text = ci.junit(gate, findings)
    assert len(text) < len(whole)
    (suite,) = ElementTree.fromstring(text)
    cases = suite.findall("testcase")
    assert len(gate.failing) <= len(cases) == int(suite.get("tests")) < len(findings)
    assert int(suite.get("failures")) == len(gate.failing) == len(suite.findall(".//failure"))
    assert f"{len(findings) - len(cases)} keys more, 0 of them" in suite.find("system-out").text
    if limit == "JUNIT_BYTES":
        assert len("".join(ElementTree.tostring(c, "unicode") for c in cases)) <= bound


def test_junit_is_valid_for_jenkins(tmp_path, capsys, gate):
    """The schema of Jenkins' xUnit plugin, which refuses a file that does not obey it."""
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(ROOT / "tests" / "data" / "schemas" / "junit-10.xsd"))
    schema.validate(run("junit", tmp_path, capsys))
    schema.validate(ci.junit(gate, [*many(3), Finding("k", "s", "c", "undecided", "open", "r")]))
    with pytest.raises(xmlschema.XMLSchemaValidationError):  # the schema does refuse
        schema.validate(re.sub(r"(</?)failure", r"\1failed", ci.junit(gate, many(1))))


def test_bmf_is_benchers_schema(tmp_path, capsys):
    """https://bencher.dev/docs/reference/bencher-metric-format/"""
    document = json.loads(run("bmf", tmp_path, capsys))
    metric = {
        "type": "object",
        "required": ["value"],
        "additionalProperties": False,
        "properties": {n: {"type": "number"} for n in ("value", "lower_value", "upper_value")},
    }
    measures = {  # lib/bencher_valid: a name is 1 to 64 bytes, of a benchmark 1 to 1024, trimmed
        "type": "object",
        "propertyNames": {"pattern": r"^\S(.{0,62}\S)?$"},
        "additionalProperties": metric,
    }
    schema = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": r"^\S(.{0,1022}\S)?$"},
        "additionalProperties": measures,
    }
    jsonschema.validate(document, schema)
    long = Finding(
        "\u00e4" * 2000 + " ", "s", "c", "pass", "equivalent", "r", 1.0, 2.0, unit="\u03bc" * 99
    )
    jsonschema.validate(json.loads(ci.bmf(None, [long])), schema)
    one = document["susp_deep_serial cache_flush 0,1"]["latency"]
    assert one["value"] == 204496  # ns: the median of the 15 boots of v2.14
    assert one["lower_value"] < one["value"] < one["upper_value"]


def test_squad_takes_names_values_and_results(tmp_path, capsys):
    document = json.loads(run("squad", tmp_path, capsys))
    part = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*")
    for name, metric in document["metrics"].items():
        suite, _, case = name.rpartition("/")
        assert part.fullmatch(suite) and part.fullmatch(case) and len(name) <= 256
        assert 1 <= len(metric["value"]) <= 15 and np.isfinite(metric["value"]).all()
        assert len(metric["unit"]) <= 30
    assert {t["result"] for t in document["tests"].values()} <= {"pass", "fail", "skip"}
    boots = sorted(document["metrics"]["susp_deep_serial/cache_flush_0.1"]["value"])
    assert len(boots) == 15 and boots[7] == 204496


def test_openmetrics_is_parsed(tmp_path, capsys):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    text = run("gitlab", tmp_path, capsys)
    families = list(parser.text_string_to_metric_families(text))
    found = {s.labels["key"]: s.value for f in families for s in f.samples}
    assert found["susp_deep_serial cache_flush 0,1"] == pytest.approx(204496e-9, rel=1e-3)
    assert [f.unit for f in families] == ["seconds"]


def test_openmetrics_as_gitlab_takes_lines_apart(gate):
    """Ruby's `shellsplit` of what stands before a ``#``: the name with its labels, the value."""
    findings = findings_of(gate)
    odd = replace(findings[0], key='lock #3 of "a\\b", it\'s\n0,1')
    for given in (findings, [*findings, odd]):
        metrics = {}
        for line in ci.gitlab(gate, given).splitlines():
            words = shlex.split(re.sub("#.*$", "", line))
            if words:
                name, value = words
                assert name not in metrics
                metrics[name] = float(value)
        assert len(metrics) == sum(one.new is not None for one in given)
    other = [replace(one, verdict="equivalent", state=PASS) for one in findings]
    assert ci.gitlab(gate, other) == ci.gitlab(gate, findings)  # a verdict is no part of a name


def test_github_summary_and_annotations(tmp_path, capsys, monkeypatch, gate):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    out = run("github", tmp_path, capsys)
    text = summary.read_text()
    assert text.startswith("before\n### tickgauge gate: regressed")
    assert text.count("\n| ") == 1 + gate.gated + len(gate.missing)
    lines = out.splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == min(10, len(gate.failing))
    for line in lines:
        command, _, message = line.removeprefix("::").partition("::")
        assert "," not in command.partition("title=")[2] and "\n" not in message


def test_lava_takes_each_signal(tmp_path, capsys, gate):
    """As lava_dispatcher's connection.py reads them: one pattern, then pieces of name=value."""
    out = run("lava", tmp_path, capsys)
    found = {}
    for name, text in re.findall(r"<LAVA_SIGNAL_(\S+) ([^>]+)>", out):
        assert name == "TESTCASE"
        pieces = dict(piece.split("=", 1) for piece in text.split())
        found[pieces["TEST_CASE_ID"]] = (pieces["RESULT"], float(pieces.get("MEASUREMENT", "nan")))
    assert len(found) == gate.gated + len(gate.missing)
    assert found["susp_deep_serial_cache_flush_0.1"] == ("fail", 204496.0)
    assert {result for result, _ in found.values()} <= {"pass", "fail", "skip"}


def many(n):
    reason = "50 % up: a, b\r\nand more"
    return [
        Finding(f"t{i} a|b <x> {i}", f"t{i}", "c", "fail", "regressed", reason, 1.0, 2.0)
        for i in range(n)
    ]


def test_summary_of_many_keys_stays_below_the_limit_and_says_so(gate):
    text = ci.github(gate, many(30000))
    assert len(text.encode()) < 1024 * 1024
    shown = text.count("regressed | ")
    assert f"{30000 - shown} keys more" in text


def test_annotations_escape_and_end_after_ten(gate):
    lines = ci.workflow_commands(gate, many(40))
    assert len(lines) == 10 and "31 more keys" in lines[-1]
    assert lines[0].endswith("::50 %25 up: a, b%0D%0Aand more")


def test_junit_holds_no_control_bytes(gate):
    bad = Finding("k\x1b\x00", "s\x1b", "c\ud800", "fail", "regressed", "r\x07")
    ElementTree.fromstring(ci.junit(gate, [bad]))


def test_bisect_statuses_are_those_of_git_bisect_run(tmp_path, capsys, monkeypatch):
    """git bisect run: 0 good, 1 to 127 bad but for 125 (skip), 128 and above end the run."""
    gate = ["gate", "--bisect"]
    assert main([*gate, OLD, NEW]) == 1
    monkeypatch.chdir(tmp_path)
    assert main([*gate, OLD, "missing.log"]) == 128
    Path("one.log").write_bytes(b"no line of any kind\n")
    assert main([*gate, OLD, "one.log"]) == 128
    with pytest.raises(SystemExit) as usage:
        main([*gate, "--no-such-option", OLD, NEW])
    assert usage.value.code == 128
    for name in ("one", "other"):  # one boot a side can never be red
        tg.snapshot(tg.from_columns([1000], boot=[0], name=name)).save(f"{name}.json")
    assert main(["gate", "one.json", "other.json"]) == 3
    assert main([*gate, "one.json", "other.json"]) == 125
