"""No leak in the binding: many rounds in a process of their own do not make it grow."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import gc, re, sys
import numpy as np
import tickgauge as tg
from tickgauge import _core

RULE = tg.Rule("fft {n:uint} {w:word} points: {t:dec} usec", value="t", unit="us")
LOG = b"".join(b"fft %d w%d points: %d.5 usec\\n" % (i, i, i) for i in range(2000)) + b"fft torn\\n"

def resident():
    gc.collect()
    return int(re.search(r"VmRSS:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""

ROUNDS = {
    "read": "data = tg.read(LOG, rules=RULE); data.readings.ns; repr(data)",
    "reader": """
rules = _core.RuleSet([RULE.definition()], builtin=False)
reader = _core.Reader(rules, keep_near=True)
reader.feed(LOG)
records = reader.finish()
records.table(0).words("w"); records.problems(); records.near(); records.ledger(); records.rules
_core.reduce([records])
""",
    "abandoned": """
reader = _core.Reader(_core.RuleSet([RULE.definition()], builtin=False))
reader.feed(LOG)
""",
    "arrow": """
table = tg.from_columns(np.arange(5000), metric="m").readings.to_core()
table.__arrow_c_schema__(); table.__arrow_c_array__(); table.__arrow_c_stream__()
import pyarrow
pyarrow.table(table).column("value")
""",
    "errors": """
for bad in ("fft {n:uint", "fft {n:nothing}", "[["):
    try:
        tg.Rule(bad)
    except tg.RuleError:
        pass
try:
    _core.table_from_columns([("a", "text", 0, np.array([5], "u4"), None, ["x"])])
except ValueError:
    pass
""",
}


@pytest.mark.noasan
@pytest.mark.parametrize("name", ROUNDS)
def test_memory_does_not_grow(name):
    if name == "arrow":
        pytest.importorskip("pyarrow")
    body = "\n".join("    " + line for line in ROUNDS[name].strip().splitlines())
    code = (
        f"{HEAD}\ndef once():\n{body}\n"
        "for _ in range(20): once()\n"  # pools, caches and the allocator settle
        "before = resident()\n"
        "for _ in range(100): once()\n"
        "print(resident() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # one lost table a round would be 100 * 100 kB
    assert int(done.stdout) < 3000
