"""Build the site: a copy of the pages, the C headers as pages, then Sphinx without warnings.

Usage: site.py [BUILDER]: html (default), linkcheck or doctest. The result is build/site/BUILDER.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

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


class _Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def dead_links(top: Path) -> list[str]:
    """Links of the site to files and anchors of it that are not there; others need a network."""
    pages = {path: _Page(path) for path in top.resolve().rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            to = urlparse(link)
            if to.scheme or to.netloc:
                continue
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else {unquote(to.fragment)}
            if not target.exists() or (to.fragment and unquote(to.fragment) not in anchors):
                dead.append(f"{path.relative_to(top.resolve())}: {link} leads nowhere")
    return dead


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
        if dead := dead_links(SITE / builder):
            print("\n".join(dead), file=sys.stderr)
            return 1
        print(f"open {SITE / builder / 'docs' / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
