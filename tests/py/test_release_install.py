"""The release step in a data folder: whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from tickgauge.errors import InputError
from tickgauge.tfa import install as module
from tickgauge.tfa.install import STAGE, install

NEW = {"a.csv": '"0","0","20"\n', "b.csv": '"0","0","40"\n'}


@pytest.fixture(params=[True, False], ids=["with previous", "first time"])
def base(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    for name in ("current", "previous") if request.param else ("current",):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text(name)
    return tmp_path


def _state(base: Path) -> dict[str, str]:
    return {str(p.relative_to(base)): p.read_text() for p in sorted(base.rglob("*")) if p.is_file()}


DONE = {"current/a.csv": NEW["a.csv"], "current/b.csv": NEW["b.csv"], "previous/a.csv": "current"}


def test_step(base: Path) -> None:
    done = install(base, NEW)
    assert _state(base) == DONE
    assert not (base / STAGE).exists()
    assert any("previous" in line for line in done)


def test_no_data_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="current"):
        install(tmp_path, NEW)
    assert list(tmp_path.iterdir()) == []


def test_a_new_board_begins_with_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "current").mkdir()
    done = install(tmp_path, NEW)
    assert {k: v for k, v in _state(tmp_path).items() if k.startswith("current")} == {
        "current/a.csv": NEW["a.csv"],
        "current/b.csv": NEW["b.csv"],
    }
    assert not any("previous" in line for line in done)


@pytest.mark.parametrize("name", ["../x.csv", "sub/x.csv", ".."])
def test_names_are_no_paths(base: Path, name: str) -> None:
    before = _state(base)
    with pytest.raises(ValueError, match="file name"):
        install(base, {name: "x"})
    assert _state(base) == before and not (base / STAGE).exists()


@pytest.mark.parametrize("at", range(8))
def test_every_failing_sync_leaves_all_or_nothing(
    base: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Disk full or no permission at the n-th sync: the old state, or the whole new one."""
    before, calls = _state(base), [0]

    def failing(handle: int) -> None:
        calls[0] += 1
        if calls[0] == at + 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", failing)
    with contextlib.suppress(OSError):
        install(base, NEW)
    state = {k: v for k, v in _state(base).items() if not k.startswith(STAGE)}
    assert state in (before, DONE)


class Killed(BaseException):
    """Stands for the process dying: nothing after it runs."""


@pytest.mark.parametrize("at", range(4))
def test_killed_between_renames_is_finished_by_the_next_call(
    base: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    rename, calls = Path.rename, [0]

    def dying(self: Path, target: Path) -> Path:
        if calls[0] == at:
            raise Killed
        calls[0] += 1
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", dying)
    try:
        install(base, NEW)
        pytest.skip("the step takes fewer renames")
    except Killed:
        pass
    monkeypatch.undo()
    assert (base / STAGE).exists()
    newer = {"a.csv": "newer"}
    done = install(base, newer)
    assert "finished" in done[0]
    assert _state(base) == {
        "current/a.csv": "newer",
        "previous/a.csv": NEW["a.csv"],
        "previous/b.csv": NEW["b.csv"],
    }


@pytest.mark.parametrize("at", range(3))
def test_a_rename_that_fails_is_taken_back(
    base: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    before = _state(base)
    rename, calls = Path.rename, [0]

    def failing(self: Path, target: Path) -> Path:
        calls[0] += 1
        if calls[0] == at + 1:
            raise PermissionError(13, "denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    try:
        install(base, NEW)
    except PermissionError:
        assert _state(base) == before
    else:
        assert _state(base) == DONE


def test_a_stage_that_was_never_ready_is_cleared(base: Path) -> None:
    (base / STAGE / "new").mkdir(parents=True)
    (base / STAGE / "new" / "half.csv").write_text("hal")
    install(base, NEW)
    assert _state(base) == DONE
    shutil.rmtree(base)
