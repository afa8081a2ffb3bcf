"""Each public object shows its figures as a table in a notebook, whatever its texts hold."""

from __future__ import annotations

import html.parser
from pathlib import Path

import pytest

import tickgauge as tg

DATA = Path(__file__).resolve().parents[1] / "data"
TFA = [DATA / "stats" / f"tfa-{release}.json.gz" for release in ("2.12", "2.14")]


class Tables(html.parser.HTMLParser):
    """The rows of all tables, and the text outside of them."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.said = ""
        self.inside = False
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.inside |= tag == "table"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "table"

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.said += data + "\n"
        elif self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def shown(thing: object) -> Tables:
    return Tables(thing._repr_html_())  # type: ignore[attr-defined]


def test_a_gate_lists_its_reasons_and_its_keys() -> None:
    gate = tg.gate(*TFA, margin="5%")
    page = shown(gate)
    at = page.rows.index(["outcome", "key", "why"])
    assert [row[1] for row in page.rows[at + 1 :][: len(gate.failing)]] == [
        key for key, _ in gate.failing[: len(page.rows) - at - 1]
    ]
    assert gate.failing and page.rows[at + 1][0] == "regressed"
    assert page.said.startswith("gate: regressed")
    assert any("cache_flush" in cell for row in page.rows for cell in row)


def test_a_snapshot_lists_its_keys() -> None:
    snapshot = tg.read(TFA[0])
    page = shown(snapshot)
    assert page.rows[0][-2:] == ["boots", "readings"]
    assert len(page.rows) == 1 + min(len(snapshot.keys), 40)
    assert page.rows[1][:4] == ["boot", "duration", "BL1", "0"]
    assert page.rows[1][-2:] == ["15", "15"]
    assert "15 sources" in page.said


def test_a_batch_lists_its_groups_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)  # long names are shortened
    done = tg.batch(["rules"], rules="rules/fft.toml")
    page = shown(done)
    assert ["group", "holds"] in page.rows
    assert any("rules/fft.log" in cell for row in page.rows for cell in row)


def test_a_capture_lists_its_interfaces_and_a_port_its_transactions() -> None:
    capture = tg.read(DATA / "zynq" / "A.csv.xz")
    page = shown(capture)
    assert page.rows == [
        ["slot", "prefix", "kind", "channels"],
        ["0", "design_1_i/system_ila_0/inst/net_slot_0_axi", "AXI4", "AR AW W R B"],
    ]
    assert "read span: median 511 clocks" in page.said
    port = shown(capture.port())
    assert len(port.rows) > 20 and "blocked" in port.said


@pytest.mark.parametrize("name", ["<script>x_arvalid <script>x_arready", "a b"])
def test_a_capture_of_any_names_shows_itself(name: str) -> None:
    text = "Sample in Buffer,Sample in Window,TRIGGER," + name.replace(" ", ",") + "\n0,0,1,1,1\n"
    assert "<script" not in tg.read_capture(text.encode())._repr_html_()


def test_an_audit_lists_its_verdicts_and_the_wrong_cells() -> None:
    audit = tg.audit(DATA / "tfa" / "published.csv.gz")
    page = shown(audit)
    at = page.rows.index([
        "release", "test", "cpu", "metric", "new", "old", "printed", "right", "sign", "cause",
    ])  # fmt: skip
    (row,) = (row for row in page.rows[1:at] if row[0] == "juno v2.15")
    assert (row[1:4], row[-2:]) == (["wrong", "v2.14", "96"], ["94", "15"])
    assert len(page.rows) - at - 1 == 40
    assert f"{len(audit.wrong) - 40} more wrong cells" in page.said


def test_a_data_set_shows_times_in_one_unit() -> None:
    page = shown(tg.read(DATA / "optee" / "ree.log.gz"))
    smc = next(row for row in page.rows if row[:3] == ["optee", "smc", "register_shm"])
    assert smc[-4:] == ["5.073", "5.073", "5.073", "ms"]
