"""Captures: every hard input of the facts, archives, the object.

Right values come from how the files were made (tests/data/zynq/hostile.zip has a manifest).
"""

from __future__ import annotations

import io
import lzma
import zipfile

import numpy as np
import pytest

import tickgauge as tg
from zynq_files import DATA, hostile, hostile_names, ila

READ = {"ax_valid": 3, "ax_accept": 4, "data_first": 9, "data_last": 12, "address_wait": 1}
READ |= {"first_data": 5, "last_data": 8}
WRITE = {"ax_accept": 6, "data_first": 7, "data_last": 9, "b_accept": 14, "response": 8}

LITE = "m_arvalid m_arready m_araddr[31:0] m_rvalid m_rready"


def rows(capture, **port):
    return list(capture.port(**port).transactions)


def is_base(capture):
    """The one read and one write of the hostile set's base case."""
    read, write = rows(capture)[:2]
    assert {k: read[k] for k in READ} == READ
    assert {k: write[k] for k in WRITE} == WRITE
    channels = capture.channels()
    assert dict(zip(channels["channel"], channels["stall"], strict=True))["W"] == len(
        capture.windows
    )


# ---- the hostile set ------------------------------------------------------------------------

BASE = [
    "h00_base.csv",
    "h01_truncated_midrow.csv",
    "h05_crlf_bom.csv",
    "h06_legacy_no_radix.csv",
    "h08_no_rlast_wlast.csv",
    "h10_renamed_upper_suffix.csv",
    "h11_labels_slot.csv",
    "h15_unmatched_b.csv",
    "h18_two_windows.csv",
    "h20_quoted_enum_radix_hex.csv",
    "h30_base.vcd",
    "h31_clocked_sim.vcd",
    "h32_escaped_ids.vcd",
    "h39_crlf_uppercase.vcd",
]
OTHERS = [
    "h13_ends_mid_read.csv",
    "h17_zero_samples.csv",
    "h34_dumpoff.vcd",
    "h37_time_backwards.vcd",
    "h41_truncated.vcd",
]


def test_every_hostile_file_is_tested():
    assert sorted(BASE + OTHERS) == sorted(hostile_names())


@pytest.mark.parametrize("name", BASE)
def test_base_case_in_every_form(name):
    is_base(tg.read_capture(hostile(name)))


def reasons(capture):
    return [r["reason"] for r in capture.problems]


def test_h01_says_that_the_last_row_was_cut():
    capture = tg.read_capture(hostile("h01_truncated_midrow.csv"))
    assert reasons(capture) == ["cut"]
    assert capture.problems.row(0)["line"] == 23


def test_h13_ends_inside_both():
    capture = tg.read_capture(hostile("h13_ends_mid_read.csv"))
    read, write = rows(capture)
    assert (read["status"], read["seen"], read["beats"]) == ("incomplete", 1, 2)
    assert (write["status"], write["b_accept"]) == ("incomplete", None)
    assert len(capture.transactions().counted) == 0
    assert len(capture.readings) == 0


def test_h15_names_the_orphan():
    port = tg.read_capture(hostile("h15_unmatched_b.csv")).port()
    (problem,) = port.problems
    assert (problem["sample"], problem["channel"], problem["reason"]) == (18, "B", "orphan")
    assert "id 3" in problem["detail"]
    assert port.figures["orphans"] == 1


def test_h17_is_armed_but_empty():
    capture = tg.read_capture(hostile("h17_zero_samples.csv"))
    assert "armed, nothing captured" in repr(capture)
    assert len(capture.transactions()) == 0
    assert len(capture.windows) == 0


def test_h18_has_two_windows():
    capture = tg.read_capture(hostile("h18_two_windows.csv"))
    assert list(capture.windows["first"]) == [0, 24]
    assert list(capture.windows["trigger"]) == [4, 28]
    assert list(capture.transactions()["window"]) == [0, 0, 1, 1]
    assert (capture.transactions()["status"] == "complete").all()


def test_h30_ends_at_its_last_change():
    assert tg.read_capture(hostile("h30_base.vcd")).samples == 16
    deep = tg.read_capture(hostile("h30_base.vcd"), samples=24)
    assert deep.samples == 24
    csv = tg.read_capture(hostile("h00_base.csv"))
    assert list(deep.channels()["idle"]) == list(csv.channels()["idle"])


