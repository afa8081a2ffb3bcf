"""Every allocation of the core refused in turn, through the binding: MemoryError, nothing lost.

A preloaded library (tests/tools/refuse.c) refuses them in the module as it is shipped, and counts
what the module holds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "refuse.c"

HEAD = """
import ctypes, gc, os, sys
import numpy as np
import tickgauge as tg
from tickgauge import _core

tool = ctypes.CDLL(sys.argv[1])
tool.refuse_in.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
code = [line.split() for line in open("/proc/self/maps") if _core.__file__ in line]
(place,) = [line[0] for line in code if "x" in line[1]]
tool.refuse_in(*(int(end, 16) for end in place.split("-")))

RULE = tg.Rule("fft {n:uint} {w:word} points: {t:dec} usec", value="t", unit="us")
LOG = b"NOTICE:  BL1: v2.12(release):v2.12\\n" + b"".join(
    b"fft %d w%d points: %d.5 usec\\n" % (i % 5, i % 3, i) for i in range(40)
) + b"fft torn\\n"
BOOT = np.arange(12) // 3
OLD, NEW = (tg.from_columns(np.arange(n, n + 12) % 7, metric="m", boot=BOOT, unit="us")
            for n in (0, 5))
ILA = (b"Sample in Buffer,Sample in Window,TRIGGER,a/axi_arvalid,a/axi_arready,a/axi_araddr[31:0],"
       b"a/axi_rvalid,a/axi_rready,a/axi_rlast\\nRadix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,HEX,"
       b"HEX,HEX,HEX\\n" + b"".join(
           b"%d,%d,0,%d,1,%08x,%d,1,1\\n" % (i, i, i % 4 == 0, 64 * i, i % 4 == 2)
           for i in range(40)))
"""

LOOP = """
once()
once()
gc.collect()
base = tool.refuse_live()
i = failed = tries = 0
while True:
    tool.refuse_after(i)
    try:
        once()
    except MemoryError:
        failed += 1
    refused = tool.refuse_count()
    tool.refuse_after(-1)
    gc.collect()
    held = tool.refuse_live()
    assert held <= base, f"allocation {i}: {held} blocks are held, {base} were before"
    if not refused:
        break
    tries += 1
    assert failed == tries, f"allocation {i} was refused, and nobody said so"
    i += 1 if i < 200 or EVERY else 11
once()  # and it still works
print(failed)
"""

CALLS = {
    "read": "data = tg.read(LOG, rules=RULE); data.readings.ns; len(data.problems)",
    "rules": "_core.RuleSet([RULE.definition()], builtin=False)",
    "compare": "tg.compare(OLD, NEW)",
    "snapshot": "tg.snapshot(tg.read(LOG, rules=RULE)).to_bytes()",
    "capture": "tg.read_capture(ILA).transactions()",
    "arrow": "t = OLD.readings.to_core(); t.__arrow_c_array__(); t.__arrow_c_stream__()",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    cc = os.environ.get("CC", "cc")
    if sys.platform != "linux" or shutil.which(cc) is None:
        pytest.skip("needs a C compiler and glibc")
    out = tmp_path_factory.mktemp("tool") / "refuse.so"
    made = subprocess.run([cc, "-O2", "-shared", "-fPIC", "-o", out, TOOL], capture_output=True)
    if made.returncode != 0:
        pytest.skip(f"the tool cannot be built: {made.stderr[-200:]!r}")
    return out


@pytest.mark.noasan
@pytest.mark.parametrize("name", CALLS)
def test_every_refused_allocation_is_a_memory_error(name, library):
    every = f"EVERY = {bool(os.environ.get('TICKGAUGE_SLOW'))}\n"
    code = HEAD + every + f"def once():\n    {CALLS[name]}\n" + LOOP
    done = subprocess.run(
        [sys.executable, "-c", code, library],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 20
