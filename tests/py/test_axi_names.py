"""The naming conventions of RTL families: one wave under every name gives one result."""

from __future__ import annotations

import pytest

import tickgauge as tg
from support.axi_names import CONVENTIONS, SIGNALS


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


def test_two_elements_of_an_array_are_two_interfaces():
    names = [(c, f, w, e) for e in (0, 1) for c, f, w, _ in SIGNALS]
    out = ["$timescale 1ns $end", "$scope module tb $end", "$var wire 1 ! clk $end"]
    for i, (c, f, w, e) in enumerate(names):
        out.append(f"$var wire {w} s{i} axi_{c}{f}[{e}]{f'[{w - 1}:0]' if w > 1 else ''} $end")
    out += ["$upscope $end", "$enddefinitions $end"]
    for k, row in enumerate(wave()):
        out.append(f"#{10 * k}\n0!")
        for i, (c, f, w, e) in enumerate(names):
            value = row.get((c, f), 0) + (0x100 * e if f == "addr" else 0)
            out.append(f"b{value:b} s{i}" if w > 1 else f"{value}s{i}")
        out.append(f"#{10 * k + 5}\n1!")
    capture = tg.read_capture(("\n".join(out) + "\n").encode())
    assert [r["prefix"] for r in capture.interfaces] == ["tb.axi[0]", "tb.axi[1]"]
    for e in (0, 1):
        port = capture.port(prefix=f"axi[{e}]")
        assert [t["addr"] for t in port.transactions] == [0x1000 + 0x100 * e, 0x2000 + 0x100 * e]


def test_ports_of_several_interfaces_in_one_vector_are_named():
    head = "$var wire 4 a s_axi_arvalid [3:0] $end\n$var wire 4 b s_axi_arready [3:0] $end\n"
    capture = tg.read_capture(f"{head}$enddefinitions $end\n#0\nb0 a\nb0 b\n".encode())
    with pytest.raises(tg.InputError, match=r"s_axi_arvalid\[3:0\] has 4 bits"):
        capture.port()


def test_nearest_names_give_each_signal_once():
    head = "$var wire 1 a mem_rd_addr_vld $end\n$var wire 1 b arvalidx $end\n"
    head += "$var wire 1 c arreadyx $end\n"
    capture = tg.read_capture(f"{head}$enddefinitions $end\n#0\n0a\n0b\n0c\n".encode())
    with pytest.raises(tg.InputError, match=r"--map arvalid=arvalidx --map arready=arreadyx$"):
        capture.port()


#: How tools write a number: by value and width.
CELLS = {
    "hex": lambda v, w: f"{v:x}",
    "padded hex": lambda v, w: f"{v:0{(w + 3) // 4}x}",
    "0x": lambda v, w: f"0x{v:x}",
    "Verilog": lambda v, w: f"{w}'h{v:X}",
    "Verilog, decimal": lambda v, w: f"{w}'d{v}",
    "h behind": lambda v, w: f"{v:04X}h",
    "binary": lambda v, w: f"{v:0{w}b}",
    "quoted": lambda v, w: f'"{v:x}"',
    "blanks": lambda v, w: f" {v:x} ",
}


@pytest.mark.parametrize(
    ("style", "ranges"),  # without a width, binary digits are hex
    [(s, r) for s in CELLS for r in (False, True) if r or s != "binary"],
)
def test_cells_of_a_plain_csv_say_their_radix(style, ranges):
    heads = [f"s_axi_{c}{f}{f'[{w - 1}:0]' if ranges and w > 1 else ''}" for c, f, w, _ in SIGNALS]
    lines = [",".join(heads)]
    for row in wave():
        lines.append(",".join(CELLS[style](row.get((c, f), 0), w) for c, f, w, _ in SIGNALS))
    capture = tg.read_capture(("\n".join(lines) + "\n").encode())
    check(capture)
    assert not len(capture.problems)


def test_a_clock_may_be_called_ck():
    check(tg.read_capture(vcd(CONVENTIONS["s_axi_"]).replace(b" clk $end", b" ck $end")))
