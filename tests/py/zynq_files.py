"""Zynq test data: packed files of tests/data/zynq, and small ILA CSVs written by hand."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "zynq"

#: The folder of the large sets, where there is one.
CASES = Path(os.environ["TICKGAUGE_CASES"]) / "zynq" if "TICKGAUGE_CASES" in os.environ else None


def hostile(name: str) -> bytes:
    """A file of the hostile set."""
    with zipfile.ZipFile(DATA / "hostile.zip") as archive:
        return archive.read(name)


def hostile_names() -> list[str]:
    """The files that the manifest of the hostile set lists."""
    return [entry["file"] for entry in json.loads(hostile("manifest.json"))]


def truth(name: str) -> tuple[dict, list[dict[str, str]]]:
    """Counters and transactions that a monitor inside the simulation wrote."""
    if CASES is not None and (CASES / "real" / "sim" / f"{name}.truth.json").exists():
        folder = CASES / "real" / "sim"
        texts = [(folder / f"{name}{e}").read_text() for e in (".truth.json", ".txn.csv")]
    else:
        with zipfile.ZipFile(DATA / "truth.zip") as archive:
            texts = [archive.read(f"{name}{e}").decode() for e in (".truth.json", ".txn.csv")]
    return json.loads(texts[0]), list(csv.DictReader(io.StringIO(texts[1])))


def ila(columns: str, *rows: str, radix: str | None = None) -> bytes:
    """An ILA CSV: column names and the cells behind the sample numbers, blank-separated.

    A row may begin with ``T`` for the trigger.
    """
    names = columns.split()
    lines = [",".join(["Sample in Buffer", "Sample in Window", "TRIGGER", *names])]
    if radix is not None:
        words = radix.split() if " " in radix else [radix] * len(names)
        lines.append(",".join(["Radix - UNSIGNED", "UNSIGNED", "UNSIGNED", *words]))
    for i, row in enumerate(rows):
        cells = row.split()
        trigger = cells[0] == "T"
        lines.append(",".join([str(i), str(i), str(int(trigger)), *cells[trigger:]]))
    return ("\n".join(lines) + "\n").encode()
