"""AXI4-Stream: beats, stalls, pauses, packets and bytes, against a count row by row."""

from __future__ import annotations

import random

import pytest

import tickgauge as tg
from tickgauge.cli import main
from zynq_files import ila

COLUMNS = "s_axis_tvalid s_axis_tready s_axis_tlast s_axis_tkeep[3:0] s_axis_tdata[31:0]"


def wave(seed: int, n: int = 400) -> list[tuple[int, int, int, int]]:
    """TVALID, TREADY, TLAST, TKEEP of each clock; VALID waits for READY."""
    rng = random.Random(seed)
    rows, up, last, keep = [], 0, 0, 0
    for _ in range(n):
        if not up:
            up, last = int(rng.random() < 0.6), int(rng.random() < 0.2)
            keep = rng.choice((15, 15, 7, 3)) if last else 15
        ready = int(rng.random() < 0.7)
        rows.append((up, ready, last & up, keep))
        if up and ready:
            up = 0
    return rows


def counted(rows):
    """Right values, clock by clock. The first packet may have begun before the capture."""
    out = {"beat": 0, "stall": 0, "starve": 0, "idle": 0}
    packets, run, size, first, gap = [], 0, 0, -1, 0
    for k, (valid, ready, last, keep) in enumerate(rows):
        word = ("idle", "starve", "stall", "beat")[2 * valid + ready]
        out[word] += 1
        gap += run > 0 and not valid
        if word != "beat":
            continue
        first = k if run == 0 else first
        run, size = run + 1, size + keep.bit_count()
        if last:
            packets.append((first, k, run, size))
            run = size = 0
    return out, packets[1:], gap


@pytest.mark.parametrize("seed", range(6))
def test_a_stream_is_counted(seed):
    rows = wave(seed)
    right, packets, gap = counted(rows)
    data = ila(COLUMNS, *(f"{v} {r} {last} {keep:x} 00000000" for v, r, last, keep in rows))
    port = tg.read_capture(data).port()
    channel = port.channels.row(0)
    assert {k: channel[k] for k in right} == right
    whole = port.packets[port.packets["whole"]]
    found = [tuple(p[n] for n in ("first", "last", "beats", "bytes")) for p in whole]
    assert found == packets
    assert port.figures["packets"] == len(packets)
    assert port.figures["stream_bytes"] == sum(
        keep.bit_count() for v, r, _, keep in rows if v and r
    )
    assert port.figures["stream_gap"] == gap


def test_it_is_told_in_sentences(tmp_path, capsys):
    path = tmp_path / "s.csv"
    rows = ["0 1 0 f 00000000"] * 2 + ["1 1 0 f 00000000", "1 0 1 f 00000000", "1 1 1 f 00000000"]
    path.write_bytes(ila(COLUMNS, *rows))
    assert main(["axi", str(path), "--clock", "100MHz"]) == 0
    out = capsys.readouterr().out
    assert "2 beats in 5 clocks (40.0 %), 8 bytes, 1.60 bytes per clock, 160.0 MB/s." in out
    assert "(TVALID, no TREADY) in 1 clocks (20.0 %)" in out
    assert "No packet is whole" in out  # the first may have begun before the capture
