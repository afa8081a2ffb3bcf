"""The work of a worker: read one file, leave its statistics behind; merge statistics of others."""

from __future__ import annotations

import contextlib
import stat
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..comparison.make_snapshot import snapshot
from ..dataset.dataset import Dataset, Part
from ..errors import InputError
from ..reading.read import read_parts
from ..sources.source import Source
from ..util.atomic_write import replacing, write_whole
from ..util.optional import need
from .index import FileStatus, SourceStatus
from .merge_snapshots import merge_texts

__all__ = ["Done", "Job", "is_left", "merge", "part_path", "rows_path", "work", "write_parquet"]


LEVEL = 1  # of zlib: the text is mostly digits, and is soon unpacked again


@dataclass(frozen=True)
class Job:
    """One file to read.

    Attributes
    ----------
    source : Source
        Opened by the worker; its name is not expanded again.
    group : str
    options : mapping
        Arguments for `tickgauge.read`.
    folder : str or None
        Where statistics and rows are left; None hands the statistics back.
    rows : bool
        Whether the readings are written as Parquet, too.
    """

    source: Source
    group: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = None
    rows: bool = False

    @property
    def path(self) -> str:
        """How the source is called."""
        return self.source.name

    def stamp(self) -> tuple[int, int]:
        """Size and time of a plain file, by which a later run knows it; else (-1, -1)."""
        if self.source.path is not None:
            status = self.source.path.stat()
            if stat.S_ISREG(status.st_mode):
                return status.st_size, status.st_mtime_ns
        return -1, -1


@dataclass
class Done:
    """The state of a job, and its statistics by digest where they were not left in a folder."""

    status: FileStatus
    parts: dict[str, bytes] = field(default_factory=dict)


def part_path(folder: str | Path, digest: str) -> Path:
    """Where the statistics of a source lie."""
    return Path(folder) / "parts" / f"{digest}.json.z"


def rows_path(folder: str | Path, digest: str) -> Path:
    """Where the readings of a source lie."""
    return Path(folder) / "readings" / f"{digest}.parquet"


def work(jobs: Sequence[Job]) -> list[Done]:
    """Read each file; a failure is told in its status."""
    return [_one(job) for job in jobs]


def _one(job: Job) -> Done:
    done = Done(FileStatus(job.path, job.group))
    status = done.status
    try:
        stamp = job.stamp()
        for part in read_parts(job.source, **{"digest": True, **job.options}):
            if isinstance(part, Part):
                _keep(job, Dataset([part]), done)
            else:
                status.sources.append(_of_another_kind(job, part))
        if job.stamp() == stamp:  # else it was written meanwhile, and is read again next time
            status.size, status.mtime = stamp
        status.state, status.message = _summed_up(status.sources)
    except Exception as error:
        status.state, status.message = "failed", _told(error)
    return done


def _of_another_kind(job: Job, made: Any) -> SourceStatus:
    """The status of a capture or a snapshot, which has no place among statistics of consoles."""
    kind = type(made).__name__.lower()
    verb = {"capture": "axi", "snapshot": "snapshot"}.get(kind, "show")
    name = str(getattr(made, "name", "") or job.path)
    message = f"is a {kind}, which a batch does not take: tickgauge {verb} {name}"
    return SourceStatus(name, state="not taken", formats=(kind,), message=message)


def _summed_up(sources: Sequence[SourceStatus]) -> tuple[str, str]:
    """State and message of a file from those of its sources."""
    bad = [source for source in sources if not source.is_whole]
    if bad:
        none = len(bad) == len(sources) and not any(source.readings for source in sources)
        return "failed" if none else "damaged", bad[0].message
    for state in ("not taken", "not recognised", "skipped"):
        if sources and all(source.state == state for source in sources):
            return state, sources[0].message
    return "read", ""


def _told(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return getattr(error, "message", "") or f"{type(error).__name__}: {error}"


def _keep(job: Job, data: Dataset, done: Done) -> None:
    """One source of the file into statistics, and rows if they are wanted."""
    info = data.infos[0]
    counts = {name: len(data.table(name)) for name in ("boots", "readings", "problems")}
    status = SourceStatus(
        info.name, info.digest, info.state, info.formats, **counts, message=info.message
    )
    done.status.sources.append(status)
    if not counts["readings"]:
        return
    text = snapshot(data, limits=job.options.get("limits")).to_bytes()
    status.part_size = len(text)
    made = zlib.compress(text, LEVEL)
    if job.folder is None:
        done.parts[info.digest] = made
        return
    write_whole(part_path(job.folder, info.digest), made)
    if job.rows:
        with replacing(rows_path(job.folder, info.digest)) as file:
            write_parquet(data.readings, file, digest=info.digest)


def write_parquet(frame: Any, file: Any, **constants: str) -> None:
    """A frame as a Parquet file, with a column of the same text in every row for each constant."""
    arrow = need("pyarrow", "arrow")
    table = arrow.table(frame)
    for name, text in constants.items():
        zeros = arrow.repeat(arrow.scalar(0, arrow.int32()), len(table))
        words = arrow.DictionaryArray.from_arrays(zeros, arrow.array([text]))
        table = table.append_column(name, words)
    need("pyarrow.parquet", "arrow").write_table(table, file)


def merge(parts: Sequence[bytes | tuple[str, int]]) -> bytes:
    """Statistics of several sources as those of all of them.

    Parameters
    ----------
    parts : sequence of bytes or (str, int)
        Packed snapshots, or paths of such and their sizes when decompressed.

    Returns
    -------
    bytes
        A packed snapshot: the same whatever the order and grouping.

    Raises
    ------
    InputError
        A file of another size, or no snapshot.
    """
    texts = [zlib.decompress(one) if isinstance(one, bytes) else _part(*one) for one in parts]
    return zlib.compress(merge_texts(texts), LEVEL)


def _part(path: str, size: int) -> bytes:
    """The statistics in a file, which may come from somebody else: no more than `size` bytes."""
    state = zlib.decompressobj()
    try:
        with Path(path).open("rb") as file:
            packed = file.read(size + 4096)  # level 1 makes nothing much longer
        text = state.decompress(packed, size + 1)
    except zlib.error as error:
        raise InputError(
            f"is damaged ({error}); without it its log is read again", path=path
        ) from error
    if len(text) != size or not state.eof:
        raise InputError(
            f"does not hold the {size} bytes that the index says; without it its log is read again",
            path=path,
        )
    return text


def is_left(folder: str, digest: str, rows: bool) -> bool:
    """Whether the files that a source left are there still."""
    paths = [part_path(folder, digest)] + ([rows_path(folder, digest)] if rows else [])
    with contextlib.suppress(OSError):
        return all(path.stat().st_size > 0 for path in paths)
    return False