def test_h34_is_uncertain():
    port = tg.read_capture(hostile("h34_dumpoff.vcd")).port()
    assert port.transactions.flagged("uncertain").all()
    assert port.figures["unknown"] == 6


def test_h37_warns_and_matches_nothing_across():
    capture = tg.read_capture(hostile("h37_time_backwards.vcd"))
    assert reasons(capture) == ["time-backwards"]
    assert all(t["span"] is None or t["span"] >= 0 for t in capture.transactions())
    assert len(capture.transactions().counted.reads) == 0


def test_h41_keeps_what_is_whole():
    capture = tg.read_capture(hostile("h41_truncated.vcd"))
    assert reasons(capture) == ["cut"]
    assert capture.transactions().row(0)["data_last"] == 12
    assert capture.port().figures["orphans"] == 0


# ---- what the set does not have ---------------------------------------------------------------


def test_cut_header_is_an_error():
    with pytest.raises(tg.InputError, match="ends inside its header"):
        tg.read_capture(b"Sample in Buffer,Sample in Window,TRIGGER,a_arv")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf16_is_refused_with_the_reason(mark):
    text = hostile("h00_base.csv").decode()
    data = mark + text.encode("utf-16-le" if mark == b"\xff\xfe" else "utf-16-be")
    with pytest.raises(tg.InputError, match="UTF-16"):
        tg.read_capture(data)


def test_semicolons_are_detected():
    is_base(tg.read_capture(hostile("h00_base.csv").replace(b",", b";")))


def test_signed_without_radix_is_decimal():
    data = ila(LITE, "1 1 -16 0 1", "0 1 7 1 1")
    assert tg.read_capture(data).transactions().row(0)["addr"] == 0xFFFFFFF0


def test_signed_128_bits_is_exact():
    value = -54732843948766763197714740953344781197
    data = ila("wide[127:0]", str(value), radix="SIGNED")
    samples, values = tg.read_capture(data, keep=["wide"]).signal("wide")
    assert list(samples) == [0]
    assert values[0] == value % 2**128


def test_hand_edited_second_row_is_skipped():
    head, rest = ila(LITE, "1 1 8 0 1", "0 1 8 1 1").split(b"\n", 1)
    capture = tg.read_capture(head + b"\n,,,my note\n" + rest)
    assert reasons(capture) == ["no-sample"]
    assert [t["status"] for t in capture.transactions()] == ["complete"]


def test_stripped_header_is_refused():
    with pytest.raises(tg.InputError, match="Sample in Buffer"):
        tg.read_capture(ila(LITE, "1 1 8 0 1").split(b"\n", 1)[1])


def test_wide_buses_are_not_kept():
    data = ila(LITE + " m_rdata[1023:0]", "1 1 8 0 1 " + "f" * 256, "0 1 8 1 1 " + "0" * 256)
    capture = tg.read_capture(data)
    stored = dict(zip(capture.signals["name"], capture.signals["stored"], strict=True))
    assert not stored["m_rdata[1023:0]"]
    assert capture.transactions().row(0)["size"] == 128
    _, values = tg.read_capture(data, keep=["m_rdata"]).signal("m_rdata")
    assert list(values) == [2**1024 - 1, 0]


def test_hundreds_of_columns():
    extra = " ".join(f"d/<const0>_{i}" for i in range(1000))
    zeros = " 0" * 1000
    data = ila(f"{LITE} {extra}", "1 1 8 0 1" + zeros, "0 1 8 1 1" + zeros)
    assert [t["status"] for t in tg.read_capture(data).transactions()] == ["complete"]


def test_odd_labels_are_opaque():
    data = ila(
        LITE + " m_arprot[2:0] m_arsize[2:0]",
        '1 1 8 0 1 "iSTATE0" "iSTATE7"',
        '0 1 8 1 1 "iSTATE0" "iSTATE7"',
        radix="HEX",
    )
    row = tg.read_capture(data).transactions().row(0)
    assert (row["status"], row["size"]) == ("complete", None)


def two_slots():
    names = "net_slot_0_axi_{0} net_slot_1_axi_{0}"
    return " ".join(
        names.format(n) for n in ("arvalid", "arready", "araddr[31:0]", "rvalid", "rready")
    )


