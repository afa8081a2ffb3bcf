"""``make bench``: every bench_*.py of this folder, one row a figure.

python tests/bench/run.py [--quick] [--json] [NAME...]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

#: What a user waits for is printed before what the core takes for a slice of it.
FIRST = "bench_user_path"


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
    found = Path(__file__).parent.glob("bench_*.py")
    paths = sorted(found, key=lambda path: (path.stem != FIRST, path.stem))
    names = [path.stem.removeprefix("bench_") for path in paths]
    parser = argparse.ArgumentParser(description="Measure, one row a figure.")
    parser.add_argument("--quick", action="store_true", help="smaller inputs, fewer passes")
    parser.add_argument("--json", action="store_true", help="the rows as JSON")
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help=f"of {', '.join(names)}; all if none is named"
    )
    args = parser.parse_args()
    if unknown := sorted(set(args.names) - set(names)):
        parser.error(f"no bench {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [p for p, name in zip(paths, names, strict=True) if name in (args.names or names)]
    rows = []
    for path in chosen:
        with tempfile.TemporaryDirectory() as folder:
            measured = rows_of(path, Path(folder), args.quick)
        rows += measured
        if not args.json:
            print("\n".join(map(line_of, measured)), flush=True)
    if args.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
