"""Build the site: a copy of the pages, the C headers as pages, then Sphinx without warnings.

Usage: site.py [BUILDER]: html (default), linkcheck or doctest. The result is build/site/BUILDER.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")


def copy_pages(to: Path) -> None:
    """docs/, notebooks/ and the pages of the root, side by side as in the repository."""
    for folder in ("docs", "notebooks"):
        shutil.copytree(ROOT / folder, to / folder)
    for page in PAGES:
        shutil.copy(ROOT / page, to / page)
    for folder in ("tests", "csrc", "pyapi", "LICENSE"):
        (to / folder).symlink_to(ROOT / folder)


def header_page(to: Path) -> None:
    """The C API: each public header as it is, for its comments are the reference."""
    headers = sorted((ROOT / "csrc" / "include" / "tickgauge").glob("*.h"))
    parts = ["# C API\n\nEach header documents ownership, units and return codes.\n"]
    for header in headers:
        first = header.read_text(encoding="utf-8").splitlines()[0]
        title = first.removeprefix("/* ").removesuffix(" */").partition(" SPDX")[0]
        parts.append(f"## {title}\n\n```c\n{header.read_text(encoding='utf-8')}```\n")
    (to / "docs" / "reference" / "c.md").write_text("\n".join(parts), encoding="utf-8")


def main() -> int:
    """Build, and give Sphinx's exit status."""
    builder = sys.argv[1] if len(sys.argv) > 1 else "html"
    source = SITE / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    copy_pages(source)
    header_page(source)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
    command += ["-c", str(source / "docs"), str(source), str(SITE / builder)]
    done = subprocess.run(command, cwd=source, env=os.environ | {"PYTHONPATH": ""})
    if done.returncode == 0 and builder == "html":
        print(f"open {SITE / builder / 'docs' / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
