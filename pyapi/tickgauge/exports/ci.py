"""A gate in the forms that continuous integration shows.

Sources: JUnit as read by GitLab ("Unit test reports"), Jenkins (jenkinsci/junit-plugin) and
dorny/test-reporter; GitHub's workflow commands and job summaries; SQUAD's submission API; Bencher
Metric Format; OpenMetrics 1.0 for GitLab's metrics report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

from ..comparison.gate_result import Gate
from ..util.text import clean, counted
from .findings import FAIL, PASS, UNDECIDED, Finding

__all__ = ["FORMS", "bmf", "github", "gitlab", "junit", "lava", "squad", "workflow_commands"]

#: GitLab takes a report of less than 30 MB, some versions of at most 250,000 elements: two a case.
JUNIT_BYTES, JUNIT_CASES = 29_000_000, 120_000

#: GitHub drops a summary beyond 1 MiB as a whole; a cut one says so.
SUMMARY_BYTES = 1_000_000

#: GitHub shows ten annotations of a kind: nine of the worst, and one line for the rest.
ANNOTATIONS = 9

#: Bytes of the name of a benchmark, and of a measure, that Bencher takes.
BENCHER_NAME, BENCHER_MEASURE = 1024, 64


def junit(gate: Gate, findings: Sequence[Finding]) -> str:
    """JUnit XML: regressed keys fail, undecided keys are skipped, with their reasons as text.

    Parameters
    ----------
    gate : Gate
    findings : sequence of Finding

    Returns
    -------
    str
        A document with one suite, below GitLab's limits: it says where it is cut, behind the keys
        that did not pass. ``time`` is the new median in seconds where it is a time.

    Notes
    -----
    GitLab shows the text of a failure and not its message, Jenkins shows both: the text is in both.
    It begins with the verdict; properties of a test case are refused by Jenkins' schema.
    """
    suite = ElementTree.Element("testsuite", name="tickgauge")
    states: list[str] = []
    size = 0
    for one in findings[:JUNIT_CASES]:
        case = _case(one)
        size += len(_text(case).encode()) + 20  # its line ends and indents
        if size > JUNIT_BYTES:
            break
        suite.append(case)
        states.append(one.state)
    for name, count in (("tests", len(states)), ("failures", states.count(FAIL)), ("errors", 0),
                        ("skipped", states.count(UNDECIDED)), ("time", 0)):  # fmt: skip
        suite.set(name, str(count))
    said = list(gate.header)
    if len(states) < len(findings):
        left = findings[len(states) :]
        bad = sum(one.state != PASS for one in left)
        more = f"{counted(len(left), 'key')} more, {bad} of them not passed"
        said.append(f"{more}: the report ends below 30 MB")
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(said))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _text(root) + "\n"


def _case(one: Finding) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=_xml(one.suite), name=_xml(one.case), time=_seconds(one)
    )
    said = one.reason.startswith(one.verdict)
    text = _xml(f"{one.key}: {one.reason if said else f'{one.verdict}: {one.reason}'}")
    if one.state == FAIL:
        ElementTree.SubElement(case, "failure", type=one.verdict, message=text).text = text
    elif one.state == UNDECIDED:
        ElementTree.SubElement(case, "skipped", message=text).text = text
    else:
        ElementTree.SubElement(case, "system-out").text = text
    return case


def _text(root: ElementTree.Element) -> str:
    return ElementTree.tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    """Text without the characters that XML 1.0 does not allow."""
    return re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def _seconds(one: Finding) -> str:
    return f"{one.new / 1e9:.9f}" if one.unit == "ns" and one.new is not None else "0"


def github(gate: Gate, findings: Sequence[Finding]) -> str:
    """A job summary in Markdown, below GitHub's limit: it says where it is cut."""
    head = f"### tickgauge gate: {gate.outcome}\n\n" + "\n".join(f"{x}  " for x in gate.header)
    rows = ["", "| key | verdict | change | old | new |", "|---|---|---|---|---|"]
    size = len(head.encode()) + 200
    shown = 0
    order = [f for f in findings if f.state != PASS] + [f for f in findings if f.state == PASS]
    for one in order:
        change = "-" if one.percent is None else f"{one.percent:+.2f} %"
        cells = (one.key, one.verdict, change, _amount(one.old, one), _amount(one.new, one))
        row = "| " + " | ".join(_cell(cell) for cell in cells) + " |"
        if size + len(row.encode()) + 1 > SUMMARY_BYTES:
            break
        rows.append(row)
        size += len(row.encode()) + 1
        shown += 1
    if shown < len(order):
        rows += ["", f"{counted(len(order) - shown, 'key')} more: the summary ends at 1 MB"]
    return "\n".join([head, *rows]) + "\n"


def _amount(value: float | None, one: Finding) -> str:
    return "-" if value is None else f"{value:.6g} {one.unit}".rstrip()


