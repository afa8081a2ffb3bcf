"""Batches: the same bytes whoever reads, restartable, what goes wrong told file by file."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tickgauge as tg
from tickgauge.batches import executors as drivers
from tickgauge.batches.batch import batch
from tickgauge.batches.index import FileStatus
from tickgauge.batches.job import merge
from tickgauge.batches.merge_snapshots import merge_texts
from tickgauge.comparison.make_snapshot import snapshot

RULE = "fft {n:uint} points: {t:uint} usec"
OPTIONS: dict[str, Any] = {"rules": tg.Rule(RULE, value="t", unit="us")}


def console(seed: int, lines: int = 40) -> bytes:
    rng = random.Random(seed)
    rows = [
        f"fft {rng.choice((64, 128))} points: {rng.randrange(90, 130)} usec" for _ in range(lines)
    ]
    return ("\n".join(rows) + "\n").encode()


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 logs in three folders: plain, gzip, a tar, and a copy of another one."""
    root = tmp_path_factory.mktemp("logs")
    for i in range(40):
        folder = root / f"board{i % 3}"
        folder.mkdir(exist_ok=True)
        data = console(7 if i == 23 else i)
        packed = i % 5 == 0
        (folder / f"{i:02d}.log").write_bytes(gzip.compress(data, mtime=0) if packed else data)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for i in (100, 101):
            info = tarfile.TarInfo(f"{i}.log")
            info.size = len(console(i))
            archive.addfile(info, io.BytesIO(console(i)))
    (root / "board0" / "more.tgz").write_bytes(out.getvalue())
    return root


@pytest.fixture(scope="module")
def expected(logs: Path) -> bytes:
    """The statistics from one plain read of everything."""
    data = tg.read(logs, **OPTIONS)
    assert sum("duplicate" in info.state for info in data.infos) == 1
    made = snapshot(data).to_bytes()
    assert len(data.readings) == 41 * 40
    return made


def test_serial(logs: Path, expected: bytes) -> None:
    made = batch(logs, jobs=1, **OPTIONS)
    assert made.snapshot.to_bytes() == expected
    assert list(made.snapshots) == [""]
    assert len(made.files) == 42
    assert made.failed == []
    assert made.headline() == "41 files (41 read): 42 boots, 1680 readings"


@pytest.mark.parametrize("jobs", [2, 3])
def test_own_processes(logs: Path, expected: bytes, jobs: int) -> None:
    assert batch(logs, jobs=jobs, **OPTIONS).snapshot.to_bytes() == expected


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors(logs: Path, expected: bytes, kind: Any) -> None:
    with kind(2) as executor:
        assert batch(logs, executor=executor, **OPTIONS).snapshot.to_bytes() == expected


@pytest.mark.parametrize("arity", [2, 3, 7])
def test_any_arity(
    logs: Path, expected: bytes, arity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "ARITY", arity)
    monkeypatch.setattr("tickgauge.batches.batch.CHUNK_FILES", arity)
    assert batch(logs, jobs=1, **OPTIONS).snapshot.to_bytes() == expected


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(6)), arity=st.integers(2, 5))
def test_merging_does_not_depend_on_order_or_grouping(order: Sequence[int], arity: int) -> None:
    parts = [
        zlib.compress(snapshot(tg.read(console(i, 5), **OPTIONS)).to_bytes()) for i in range(5)
    ]
    parts.append(parts[2])  # a source that stands in two parts
    want = merge(parts)
    level = [parts[i] for i in order]
    while len(level) > 1:
        level = [merge(level[i : i + arity]) for i in range(0, len(level), arity)]
    assert zlib.decompress(level[0]) == zlib.decompress(want)


