"""The rules of the house for C: circles, sizes, chains, words. `house.py [FOLDER]` prints breaches.

A source depends on the sources whose functions and tables it uses, a header on the headers that it
includes. No two of them may depend on each other, directly or through others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("csrc/src", "csrc/include", "pyapi/binding")
ROOTS = ("csrc/src", "csrc/include", "csrc/include/tickgauge", "pyapi/binding")
LINES, FUNCTION, CHAINS = 500, 60, 60
WHAT_PER_1000 = 1.0
#: Longer than the rest, and why.
EXCUSED: dict[str, str] = {}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
DEFINED = re.compile(r"^(?!static|typedef|extern|return|else|#)[A-Za-z][^\n;=(]*?\b(\w+)\(", re.M)
TABLE = re.compile(r"^(?!static|typedef|extern)const [^\n;=(]*?\b(\w+)(?:\[[^]]*\])* = ", re.M)
CHAIN = re.compile(r"if \((?:st|s|status) == TG_OK[^{;]*?\) *(?:\{\s*)?(?:st|s|status) = ")
WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")


def bare(text: str) -> str:
    """The code without comments and strings, line for line."""
    text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    return STRING.sub('""', text)


def files(top: Path) -> Iterator[Path]:
    """All C files of the core and the binding."""
    for folder in FOLDERS:
        yield from sorted(p for p in (top / folder).rglob("*.[ch]"))


def depends(top: Path) -> dict[str, set[str]]:
    """The sources that each source uses by name, and the headers that each header needs."""
    code = {path: bare(path.read_text()) for path in files(top)}
    name_of = {path: str(path.relative_to(top)) for path in code}
    owner: dict[str, str] = {}
    for path, text in code.items():
        if path.suffix == ".c":
            defined = [*DEFINED.findall(text), *TABLE.findall(text)]
            owner |= dict.fromkeys((n for n in defined if n.startswith("tg_")), name_of[path])
    edges: dict[str, set[str]] = {}
    for path, text in code.items():
        used = {owner[w] for w in set(re.findall(r"\btg_\w+", text)) if w in owner}
        if path.suffix == ".h":
            places = (path.parent, *(top / folder for folder in ROOTS))
            names = INCLUDE.findall(path.read_text())
            found = [next((at / n for at in places if (at / n).is_file()), None) for n in names]
            used = {name_of[one] for one in found if one is not None}
        edges[name_of[path]] = used - {name_of[path]}
    return edges


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The groups of units that depend on each other (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(unit: str) -> None:
        number[unit] = low[unit] = len(number)
        stack.append(unit)
        for other in sorted(edges.get(unit, ())):
            if other not in number:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], number[other])
        if low[unit] == number[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for unit in sorted(edges):
        if unit not in number:
            visit(unit)
    return found


def functions(code: str) -> Iterator[tuple[str, int]]:
    """Name and lines of each function of a file without comments: from its head to its brace."""
    head = ""
    begin = 0
    for number, line in enumerate(code.split("\n")):
        if (line[:1].isalpha() or line[:1] == "_") and not line.endswith(":"):
            head, begin = line, number
        elif line == "}" and "(" in head and " = " not in head and not head.startswith("typedef"):
            name = re.search(r"(\w+)\(", head)
            yield (name[1] if name else head), number - begin + 1


def words(top: Path) -> tuple[int, int]:
    """How often comments say "what", and how many words they have."""
    what = total = 0
    for path in files(top):
        for comment in COMMENT.findall(path.read_text()):
            found = WORD.findall(comment)
            total += len(found)
            what += sum(word.lower() == "what" for word in found)
    return what, total


def breaches(top: Path) -> list[str]:
    """All that breaks a rule, one line each."""
    out = [f"circle: {', '.join(circle)}" for circle in circles(depends(top))]
    chains = 0
    for path in files(top):
        name, text = str(path.relative_to(top)), path.read_text()
        if (n := text.count("\n")) > LINES and name not in EXCUSED:
            out.append(f"{name}: {n} lines, more than {LINES}")
        code = bare(text)
        if path.suffix == ".c":
            out += [
                f"{name}: {function} has {n} lines, more than {FUNCTION}"
                for function, n in functions(code)
                if n > FUNCTION
            ]
            out += [
                f"{name}: static function {function} begins with tg_"
                for function in re.findall(r"^static [^\n;=(]*?\b(tg_\w+)\(", code, re.M)
            ]
        chains += len(CHAIN.findall(code))
    if chains >= CHAINS:
        out.append(f"{chains} chains `if (status == TG_OK) status =`, {CHAINS - 1} are allowed")
    what, total = words(top)
    if what * 1000 >= WHAT_PER_1000 * total:
        out.append(f'"what" {what} times in {total} words of comments, more than 1 in 1000')
    return out


def main() -> int:
    """Print the breaches; 1 if there are any."""
    top = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = breaches(top)
    print("\n".join(found) or "house: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
