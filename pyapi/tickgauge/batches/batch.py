"""`tickgauge.batch`: statistics of many logs, and the state of each."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison.snapshot import Snapshot, load_snapshot
from ..errors import Error, InputError, LimitError
from ..frame.frame import Column, Frame
from ..frame.grid import Grid, page_of
from ..limits import LIMITS
from ..reading.detect import bundles, revisions
from ..sources.expand import is_url, nameable
from ..sources.source import Source
from ..util.atomic_write import clear_stale, replacing, write_whole
from ..util.folder_lock import locked
from ..util.optional import need
from ..util.versions import version
from .executors import Driver, driver_for
from .index import FileStatus, Index, SourceStatus
from .job import Done, Job, is_left, merge, part_path, work, write_parquet
from .merge_snapshots import merge_texts

__all__ = ["Batch", "batch"]

#: A worker is given so many bytes or files at a time, whichever comes first; a worker of a cluster,
#: where each task passes the scheduler, eight times as many, but each gets several tasks.
CHUNK_BYTES, CHUNK_FILES = 8 << 20, 16

#: Statuses are kept after so many files.
STORE_EVERY = 64


class Batch:
    """The outcome of a batch.

    Attributes
    ----------
    snapshots : mapping of str to Snapshot
        The statistics by group; a single group is called ``""``.
    texts : dict of str to bytes
        The same as the bytes of snapshot files.
    files : Frame
        One row a source: ``path name group state digest formats boots readings problems
        message``, sorted by path. State ``"kept"``: unchanged since an earlier run, not read
        again; ``"damaged"`` (not read to its end, the readings before that count), ``"failed"``,
        ``"not recognised"`` and ``"not taken"``: the message gives the reason.
    """

    def __init__(self, texts: Mapping[str, bytes], statuses: Sequence[FileStatus]) -> None:
        self.texts = dict(texts)
        self.statuses = list(statuses)

    @cached_property
    def snapshots(self) -> dict[str, Snapshot]:
        return {group: load_snapshot(text) for group, text in self.texts.items()}

    @property
    def snapshot(self) -> Snapshot:
        """The statistics of all groups together.

        Raises
        ------
        InputError
            There is none: no file had a reading.
        """
        if not self.texts:
            raise InputError("no file of the batch had a reading")
        if len(self.texts) == 1:
            return next(iter(self.snapshots.values()))
        return load_snapshot(merge_texts(list(self.texts.values())))

    @property
    def failed(self) -> list[FileStatus]:
        """The files that could not be read whole: state ``"failed"`` or ``"damaged"``."""
        return [status for status in self.statuses if status.state in ("failed", "damaged")]

    @property
    def files(self) -> Frame:
        names = ("path", "name", "group", "state", "digest", "formats")
        texts: dict[str, list[str]] = {name: [] for name in (*names, "message")}
        counts: dict[str, list[int]] = {name: [] for name in ("boots", "readings", "problems")}
        for status in self.statuses:
            for source in status.sources or [SourceStatus(status.path)]:
                row = (
                    status.path,
                    source.name,
                    status.group,
                    status.state if source.state == "read" else source.state,
                    source.digest,
                    " ".join(source.formats),
                    status.message or source.message,
                )
                for name, text in zip(texts, row, strict=True):
                    texts[name].append(text)
                for name, column in counts.items():
                    column.append(getattr(source, name))
        columns = [Column.of(name, np.array(texts[name], "O")) for name in names]
        columns += [Column.of(name, np.array(column, "u8")) for name, column in counts.items()]
        columns.append(Column.of("message", np.array(texts["message"], "O")))
        return Frame(columns, "files of the batch")

    def headline(self) -> str:
        """One sentence: how many files were read, kept, failed, and their readings."""
        states = [status.state for status in self.statuses]
        order = ("read", "kept", "not recognised", "not taken", "skipped", "damaged", "failed")
        told = ", ".join(f"{states.count(word)} {word}" for word in order if word in states)
        sources = [source for status in self.statuses for source in status.sources]
        boots = sum(source.boots for source in sources)
        readings = sum(source.readings for source in sources)
        return f"{len(self.statuses)} files ({told}): {boots} boots, {readings} readings"

    def told(self) -> list[tuple[str, str]]:
        """Each group, and its statistics in a few words."""
        return [
            (name, repr(one).removeprefix("tickgauge snapshot: "))
            for name, one in self.snapshots.items()
        ]

    def __repr__(self) -> str:
        groups = [f"{name or 'all'}: {said}" for name, said in self.told()]
        failed = [f"{s.state}: {s.path}: {s.message}" for s in self.failed[:10]]
        return "\n".join([self.headline(), *groups[:20], *failed])

    def _repr_html_(self) -> str:
        groups = [(name or "all", said) for name, said in self.told()]
        return page_of([self.headline()], Grid(("group", "holds"), groups)) + (
            self.files._repr_html_()
        )


def batch(
    paths: Any,
    by: str | Callable[[str], str] | None = None,
    *,
    executor: Executor | None = None,
    client: Any = None,
    jobs: int | None = None,
    progress: bool | Callable[[int, int, FileStatus], Any] = False,
    errors: str = "collect",
    out: str | os.PathLike[str] | None = None,
    rows: bool | None = None,
    **options: Any,
) -> Batch:
    """Statistics of many logs, read side by side, and a status for each file.

    The statistics are the same bytes whoever reads, in whatever order, with however many workers.

    Parameters
    ----------
    paths
        Files, globs, folders, archives, URLs; one or an iterable of them.
    by : str or callable, optional
        How files are put into groups with statistics of their own: ``"folder"``, ``"file"``, a
        regular expression whose first group (or whole match) in the path is the group, or a
        function from path to group. Without it all are one group.
    executor : concurrent.futures.Executor, optional
        Reads the files, and merges. Without one, and without `client`, processes are started.
    client : distributed.Client, optional
        Reads and merges on the workers of a cluster, which must see the files (and `out`).
    jobs : int, optional
        Processes to start; all cores by default, 1 for none.
    progress : bool or callable
        True shows a bar (tqdm); a function is called with files done, files in all, and the
        status of the last one.
    errors : {"collect", "raise"}
        Whether a file that cannot be read whole is told in `Batch.files`, or ends the batch.
    out : path, optional
        A folder for the results: ``index.sqlite`` (the files that were read whole: another run
        with the same folder reads only the others), ``parts`` (statistics by digest),
        ``snapshot.json`` (or ``snapshots/*.json`` with `by`), ``sources.parquet`` and
        ``readings/*.parquet``, one row a source and one a reading, joined by ``digest``. A URL
        (``s3://bucket/run``, by fsspec) gets the statistics only, and every file is read.
    rows : bool, optional
        Whether readings are written as Parquet; by default if `out` is given and pyarrow is
        installed.
    **options
        For `tickgauge.read`: ``rules``, ``clock``, ``platform``, ``repair`` ...

    Returns
    -------
    Batch

    Raises
    ------
    InputError
        With ``errors="raise"``, where a file cannot be read whole. Another batch writes into
        `out`.
    ValueError
        More than one of `executor`, `client`, `jobs`, or an unknown `errors`.

    Notes
    -----
    One batch at a time writes into a folder: a second one is refused and told the process that
    holds it. Readers see the results of the last batch that ended, each file whole. A folder may
    come from somebody else: digests and sizes in it are checked before a file is opened.
    """
    if errors not in ("collect", "raise"):
        raise ValueError(f"errors is 'collect' or 'raise', not {errors!r}")
    driver = driver_for(executor, client, jobs)
    sources = _sources(paths)
    group = _grouping(by)
    bucket = os.fspath(out) if out is not None and is_url(out) else None
    if rows is None:
        rows = out is not None and bucket is None and _has("pyarrow.parquet")
    statuses: dict[str, FileStatus] = {}
    parts: dict[str, bytes] = {}
    tell = _teller(progress, len(sources))
    with ExitStack() as stack:
        folder = None
        if out is not None and bucket is None:
            folder = stack.enter_context(_prepared(Path(out)))
        todo = [Job(one, group(one.name), options, folder, rows) for one in sources]
        index = None
        if folder is not None:
            about = _version(options, rows)
            index = stack.enter_context(Index(Path(folder) / "index.sqlite", about))
            todo = list(_still_to_do(todo, index, statuses, folder, tell))
        keep = stack.enter_context(_Keeping(index))
        for done in stack.enter_context(closing(_run(driver, todo))):
            statuses[done.status.path] = done.status
            parts |= done.parts
            keep.add(done.status)
            tell(done.status)
            if errors == "raise" and done.status.state in ("failed", "damaged"):
                raise InputError(done.status.message, path=done.status.path)
        ordered = [statuses[path] for path in sorted(statuses)]
        limits = options.get("limits") or LIMITS
        made = Batch(_merged(driver, ordered, parts, folder, limits.whole), ordered)
        if folder is not None:
            _save(Path(folder), made, by is not None, rows)
        elif bucket is not None:
            _upload(bucket, _result_files(made, by is not None))
    return made


# ---- the work to do ---------------------------------------------------------------------------


def _sources(paths: Any) -> list[Source]:
    """The files behind the arguments, each once, in the order of their names."""
    by_name = {source.name: source for source in nameable(paths, bundles, revisions)}
    return [by_name[name] for name in sorted(by_name)]


def _grouping(by: str | Callable[[str], str] | None) -> Callable[[str], str]:
    if by is None:
        return lambda path: ""
    if callable(by):
        return lambda path: str(by(path))
    if by == "file":
        return lambda path: path
    if by == "folder":
        return lambda path: str(Path(path).parent)
    pattern = re.compile(by)

    def matched(path: str) -> str:
        match = pattern.search(path)
        if match is None:
            return ""
        return match[1] if pattern.groups else match[0]

    return matched


@contextmanager
def _prepared(out: Path) -> Iterator[str]:
    """The folder, held by this process, without the unfinished files of dead ones."""
    for name in ("parts", "readings"):
        (out / name).mkdir(parents=True, exist_ok=True)
    with locked(out):
        for folder in (out, *(out / name for name in ("parts", "readings", "snapshots"))):
            clear_stale(folder)
        yield str(out.resolve())


def _has(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def _version(options: Mapping[str, Any], rows: bool) -> str:
    """All that decides about a file's statistics, besides its bytes."""
    said = ", ".join(f"{name}={value!r}" for name, value in sorted(options.items()))
    return f"{version()} rows={rows} {said}"


def _still_to_do(
    jobs: Iterable[Job],
    index: Index,
    statuses: dict[str, FileStatus],
    folder: str,
    tell: Callable[[FileStatus], None],
) -> Iterator[Job]:
    """The jobs that no earlier run did; the others' statuses are taken from the index."""
    for job in jobs:
        known = None
        with suppress(OSError):  # the worker will tell
            size, time = job.stamp()
            known = index.find(job.path, size, time) if size >= 0 else None
        if known is None or not all(
            is_left(folder, source.digest, job.rows) for source in known.sources if source.readings
        ):
            yield job
            continue
        known.state = "kept" if known.state == "read" else known.state
        known.group = job.group
        statuses[job.path] = known
        tell(known)


def _teller(
    progress: bool | Callable[[int, int, FileStatus], Any], total: int
) -> Callable[[FileStatus], None]:
    count = 0
    if progress is True:
        bar = need("tqdm.auto", "progress").tqdm(total=total, unit="file")

        def show(status: FileStatus) -> None:
            nonlocal count
            count += 1
            bar.update()
            if count == total:
                bar.close()

        return show

    def call(status: FileStatus) -> None:
        nonlocal count
        count += 1
        if callable(progress):
            progress(count, total, status)

    return call


class _Keeping:
    """Puts statuses into the index, a few at a time, and the last ones also when interrupted."""

    def __init__(self, index: Index | None) -> None:
        self._index = index
        self._waiting: list[FileStatus] = []

    def add(self, status: FileStatus) -> None:
        self._waiting.append(status)
        if len(self._waiting) >= STORE_EVERY:
            self._store()

    def _store(self) -> None:
        if self._index is not None:
            self._index.store(self._waiting)
        self._waiting = []

    def __enter__(self) -> _Keeping:
        return self

    def __exit__(self, *exc: object) -> None:
        self._store()


# ---- doing it ---------------------------------------------------------------------------------


def _chunks(jobs: Iterable[Job], times: int = 1) -> Iterator[list[Job]]:
    """Jobs in bunches that are worth a worker's call, `times` as large as usual."""
    bunch: list[Job] = []
    size = 0
    for job in jobs:
        try:
            size += max(job.stamp()[0], 0)
        except OSError:
            size += CHUNK_BYTES
        bunch.append(job)
        if size >= times * CHUNK_BYTES or len(bunch) >= times * CHUNK_FILES:
            yield bunch
            bunch, size = [], 0
    if bunch:
        yield bunch


def _run(driver: Driver, jobs: Sequence[Job]) -> Generator[Done, None, None]:
    """All jobs; a bunch that a worker could not finish is tried file by file."""
    again: list[list[Job]] = []
    for bunch, done, error in driver.each(
        work, _chunks(jobs, driver.times(len(jobs) // CHUNK_FILES))
    ):
        if error is None:
            yield from done
        elif len(bunch) > 1:
            again += [[job] for job in bunch]
        else:
            yield _failed(bunch[0], error)
    for bunch, done, error in driver.each(work, again):
        if error is None:
            yield from done
        else:
            yield _failed(bunch[0], error)


def _failed(job: Job, error: BaseException) -> Done:
    message = error.message if isinstance(error, Error) else f"{type(error).__name__}: {error}"
    return Done(FileStatus(job.path, job.group, "failed", message=f"its worker died: {message}"))


def _merged(
    driver: Driver,
    statuses: Sequence[FileStatus],
    parts: Mapping[str, bytes],
    folder: str | None,
    largest: int,
) -> dict[str, bytes]:
    """The statistics of each group; sources with equal digests count once."""
    sizes: dict[str, dict[str, int]] = {}
    for status in statuses:
        for source in status.sources:
            if source.readings:
                if source.part_size > largest:
                    text = f"statistics of {source.part_size} bytes (--limit whole=N)"
                    raise LimitError(text, path=source.name)
                sizes.setdefault(status.group, {})[source.digest] = source.part_size
    texts = {}
    for group in sorted(sizes):
        ordered = sorted(sizes[group].items())
        given = [
            parts[digest] if folder is None else (str(part_path(folder, digest)), size)
            for digest, size in ordered
        ]
        texts[group] = zlib.decompress(driver.fold(merge, given))
    return texts


def _save(out: Path, made: Batch, grouped: bool, rows: bool) -> None:
    """The snapshots and the table of sources as files.

    Rows of other runs' sources go, and statistics of sources that were not read whole.
    """
    whole = {s.digest for status in made.statuses for s in status.sources if s.is_whole}
    for status in made.statuses:
        for source in status.sources:
            if source.readings and source.digest not in whole:
                part_path(out, source.digest).unlink(missing_ok=True)
    if grouped:
        (out / "snapshots").mkdir(exist_ok=True)
    for name, text in _result_files(made, grouped).items():
        write_whole(out / name, text)
    if not rows:
        return
    with replacing(out / "sources.parquet") as file:
        write_parquet(made.files, file)
    used = {f"{source.digest}.parquet" for status in made.statuses for source in status.sources}
    for path in (out / "readings").glob("*.parquet"):
        if path.name not in used:
            path.unlink()


def _result_files(made: Batch, grouped: bool) -> dict[str, bytes]:
    """Name and bytes of every file of statistics."""
    files, names = {}, []
    if not grouped:
        for text in made.texts.values():
            files["snapshot.json"] = text
        return files
    for number, (group, text) in enumerate(made.texts.items()):
        name = _file_name(group, number)
        names.append(f"{name}\t{group}\n")
        files[f"snapshots/{name}"] = text
    files["snapshots/groups.tsv"] = "".join(names).encode("utf-8", "replace")
    return files


def _upload(url: str, files: Mapping[str, bytes]) -> None:
    """Files below a URL; an object is there whole or not at all."""
    place, path = need("fsspec", "remote").url_to_fs(url)
    for name, data in files.items():
        place.pipe_file(f"{path.rstrip('/')}/{name}", data)


def _file_name(group: str, number: int) -> str:
    """A file name for a group: readable where that is safe, and never twice the same."""
    readable = re.sub(r"[^A-Za-z0-9.+-]+", "-", group).strip("-.")[-60:]
    return f"{number:04d}-{readable}.json" if readable else f"{number:04d}.json"