def test_snapshots_merge_as_text_as_they_do_as_objects() -> None:
    """Real consoles of three formats, blocks and counts among them."""
    data = Path(__file__).parents[1] / "data"
    names = ("perf-head-boot-01", "multi-append-2versions", "stamped-ts-ss")
    paths = [data / "tfa" / "console" / f"{name}.log.gz" for name in names]
    paths += [data / "optee" / "ree.log.gz", data / "zynq" / "v2019.1.log"]
    made = [snapshot(tg.read(path)) for path in paths]
    want = made[0].merge(*made[1:]).to_bytes()
    texts = [one.to_bytes() for one in made]
    assert merge_texts(texts) == want
    assert merge_texts([merge_texts(texts[3:]), merge_texts(texts[:4])]) == want
    assert merge_texts(texts[:1]) == texts[0]
    for wrong in (b"", b"{}", texts[0][:-5], texts[0].replace(b'"version":1', b'"version":2')):
        with pytest.raises(ValueError, match=r"snapshot|units"):
            merge_texts([texts[1], wrong])


# ---- groups, progress, errors -----------------------------------------------------------------


def test_groups(logs: Path, tmp_path: Path) -> None:
    made = batch(logs, by=r"board(\d)", jobs=1, out=tmp_path / "out", rows=False, **OPTIONS)
    assert list(made.snapshots) == ["0", "1", "2"]
    for name, one in made.snapshots.items():
        alone = snapshot(tg.read(logs / f"board{name}", **OPTIONS))
        assert one.to_bytes() == alone.to_bytes()
    listed = (tmp_path / "out" / "snapshots" / "groups.tsv").read_text().splitlines()
    assert listed == ["0000-0.json\t0", "0001-1.json\t1", "0002-2.json\t2"]
    saved = (tmp_path / "out" / "snapshots" / "0001-1.json").read_bytes()
    assert saved == made.snapshots["1"].to_bytes()
    assert set(batch(logs, by="folder", jobs=1, **OPTIONS).snapshots) == {
        str(logs / f"board{i}") for i in range(3)
    }
    by_first = batch(logs, by=lambda path: Path(path).name[0], jobs=1, **OPTIONS)
    assert list(by_first.snapshots) == ["0", "1", "2", "3", "m"]


