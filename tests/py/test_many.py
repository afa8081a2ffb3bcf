"""Many files on several threads: what one after the other gives, and the first failure."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.reading import many_files as many

LINE = "<RT_INSTR:test_rt_instr_susp_deep_parallel\t{}\t{}\t{}\t{}\t{}/>\n"


@pytest.fixture
def threads(monkeypatch):
    """Two threads whatever the machine and the size of the files; gives the names that read."""
    seen: set[str] = set()
    monkeypatch.setattr(many, "THREADS_FROM", 0)
    monkeypatch.setattr(many.os, "cpu_count", lambda: 2)
    work = many.Source.open

    def opened(self, *args):
        seen.add(threading.current_thread().name)
        return work(self, *args)

    monkeypatch.setattr(many.Source, "open", opened)
    return seen


def write(folder: Path, n: int) -> list[Path]:
    """`n` files, the k-th with k + 1 blocks of four cpus; times count up over all files."""
    paths, time = [], 0
    for k in range(n):
        lines = []
        for _ in range(k + 1):
            for cpu in range(4):
                lines.append(LINE.format(cpu // 2, cpu % 2, time, time + 1, time + 2))
                time += 3
        paths.append(folder / f"{k:02}.log")
        paths[-1].write_text("".join(lines))
    return paths


def test_values_come_in_the_order_of_the_files(tmp_path, threads):
    paths = write(tmp_path, 12)
    data = tg.read(*paths)
    assert all(name.startswith("read") for name in threads)
    total = 3 * 4 * sum(range(1, 13))
    values = np.concatenate([part.tables["readings"]["value"] for part in data.parts])
    assert values.tolist() == list(range(total))
    assert [info.name for info in data.infos] == [str(path) for path in paths]


def test_a_file_given_twice_counts_once(tmp_path, threads):
    first, second = write(tmp_path, 2)
    data = tg.read(first, second, first)
    assert [info.state for info in data.infos] == ["read", "read", "duplicate of 0"]
    assert len(data.readings) == 3 * 4 * (1 + 2)


def test_the_first_failure_in_the_order_is_raised(tmp_path, threads):
    paths = write(tmp_path, 6)
    for path in (paths[2], paths[4]):
        path.unlink()
        path.symlink_to(path.with_suffix(".gone"))
    sources = [many.Source(str(p), lambda p=p: p.open("rb"), p) for p in paths]
    seen = []

    def read(source, alone, advance):
        assert not alone
        with source.open() as stream:
            advance(len(b"".join(stream)))
        yield source.name

    many_sizes = pytest.MonkeyPatch()
    many_sizes.setattr(many, "_are_large_files", lambda sources: True)
    try:
        with pytest.raises(FileNotFoundError) as caught:
            for name in many.in_order(sources, read, lambda n: None):
                seen.append(name)
    finally:
        many_sizes.undo()
    assert caught.value.filename == str(paths[2])
    assert seen == [str(path) for path in paths[:2]]


def test_closing_ends_the_threads(tmp_path, threads):
    sources = [many.Source(str(p), lambda p=p: p.open("rb"), p) for p in write(tmp_path, 8)]
    go = threading.Event()
    counted = []

    def read(source, alone, advance):
        if source is not sources[0]:
            go.wait(60)
        advance(1)
        counted.append(source.name)
        yield source.name

    made = many.in_order(sources, read, lambda n: None)
    assert next(made) == sources[0].name
    threading.Timer(0.01, go.set).start()
    made.close()
    assert len(counted) < len(sources)


def test_small_files_and_what_is_no_file_are_read_one_by_one(tmp_path):
    alone = []

    def read(source, is_alone, advance):
        alone.append(is_alone)
        yield source

    files = [many.Source(str(p), lambda p=p: p.open("rb"), p) for p in write(tmp_path, 3)]
    assert list(many.in_order(files, read, lambda n: None)) == files
    other = many.Source("<bytes>", lambda: None)
    assert list(many.in_order([other, other], read, lambda n: None)) == [other, other]
    assert alone == [True] * 5