def test_slots_are_listed_and_chosen():
    data = ila(two_slots(), "1 0 1 1 8 0 0 0 1 1", "0 1 1 1 8 10 1 0 1 1", "0 0 1 1 0 0 0 1 1 1")
    capture = tg.read_capture(data)
    with pytest.raises(tg.InputError, match=r"2 AXI interfaces(.|\n)*slot 0(.|\n)*slot 1"):
        capture.port()
    assert rows(capture, slot=0)[0]["addr"] == 8
    assert rows(capture, slot=1)[0]["addr"] == 10
    assert rows(capture, prefix="SLOT_1")[0]["addr"] == 10
    with pytest.raises(tg.InputError, match="no AXI interface with that slot"):
        capture.port(slot=7)


def test_stream_and_lite_in_one_file():
    data = ila(LITE + " s_tvalid s_tready s_tlast", "1 1 8 0 1 1 1 1", "0 1 8 1 1 0 1 0")
    capture = tg.read_capture(data)
    assert sorted(capture.interfaces["kind"]) == ["AXI-Stream", "AXI4-Lite"]
    assert capture.port().kind == "AXI4-Lite"


def test_stream_alone_is_chosen():
    port = tg.read_capture(ila("s_tvalid s_tready", "1 1")).port()
    assert port.is_stream
    assert port.channels.row(0)["beat"] == 1


def test_starts_inside_a_read():
    port = tg.read_capture(ila(LITE, "0 1 0 1 1", "1 1 8 0 1", "0 1 0 1 1")).port()
    assert [t["status"] for t in port.transactions] == ["orphan", "complete"]


def test_one_sample():
    port = tg.read_capture(ila(LITE, "1 1 8 0 1")).port()
    assert port.figures["cycles"] == 1
    assert port.transactions.row(0)["status"] == "incomplete"
    assert port.finding.endswith("nothing can be told, the W channel is not in the capture")


def test_missing_ready_is_assumed_on_request_only():
    data = ila("m_arvalid m_araddr[31:0] m_rvalid m_rready", "1 8 0 1", "0 8 1 1")
    capture = tg.read_capture(data)
    assert capture.interfaces.row(0)["missing"] == "arready"
    assert len(capture.transactions()) == 0
    (read,) = capture.port(assume={"arready": 1}).transactions
    assert (read["status"], read["span"]) == ("complete", 1)


def test_an_explicit_map_wins():
    data = ila("u0/a u0/b u0/c[31:0] u0/d u0/e", "1 1 8 0 1", "0 1 8 1 1")
    with pytest.raises(tg.InputError, match="no AXI interface"):
        tg.read_capture(data).port()
    names = ("arvalid", "arready", "araddr", "rvalid", "rready")
    columns = {role: f"u0/{c}" for role, c in zip(names, "abcde", strict=True)}
    assert rows(tg.read_capture(data, map=columns))[0]["addr"] == 8
    with pytest.raises(ValueError, match="no AXI signal"):
        tg.read_capture(data, map={"foo": "u0/a"})


def test_gap_marks_a_lower_bound():
    names = "GAP " + LITE
    data = ila(names, "0 1 1 8 0 1", "1 X X X X X", "0 0 1 8 1 1")
    port = tg.read_capture(data).port()
    assert port.transactions.flagged("lower bound")[0]
    assert port.transactions.row(0)["why"] == "a gap follows"
    crossed = tg.read_capture(data).port(ignore_gaps=True).transactions
    assert crossed.row(0)["status"] == "complete"
    assert crossed.flagged("lower bound")[0]


def vcd(*lines, head=()):
    names = ("arvalid", "arready", "rvalid", "rready")
    text = ["$timescale 1ps $end", *head]
    text += [f"$var wire 1 {c} m_{n} $end" for c, n in zip("abcd", names, strict=True)]
    text += ["$enddefinitions $end", *lines]
    return ("\n".join(text) + "\n").encode()


FLOW = ("#0", "1a", "1b", "0c", "1d", "#1", "0a", "#5", "1c", "#6", "0c", "#7", "0d")


