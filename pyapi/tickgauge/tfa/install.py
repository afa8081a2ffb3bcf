"""The release step in a page's data folder: current becomes previous, the new tables current.

The step is whole or not at all. The new state is written beside the old one and made durable
first; then four renames exchange the folders. If the process dies between them, the next call
finds the staging folder and finishes the step.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from ..errors import InputError
from ..util.atomic_write import name_full
from ..util.folder_lock import locked

__all__ = ["install"]

STAGE = ".tickgauge-stage"
_READY = "ready"


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(folder: Path, files: Mapping[str, str], where: Path) -> None:
    """Writes the files that will stand in `where`, durable."""
    folder.mkdir()
    for name, text in files.items():
        if Path(name).name != name or name in (".", ".."):
            raise ValueError(f"{name!r} is no file name")
        try:
            with (folder / name).open("w", encoding="utf-8", newline="") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            name_full(error, where / name)
            raise
    _fsync(folder)


def _exchange(base: Path, stage: Path) -> None:
    """Renames the folders; every step is skipped where a former call did it."""
    current, previous, new = base / "current", base / "previous", stage / "new"
    if not new.exists():
        return
    if current.exists():
        if previous.exists():
            previous.rename(stage / "old")
        current.rename(previous)
    new.rename(current)
    _fsync(base)


def _undo(base: Path, stage: Path) -> None:
    """Takes back the renames of a step that cannot be finished."""
    current, previous, old = base / "current", base / "previous", stage / "old"
    if not current.exists() and previous.exists():
        previous.rename(current)
    if old.exists() and not previous.exists():
        old.rename(previous)


def _recover(base: Path, stage: Path) -> bool:
    """Finishes a step that was cut short, or clears one that had not begun. True: finished."""
    if not stage.exists():
        return False
    ready = (stage / _READY).exists()
    if ready:
        _exchange(base, stage)
    shutil.rmtree(stage)
    return ready


def install(
    base: str | os.PathLike[str],
    files: Mapping[str, str],
    wanted: Callable[[], bool] = lambda: True,
) -> list[str]:
    """Puts new tables into ``current/`` and the former ones into ``previous/``.

    One step at a time is done in a folder; a second one is refused and told who holds it.

    Parameters
    ----------
    base
        The folder that holds ``current/`` and perhaps ``previous/``.
    files
        File name to text.
    wanted
        Asked when nobody else can change the folder any more; False: nothing is done. All that it
        raises comes out.

    Returns
    -------
    list of str
        One sentence for each thing that was done; empty where it was not wanted.

    Raises
    ------
    InputError
        Where `base` has no ``current/``: it is no data folder of a page; or another process
        writes into it.
    OSError
        Where writing fails; the folder is then as it was.
    """
    where = Path(base)
    if not where.is_dir():
        raise InputError("is no folder", path=os.fspath(where))
    with locked(where):
        return _install(where, files, wanted)


def _install(where: Path, files: Mapping[str, str], wanted: Callable[[], bool]) -> list[str]:
    stage = where / STAGE
    done = []
    if stage.exists() and _recover(where, stage):
        done.append("a former step that was cut short is finished")
    if not (where / "current").is_dir():
        raise InputError(
            "no folder 'current' in it (of a new board: make an empty one)", path=os.fspath(where)
        )
    if not wanted():
        return done
    try:
        stage.mkdir()
        _write(stage / "new", files, where / "current")
        with (stage / _READY).open("w") as mark:
            os.fsync(mark.fileno())
        _fsync(stage)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    _fsync(where)
    try:
        _exchange(where, stage)
    except OSError:
        _undo(where, stage)
        shutil.rmtree(stage, ignore_errors=True)
        raise
    shutil.rmtree(stage)
    _fsync(where)
    if any((where / "previous").iterdir()):
        done.append(f"{where / 'previous'}: the tables that were current")
    done.append(f"{where / 'current'}: {len(files)} new tables")
    return done
