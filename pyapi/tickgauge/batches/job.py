"""What a worker does: read one file, leave its statistics behind; merge statistics of others."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..comparison.make_snapshot import snapshot
from ..dataset.dataset import Dataset
from ..errors import InputError
from ..reading.read import read
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
    path : str
    group : str
    options : mapping
        Arguments for `tickgauge.read`.
    folder : str or None
        Where statistics and rows are left; None hands the statistics back.
    rows : bool
        Whether the readings are written as Parquet, too.
    """

    path: str
    group: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = None
    rows: bool = False


@dataclass
class Done:
    """What became of it, and its statistics by digest where they were not left in a folder."""

    status: FileStatus
    parts: dict[str, bytes] = field(default_factory=dict)


def part_path(folder: str | Path, digest: str) -> Path:
    """Where the statistics of a source lie."""
    return Path(folder) / "parts" / f"{digest}.json.z"


def rows_path(folder: str | Path, digest: str) -> Path:
    """Where the readings of a source lie."""
    return Path(folder) / "readings" / f"{digest}.parquet"


def work(jobs: Sequence[Job]) -> list[Done]:
    """Read each file; what goes wrong with one is told in its status."""
    return [_one(job) for job in jobs]


def _one(job: Job) -> Done:
    done = Done(FileStatus(job.path, job.group))
    try:
        if "://" not in job.path:
            stat = os.stat(job.path)  # noqa: PTH116
            done.status.size, done.status.mtime = stat.st_size, stat.st_mtime_ns
        data = read(job.path, **job.options)
        if not isinstance(data, Dataset):
            verb = "axi" if type(data).__name__ == "Capture" else "show"
            raise InputError(
                f"is a {type(data).__name__}, which a batch does not take: tickgauge {verb}"
            )
        for part in data.parts:
            _keep(job, Dataset([part]), done)
    except InputError as error:
        done.status.state, done.status.message = "not recognised", error.message
    except Exception as error:
        done.status.state, done.status.message = "failed", _told(error)
    return done


def _told(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return getattr(error, "message", "") or f"{type(error).__name__}: {error}"


def _keep(job: Job, data: Any, done: Done) -> None:
    """One source of the file into statistics, and rows if they are wanted."""
    info = data.infos[0]
    counts = {name: len(data.table(name)) for name in ("boots", "readings", "problems")}
    done.status.sources.append(
        SourceStatus(
            info.name, info.digest, info.state, info.formats, **counts, message=info.message
        )
    )
    if not counts["readings"]:
        return
    made = zlib.compress(snapshot(data, limits=job.options.get("limits")).to_bytes(), LEVEL)
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


def merge(parts: Sequence[bytes | str]) -> bytes:
    """Statistics of several sources as those of all of them.

    Parameters
    ----------
    parts : sequence of bytes or str
        Packed snapshots, or the paths of such.

    Returns
    -------
    bytes
        A packed snapshot: the same whatever the order and grouping.
    """
    packed = [Path(part).read_bytes() if isinstance(part, str) else part for part in parts]
    return zlib.compress(merge_texts([zlib.decompress(one) for one in packed]), LEVEL)


def is_left(folder: str, digest: str, rows: bool) -> bool:
    """Whether what a source left is there still."""
    paths = [part_path(folder, digest)] + ([rows_path(folder, digest)] if rows else [])
    with contextlib.suppress(OSError):
        return all(path.stat().st_size > 0 for path in paths)
    return False
