"""Prints the requirements of the given extras of pyproject.toml, one a line."""

import re
import sys
import tomllib
from pathlib import Path


def collect(project: dict, extras: list[str]) -> list[str]:
    """The requirements of the extras, references like ``tickgauge[plot]`` resolved."""
    table = project["optional-dependencies"]
    found = list(project["dependencies"])
    pending = list(extras)
    while pending:
        for requirement in table[pending.pop(0)]:
            reference = re.fullmatch(rf"{project['name']}\[([\w,]+)\]", requirement)
            if reference:
                pending += reference[1].split(",")
            elif requirement not in found:
                found.append(requirement)
    return found


if __name__ == "__main__":
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    document = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    build = document["build-system"]["requires"] + ["wheel"]
    print("\n".join(dict.fromkeys(build + collect(document["project"], sys.argv[1:]))))
