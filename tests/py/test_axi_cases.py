"""Inputs that once gave wrong claims, each with values derived apart from this code.

Derived from the levels before each rising edge, transactions by IHI 0022: no figure here comes from
a run of the package.
"""

from __future__ import annotations

import os
import random
import re
import zipfile

import pytest

import tickgauge as tg
from support.axi_sim import Simulation, any_traffic, csv_lines, cut, simulate
from tickgauge.cli import main
from zynq_files import DATA

PLAIN = ((0x1000, 2, 8, 7), (0x2000, 2, 8, 7))


@pytest.fixture
def case(tmp_path):
    def write(name: str) -> str:
        with zipfile.ZipFile(DATA / "axi_cases.zip") as archive:
            return archive.extract(name, tmp_path)

    return write


def told(capsys, *args) -> str:
    main(["axi", *args])
    return capsys.readouterr().out


def spans(port, direction: str) -> tuple[int, int, int, int]:
    """Number counted; least, median and greatest span."""
    values = port.spans(direction).tolist()
    n = len(values)
    return (n, values[0], values[(n + 1) // 2 - 1], values[-1]) if n else (0, 0, 0, 0)


def test_a_cut_inside_traffic_tells_no_span_that_is_not_the_whole_file_s(case, capsys):
    path = case("begins_inside_cut_at_100.vcd")
    port = tg.read_capture(path).port()
    whole = tg.read_capture(case("begins_inside_whole.vcd")).port()
    right = {t["addr"]: t["data_last"] - t["ax_valid"] for t in whole.transactions if t["span"]}
    for t in port.transactions.counted:
        assert t["span"] == right[t["addr"]]
    assert all(t["span"] <= right.get(t["addr"], 999) for t in port.transactions.bounds)
    assert port.figures["reads"] == 23
    text = told(capsys, path)
    assert "no proven span" in text
    assert "read span: median" not in text


def test_reads_held_in_the_address_channel(case, capsys):
    path = case("ar_held_while_writing.vcd")
    port = tg.read_capture(path).port()
    f = port.figures
    assert (f["address_held"], f["address_held_w"], f["read_asked"]) == (792, 765, 912)
    assert (f["verdict"], f["where"]) == ("blocked", "address")
    assert spans(port, "read") == (3, 303, 303, 303)
    text = told(capsys, path)
    assert "Reads are blocked while writes flow." in text
    assert "No data was written" not in text


def test_unknown_is_no_value(case, capsys):
    path = case("rvalid_x_at_write_beats.vcd")
    f = tg.read_capture(path).port().figures
    assert (f["verdict"], f["r_and_w"] + f["w_only"], f["read_unknown"]) == ("unseen", 0, 285)
    assert "R or W is unknown in 285" in told(capsys, path)
    port = tg.read_capture(case("rvalid_known.vcd")).port()
    f = port.figures
    assert (f["blocked"], f["r_and_w"] + f["w_only"]) == (167, 215)
    assert spans(port, "read")[0] == 9


def test_what_is_not_captured_is_unknown(case, capsys):
    path = case("rready_missing.vcd")
    port = tg.read_capture(path).port()
    assert port.figures["verdict"] == "unseen"
    assert spans(port, "write")[::3] == (9, 69)
    assert spans(port, "write")[1] == 21
    text = told(capsys, path)
    assert "Nothing can be told about blocking: RREADY is not in the capture." in text
    assert "P(R beat | W beat) - against P(R beat | no W beat) -" in text
    assert "read: bytes -" in text


def test_what_falls_together_is_no_cause(case, capsys):
    path = case("independent_fixed_latency.vcd")
    port = tg.read_capture(path).port()
    assert spans(port, "read") == (19, 39, 39, 39)
    text = told(capsys, path)
    assert "Writes do not hold reads up." in text
    assert "held it up" not in text


def test_write_data_before_its_address_at_the_first_sample(case):
    port = tg.read_capture(case("w_before_aw_at_sample0.vcd")).port()
    f = port.figures
    assert (f["protocol"], f["orphans"], f["writes"], f["reads"]) == (0, 0, 20, 19)
    assert port.spans("write").tolist() == [51, 103, 117, 130, 142, 160, 172]
    assert port.spans("read").tolist() == [28, 49, 129]


def test_a_reset_in_flight(case):
    port = tg.read_capture(case("reset_in_flight.vcd")).port()
    f = port.figures
    assert (f["reads"], f["writes"], f["protocol"], f["in_reset"]) == (31, 36, 0, 5)
    assert spans(port, "read") == (7, 69, 176, 308)
    assert spans(port, "write") == (23, 26, 90, 118)


def test_axi3_write_data_interleaves(case):
    port = tg.read_capture(case("axi3_wid_interleave.vcd")).port()
    assert (port.kind, port.figures["protocol"], port.figures["writes"]) == ("AXI3", 0, 23)
    assert port.spans("write").tolist() == [70, 77, 85, 91, 103, 204, 213]


def test_the_clock_of_the_bus_and_not_a_faster_one(case):
    port = tg.read_capture(case("two_clocks_one_named_aclk2x.vcd")).port()
    assert (port.row["clock"], port.figures["cycles"]) == ("tb.clk", 400)
    assert spans(port, "read") == (8, 6, 6, 6)


def test_a_clock_for_each_interface(case):
    capture = tg.read_capture(case("clock_per_interface.vcd"))
    slow, fast = capture.port(prefix="tb.u_slow"), capture.port(prefix="tb.u_fast")
    assert (slow.row["clock"], slow.figures["cycles"]) == ("tb.u_slow.clk", 150)
    assert (fast.row["clock"], fast.figures["cycles"]) == ("tb.u_fast.clk", 214)
    assert (slow.figures["reads"], fast.figures["reads"]) == (9, 19)
    assert spans(slow, "read") == (8, 17, 32, 32)
    assert spans(slow, "write") == (4, 5, 5, 5)
    assert spans(fast, "read") == (18, 10, 19, 19)
    assert slow.figures["protocol"] + slow.figures["orphans"] == 0


def test_a_clock_is_named_for_one_interface(case):
    path = case("clock_per_interface.vcd")
    capture = tg.read_capture(path, sample_on="u_slow=tb.u_fast.clk")
    assert capture.port(prefix="tb.u_slow").row["clock"] == "tb.u_slow.clk"  # the same wires rule
    capture = tg.read_capture(path, sample_on="tb.clk2")
    assert capture.port(prefix="tb.u_fast").figures["cycles"] == 214


@pytest.mark.parametrize(
    "name",
    [
        "names_axi_ar_valid.vcd",
        "names_ar_payload_addr.vcd",
        "names_ARVALID_M0.vcd",
        "plain_columns.csv",
        "simulator.fst",
    ],
)
def test_one_wave_under_other_names_and_in_other_forms(case, name):
    if name.endswith("fst"):
        pytest.importorskip("pywellen")
    port = tg.read_capture(case(name)).port()
    names = ("addr", "beats", "bytes", "span")
    assert tuple(tuple(t[n] for n in names) for t in port.transactions.counted) == PLAIN


@pytest.mark.parametrize(
    "name", ["names_slv_req_ar_valid.vcd", "bit_by_bit.vcd", "bit_by_bit_whole.vcd"]
)
def test_three_reads(case, name):
    port = tg.read_capture(case(name)).port()
    rows = [(t["addr"], t["bytes"], t["span"], t["ax_valid"]) for t in port.transactions.counted]
    assert rows == [(0x1000, 4, 4, 2), (0x1004, 4, 4, 14), (0x2008, 4, 4, 26)]


def test_lite_with_ids_is_lite(case):
    port = tg.read_capture(case("lite_with_ids.vcd")).port()
    assert (port.kind, port.figures["verdict"]) == ("AXI4-Lite", "nothing")
    assert spans(port, "read") == (13, 2, 2, 2)
    assert spans(port, "write") == (12, 1, 1, 1)


def test_binary_digits_are_binary(case):
    capture = tg.read_capture(case("ila_binary_no_radix_row.csv"))
    assert [t["addr"] for t in capture.transactions()] == [0x1004, 0x2008]
    assert len(capture.problems) == 0


def test_wires_are_chosen_by_any_of_their_names(case):
    path = case("same_wires_chosen_by_prefix.vcd")
    port = tg.read_capture(path).port(prefix="tb.dut.m_axi")
    assert [t["addr"] for t in port.transactions] == [0x1000, 0x1004, 0x2008]
    capture = tg.read_capture(path)
    for row in capture.interfaces:
        capture.port(prefix=row["prefix"])  # each that is listed can be chosen


def test_a_register_is_no_axi(case, capsys):
    assert main(["axi", case("r_ctrl_is_no_axi.vcd")]) == 2
    assert "no AXI interface" in capsys.readouterr().err


def test_a_clock_that_never_rises_is_named(case, capsys):
    assert main(["axi", case("no_clock_edge.vcd")]) != 0
    err = capsys.readouterr().err
    assert "tb.clk never rises" in err
    assert "--sample-on" in err


# ---- no two sentences contradict each other ---------------------------------------------------

NAMES = sorted(zipfile.ZipFile(DATA / "axi_cases.zip").namelist())
PAIR = ["A.csv.xz", "B.csv.xz", "hpc_blocked_window8192.vcd.xz", "interleave.vcd.xz"]


def numbers(pattern: str, text: str) -> list[tuple[int, ...]]:
    """The integers of each place that a pattern fits."""
    found = re.findall(pattern, text)
    return [tuple(int(n) for n in (m if isinstance(m, tuple) else (m,))) for m in found]


def check_text(port) -> None:
    """Each number of the sentences is the figure that it stands for, and no two contradict."""
    f = port.figures
    story, table = "\n".join(port.story()), port.explain()
    text = f"{story}\n{table}"
    w = f["r_and_w"] + f["w_only"]
    assert set(numbers(r"In (\d+) of the (\d+) clocks with a write beat and", text)) <= {
        (f["blocked"], w)
    }
    assert set(numbers(r"blocked while writing: (\d+) of (\d+) write beats", text)) <= {
        (f["blocked"], w)
    }
    held = (f["address_held"], f["address_held_w"])
    assert set(numbers(r"for ARREADY in (\d+) clocks, in (\d+) of them", text)) <= {held}
    waits = numbers(r"ARVALID held while writing: (\d+) of the (\d+) clocks", text)
    assert set(waits) <= {held[::-1]}
    assert set(numbers(r"(\d+) in the address channel \((\d+) with", text)) <= {held}
    assert set(numbers(r"no read in (\d+) of (\d+) clocks", text)) <= {
        (f["cycles"] - f["read_asked"], f["cycles"])
    }
    for direction in ("read", "write"):
        part = port.transactions.counted
        part = part[part["direction"] == direction]
        spans = sorted(part.column("span").data.tolist())
        pattern = rf"{direction} span: median (\d+) clocks? \((\d+) to (\d+), n=(\d+)\)"
        n = len(spans)
        right = [(spans[(n + 1) // 2 - 1], spans[0], spans[-1], n)] if spans else []
        assert numbers(pattern, text) == right
        slowest = numbers(rf"slowest {direction}[^:]*: (\d+) clock", text)
        assert slowest == ([(spans[-1],)] if spans else [])
        if not spans:
            assert set(numbers(rf"slowest {direction}[^:]*: at least (\d+) clock", text)) <= {
                (int(n),) for n in port.transactions.bounds["span"].tolist()
            }
        most = numbers(rf"open at once:.*?(\d+) {direction}", text)
        assert set(most) <= {(int(max(port.outstanding[f"{direction}s"].tolist(), default=0)),)}
    beats = {r["channel"]: r["beat"] for r in port.channels}
    for r in port.channels:
        parts = ("beat", "stall", "starve", "idle", "unknown")
        assert sum(r[n] for n in parts) == f["cycles"]
        assert r["ready_high"] + r["ready_low"] == r["starve"] + r["idle"] + r["unknown"]
    for count, either in numbers(r"beat together in (\d+) of (\d+) clocks", text):
        assert (count, either) == (f["any_r_and_w"], beats["R"] + beats["W"] - count)
    assert not re.search(r"(?<!of )(?<!of the )\b1 (clocks|reads|writes|orphans|spans)\b", text)
    assert "nan" not in text
    assert "None" not in text


@pytest.mark.parametrize("name", NAMES + PAIR)
def test_all_sentences_follow_from_one_verdict(case, name):
    if name.endswith("fst"):
        pytest.importorskip("pywellen")
    path = DATA / name if name in PAIR else case(name)
    capture = tg.read_capture(path)
    for row in capture.interfaces:
        if not row["usable"] or row["same_as"] is not None or row["kind"] == "AXI-Stream":
            continue
        port = capture.port(prefix=row["prefix"])
        f = port.figures
        text = "\n".join([*port.story(), port.explain()])
        held = f["verdict"] in ("slowed", "blocked")
        assert (f["where"] != "") == held
        assert ("held it up" in text) <= held
        assert ("Reads are blocked" in text) == (f["verdict"] == "blocked")
        assert ("wait for writes" in text) == (f["verdict"] == "blocked")
        assert ("Writes do not hold reads up" in text) == (f["verdict"] == "independent")
        assert ("No data was written" in text) == (f["verdict"] == "nothing")
        assert ("Nothing can be told" in text) == (f["verdict"] == "unseen")
        if f["verdict"] == "unseen":
            assert "independent ports" not in text
        for direction in ("read", "write"):
            told_span = f"{direction} span: median" in text
            assert told_span == (f[f"complete_{direction}s"] > 0)
        if f["verdict"] == "nothing":
            assert f["r_and_w"] + f["w_only"] == 0
        assert f["complete_reads"] + f["bound_reads"] <= f["reads"]
        check_text(port)


@pytest.mark.parametrize("seed", range(200 if os.environ.get("TICKGAUGE_SLOW") == "1" else 20))
def test_the_numbers_of_the_sentences_are_the_figures(seed):
    rng = random.Random(f"text {seed}")
    simulation = simulate(seed, 300, any_traffic(rng), any_traffic(rng))
    rows = simulation.rows[rng.choice((0, 50)) :]
    for _ in range(rng.choice((0, 0, 1, 5))):
        rows[rng.randrange(len(rows))][rng.choice(("rvalid", "wready", "arvalid"))] = -1
    check_text(tg.read_capture(cut(*csv_lines(Simulation(rows=rows)), 0)).port())
