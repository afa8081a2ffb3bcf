"""Traces for viewers: every slice stands where its stamps say, nests, and reads back exactly."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.dataset.timeline import timeline
from tickgauge.exports.trace import Slice, Trace
from tickgauge.exports.tracks import of_calls

DATA = Path(__file__).resolve().parents[1] / "data"
OPTEE = [str(DATA / "optee" / name) for name in ("ree.log.gz", "tee.log.gz", "loop200.txt.gz")]


def events_of(path):
    return json.loads(Path(path).read_text())["traceEvents"]


def check_nesting(events):
    """Slices of one track nest, which is what a viewer can draw."""
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        open_ends: list[float] = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= start + 1e-9:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 1e-9
            open_ends.append(end)


def test_calls_have_a_slice_for_each_pair_of_stamps(tmp_path, capsys):
    target = tmp_path / "calls.json"
    assert main(["calls", "--together", *OPTEE, "--trace", str(target)]) == 0
    events = events_of(target)
    names = {e["tid"]: e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    data = tg.read_together(*OPTEE)
    pairs = {
        "client": ("client_start", "client_return"),
        "driver": ("driver_start", "driver_finish"),
    }
    pairs |= {"TEE core": ("tee_receive", "tee_finish"), "TA": ("ta_enter", "tee_finish")}
    calls = [data.calls.row(i) for i in range(len(data.calls))]
    low = min(
        row[first]
        for row in calls
        for first, last in pairs.values()
        if row[first] is not None and row[last] is not None
    )
    drawn = [e for e in events if e["ph"] == "X"]
    for track, (first, last) in pairs.items():
        # the clock of this board is 24 MHz: a tick is 1000/24 ns, a viewer's unit is 1 us
        due = sorted(
            (round(Fraction((row[first] - low) * 1000, 24)), row[first], row[last])
            for row in calls
            if row[first] is not None and row[last] is not None
        )
        got = sorted(
            (round(e["ts"] * 1000), e["args"]["first tick"], e["args"]["last tick"])
            for e in drawn
            if names[e["tid"]].removesuffix(" 2").removesuffix(" 3") == track
        )
        assert got == due
    check_nesting(events)
    flows = [e for e in events if e["ph"] == "s"]
    layers = [sum(None not in (row[a], row[b]) for a, b in pairs.values()) for row in calls]
    assert len(flows) == sum(n > 1 for n in layers)


def test_axi_and_stages_are_drawn_on_their_clock(tmp_path, capsys):
    target = tmp_path / "b.json"
    capture = str(DATA / "zynq" / "B.csv.xz")
    assert main(["axi", capture, "--clock", "250MHz", "--trace", str(target)]) == 0
    events = events_of(target)
    check_nesting(events)
    read = [e for e in events if e["ph"] == "X" and e["args"].get("span") == 3531]
    assert {e["name"] for e in read} == {"0x70106000"}  # the triggered read of the article
    channels = {e["args"]["first clock"]: e["dur"] for e in read}
    assert channels == {524: 0.004, 2168: 4 * (4055 - 2168 + 1) / 1000}
    target = tmp_path / "stages.json"
    boot = str(DATA / "tfa" / "console" / "perf-head-boot-01.log.gz")
    assert main(["show", boot, "--stages", "--trace", str(target)]) == 0
    stage = next(e for e in events_of(target) if e.get("name") == "BL2" and e["ph"] == "X")
    assert stage["dur"] == pytest.approx(4902349 * 16 / 1000)  # ticks of 62.5 MHz, in us


def test_clocks_that_nothing_ties_are_groups_of_their_own(tmp_path, capsys):
    boot = DATA / "boot" / "before.log"
    data = tg.read(boot)
    target = tmp_path / "stages.json"
    assert main(["show", str(boot), "--stages", "--trace", str(target)]) == 0
    groups, starts = {}, {}
    for event in events_of(target):
        if event["ph"] == "M" and event["name"] == "process_name":
            groups[event["pid"]] = event["args"]["name"]
        if event["ph"] == "X":
            pair = groups[event["pid"]], event["args"]["clock"]
            starts.setdefault(pair, []).append((event["ts"], event["dur"]))
    strips, _ = timeline(data, 0)
    assert len(groups) == sum(len(timeline(data, b)[0]) for b in range(len(data.boots)))
    for strip in strips:  # each bar where the axis of the verb has it
        bars = sorted((b.start, b.ns) for b in strip.bars if not b.gap)
        clocks = {clock.name for clock in strip.clocks}
        got = [
            (round(ts * 1000), round(dur * 1000))
            for (group, clock), spans in starts.items()
            if re.match(r"boot 0\b", group) and clock in clocks
            for ts, dur in spans
        ]
        assert np.abs(np.array(sorted(got)) - np.array(bars)).max() <= 1  # cut, not rounded


@pytest.mark.parametrize("seed", range(20))
def test_overlapping_slices_are_laid_into_lanes(seed):
    draw = random.Random(seed)
    slices = []
    for i in range(60):
        start = Fraction(draw.randrange(500), draw.choice([1, 3, 7]))
        end = start + draw.randrange(80)
        slices.append(
            Slice("g", draw.choice("ab"), f"s{i}", start, end, {"i": i}, draw.randrange(9))
        )
    trace = Trace(slices)
    events = json.loads(trace.to_chrome())["traceEvents"]
    check_nesting(events)
    low = min(one.start for one in slices)
    drawn = {e["args"]["i"]: e for e in events if e["ph"] == "X"}
    for i, one in enumerate(slices):
        assert drawn[i]["ts"] * 1000 == pytest.approx(round(one.start - low), abs=1e-6)


def test_perfetto_reads_back_the_same_slices():
    pytest.importorskip("perfetto", reason="the extra 'perfetto' is not installed")
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace as Read
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent

    trace = of_calls(tg.read_together(*OPTEE))
    read = Read()
    read.ParseFromString(trace.to_perfetto())
    stacks, spans = defaultdict(list), []
    last = 0
    for packet in read.packet:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert packet.timestamp >= last  # a viewer wants them in order
        last = packet.timestamp
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            notes = {n.name: n.int_value for n in event.debug_annotations}
            stacks[event.track_uuid].append((packet.timestamp, event.name, notes["first tick"]))
        else:
            start, name, tick = stacks[event.track_uuid].pop()
            spans.append((start, packet.timestamp, name, tick))
    assert not any(stacks.values())
    low = min(one.start for one in trace.slices)
    due = [
        (round(s.start - low), round(s.end - low), s.name, s.args["first tick"])
        for s in trace.slices
    ]
    assert sorted(spans) == sorted(due)


def test_a_trace_without_spans_and_a_foreign_ending_are_refused(tmp_path, capsys):
    log = DATA / "optee" / "tee.log.gz"
    target = tmp_path / "t.json"
    assert main(["show", str(log), "--stages", "--trace", str(target)]) == 2
    assert "no span" in capsys.readouterr().err and not target.exists()
    assert main(["calls", "--together", *OPTEE, "--trace", str(tmp_path / "t.txt")]) == 2
    assert ".pftrace" in capsys.readouterr().err