@pytest.mark.parametrize("scale", ["1 s", "6666ps", "1fs", "10 ns"])
def test_odd_timescales_are_units_only(scale):
    data = vcd(*FLOW).replace(b"1ps", scale.encode())
    assert tg.read_capture(data).transactions().row(0)["span"] == 5


def test_duplicate_ids_scopes_reals_and_strings():
    head = (
        "$scope module tb $end",
        "$var real 64 r temperature $end",
        "$var string 1 s state $end",
        "$var wire 1 a other_name $end",
        "$var event 1 e ev $end",
        "$upscope $end",
    )
    data = vcd("#0", "r1.5 r", "sRUN s", *FLOW[1:], head=head)
    assert tg.read_capture(data).transactions().row(0)["span"] == 5


def test_no_dumpvars_is_unknown_not_zero():
    data = vcd("#0", "1b", "1d", "#4", "1a", "0c", "#5", "0a", "#9", "1c", "#10", "0c")
    port = tg.read_capture(data).port()
    assert port.figures["unknown"] == 4
    assert port.transactions.flagged("start unknown")[0]


def test_dumpall_mid_file_changes_nothing():
    data = vcd(*FLOW[:7], "#3", "$dumpall", "0a", "1b", "0c", "1d", "$end", *FLOW[7:])
    assert tg.read_capture(data).transactions().row(0)["span"] == 5


def test_ready_declared_real_is_unusable():
    data = vcd(*FLOW).replace(b"$var wire 1 d m_rready", b"$var real 64 d m_rready")
    port = tg.read_capture(data).port()
    assert port.row["missing"] == "rready"
    assert port.transactions.row(0)["why"] == "the R channel is not in the capture"


def test_a_clock_can_be_named_or_refused():
    data = hostile("h31_clocked_sim.vcd")
    assert tg.read_capture(data, sample_on="clk").samples == 24
    assert tg.read_capture(data, sample_on="").samples > 24
    with pytest.raises(tg.Error, match="no signal is named nope"):
        tg.read_capture(data, sample_on="nope")


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"hello\n", b"PK\x03\x04", b"1,2,3\n"])
def test_what_is_no_capture(data):
    with pytest.raises(tg.InputError):
        tg.read_capture(data)


# ---- archives -----------------------------------------------------------------------------------


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members.items():
            z.writestr(name.replace("_", ".", 1), data)
    return file.getvalue()


DUMP = b"ILA Data Dump\nsample_count  :24\nwindow_marks :0 \ntrigger_marks :4 \ngaps  :\n"


def test_an_archive_gives_what_its_csv_gives():
    data = archive(waveform_csv=hostile("h00_base.csv"), waveform_dmp=DUMP, probes_ltx=b"<x/>")
    capture = tg.read_capture(data)
    is_base(capture)
    assert capture.form == "ILA CSV in .ila"
    assert tg.read(data).form == "ILA CSV in .ila"


def test_an_archive_without_csv_takes_depth_and_trigger_from_the_dump():
    capture = tg.read_capture(archive(waveform_vcd=hostile("h30_base.vcd"), waveform_dmp=DUMP))
    is_base(capture)
    assert capture.samples == 24
    assert list(capture.windows["trigger"]) == [4]
    assert any("ends at 16" in note for note in capture.notes)


