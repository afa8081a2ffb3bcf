"""Captures whose figures are known from elsewhere, in every form that they have.

Right values come from the article's pair, from monitors inside the simulations, and from
Vivado's own transaction rows.
"""

from __future__ import annotations

import itertools

import pytest

import tickgauge as tg
from zynq_files import CASES, DATA, hostile, truth

# ---- the article's pair -------------------------------------------------------------------------

PAIR = [("A", 546, 0, 6144, "independent"), ("B", 3531, 5888, 0, "blocked")]


@pytest.mark.parametrize("form", ["csv", "vcd"])
@pytest.mark.parametrize(("name", "span", "blocked", "together", "verdict"), PAIR)
def test_the_article_s_reads(name, span, blocked, together, verdict, form):
    port = tg.read_capture(DATA / f"{name}.{form}.xz").port()
    (read,) = port.transactions.triggered
    assert (read["direction"], read["addr"], read["span"]) == ("read", 0x70106000, span)
    assert port.figures["blocked"] == blocked
    assert port.figures["any_r_and_w"] == together
    assert port.figures["verdict"] == verdict


def test_the_fixed_finding():
    port = tg.read(DATA / "B.csv.xz").port()
    assert port.finding == (
        "reads blocked while writing: 5888 of 5888 write beats; independent ports: 1032; "
        "reads wait for writes"
    )
    assert port.figures["tail_median"] == 16


@pytest.mark.parametrize("name", ["A", "B"])
def test_csv_and_vcd_give_the_same(name):
    a, b = (tg.read_capture(DATA / f"{name}.{form}.xz").port() for form in ("csv", "vcd"))
    assert list(a.transactions) == list(b.transactions)
    assert list(a.channels) == list(b.channels)


def test_two_captures_are_matched_by_direction_class_and_size():
    a, b = (tg.read_capture(DATA / f"{n}.csv.xz").port() for n in "AB")
    read, write = tg.compare_ports(a, b)
    assert (read["direction"], read["addr"], read["bytes"]) == ("read", 0x70100000, 4096)
    assert (write["old"], write["new"], write["delta"]) == (271, 271, 0)
    assert read["n_old"] == 31
    assert read["n_new"] == 7
    other = tg.read_capture(hostile("h00_base.csv")).port()
    with pytest.raises(tg.NotComparableError):
        tg.compare_ports(a, other)


def test_captures_are_compared_like_any_readings():
    a, b = (tg.read(DATA / f"{n}.csv.xz") for n in "AB")
    rows_ = {(r["operation"], r["metric"]): r for r in tg.compare(a, b).rows}
    assert ("read", "span") in rows_
    assert ("write", "response") in rows_


# ---- simulations with a monitor's truth ---------------------------------------------------------

SIMS = ["interleave", "qconv_io_128_2012", "hpc_blocked_window8192"]
MORE = ["hpc_independent", "hpc_blocked", "zip_axidma", "xbar_ram1"]
FULL = SIMS + MORE if CASES is not None else SIMS

STAMPS = ["ax_valid", "ax_accept", "data_valid", "data_first", "data_last", "b_valid", "b_accept"]
RESPONSES = ["OKAY", "EXOKAY", "SLVERR", "DECERR"]


def sim(name):
    full = None if CASES is None else CASES / "real" / "sim" / f"{name}.vcd.gz"
    return tg.read_capture(full if full is not None and full.exists() else DATA / f"{name}.vcd.xz")


def want(row):
    """A monitor's row in our terms; only what lies inside a cut window."""
    cut = row.get("complete_in_window") == "0"
    names = [n for n in STAMPS if not (cut and n in ("data_last", "b_valid", "b_accept"))]
    out = {n: int(row[n]) if row[n] else None for n in names}
    out |= {"id": int(row["id"], 16), "addr": int(row["addr"], 16), "beats": int(row["beats"])}
    out["size"] = int(row["size"])
    if not cut:
        out["resp"] = RESPONSES[int(row["resp"])]
        if row["dir"] == "R":
            out["blocked"] = int(row["cycles_no_R_beat_W_beat"])
            out["w_beats"] = int(row["cycles_W_beat"])
    return out


@pytest.mark.parametrize("name", FULL)
def test_transactions_equal_the_truth(name):
    _, expected = truth(name)
    port = sim(name).port()
    for letter, direction in (("R", "read"), ("W", "write")):
        monitor = [r for r in expected if r["dir"] == letter]
        monitor = [r for r in monitor if r.get("starts_before_window", "0") == "0"]
        monitor.sort(key=lambda r: int(r["ax_accept"]))
        found = [
            t for t in port.transactions if t["direction"] == direction and t["status"] != "orphan"
        ]
        assert len(found) == len(monitor)
        for t, row in zip(found, monitor, strict=True):
            right = want(row)
            assert {k: t[k] for k in right} == right