def test_names_of_groups_are_no_paths(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.log").write_bytes(console(1))
    batch(tmp_path / "in", by=lambda path: "../../evil", jobs=1, out=tmp_path / "out", **OPTIONS)
    assert [p.name for p in (tmp_path / "out" / "snapshots").glob("*.json")] == ["0000-evil.json"]


def test_progress_is_told(logs: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    batch(
        logs,
        jobs=1,
        progress=lambda *args: seen.append((args[0], args[1], args[2].path)),
        **OPTIONS,
    )
    assert [(done, total) for done, total, _ in seen] == [(i + 1, 41) for i in range(41)]
    assert len({path for _, _, path in seen}) == 41


def test_what_goes_wrong_is_told_file_by_file(logs: Path, tmp_path: Path) -> None:
    good, cut, other, gone = (tmp_path / name for name in ("a.log", "b.gz", "c.txt", "d.log"))
    good.write_bytes(console(1))
    cut.write_bytes(gzip.compress(console(2, 4000))[:-100])
    other.write_bytes(b"nothing of interest\n")
    paths = [str(p) for p in (good, cut, other, gone)]

    def run(errors: str) -> Any:
        gone.write_bytes(b"there when the batch begins")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tickgauge.batches.batch.CHUNK_FILES", 1)
            return batch(
                paths,
                jobs=1,
                errors=errors,
                progress=lambda *_: gone.unlink(missing_ok=True),
                **OPTIONS,
            )

    made = run("collect")
    with pytest.raises(tg.InputError, match=r"b\.gz: gz data is damaged or cut"):
        run("raise")
    states = dict(zip(made.files["path"], made.files["state"], strict=True))
    assert list(states.values()) == ["read", "damaged", "not recognised", "failed"]
    assert [status.state for status in made.failed] == ["damaged", "failed"]
    assert "No such file" in made.failed[1].message
    assert "failed" in repr(made)
    cut_boot = made.files.select(path=str(cut))
    assert int(cut_boot["readings"][0]) > 3000  # what was good before the cut


def test_arguments_are_checked(logs: Path) -> None:
    with pytest.raises(ValueError, match="'collect' or 'raise'"):
        batch(logs, errors="ignore")
    with pytest.raises(FileNotFoundError):
        batch("/nowhere/*.log")
    with pytest.raises(tg.InputError, match="no name"):
        batch(b"text")
    with pytest.raises(tg.InputError, match="no file of the batch"):
        _ = batch(__file__, jobs=1).snapshot


# ---- results on disk ---------------------------------------------------------------------------


def test_a_second_run_reads_only_what_is_new(
    logs: Path, expected: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    work = tmp_path / "logs"
    shutil.copytree(logs, work)
    out = tmp_path / "out"
    read: list[str] = []

    def run(**more: Any) -> Any:
        read.clear()

        def progress(done: int, total: int, status: FileStatus) -> None:
            if status.state == "read":
                read.append(Path(status.path).name)

        return batch(work, jobs=1, out=out, progress=progress, **{**OPTIONS, **more})

    assert run().snapshot.to_bytes() == expected
    assert len(read) == 41
    assert (out / "snapshot.json").read_bytes() == expected
    assert run().snapshot.to_bytes() == expected
    assert read == []
    (work / "board0" / "new.log").write_bytes(console(500))
    (work / "board1" / "01.log").write_bytes(console(501))
    made = run()
    assert sorted(read) == ["01.log", "new.log"]
    assert made.snapshot.to_bytes() == snapshot(tg.read(work, **OPTIONS)).to_bytes()
    part = next((out / "parts").iterdir())
    part.unlink()
    run()
    assert len(read) >= 1
    run(clock="1MHz")  # another option, other results
    assert len(read) == 42
    (work / "board1" / "01.log").unlink()
    assert "01.log" not in {Path(p).name for p in run(clock="1MHz").files["path"]}


def test_parquet_that_duckdb_reads(logs: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    out = tmp_path / "out"
    made = batch(logs, jobs=1, out=out, **OPTIONS)
    ((count, total),) = duckdb.sql(
        f"select count(*), sum(value) from '{out}/readings/*.parquet'"
    ).fetchall()
    data = tg.read(logs, **OPTIONS)
    assert count == len(data.readings)
    assert total == sum(data.readings["value"].tolist())
    (joined,) = duckdb.sql(
        f"select count(distinct s.path) from '{out}/readings/*.parquet' r"
        f" join '{out}/sources.parquet' s using (digest)"
    ).fetchall()
    assert joined == (len({s.path for s in made.statuses}),)
    only = next(path for path in sorted(logs.glob("board1/*.log")))
    batch(only, jobs=1, out=out, **OPTIONS)  # the folder holds the last run's files only
    ((count,),) = duckdb.sql(f"select count(*) from '{out}/readings/*.parquet'").fetchall()
    assert count == 40


def test_interrupted_and_resumed_gives_the_same(
    logs: Path, expected: bytes, tmp_path: Path
) -> None:
    class Stop(BaseException):
        pass

    def stop(done: int, total: int, status: FileStatus) -> None:
        if done == 13:
            raise Stop

    with pytest.raises(Stop):
        batch(logs, jobs=1, out=tmp_path, progress=stop, **OPTIONS)
    assert not (tmp_path / "snapshot.json").exists()
    states: list[str] = []
    made = batch(
        logs, jobs=2, out=tmp_path, progress=lambda d, t, s: states.append(s.state), **OPTIONS
    )
    assert states.count("kept") == 13
    assert made.snapshot.to_bytes() == expected


def test_killed_and_resumed_gives_the_same(logs: Path, expected: bytes, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, tickgauge as tg\n"
        "def stop(done, total, status):\n"
        "    if done == 13: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"rule = tg.Rule({RULE!r}, value='t', unit='us')\n"
        "tg.batch(sys.argv[1], jobs=1, out=sys.argv[2], progress=stop, rules=rule)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, logs, tmp_path])
    assert done.returncode == -signal.SIGKILL
    made = batch(logs, jobs=1, out=tmp_path, **OPTIONS)
    assert made.snapshot.to_bytes() == expected
    assert (tmp_path / "snapshot.json").read_bytes() == expected


# ---- in other people's hands -------------------------------------------------------------------


def test_a_file_is_opened_by_its_name_and_nothing_else(tmp_path: Path) -> None:
    """No name of a folder's file is taken for standard input, a glob, a URL or a release."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for number, name in enumerate(("-", "*.log", "a@v2.9", "[x].log", "x.log")):
        (logs / name).write_bytes(console(number, 10 + number))
    done = subprocess.run(
        [sys.executable, "-m", "tickgauge", "batch", ".", "--format", "json", "--jobs", "2",
         "--rules", _rules_file(tmp_path)],
        cwd=logs, input="fft 64 points: 1 usec\n", capture_output=True, text=True,
    )  # fmt: skip
    rows = json.loads(done.stdout)["rows"]
    assert [(row["path"], int(row["readings"])) for row in rows] == [
        ("*.log", 11), ("-", 10), ("[x].log", 13), ("a@v2.9", 12), ("x.log", 14),
    ]  # fmt: skip


def _rules_file(folder: Path) -> Path:
    rules = folder / "rules.toml"
    rules.write_text(f'[[rule]]\nname = "fft"\ntemplate = "{RULE}"\nvalue = "t"\nunit = "us"\n')
    return rules


def test_what_stands_in_a_folder_is_not_trusted(logs: Path, tmp_path: Path) -> None:
    """A digest that is a path, a size that is none, a part that unfolds into far more."""
    out = tmp_path / "out"
    some = sorted(logs.glob("board1/*.log"))[:3]
    batch(some, jobs=1, out=out, rows=False, **OPTIONS)
    index = out / "index.sqlite"

    def change(old: str, new: str) -> None:
        with sqlite3.connect(index) as base:
            base.execute("UPDATE files SET status = replace(status, ?, ?)", (old, new))

    digest = next(iter((out / "parts").iterdir())).name.partition(".")[0]
    secret = tmp_path / "x.json.z"
    secret.write_bytes((out / "parts" / f"{digest}.json.z").read_bytes())
    change(digest, "../../x")
    with pytest.raises(tg.InputError, match=r"index of the batch is damaged \(a digest is"):
        batch(some, jobs=1, out=out, rows=False, **OPTIONS)
    change("../../x", digest)
    for wrong in ('"-1"', "-1", "true", "null"):
        change('"boots": 1', f'"boots": {wrong}')
        if wrong != "-1":
            with pytest.raises(tg.InputError, match="index of the batch is damaged"):
                batch(some, jobs=1, out=out, rows=False, **OPTIONS)
        change(f'"boots": {wrong}', '"boots": 1')
    part = out / "parts" / f"{digest}.json.z"
    part.write_bytes(zlib.compress(bytes(1 << 28), 1))
    with pytest.raises(tg.InputError, match=r"does not hold the [0-9]+ bytes that the index says"):
        batch(some, jobs=1, out=out, rows=False, **OPTIONS)
    part.unlink()
    assert batch(some, jobs=1, out=out, rows=False, **OPTIONS).failed == []


def test_one_batch_at_a_time_writes_into_a_folder(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def second(done: int, total: int, status: FileStatus) -> None:
        if done == 1:
            again = command("batch", logs, "-o", out, "--jobs", 1)
            assert again.returncode == 2
            assert f"process {os.getpid()} writes into it" in again.stderr

    batch(logs, jobs=1, out=out, progress=second, **OPTIONS)
    assert not (out / ".tickgauge.lock").exists()


@pytest.mark.noasan
@pytest.mark.parametrize("to", ["parent", "group"])
def test_an_interrupt_ends_the_workers_within_a_second(to: str, tmp_path: Path) -> None:
    """One of them waits for ever, for the writer of a named pipe."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.log").write_bytes(console(1))
    running = subprocess.Popen(
        [sys.executable, "-m", "tickgauge", "batch", "a.log", "pipe", "--jobs", "2"],
        cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    _wait_until(lambda: len(_processes_of(running.pid)) >= 3)
    time.sleep(0.3)
    (os.kill if to == "parent" else os.killpg)(running.pid, signal.SIGINT)
    begun = time.monotonic()
    _, said = running.communicate(timeout=30)
    _wait_until(lambda: not _processes_of(running.pid))
    assert running.returncode == 130
    assert "Traceback" not in said
    assert time.monotonic() - begun < 5  # a second on an idle machine


@pytest.mark.noasan
def test_a_killed_batch_leaves_no_workers(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    running = subprocess.Popen(
        [sys.executable, "-m", "tickgauge", "batch", "pipe", "pipe", "--jobs", "2"],
        cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    _wait_until(lambda: len(_processes_of(running.pid)) >= 3)
    running.kill()
    running.wait()
    _wait_until(lambda: not _processes_of(running.pid))


def _wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def _processes_of(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, of, *_ = place.read_text().rpartition(")")[2].split()
            if int(of) == session and state != "Z":
                found.append(int(place.parent.name))
    return found


# ---- a cluster ---------------------------------------------------------------------------------


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=request.param,
            dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.parametrize("cluster", [False], indirect=True)
def test_dask(cluster: Any, logs: Path, expected: bytes, tmp_path: Path) -> None:
    assert batch(logs, client=cluster, **OPTIONS).snapshot.to_bytes() == expected
    made = batch(logs, client=cluster, out=tmp_path, **OPTIONS)
    assert made.snapshot.to_bytes() == expected
    assert len(list((tmp_path / "readings").glob("*.parquet"))) == 41


@pytest.mark.slow
@pytest.mark.noasan
@pytest.mark.parametrize("cluster", [True], indirect=True)
def test_dask_with_a_worker_killed(cluster: Any, logs: Path, expected: bytes) -> None:
    killed: list[int] = []

    def kill(done: int, total: int, status: FileStatus) -> None:
        if done == 5:
            pids = cluster.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tickgauge.batches.batch.CHUNK_FILES", 1)
        made = batch(logs, client=cluster, progress=kill, **OPTIONS)
    assert killed
    assert made.failed == []
    assert made.snapshot.to_bytes() == expected


# ---- the command -------------------------------------------------------------------------------


def command(*args: Any, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tickgauge", *map(str, args)],
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def test_the_command(logs: Path, expected: bytes, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\nname = "fft"\ntemplate = "{RULE}"\nvalue = "t"\nunit = "us"\n')
    out = tmp_path / "out"
    done = command("batch", f"{logs}/**/*", "-o", out, "--jobs", 2, "--rules", rules)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("41 files (41 read): 42 boots, 1680 readings\nall: 41 sources")
    assert str(out) in done.stdout
    again = command("batch", logs, "-o", out, "--rules", rules, "--format", "json")
    document = json.loads(again.stdout)
    assert document["command"] == "batch"
    assert {row["state"] for row in document["rows"]} == {"kept"}
    assert len(document["rows"]) == 42


def test_the_command_tells_bad_input(tmp_path: Path) -> None:
    assert command("batch", tmp_path / "none*").returncode == 2
    (tmp_path / "x").write_bytes(b"nothing\n")
    assert command("batch", tmp_path / "x").returncode == 3
    assert command("batch", tmp_path / "x", "--jobs", "0").returncode == 2