def test_damaged_and_strange_archives():
    good = archive(waveform_csv=hostile("h00_base.csv"))
    with pytest.raises(tg.InputError, match="damaged"):
        tg.read_capture(good[: len(good) // 2])
    with pytest.raises(tg.InputError, match=r"no \.ila file"):
        tg.read_capture(archive(readme_txt=b"hello"))


# ---- the object ---------------------------------------------------------------------------------


def test_it_shows_itself():
    capture = tg.read(DATA / "B.csv.xz")
    assert len(repr(capture).splitlines()) < 20
    assert "reads wait for writes" in repr(capture)
    html = capture._repr_html_()
    assert html.startswith("<p>") and "<table" in html
    assert "&gt;" in html or "<script" not in html


def test_a_hostile_name_cannot_reach_the_page():
    data = ila("<script>x_arvalid <script>x_arready", "1 1")
    assert "<script" not in tg.read_capture(data)._repr_html_()


def test_signals_are_kept_only_where_they_bind_or_are_asked_for():
    capture = tg.read_capture(DATA / "A.vcd.xz")
    name = "design_1_i/system_ila_0/inst/net_slot_0_axi_arvalid"
    samples, values = capture.signal(name)
    assert values[0] == 0
    assert np.all(np.diff(samples.astype("i8")) > 0)
    with pytest.raises(tg.UnknownName, match="keep="):
        capture.signal("design_1_i/system_ila_0/inst/net_slot_0_axi_rdata")
    with pytest.raises(tg.UnknownName, match="no signal"):
        capture.signal("nope")


def test_lanes_and_transactions_agree():
    port = tg.read_capture(DATA / "B.csv.xz").port()
    lanes = port.lanes(0, 8191)
    for channel in port.channels:
        mine = lanes[lanes["channel"] == channel["channel"]]
        assert int((mine["last"] - mine["first"] + 1).sum()) == 8192
        beats = mine[mine["state"] == "beat"]
        assert int((beats["last"] - beats["first"] + 1).sum()) == channel["beat"]


def test_efficiency_is_beats_per_clock_of_the_data_phase():
    transactions = tg.read_capture(hostile("h00_base.csv")).transactions()
    assert list(transactions.efficiency) == [2 / 4, 2 / 3]  # 9 and 12; 7 and 9


def test_gaps_of_a_dump_part_what_they_lie_in():
    dump = DUMP.replace(b"gaps  :", b"gaps  :10 ")
    data = archive(waveform_csv=hostile("h00_base.csv"), waveform_dmp=dump)
    capture = tg.read_capture(data)
    assert capture.about["gaps"] == 1
    assert capture.transactions().row(0)["why"] == "a gap follows"


def test_compression_is_undone():
    plain = hostile("h00_base.csv")
    assert tg.read_capture(lzma.compress(plain)).digest == tg.read_capture(plain).digest


# ---- columns of single bits ---------------------------------------------------------------------


@pytest.mark.parametrize("upwards", [False, True])
@pytest.mark.parametrize("plain", [False, True])
def test_columns_that_are_bits_of_a_vector_are_joined(plain, upwards):
    bits = range(70) if upwards else reversed(range(70))
    address, other = (1 << 69) | 0x1004, 0x2008
    names = ["s_axi_arvalid", "s_axi_arready", "s_axi_rvalid", "s_axi_rready"]
    order = list(bits)
    names += [f"s_axi_araddr[{b}]" for b in order]
    rows = []
    for sample in range(12):
        value = address if sample < 6 else other
        cells = [int(sample in (1, 7)), 1, int(sample in (3, 9)), 1]
        cells += [value >> b & 1 for b in order]
        rows.append(" ".join("X" if sample == 11 else str(c) for c in cells))
    data = ila(" ".join(names), *rows, radix="HEX")
    if plain:
        lines = [line.split(",")[3:] for line in data.decode().splitlines()]
        data = "\n".join(",".join(cells) for cells in lines[:1] + lines[2:]).encode()
    capture = tg.read_capture(data)
    samples, values = capture.signal("s_axi_araddr[69:0]")
    assert samples.tolist() == [0, 6, 11]
    assert list(values) == [address, other, None]
    low = [t["addr"] for t in capture.port().transactions]
    assert low == [0x1004, 0x2008]
    assert not len(capture.problems)


def test_valids_of_two_interfaces_are_no_vector():
    names = "axi_arvalid[0] axi_arvalid[1] axi_arready[0] axi_arready[1]"
    capture = tg.read_capture(ila(names, *["1 0 1 1"] * 4, radix="HEX"))
    assert [(r["prefix"], r["usable"]) for r in capture.interfaces] == [
        ("axi[0]", True),
        ("axi[1]", True),
    ]
    assert [len(capture.port(prefix=f"axi[{i}]").transactions) for i in (0, 1)] == [4, 0]


def test_a_cell_of_a_bit_that_is_no_level_is_a_problem():
    names = "s_axi_arvalid s_axi_arready s_axi_araddr[1] s_axi_araddr[0]"
    capture = tg.read_capture(ila(names, "1 1 0 1", "1 1 7 1", "1 1 X 1", radix="HEX"))
    assert [r["reason"] for r in capture.problems] == ["bad-cell"]
    assert capture.signal("s_axi_araddr[1:0]")[1].tolist() == [1, None]