COUNTERS = {
    "cycles": "cycles",
    "cycles_with_x_on_valid_or_ready": "unknown",
    "max_outstanding_reads": "max_reads",
    "max_outstanding_writes": "max_writes",
    "read_outstanding": "read_open",
    "read_outstanding_R_and_W_beat": "r_and_w",
    "read_outstanding_R_beat_only": "r_only",
    "read_outstanding_no_R_beat_W_beat": "w_only",
    "read_outstanding_neither_beat": "neither",
    "read_outstanding_RVALID_low_W_beat": "blocked",
    "write_outstanding": "write_open",
    "read_and_write_outstanding": "both_open",
    "protocol_errors": "protocol",
}


@pytest.mark.parametrize("name", FULL)
def test_counters_equal_the_truth(name):
    right, _ = truth(name)
    port = sim(name).port()
    if "counters" not in right:  # a cut window: with the reads in flight at its start
        right = {"counters": right["counters_knowing_reads_in_flight_at_start"]}
    for theirs, ours in COUNTERS.items():
        if theirs in right["counters"]:
            assert port.figures[ours] == right["counters"][theirs], theirs
    for channel in port.channels if "channels" in right else ():
        cycles = right["channels"][channel["channel"]]
        assert channel["beat"] == cycles["beat"]
        assert channel["stall"] == cycles["stall"]
        assert channel["ready_high"] == cycles["idle_ready_high"]
        assert channel["ready_low"] == cycles["idle_ready_low"]
    if "figures" in right:
        read, write = right["figures"]["read"], right["figures"]["write"]
        assert port.figures["interleaves"] == read["beat_switches_inside_a_burst_interleaving"]
        assert port.figures["reads_reordered"] == read["completion_out_of_accept_order"]
        assert port.figures["writes_reordered"] == write["b_out_of_aw_order"]


def test_a_cut_blocked_window_is_called_blocked():
    port = sim("hpc_blocked_window8192").port()
    assert port.figures["verdict"] == "blocked"
    assert round(port.figures["p_given_w"], 3) == 0.001
    assert round(port.figures["p_given_no_w"], 3) in (0.287, 0.288)


@pytest.mark.skipif(CASES is None, reason="TICKGAUGE_CASES names no folder")
def test_the_simulated_pair():
    blocked, independent = sim("hpc_blocked").port(), sim("hpc_independent").port()
    assert blocked.figures["verdict"] == "blocked"
    assert ".000 against P(R beat | no W beat) .271" in blocked.contrast
    assert independent.figures["verdict"] == "independent"
    assert ".487 against P(R beat | no W beat) .486" in independent.contrast


# ---- real exports -------------------------------------------------------------------------------

REAL = pytest.mark.skipif(CASES is None, reason="TICKGAUGE_CASES names no folder")
R04, R05, R19 = (
    "r04_v2024.2_peripheral_axi",
    "r05_v2024.2_zero_samples",
    "r19_v2025.2_axi4_mm_256bit_write_bursts",
)


def real(name, form):
    return tg.read(CASES / "real" / f"{name}.{form}")


@REAL
@pytest.mark.parametrize("form", ["csv", "vcd", "ila"])
def test_r04_read_and_write(form):
    read, write = real(R04, form).transactions()
    assert (read["span"], read["ax_valid"]) == (35, 971)
    assert (write["span"], write["trigger"]) == (37, True)


@REAL
@pytest.mark.parametrize("form", ["csv", "vcd", "ila"])
def test_r05_nothing_captured(form):
    assert "armed, nothing captured" in repr(real(R05, form))


@REAL
@pytest.mark.parametrize("form", ["csv", "vcd", "ila"])
def test_r19_is_vivado_s_row(form):
    port = real(R19, form).port()
    (write,) = port.transactions
    assert (write["ax_valid"], write["b_accept"], write["beats"]) == (990, 1026, 4)
    lanes = port.lanes(980, 1030)
    beats = lanes[(lanes["channel"] == "W") & (lanes["state"] == "beat")]
    assert list(beats["first"]) == [1000, 1008, 1016, 1024]
    assert list(beats["first"]) == list(beats["last"])


@REAL
@pytest.mark.parametrize("name", [R04, R19])
def test_three_forms_one_capture(name):
    ports = [real(name, form).port() for form in ("csv", "vcd", "ila")]
    for a, b in itertools.pairwise(ports):
        assert list(a.transactions) == list(b.transactions)
    csv, short, ila_ = ports
    assert list(csv.channels) == list(ila_.channels)
    assert csv.capture.samples == 2048
    assert short.capture.samples < 2048
    assert any("ends at its last change" in note for note in short.capture.notes)
