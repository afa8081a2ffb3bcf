"""The C library by itself: installed, found by pkg-config, and equal to the Python package."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tickgauge as tg

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "c" / "libtickgauge.a"

pytestmark = [
    pytest.mark.noasan,
    pytest.mark.skipif(not BUILT.exists(), reason="the C library is not built (make check-c)"),
    pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed"),
]


@pytest.mark.parametrize("static", [False, True], ids=["shared", "static"])
def test_example_reads_what_the_package_reads(tmp_path, static):
    prefix = tmp_path / "prefix"
    make = ["make", "-s", "install", f"PREFIX={prefix}"]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True)
    env = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    ask = ["pkg-config", "--cflags", "--libs", *(["--static"] if static else []), "tickgauge"]
    flags = subprocess.run(ask, env=env, check=True, capture_output=True, text=True).stdout.split()
    if static:
        (prefix / "lib" / "libtickgauge.so").unlink()
    program = tmp_path / "readings"
    source = ROOT / "docs" / "examples" / "readings.c"
    warn = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *warn, str(source), *flags, "-o", str(program)], env=env, check=True)
    packed = ROOT / "tests" / "data" / "tfa" / "console" / "perf-head-boot-01.log.gz"
    log = tmp_path / "console.log"
    log.write_bytes(gzip.decompress(packed.read_bytes()))
    env["LD_LIBRARY_PATH"] = str(prefix / "lib")
    run = [str(program), str(log)]
    printed = subprocess.run(run, env=env, check=True, capture_output=True, text=True).stdout
    r = tg.read(log).readings
    columns = (r["metric"].tolist(), r["value"].tolist(), r["unit"].tolist(), r["line"].tolist())
    due = [f"{m} {v} {u} line {at}" for m, v, u, at in zip(*columns, strict=True)]
    assert printed.splitlines() == due and len(due) > 1000
    missing = subprocess.run([str(program), "/no/such"], env=env, capture_output=True, text=True)
    assert missing.returncode == 2
