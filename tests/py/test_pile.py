"""Many small sources: the same tables as one by one, and little memory each."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import tickgauge as tg
from tickgauge.reading import pile


def log(n: int) -> bytes:
    """A boot of its own with readings of 8 cpus, now and then a torn line or other tests."""
    head = f"NOTICE:  BL1: v2.12.0(release):v2.12.0-{n}\r\nNOTICE:  BL1: Booting BL2\r\n"
    name = ("cpu_off", "psci_version", f"suspend_{n % 5}")[n % 3]
    rows = (
        f"<RT_INSTR:test_rt_instr_{name}\t{c // 4}\t{c % 4}\t{1000 + n}\t{200 + c}\t300/>\r\n"
        for c in range(8)
    )
    torn = "<RT_INSTR:test_rt_instr_torn\t0\t1\tx\r\n" if n % 4 == 1 else ""
    calls = "M/TC: TEECore: receiving smc call, cmd=1, cntvct=0x10\n" if n % 6 == 2 else ""
    return (head + "".join(rows) + torn + calls).encode()


def cells(frame: Any) -> dict[str, list[Any]]:
    return {name: frame.column(name).cells() for name in frame.columns}


def told(data: tg.Dataset) -> dict[str, Any]:
    out = {name: cells(data.table(name)) for name in (*data.tables, "near")}
    out["readings"] = cells(data.readings)
    out["records"] = {rule: cells(frame) for rule, frame in data.records.items()}
    return {**out, "sources": cells(data.sources), "notes": data.notes, "text": repr(data)}


@pytest.mark.parametrize("block", [2, 5, 16])
def test_sources_put_together_are_as_they_were_alone(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs: list[bytes] = [log(n % 17) for n in range(23)]  # 6 of them twice
    logs[4], logs[9] = b"", b"nothing in it\n"
    logs[12] = b"".join(log(n) for n in range(200))  # not small
    monkeypatch.setattr(pile, "BLOCK", 1000)
    alone = told(tg.read(logs))
    monkeypatch.setattr(pile, "BLOCK", block)
    assert told(tg.read(logs)) == alone


MEASURE = """
import re, sys
import tickgauge as tg

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])

tg.read(sys.argv[2])
before = peak()
data = tg.read(sys.argv[1])
assert len(data.infos) == 1500 and len(data.readings) >= 16 * 1500
print(peak() - before)
"""


@pytest.mark.noasan
@pytest.mark.parametrize("kind", ["folder", "tar"])
def test_a_small_source_takes_less_than_20_kb(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    one = folder / "00000.log"
    archive = tmp_path / "logs.tar"
    with tarfile.open(archive, "w") as tar:
        for n in range(1500):
            data = log(n)
            (folder / f"{n:05d}.log").write_bytes(data)
            info = tarfile.TarInfo(f"{n:05d}.log")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    given = folder if kind == "folder" else archive
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(given), str(one)],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert int(re.findall(r"\d+", done.stdout)[-1]) < 20 * 1500