def _cell(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def workflow_commands(gate: Gate, findings: Sequence[Finding]) -> list[str]:
    """GitHub's workflow commands: the nine worst keys, and one line for the rest."""
    bad = [one for one in findings if one.state == FAIL]
    lines = [
        f"::error title={_property(one.key)}::{_data(one.reason)}" for one in bad[:ANNOTATIONS]
    ]
    if len(bad) > ANNOTATIONS:
        rest = counted(len(bad) - ANNOTATIONS, "more key")
        lines.append(f"::error title=tickgauge::{rest} regressed; the job summary has all")
    undecided = sum(one.state == UNDECIDED for one in findings)
    if undecided:
        text = f"{counted(undecided, 'key')} not decided: {gate.header[0]}"
        lines.append(f"::warning title=tickgauge::{_data(text)}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def squad(gate: Gate, findings: Sequence[Finding]) -> str:
    """SQUAD's form fields as JSON: ``metrics`` (a list with one element a boot) and ``tests``.

    Each member is posted as a field of that name. SQUAD's own threshold takes any difference of
    two means as a regression; `tests` carry the verdicts of the gate.
    """
    metrics: dict[str, Any] = {}
    tests: dict[str, Any] = {}
    for one in findings:
        name = f"{_slug(one.suite)}/{_slug(one.case)}"
        values = list(one.boots) or ([] if one.new is None else [one.new])
        if values:
            metrics[name] = {"value": values, "unit": one.unit[:30]}
        result = {PASS: "pass", FAIL: "fail", UNDECIDED: "skip"}[one.state]
        tests[name] = {"result": result, "log": one.reason}
    return json.dumps({"metrics": metrics, "tests": tests}, indent=1, allow_nan=False) + "\n"


def _slug(text: str) -> str:
    """A name of SQUAD: letters, digits, ``_.-``; it begins with a letter or a digit."""
    made = re.sub(r"[^a-zA-Z0-9_.-]+", "_", text.replace(",", ".")).lstrip("_.-")
    return made[:120] or "x"


def bmf(gate: Gate, findings: Sequence[Finding]) -> str:
    """Bencher Metric Format: ``latency`` in ns with the interval as lower and upper value."""
    out: dict[str, Any] = {}
    for one in findings:
        if one.new is None:
            continue
        metric: dict[str, float] = {"value": one.new}
        if one.low is not None and one.high is not None:
            metric |= {"lower_value": min(one.low, one.new), "upper_value": max(one.high, one.new)}
        measure = "latency" if one.unit == "ns" else _slug(one.unit or "value")[:BENCHER_MEASURE]
        out[_clipped(clean(one.key), BENCHER_NAME)] = {measure: metric}
    return json.dumps(out, indent=1, allow_nan=False) + "\n"


def _clipped(text: str, size: int) -> str:
    """Text of at most so many bytes of UTF-8, without blanks at its ends."""
    return text.encode()[:size].decode("utf-8", "ignore").strip() or "x"


def gitlab(gate: Gate, findings: Sequence[Finding]) -> str:
    """OpenMetrics text for GitLab's metrics report: times in seconds with four digits.

    GitLab compares the text of a value, so more digits would only show noise as a change. It takes
    a line up to a ``#`` apart as a shell does, name and labels together are the metric's name
    (lib/gitlab/ci/parsers/metrics/generic.rb): the verdict is no label, for a name that changes is
    one metric removed and one new.
    """
    families: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        if one.new is None:
            continue
        if one.unit == "ns":
            name, unit, value = "tickgauge_latency_seconds", "seconds", one.new / 1e9
        else:
            unit = re.sub(r"[^a-z0-9]+", "_", (one.unit or "value").lower()).strip("_") or "value"
            name, value = f"tickgauge_{unit}", one.new
        label = clean(one.key).replace("#", "_").replace("\\", "\\\\").replace('"', '\\"')
        sample = f'{name}{{key="{label}"}} {value:.4g}'
        families.setdefault((name, unit), []).append(sample)
    lines = []
    for (name, unit), samples in families.items():
        lines += [f"# TYPE {name} gauge", f"# UNIT {name} {unit}", *samples]
    return "\n".join([*lines, "# EOF"]) + "\n"


def lava(gate: Gate, findings: Sequence[Finding]) -> str:
    """Lines that LAVA takes for results: one signal a key, with the new median as measurement.

    A test definition prints them on the console. LAVA splits a signal at white space and drops
    one with a part that has no ``=``, so names and units have neither blanks nor ``>``. Six places
    behind the point are within the ten that LAVA stores, and read back as they are.
    """
    lines = []
    for one in findings:
        result = {PASS: "pass", FAIL: "fail", UNDECIDED: "skip"}[one.state]
        parts = [f"TEST_CASE_ID={_slug(one.key)}", f"RESULT={result}"]
        if one.new is not None:
            unit = re.sub(r"[^!-=?-~]+", "_", one.unit or "value")
            parts += [f"UNITS={unit}", f"MEASUREMENT={_decimal(one.new)}"]
        lines.append(f"<LAVA_SIGNAL_TESTCASE {' '.join(parts)}>")
    return "\n".join(lines) + "\n"


def _decimal(value: float) -> str:
    whole, _, part = f"{value:.6f}".partition(".")
    return f"{whole}.{part}".rstrip("0").rstrip(".") if part else whole


#: Each form by the name that ``gate --format`` takes.
FORMS: dict[str, Callable[[Gate, Sequence[Finding]], str]] = {
    "junit": junit,
    "github": github,
    "squad": squad,
    "bmf": bmf,
    "gitlab": gitlab,
    "lava": lava,
}
