"""Lines of the C core that the suites ran: a line per folder, files below the goal, the total.

Usage: coverage.py BUILD_FOLDER [GOAL_PERCENT]. Reads the .gcda files that an instrumented build
(``make coverage``) left behind, with gcov's own summary.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

LINE = re.compile(r"File '([^']+)'\nLines executed:([\d.]+)% of (\d+)")


def measured(build: Path) -> dict[str, tuple[float, int]]:
    """Source file -> (lines run, lines)."""
    found: dict[str, tuple[float, int]] = {}
    for data in sorted(build.glob("csrc/**/*.gcda")):
        command = ["gcov", "-n", "-o", str(data.parent), str(data)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name, percent, lines in LINE.findall(out):
            if name.startswith("csrc/src/") and name.endswith(".c"):
                found[name] = (float(percent) * int(lines) / 100, int(lines))
    return found


def main(build: str, goal: str = "95") -> int:
    """Print the table; status 1 where nothing was measured."""
    files = measured(Path(build))
    if not files:
        print("nothing measured: run make coverage", file=sys.stderr)
        return 1
    folders: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    for name, (ran, lines) in files.items():
        for folder in (name.rsplit("/", 1)[0], "total"):
            folders[folder][0] += ran
            folders[folder][1] += lines
    for name, (ran, lines) in sorted(files.items()):
        if lines and 100 * ran / lines < float(goal):
            print(f"{100 * ran / lines:6.1f} % of {lines:5d}  {name}")
    for folder, (ran, lines) in sorted(folders.items(), key=lambda f: (f[0] == "total", f[0])):
        print(f"{100 * ran / lines:6.1f} % of {lines:5.0f}  {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
