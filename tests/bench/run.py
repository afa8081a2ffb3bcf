"""``make bench``: every bench_*.py of this folder, one row a figure.

python tests/bench/run.py [--quick] [--json] [NAME...]
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def rows_of(path: Path, folder: Path, quick: bool) -> list[dict[str, Any]]:
    """What the ``measure(folder, quick)`` of that file finds."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found: list[dict[str, Any]] = module.measure(folder, quick)
    return found


def line_of(row: dict[str, Any]) -> str:
    """One figure as a line of text."""
    ratio = "" if row["ratio"] is None else f"{row['ratio']}x"
    value = f"{row['value']} {row['unit']}"
    return f"{row['name']:<44}{value:>14}{ratio:>9}   {row['peer']:<34}{row['goal']}"


def main() -> None:
    """Measure, in a scratch folder."""
    quick, as_json = "--quick" in sys.argv, "--json" in sys.argv
    named = [a for a in sys.argv[1:] if not a.startswith("-")]
    paths = sorted(Path(__file__).parent.glob("bench_*.py"))
    chosen = [p for p in paths if not named or p.stem.removeprefix("bench_") in named]
    rows = []
    for path in chosen:
        with tempfile.TemporaryDirectory() as folder:
            found = rows_of(path, Path(folder), quick)
        rows += found
        if not as_json:
            print("\n".join(map(line_of, found)), flush=True)
    if as_json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
