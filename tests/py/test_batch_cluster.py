"""Batches on clusters as the page names them: a local one, SLURM, Kubernetes.

No SLURM and no Kubernetes is at hand: `sbatch` is a script that starts its job here, and the
containers of the manifest are started as processes.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.batches.executors import CALM

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
LOGS = ROOT / "tests" / "data" / "tfa" / "console"

SBATCH = """#!/bin/sh
cp "$1" "$JOBS/script.$$"
setsid sh "$JOBS/script.$$" > "$JOBS/out.$$" 2>&1 &
echo "Submitted batch job $!"
echo $! >> "$JOBS/started"
"""
SCANCEL = '#!/bin/sh\necho "$1" >> "$JOBS/cancelled"\nkill -- -"$1"\n'

pytestmark = pytest.mark.noasan


@pytest.fixture(scope="module")
def expected() -> bytes:
    return tg.batch(LOGS, jobs=1).snapshot.to_bytes()


def test_the_settings_of_the_page_are_names_of_dask_and_those_of_a_local_cluster() -> None:
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("distributed")
    from dask import config

    merged = config.merge({}, yaml.safe_load((EXAMPLES / "dask.yaml").read_text("utf-8")))
    for name, value in CALM.items():
        assert config.get(name, config=merged) == value
        if ".MALLOC_" in name:  # a variable of glibc, below a setting that takes any
            name = name.rpartition(".")[0]
            assert isinstance(config.get(name), dict)
            continue
        usual = config.get(name)  # KeyError: dask knows no such setting
        assert usual != value and isinstance(usual, type(value))


def test_a_worker_that_loads_the_command_as_a_module_starts_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    names = runpy.run_path(str(ROOT / "pyapi" / "bin" / "tickgauge"), run_name="__mp_main__")
    assert "status" not in names
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_the_command_starts_a_cluster_of_this_machine(expected: bytes, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    run = [str(Path(sys.executable).parent / "tickgauge"), "batch", "--dask", "local", str(LOGS)]
    done = subprocess.run([*run, "-o", str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "snapshot.json").read_bytes() == expected


@pytest.mark.slow
def test_the_example_for_slurm(expected: bytes, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    small = {"CORES": "1", "PROCESSES": "1", "MEMORY": "1GB", "INTERFACE": "lo"}
    env = os.environ | {f"DASK_JOBQUEUE__SLURM__{name}": value for name, value in small.items()}
    env |= {"DASK_CONFIG": str(EXAMPLES / "dask.yaml"), "JOBS": str(tmp_path)}
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    out = tmp_path / "results"
    run = [sys.executable, EXAMPLES / "on_slurm.py", LOGS, out, "2"]
    done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert (out / "snapshot.json").read_bytes() == expected
    started = (tmp_path / "started").read_text().split()
    assert len(started) == 2
    assert sorted((tmp_path / "cancelled").read_text().split()) == sorted(started)


@contextmanager
def container(args: list[str], env: dict[str, str]) -> Iterator[None]:
    """A container of the manifest as a process, with the names of the operator filled in."""
    for name, value in env.items():
        args = [arg.replace(f"$({name})", value) for arg in args]
    process = subprocess.Popen(args, env=os.environ | env, start_new_session=True)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.mark.slow
def test_the_containers_of_the_manifest_for_kubernetes(expected: bytes, tmp_path: Path) -> None:
    python = os.environ.get("TICKGAUGE_KUBERNETES", "")
    if not python:
        pytest.skip("TICKGAUGE_KUBERNETES names no Python: run `make consumers`")
    distributed = pytest.importorskip("distributed")
    show = "import json, on_kubernetes; print(json.dumps(on_kubernetes.manifest('image', 2)))"
    path = os.pathsep.join((str(EXAMPLES), str(Path(tg.__file__).parents[1])))
    env = os.environ | {"PYTHONPATH": path}
    made = subprocess.run([python, "-c", show], env=env, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    spec = json.loads(made.stdout)["spec"]
    assert spec["worker"]["replicas"] == 2
    ((scheduler,), (worker,)) = (
        spec[part]["spec"]["containers"] for part in ("scheduler", "worker")
    )
    place = "tcp://127.0.0.1:8786"
    bin_first = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with ExitStack() as stack:
        stack.enter_context(container(scheduler["args"], bin_first))
        for i in range(2):
            operator = {"DASK_WORKER_NAME": f"boots-{i}", "DASK_SCHEDULER_ADDRESS": place}
            stack.enter_context(container(worker["args"], bin_first | operator))
            time.sleep(1)  # both ask for the port of the dashboard
        client = stack.enter_context(distributed.Client(place, timeout=60))
        client.wait_for_workers(2, timeout=60)
        assert tg.batch(LOGS, client=client).snapshot.to_bytes() == expected
