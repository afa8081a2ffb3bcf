"""The naming conventions of RTL families: one wave under every name gives one result."""

from __future__ import annotations

import pytest

import tickgauge as tg

#: Channel, leaf, width, and who drives it: the master (True) or the slave.
SIGNALS = [
    (channel, leaf, width, master)
    for channel, leaves in {
        "ar": "valid:1:m ready:1:s addr:32:m len:8:m size:3:m burst:2:m id:4:m",
        "r": "valid:1:s ready:1:m last:1:s id:4:s resp:2:s data:32:s",
        "aw": "valid:1:m ready:1:s addr:32:m len:8:m size:3:m burst:2:m id:4:m",
        "w": "valid:1:m ready:1:s last:1:m data:32:m strb:4:m",
        "b": "valid:1:s ready:1:m id:4:s resp:2:s",
    }.items()
    for leaf, width, master in (
        (word.split(":")[0], int(word.split(":")[1]), word.endswith("m")) for word in leaves.split()
    )
]

HANDSHAKE = ("valid", "ready", "last")

CONVENTIONS = {
    "plain": lambda c, f, m: f"{c}{f}",
    "s_axi_": lambda c, f, m: f"s_axi_{c}{f}",
    "m00_axi_": lambda c, f, m: f"m00_axi_{c}{f}",
    "instance path": lambda c, f, m: f"u0/inst/S_AXI_{c}{f}",
    "no separator": lambda c, f, m: f"SAXIHP0{c.upper()}{f.upper()}",
    "no separator, no digit": lambda c, f, m: f"maxi{c}{f}",
    "camel": lambda c, f, m: f"axi{c.upper()}{f.capitalize()}",
    "leaf apart": lambda c, f, m: f"axi_{c}_{f}",
    "two underscores": lambda c, f, m: f"axi__{c}__{f}",
    "members": lambda c, f, m: f"bus.{c}.{f}",
    "SpinalHDL": lambda c, f, m: f"io_axi_{c}_{'' if f in HANDSHAKE[:2] else 'payload_'}{f}",
    "SpinalHDL fragment": lambda c, f, m: f"io_axi_{c}_{'' if f in HANDSHAKE else 'payload_'}{f}",
    "Chisel": lambda c, f, m: f"auto_out_{c}_{'' if f in HANDSHAKE[:2] else 'bits_'}{f}",
    "LiteX": lambda c, f, m: (
        f"main_axi_{c}_{'' if f in HANDSHAKE else 'param_' if f == 'id' else 'payload_'}{f}"
    ),
    "PULP": lambda c, f, m: (
        f"slv_{'req_i' if m else 'resp_o'}.{c}{'_' if f in HANDSHAKE[:2] else '.'}{f}"
    ),
    "PULP, flat": lambda c, f, m: f"slv_{'req' if m else 'rsp'}_{c}_{f}",
    "ZipCPU": lambda c, f, m: f"{'i' if m else 'o'}_axi_{c}{f}",
    "ZipCPU master": lambda c, f, m: f"{'o' if m else 'i'}_axi_{c}{f}",
    "directions behind": lambda c, f, m: f"s_axi_{c}{f}_{'i' if m else 'o'}",
    "register": lambda c, f, m: f"axi_{c}{f}_r",
    "trailing underscore": lambda c, f, m: f"axi_{c}{f}_",
    "suffix _M0": lambda c, f, m: f"{c}{f}_M0",
    "suffix _S12": lambda c, f, m: f"{c}{f}_S12",
    "suffix _1": lambda c, f, m: f"axi_{c}{f}_1",
    "channel twice": lambda c, f, m: f"axi4_{c}_{c}{f}",
    "m2s": lambda c, f, m: f"axi_{'m2s' if m else 's2m'}_{c}_{f}",
    "array": lambda c, f, m: f"axi_{c}{f}[1]",
    "array before": lambda c, f, m: f"axi[1].{c}{f}",
}


def wave() -> list[dict[tuple[str, str], int]]:
    """One read of two beats at 0x1000, one write of two at 0x2000."""
    rows = [
        {
            ("ar", "addr"): 0x1000,
            ("aw", "addr"): 0x2000,
            **{(c, "len"): 1 for c in ("ar", "aw")},
            **{(c, "size"): 2 for c in ("ar", "aw")},
            **{(c, "burst"): 1 for c in ("ar", "aw")},
            ("r", "ready"): 1,
            ("aw", "ready"): 1,
            ("b", "ready"): 1,
        }
        for _ in range(40)
    ]
    for sample, ones in {
        5: "ar.valid",
        6: "ar.valid ar.ready",
        8: "aw.valid",
        9: "w.valid w.ready",
        10: "w.valid r.valid",
        11: "w.valid w.ready w.last",
        12: "r.valid r.last",
        15: "b.valid",
    }.items():
        rows[sample].update({tuple(word.split(".")): 1 for word in ones.split()})
    return rows


def vcd(name, *, upper=False, gap=True) -> bytes:
    """The wave as a simulator writes it, at falling edges of `clk`."""
    out = ["$timescale 1ns $end", "$scope module tb $end", "$var wire 1 ! clk $end"]
    for i, (c, f, width, m) in enumerate(SIGNALS):
        word = name(c, f, m)
        word = word.upper() if upper else word
        bits = f"{' ' if gap else ''}[{width - 1}:0]" if width > 1 else ""
        out.append(f"$var wire {width} s{i} {word}{bits} $end")
    out += ["$upscope $end", "$enddefinitions $end"]
    for k, row in enumerate(wave()):
        out.append(f"#{10 * k}\n0!")
        for i, (c, f, width, _) in enumerate(SIGNALS):
            value = row.get((c, f), 0)
            out.append(f"b{value:b} s{i}" if width > 1 else f"{value}s{i}")
        out.append(f"#{10 * k + 5}\n1!")
    return ("\n".join(out) + "\n").encode()


def check(capture) -> None:
    usable = [r for r in capture.interfaces if r["usable"]]
    assert len(usable) == 1, list(capture.interfaces)
    port = capture.port()
    read, write = port.transactions
    assert (read["addr"], read["beats"], read["bytes"], read["span"]) == (0x1000, 2, 8, 7)
    assert (write["addr"], write["beats"], write["bytes"], write["span"]) == (0x2000, 2, 8, 7)
    stamps = [read[n] for n in ("ax_valid", "ax_accept", "data_first", "data_last")]
    assert stamps == [5, 6, 10, 12]
    stamps = [write[n] for n in ("ax_valid", "ax_accept", "data_first", "data_last", "b_accept")]
    assert stamps == [8, 8, 9, 11, 15]
    assert capture.port(prefix=usable[0]["prefix"]) is port


@pytest.mark.parametrize("upper", [False, True], ids=["lower", "upper"])
@pytest.mark.parametrize("name", list(CONVENTIONS))
def test_each_convention_binds(name, upper):
    if upper and name == "camel":
        pytest.skip("capitals are what tells its words apart")
    check(tg.read_capture(vcd(CONVENTIONS[name], upper=upper)))


@pytest.mark.parametrize("name", list(CONVENTIONS))
def test_a_range_may_stand_in_the_name(name):
    check(tg.read_capture(vcd(CONVENTIONS[name], gap=False)))
