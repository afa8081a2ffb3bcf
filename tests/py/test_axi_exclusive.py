"""Exclusive and locked accesses: pairs of a read and a write, and how they end."""

from __future__ import annotations

import tickgauge as tg

LOCKS = "arvalid arready arlock arid araddr rvalid rready rlast rid rresp "
LOCKS += "awvalid awready awlock awid awaddr awlen wvalid wready wlast bvalid bready bid bresp"


def locks(events, width: int = 1, n: int = 60) -> bytes:
    """A VCD, from time 0 on, of ``(sample, signal=value ...)`` that hold for one clock."""
    names = LOCKS.split()
    wide = {"addr": 32, "rid": 4, "wid": 4, "bid": 4, "len": 8, "resp": 2, "lock": width}
    widths = [next((w for k, w in wide.items() if n.endswith(k)), 1) for n in names]
    rows = [dict.fromkeys(names, 0) | {"arready": 1, "rready": 1} for _ in range(n)]
    for row in rows:
        row |= {"awready": 1, "wready": 1, "bready": 1}
    for sample, change in events:
        rows[sample] |= change
    head = ["$timescale 1ns $end", "$var wire 1 ! clk $end", "$var wire 1 @ aresetn $end"]
    for i, (name, w) in enumerate(zip(names, widths, strict=True)):
        head.append(f"$var wire {w} s{i} m_axi_{name}{f' [{w - 1}:0]' if w > 1 else ''} $end")
    out = [*head, "$enddefinitions $end"]
    for k, row in enumerate(rows):
        out += [f"#{10 * k}", "0!", f"{int(k > 0)}@"]
        for i, (name, w) in enumerate(zip(names, widths, strict=True)):
            out.append(f"b{row[name]:b} s{i}" if w > 1 else f"{row[name]}s{i}")
        out += [f"#{10 * k + 5}", "1!"]
    return ("\n".join(out) + "\n").encode()


def access(at: int, address: int, ident: int, kind: int, answers: tuple[int, int], write=True):
    """An exclusive read at `at` and, 6 clocks later, the write of the pair."""
    out = [
        (at, {"arvalid": 1, "arlock": kind, "arid": ident, "araddr": address}),
        (at + 2, {"rvalid": 1, "rlast": 1, "rid": ident, "rresp": answers[0]}),
    ]
    if write:
        out += [
            (at + 6, {"awvalid": 1, "awlock": kind, "awid": ident, "awaddr": address}),
            (at + 7, {"wvalid": 1, "wlast": 1}),
            (at + 9, {"bvalid": 1, "bid": ident, "bresp": answers[1]}),
        ]
    return out


def test_exclusive_accesses_are_pairs_that_succeed_or_fail():
    events = access(2, 0x1000, 1, 1, (1, 1)) + access(14, 0x2000, 2, 1, (1, 0))
    events += access(26, 0x3000, 1, 1, (0, 0))  # the slave has no exclusive access
    events += [(t, e) for t, e in access(36, 0x1000, 3, 1, (1, 0)) if t >= 42]  # without its read
    events += access(48, 0x4000, 1, 0, (0, 0))  # a normal one
    port = tg.read_capture(locks(events)).port()
    f = port.figures
    assert (f["exclusive_reads"], f["exclusive_writes"], f["exclusive_pairs"]) == (3, 4, 3)
    assert (f["exclusive_done"], f["exclusive_failed"], f["exclusive_refused"]) == (1, 3, 1)
    assert [t["lock"] for t in port.transactions].count("exclusive") == 7
    text = port.explain()
    assert "4 exclusive writes: 1 done (EXOKAY), 3 failed (OKAY: nothing is written)" in text
    assert "3 with their exclusive read in the capture" in text
    assert "3 exclusive reads, 1 of them answered with OKAY: no exclusive access there" in text
    notes = [str(row[12]) for row in port.transactions.lines().rows]
    assert [n for n in notes if "failed" in n] == ["exclusive, failed"] * 3


def test_what_may_have_begun_before_the_capture_has_no_outcome():
    """A read answered with OKAY: refused where a reset shows that nothing was open before it."""
    whole = locks(access(2, 0x1000, 1, 1, (0, 0), write=False))
    for capture, refused, counted in ((whole, 1, 1), (whole.replace(b"0@", b"1@"), 0, 0)):
        port = tg.read_capture(capture).port()
        assert port.figures["exclusive_reads"] == 1
        assert len(port.transactions.counted.reads) == counted
        assert port.figures["exclusive_refused"] == refused
        assert ("answered with OKAY" in port.explain()) == bool(refused)


def test_locked_accesses_are_of_axi3():
    port = tg.read_capture(locks(access(2, 0x1000, 1, 2, (0, 0)), width=2)).port()
    assert (port.kind, port.figures["locked"], port.figures["exclusive_writes"]) == ("AXI3", 2, 0)
    assert "2 locked accesses (AXI3)" in port.explain()
