"""Waves that another reader tells: an FST file, and changes that come one by one."""

from __future__ import annotations

import pytest

import tickgauge as tg
from tickgauge import _core
from zynq_files import DATA


def test_an_fst_tells_the_same_as_the_vcd_it_was_made_of():
    pytest.importorskip("pywellen")
    vcd, fst = (tg.read_capture(DATA / f"interleave.{n}") for n in ("vcd.xz", "fst"))
    assert fst.about == vcd.about
    assert list(fst.signals) == list(vcd.signals)
    a, b = vcd.port(), fst.port()
    for table in ("transactions", "channels", "outstanding", "blocks", "starts"):
        assert list(getattr(a, table)) == list(getattr(b, table))
    assert a.figures == b.figures


HEAD = b"$timescale 1ns $end\n$var wire 1 ! clk $end\n$var wire 1 # s_axi_arvalid $end\n"
HEAD += b"$var wire 1 $ s_axi_arready $end\n$var wire 100 % s_axi_araddr [99:0] $end\n"
HEAD += b"$enddefinitions $end\n"


def sink():
    """A capture fed with the head, and callbacks for its changes."""
    core = _core.Capture("vcd", keep=["s_axi_araddr"])
    core.feed(HEAD)
    return core, _core.Changes(core, {"v": b"#", "r": b"$", "a": b" %"})


def test_changes_of_another_reader_come_one_by_one():
    core, changes = sink()
    changes.clock(0)
    for time in range(0, 200, 5):
        changes.edge(time, "c", time // 5 % 2)
    changes.edge(200, "c", "x")
    changes.edge(205, "c", 1)  # of which nothing is known before: no edge
    for time, name, value in [
        (0, "v", 0), (0, "r", 1), (0, "a", 1 << 99), (10, "v", 1), (20, "v", "x"), (30, "a", "x"),
    ]:  # fmt: skip
        changes.change(time, name, value)
    with pytest.raises(KeyError):
        changes.change(31, "b", 1)
    with pytest.raises(TypeError):
        changes.change(31, "v")
    with pytest.raises(OverflowError):
        changes.change(-1, "v", 1)
    changes.flush()
    core.finish()
    assert (core.about()["samples"], core.about()["last_time"]) == (20, 205)
    table = core.changes(3)
    assert table.column("sample").tolist() == [0, 3]
    assert table.column("value1").tolist()[0] == 1 << 35
    with pytest.raises(ValueError, match="invalid"):
        core.rises(1, b"12345678")


class Restless:
    """A value whose text makes another change, or takes the codes away."""

    def __init__(self, act, text="1"):
        self.act, self.text = act, text

    def __str__(self):
        self.act()
        return self.text


def test_a_value_whose_own_code_comes_back_changes_nothing():
    core, changes = sink()
    changes.clock(0)
    for time in range(5):
        changes.edge(10 * time, "c", 0)
        changes.edge(10 * time + 5, "c", 1)
    changes.change(0, "r", 0)
    with pytest.raises(RuntimeError, match="in use"):
        changes.change(12, "v", Restless(lambda: changes.change(12, "r", 1)))
    with pytest.raises(ZeroDivisionError):  # and what was begun of the change is taken back
        changes.change(22, "a", Restless(lambda: 1 / 0))
    changes.change(22, "a", 7)
    changes.flush()
    core.finish()
    table = core.changes(3)
    assert [table.column(n).tolist() for n in ("sample", "value")] == [
        [2],
        [7],
    ]  # before the edge at 25


def test_a_code_outlives_its_dict():
    core = _core.Capture("vcd", keep=["s_axi_araddr"])
    core.feed(HEAD)
    codes = {"a": b" " + b"%"}
    changes = _core.Changes(core, codes)
    changes.clock(0)
    changes.edge(0, "c", 0)
    changes.change(0, "a", Restless(codes.clear, "101"))
    changes.edge(5, "c", 1)
    changes.flush()
    core.finish()
    assert core.changes(3).column("value").tolist() == [5]


def test_an_edge_needs_a_clock():
    _, changes = sink()
    with pytest.raises(ValueError, match="no clock"):
        changes.edge(0, "c", 1)
