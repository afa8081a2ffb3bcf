"""The worked example of CONTRIBUTING: its reducer and its test compile from the text and pass."""

import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "build/c/libtickgauge.a"
WARN = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Werror")


def block(name: str) -> str:
    """The block of C in CONTRIBUTING that begins with a comment on the file of that name."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for indent, code in re.findall(r"^( *)```c\n(.*?)^ *```", text, re.M | re.S):
        code = textwrap.dedent(code) if indent else code
        if code.startswith(f"/* {name} "):
            return str(code)
    raise AssertionError(f"no {name} in CONTRIBUTING.md")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files, the register with its line, and the library that they are added to."""
    if shutil.which("make") is None or shutil.which("pkg-config") is None:
        pytest.skip("no make or no pkg-config")
    subprocess.run(["make", "-s", str(LIBRARY.relative_to(ROOT))], cwd=ROOT, check=True)
    top = tmp_path_factory.mktemp("door")
    formats = top / "formats"
    formats.mkdir()
    (formats / "door.c").write_text(block("door.c"))
    (top / "check_door.c").write_text(block("check_door.c"))
    source = ROOT / "csrc/src/formats"
    shutil.copy(source / "formats.c", formats)
    register = (source / "formats.h").read_text()
    assert register.count("FORMAT(console)") == 1
    (formats / "formats.h").write_text(
        register.replace("FORMAT(console)", "FORMAT(door) \\\n  FORMAT(console)")
    )
    return top


def passes(tree: Path, test: Path, target: Path) -> str:
    """The output of a Check suite that is linked with the example."""
    places = [tree, ROOT / "csrc/src", ROOT / "csrc/src/formats", ROOT / "csrc/include"]
    flags = ["-std=c11", "-O0", *WARN, *(f"-I{p}" for p in (*places, ROOT / "tests/c"))]
    libs = subprocess.run(
        ["pkg-config", "--libs", "check"], check=True, capture_output=True, text=True
    ).stdout.split()
    sources = [tree / "formats/door.c", tree / "formats/formats.c", test]
    built = subprocess.run(
        ["cc", *flags, *map(str, sources), str(LIBRARY), *libs, "-lm", "-lpthread", "-o", target],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([target], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def test_the_worked_reducer_gives_its_readings(tree: Path) -> None:
    assert "100%: Checks: 1" in passes(tree, tree / "check_door.c", tree / "check_door")


def test_one_line_of_registration_brings_the_tests_of_every_format(tree: Path) -> None:
    names = re.findall(r"FORMAT\((\w+)\)", (tree / "formats/formats.h").read_text())
    formats = [n for n in names if n != "name"]
    said = passes(tree, ROOT / "tests/c/check_formats.c", tree / "check_formats")
    assert "door" in formats
    assert f"100%: Checks: {4 * len(formats)}" in said
