"""The naming conventions of RTL families: a function of channel, leaf and driver each."""

from __future__ import annotations

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
    # of real projects beyond these families
    "suffix _m": lambda c, f, m: f"{c}{f}_m",
    "suffix _m_inf": lambda c, f, m: f"{c}{f}_m_inf",
    "suffix _m_inf_inst_1": lambda c, f, m: f"{c}{f}_m_inf_inst_1",
    "letter behind": lambda c, f, m: f"{c}{f}M",
    "letter and digit behind": lambda c, f, m: f"{c}{f}S1",
    "_in and _out": lambda c, f, m: f"icn_{c}_{f}_{'in' if m else 'out'}",
    "in_ and out_": lambda c, f, m: f"{'out' if m else 'in'}_axi_{c}{f}",
    "GRLIB": lambda c, f, m: f"axim{'o' if m else 'i'}.{c}.{f}",
    "ESP": lambda c, f, m: f"axi_{'mosi' if m else 'somi'}.{c}.{f}",
    "AWS": lambda c, f, m: f"{'sh_cl' if m else 'cl_sh'}_dma_pcis_{c}{f}",
    "to": lambda c, f, m: f"{'core_to_mem' if m else 'mem_to_core'}_{c}{f}",
    "round brackets": lambda c, f, m: f"axi(0).{c}{f}",
    "angle brackets": lambda c, f, m: f"axi<0>.{c}{f}",
    "Microchip": lambda c, f, m: f"FIC_0_AXI4_M_{c.upper()}{f.upper()}",
    "rocket": lambda c, f, m: f"mem_axi4_0_{c}_{'' if f in HANDSHAKE[:2] else 'bits_'}{f}",
    "Bluespec": lambda c, f, m: f"master0_m_{c}{f}",
    "Ara": lambda c, f, m: (
        f"axi_{'req_o' if m else 'resp_i'}.{c}{'_' if f in HANDSHAKE[:2] else '.'}{f}"
    ),
    "hwt": lambda c, f, m: f"s_{c}_{f}",
    "Efinix": lambda c, f, m: f"axi0_{c.upper()}{f.upper()}",
    "read and write": lambda c, f, m: (
        f"io_m00{'Read' if c in ('ar', 'r') else 'Write'}_{c}_"
        f"{'' if f in HANDSHAKE[:2] else 'bits_'}{f}"
    ),
    "rd and wr": lambda c, f, m: f"mem_{'rd' if c in ('ar', 'r') else 'wr'}_axi_{c}{f}",
    "NVDLA": lambda c, f, m: f"core2dbb_{c}_{c}{f}",
    "BlackParrot": lambda c, f, m: f"m_axi_{c}{f}_{'o' if m else 'i'}",
    "VexRiscv": lambda c, f, m: f"iBusAxi_{c}_{'' if f in HANDSHAKE[:2] else 'payload_'}{f}",
    "OpenTitan": lambda c, f, m: f"axi_{'h2d' if m else 'd2h'}.{c}_{f}",
    "next state": lambda c, f, m: f"axi_{c}{f}_next",
    "p and n": lambda c, f, m: f"axi_{c}{f}_p",
    "dotted leaf": lambda c, f, m: f"tb.dut.bus.{c}{f}",
    "leading underscore": lambda c, f, m: f"_axi_{c}_{f}",
    "double colon": lambda c, f, m: f"bus::{c}::{f}",
}
