"""The C of the core and the binding keeps the rules of the house."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "tools"))

import house  # noqa: E402


def test_no_rule_is_broken() -> None:
    assert house.breaches(TOP) == []


def test_breaches_are_found(tmp_path: Path) -> None:
    base = tmp_path / "csrc" / "src" / "base"
    shutil.copytree(TOP / "csrc" / "src" / "base", base)
    assert house.breaches(tmp_path) == []
    (base / "one.h").write_text("void tg_one(void);\n")
    (base / "one.c").write_text('#include "two.h"\nvoid tg_one(void) {\n  tg_two();\n}\n')
    (base / "two.h").write_text("void tg_two(void);\n")
    (base / "two.c").write_text('#include "one.h"\nvoid tg_two(void) {\n  tg_one();\n}\n')
    (base / "long.c").write_text("static int tg_long(void) {\n" + "  ;\n" * 501 + "}\n")
    found = "\n".join(house.breaches(tmp_path))
    for breach in ("circle: ", "503 lines", "tg_long has", "begins with tg_"):
        assert breach in found
