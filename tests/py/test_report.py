"""Reports: one self-contained, escaped file, shown in a real browser where there is one."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tickgauge as tg

pytest.importorskip("jinja2")

from tickgauge.report import page, report

BLOCK = """NOTICE:  Booting Trusted Firmware
NOTICE:  BL31: v2.{minor}.0(release):v2.{minor}.0
> Executing 'CPU suspend on all cores in sequence'
<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t{a}\t{b}\t{c}/>
<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t{a}\t{b}\t{c}/>
  TEST COMPLETE                                                 Passed
"""


def boots(minor: int, base: int) -> bytes:
    """Five boots of one firmware with values made by rule."""
    return "".join(
        BLOCK.format(minor=minor, a=base + 20 * k, b=2000 + 40 * k, c=400) for k in range(5)
    ).encode()


@pytest.fixture(scope="module")
def html() -> str:
    old, new = tg.read(boots(1, 10000)), tg.read(boots(2, 30000))
    return report(old, new, tg.compare(old, new), "<script>alert(1)</script> \x1b[31m")


class Tags(HTMLParser):
    """Collects tags, ids, links and everything that could load something."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href") and (value or "").startswith("#"):
                self.links.append((value or "")[1:])
            elif name in ("href", "src", "xlink:href", "action", "data") and value:
                self.loads.append((tag, value))


def test_every_link_leads_somewhere_and_nothing_is_loaded(html: str) -> None:
    seen = Tags()
    seen.feed(html)
    assert len(seen.ids) == len(set(seen.ids))
    assert set(seen.links) <= set(seen.ids)
    assert seen.loads == [("link", "data:,")]
    assert "script" not in seen.tags
    assert not re.search(r"url\((?!#)|@import", html)


def test_hostile_text_is_escaped(html: str) -> None:
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "\x1b" not in html and r"\x1b[31m" in html


def test_the_figures_and_their_origin_are_there(html: str) -> None:
    """+200 % of 10040 ns (the median boot), and the line of the first record."""
    assert "regressed" in html
    assert re.search(r"\+199\.\d %", html)
    row = re.search(r">10000</td>.*?>(\d+)</td><td class=\"number\">(\d+)</td></tr>", html, re.S)
    assert row is not None
    text = boots(1, 10000)
    line, offset = int(row[1]), int(row[2])
    assert text.split(b"\n")[line - 1].startswith(b"<RT_INSTR:")
    assert text[offset:].startswith(b"<RT_INSTR:")


def test_the_same_input_gives_the_same_file(html: str) -> None:
    old, new = tg.read(boots(1, 10000)), tg.read(boots(2, 30000))
    again = report(old, new, tg.compare(old, new), "<script>alert(1)</script> \x1b[31m")
    assert again == html


def test_a_snapshot_can_stand_on_a_side() -> None:
    old, new = tg.snapshot(tg.read(boots(1, 10000))), tg.read(boots(2, 30000))
    assert "regressed" in report(old, new, tg.compare(old, new))


def test_a_table_escapes_its_cells() -> None:
    table = page.Table(["<b>"], [[page.Cell("<i>", "text", "a")]])
    made = page.render("t", [], [page.Chapter("a", "A", tables=[table])])
    assert "&lt;b&gt;" in made and "&lt;i&gt;" in made and "<i>" not in made


#: Scrolls the first table by 100 in its box: widths of box and table, where its columns then are.
WIDE_TABLE = """
const box = document.querySelector("#changes .scroll"), row = box.querySelector("tbody tr");
const left = (cell) => cell.getBoundingClientRect().left;
const before = [left(row.cells[0]), left(row.cells[1])];
box.scrollLeft = 100;
return [box.clientWidth, box.scrollWidth, left(row.cells[0]) - before[0],
        before[1] - left(row.cells[1])];
"""


@pytest.mark.noasan
@pytest.mark.parametrize("width", [400, 1400])
def test_in_a_browser(html: str, width: int, tmp_path: Path) -> None:
    """No console message, no request, no sideways scrolling; tables and figures are shown."""
    webdriver = pytest.importorskip("selenium.webdriver")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("chromium and chromedriver are not installed")
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 800}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        chrome.get(path.as_uri())
        assert chrome.get_log("browser") == []
        requests = re.findall(
            r'"Network\.requestWillBeSent".*?"url":"([^"]*)"',
            "\n".join(entry["message"] for entry in chrome.get_log("performance")),
        )
        assert set(requests) <= {path.as_uri(), "data:,"}
        assert len(chrome.find_elements("css selector", "figure svg")) >= 2
        assert len(chrome.find_elements("css selector", "table tbody tr")) > 10
        page_width = chrome.execute_script("return document.documentElement.scrollWidth")
        assert page_width <= width
        box, inside, held, moved = chrome.execute_script(WIDE_TABLE)
        assert width > 400 or inside > box + 100  # there is something to scroll to
        assert held == 0 or inside == box  # the first column stays where it was
        assert moved == min(100, inside - box)
    finally:
        chrome.quit()
