"""README and the pages under docs/ hold true: their commands and Python blocks are run.

A console block holds ``$ command`` lines, each followed by the output it gives; a line ``...``
stands for any number of lines, ``...`` inside a line for any text. The shell's working folder is
the root of the repository.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NOT_RUN = ("make", "cc ", "./", "pip", "git", "sudo", "jupyter", "python3 -m venv", "#")


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The fenced blocks of that language with the line they begin on."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    return [(text[: m.start()].count("\n") + 1, m[1]) for m in found]


def commands(page: Path) -> list[tuple[str, str, str]]:
    """(id, command, expected output) of every console line that can run here."""
    found = []
    for line, block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more.removeprefix("> ")
            if not command.startswith(NOT_RUN):
                found.append((f"{page.name}:{line}: {command}", command, output))
    return found


def matches(expected: str, got: str) -> bool:
    """Whether ``got`` is ``expected`` with every ``...`` standing for anything."""
    pattern = re.escape(expected.rstrip("\n"))
    pattern = re.sub(r"(?:^|(?<=\n))\\\.\\\.\\\.(?=\\?\n|$)", r"(?s:.*?)", pattern)
    pattern = pattern.replace(r"\.\.\.", r"[^\n]*")
    return re.fullmatch(pattern, got.rstrip("\n")) is not None


CASES = [case for page in PAGES for case in commands(page)]


@pytest.mark.parametrize(("command", "output"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_command_gives_what_readme_says(command: str, output: str) -> None:
    scripts = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    env |= {"COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(
        command, shell=True, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in run.stderr
    if output.strip():
        got = run.stdout + run.stderr
        assert matches(output, got), f"The page says:\n{output}\nit printed:\n{got}"
    else:
        assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_in_order(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = blocks(page, "python")
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {}
    for line, block in found:
        exec(compile(block, f"{page.name}:{line}", "exec"), namespace)


def test_the_two_commands_are_there() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    assert "$ make demo" in text and "$ make test" in text


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    assert PAGES[0].stat().st_size <= 8192
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_every_page_stands_in_the_index_of_the_site() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^[\w./]+$", index, re.M))
    pages = {p.stem for p in PAGES[1:]} - {"index"}
    notebooks = {f"../notebooks/{p.stem}" for p in (ROOT / "notebooks").glob("*.ipynb")}
    assert pages | notebooks <= listed
