"""Lines that the tests ran: a line per folder, files below the goal, the total.

Usage: coverage.py c BUILD_FOLDER [GOAL_PERCENT]     C of the core, under the C suites
       coverage.py python REPORT.json [GOAL_PERCENT]  the package, under pytest

The first reads the .gcda files that an instrumented build (``make coverage``) left behind, with
gcov's own summary; the second what ``coverage json`` wrote.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

LINE = re.compile(r"File '([^']+)'\nLines executed:([\d.]+)% of (\d+)")
Measured = dict[str, tuple[float, int]]  # source file -> (lines run, lines)


def of_gcov(build: Path) -> Measured:
    """The C files of the core; gcov names them as the compiler was told."""
    found: Measured = {}
    for data in sorted(build.glob("csrc/**/*.gcda")):
        command = ["gcov", "-n", "-o", str(data.parent), str(data)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name, percent, lines in LINE.findall(out):
            if name.startswith("csrc/src/") and name.endswith(".c"):
                found[name] = (float(percent) * int(lines) / 100, int(lines))
    return found


def of_python(report: Path) -> Measured:
    """The modules of the package by their names below the folder they are installed in."""
    found: Measured = {}
    for name, entry in json.loads(report.read_text())["files"].items():
        parts = Path(name).parts
        at = parts.index("tickgauge") if "tickgauge" in parts else len(parts) - 1
        summary = entry["summary"]
        found["/".join(parts[at:])] = (summary["covered_lines"], summary["num_statements"])
    return found


def show(files: Measured, goal: float) -> None:
    """Files below the goal, then folders and the total."""
    folders: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    for name, (ran, lines) in files.items():
        for folder in (name.rpartition("/")[0] or name, "total"):
            folders[folder][0] += ran
            folders[folder][1] += lines
    for name, (ran, lines) in sorted(files.items()):
        if lines and 100 * ran / lines < goal:
            print(f"{100 * ran / lines:6.1f} % of {lines:5d}  {name}")
    for folder, (ran, lines) in sorted(folders.items(), key=lambda f: (f[0] == "total", f[0])):
        print(f"{100 * ran / lines:6.1f} % of {lines:5.0f}  {folder}")


def main(kind: str, where: str, goal: str = "95") -> int:
    """Print the table; status 1 where nothing was measured."""
    titles = {"c": "the C core, under its suites", "python": "the package, under pytest"}
    files = of_python(Path(where)) if kind == "python" else of_gcov(Path(where))
    if not files:
        print("nothing measured: run make coverage", file=sys.stderr)
        return 1
    print(f"-- lines of {titles[kind]} (files below {goal} % first)")
    show(files, float(goal))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
