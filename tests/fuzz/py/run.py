"""Fuzz the Python readers: run.py SECONDS [TARGET...], each target for that long.

Seeds and finds lie in build/fuzz/py_TARGET/ and build/fuzz/py_TARGET.log, kept finds in
tests/fuzz/corpus/py_TARGET/. Status 1 where something was found.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
OUT = ROOT / "build" / "fuzz"
DRIVER = [sys.executable, str(Path(__file__).with_name("fuzz_py.py"))]


def _fuzzed(target: str, seconds: str) -> bool:
    """One target; True where it found nothing."""
    name = f"py_{target}"
    own, made, kept = OUT / name, OUT / "seeds-py", ROOT / "tests" / "fuzz" / "corpus" / name
    for folder in (own, made / target):
        folder.mkdir(parents=True, exist_ok=True)
    print(f"-- fuzz_{name}, {seconds} s", flush=True)
    command = [
        *DRIVER, str(made), target, f"-max_total_time={seconds}", "-max_len=8192", "-timeout=20",
        "-rss_limit_mb=1024", f"-artifact_prefix={own}/find-", "-print_final_stats=1",
        f"-dict={made / target}.dict", str(own), str(made / target),
    ]  # fmt: skip
    with (OUT / f"{name}.log").open("w") as log:
        found = subprocess.run(
            command + [str(kept)] * kept.is_dir(), stdout=log, stderr=subprocess.STDOUT
        )
    text = (OUT / f"{name}.log").read_text(errors="replace")
    if found.returncode:
        print(f"fuzz_{name}: a find, see {OUT / name}.log and {own}/find-*")
    lines = re.findall(r"^(?:#\d+.* cov: .*|stat::number_of_executed_units.*)$", text, re.M)
    print("\n".join(lines[-2:]), flush=True)
    return not found.returncode


def main(seconds: str, *names: str) -> int:
    """Fuzz the named targets, with or without `py_` before them; all where none is named."""
    known = subprocess.run(DRIVER, check=True, capture_output=True, text=True)
    all_of_them = known.stdout.split()
    chosen = [n.removeprefix("py_") for n in names] or all_of_them
    unknown = sorted(set(chosen) - set(all_of_them))
    if unknown:
        print(f"no such target: {' '.join(unknown)}; there are {' '.join(all_of_them)}")
        return 1
    return 0 if [_fuzzed(name, seconds) for name in chosen].count(False) == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
