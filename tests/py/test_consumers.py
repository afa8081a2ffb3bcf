"""The programs that our exports are for, as their makers ship them, take every value.

`make consumers` installs SQUAD, LAVA's dispatcher and benchstat where they can be had, and names
them here; without it the same forms are held against schemas and models in `test_ci_exports` and
`test_lava_results`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.exports.ci import lava, squad
from tickgauge.exports.findings import FAIL, PASS, boot_values, findings_of

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "tools" / "consumers"
SIDES = [str(ROOT / "tests" / "data" / "stats" / f"tfa-{v}.json.gz") for v in ("2.12", "2.14")]


def installed(variable: str) -> str:
    """The Python that has the consumer."""
    python = os.environ.get(variable, "")
    if not python:
        pytest.skip(f"{variable} names no Python: run `make consumers`")
    return python


@pytest.fixture(scope="module")
def gate():
    made = tg.gate(*SIDES)
    return made, findings_of(made, boot_values(SIDES[1], made.comparison.unit))


def test_squad_stores_every_boot_and_verdict(tmp_path, gate):
    python = installed("TICKGAUGE_SQUAD")
    document = json.loads(squad(*gate))
    for name, field in document.items():
        (tmp_path / name).write_text(json.dumps(field))
    env = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
    env["DATABASE"] = f"ENGINE=django.db.backends.sqlite3:NAME={tmp_path / 'db.sqlite3'}"
    run = [python, str(TOOLS / "squad_takes.py"), "metrics", "tests"]
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    stored = json.loads(done.stdout)
    assert stored["metrics"] == {n: [m["value"], m["unit"]] for n, m in document["metrics"].items()}
    assert stored["tests"] == {n: t["result"] for n, t in document["tests"].items()}
    assert list(stored["tests"].values()).count("fail") == len(gate[0].failing)


def test_lava_takes_every_signal(tmp_path, gate):
    python = installed("TICKGAUGE_LAVA")
    console = tmp_path / "console"
    console.write_text("<LAVA_SIGNAL_STARTRUN 0_gate 77_1.5.2>\n" + lava(*gate))
    run = [python, str(TOOLS / "lava_takes.py"), str(console)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    taken = json.loads(done.stdout)
    words = {PASS: "pass", FAIL: "fail"}
    assert [one["result"] for one in taken] == [words.get(f.state, "skip") for f in gate[1]]
    due = [round(f.new, 6) for f in gate[1] if f.new is not None]
    assert [one["measurement"] for one in taken if "measurement" in one] == due


SLICES = """
const found = [], model = document.getElementById('trace-viewer').model;
for (const thread of model.getAllThreads())
  for (const slice of thread.sliceGroup.slices)
    found.push([thread.parent.name, thread.name, slice.title, slice.start, slice.duration]);
return [found, model.flowEvents.length, model.importWarnings.map(w => w.message)];
"""
PAGE = """<!DOCTYPE html><meta charset="utf-8"><script>{polyfill}</script>{viewer}<script>
document.addEventListener('WebComponentsReady', () => {{
  const container = document.createElement('track-view-container');
  container.id = 'track_view_container';
  const viewer = document.createElement('tr-ui-timeline-view');
  viewer.track_view_container = container;
  Polymer.dom(viewer).appendChild(container);
  viewer.id = 'trace-viewer';
  viewer.globalMode = true;
  Polymer.dom(document.body).appendChild(viewer);
  const model = new tr.Model();
  new tr.importer.Import(model).importTracesWithProgressDialog([{trace}]).then(() => {{
    viewer.model = model;
    document.title = 'drawn';
  }});
}});
</script><body></body>"""


@pytest.mark.parametrize(
    "verb",
    [
        ["calls", "optee/two-clients.log.gz"],
        ["show", "--stages", "boot/before.log"],
        ["axi", "zynq/A.csv.xz"],
    ],
)
def test_the_trace_viewer_draws_every_slice(tmp_path, verb, capsys):
    """The viewer that was chrome://tracing, as Go's sources have it, in a browser."""
    folder = Path(os.environ.get("TICKGAUGE_TRACE_VIEWER", "none"))
    if not (folder / "trace_viewer_full.html").exists():
        pytest.skip("TICKGAUGE_TRACE_VIEWER names no viewer: run `make consumers`")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.support.ui import WebDriverWait

    if shutil.which("chromedriver") is None:
        pytest.skip("chromium and chromedriver are not installed")
    target, page = tmp_path / "trace.json", tmp_path / "trace.html"
    source = str(ROOT / "tests" / "data" / verb[-1])
    assert main([*verb[:-1], source, "--trace", str(target)]) == 0
    trace = target.read_text()
    polyfill = (folder / "webcomponents.min.js").read_text()
    viewer = (folder / "trace_viewer_full.html").read_text()
    page.write_text(PAGE.format(polyfill=polyfill, viewer=viewer, trace=trace))
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,900"):
        options.add_argument(option)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options, service) as browser:
        browser.get(page.as_uri())
        WebDriverWait(browser, 60).until(lambda b: b.title == "drawn")
        drawn, arrows, warnings = browser.execute_script(SLICES)
    assert warnings == []
    events = json.loads(trace)["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    names = (e for e in events if e["name"] == "thread_name")
    thread = {(e["pid"], e["tid"]): e["args"]["name"] for e in names}
    due = [
        [process[e["pid"]], thread[e["pid"], e["tid"]], e["name"], e["ts"] / 1000, e["dur"] / 1000]
        for e in events
        if e["ph"] == "X"
    ]
    assert len(drawn) == len(due) > 20
    for got, want in zip(sorted(drawn), sorted(due), strict=True):
        assert got[:3] == want[:3]
        assert got[3:] == pytest.approx(want[3:], abs=1e-9)  # ms
    assert arrows == sum(e["ph"] in "tf" for e in events)


def test_benchstat_has_our_p(tmp_path, capsys):
    if shutil.which("benchstat") is None:
        pytest.skip("benchstat is not on the path: run `make consumers`")
    for side in SIDES:
        name = Path(side).name.removesuffix(".json.gz")
        assert main(["show", side, "--format", "gobench", "-o", str(tmp_path / name)]) == 0
    run = ["benchstat", "-format", "csv", "tfa-2.12", "tfa-2.14"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    theirs = {}
    for line in done.stdout.splitlines():
        found = re.match(r"([A-Z]\S*)/x,.*p=(\d\.\d+) n=15", line.replace('"', ""))
        if found:
            theirs[found[1].lower()] = float(found[2])
    ours = {
        re.sub(r"[^A-Za-z0-9_,.=]+", "/", row["key"]).lower(): row["p"]
        for row in tg.compare(*SIDES).to_records()
    }
    both = sorted(set(theirs) & set(ours))
    assert len(both) > 40
    for key in both:  # printed with three digits
        assert theirs[key] == pytest.approx(ours[key], abs=0.0006), key
