"""One target of `targets` under atheris: fuzz_py.py FOLDER TARGET [libFuzzer options] [folders].

Its seeds are written to FOLDER/TARGET/ and its dictionary to FOLDER/TARGET.dict first. With
`--every` each input takes every further step, as in a replay. Without arguments the targets' names
are printed.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import atheris

#: Beside the package: the standard library's readers that are written in Python. (docutils would
#: cost more than it tells.)
BELOW = ["tickgauge", "tomllib", "csv", "tarfile", "zipfile"]


def _write(folder: Path, target: str) -> None:
    import seeds

    (folder / target).mkdir(parents=True, exist_ok=True)
    for data in seeds.seeds(target):
        (folder / target / hashlib.sha1(data).hexdigest()).write_bytes(data)
    words = (word.replace("\\", "\\\\").replace('"', '\\"') for word in seeds.words(target))
    (folder / f"{target}.dict").write_text("".join(f'"{word}"\n' for word in words))


def main(arguments: list[str]) -> int:
    """Fuzz until libFuzzer's options say stop."""
    if not arguments:
        import targets

        print(*targets.TARGETS)
        return 0
    with atheris.instrument_imports(include=BELOW):
        import targets
    folder, name, *options = arguments
    targets.EVERY = "--every" in options
    _write(Path(folder), name)
    options = [option for option in options if option != "--every"]
    atheris.Setup([sys.argv[0], *options], lambda data: targets.run(name, data))
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
