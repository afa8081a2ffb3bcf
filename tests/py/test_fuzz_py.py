"""The fuzzers' targets of the Python readers on their seeds, on kept finds, and on cuts of both."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ / "py"))

import seeds  # noqa: E402
import targets  # noqa: E402

import tickgauge as tg  # noqa: E402
from support.sides import PUBLISHED  # noqa: E402
from tickgauge.batches.index import Index  # noqa: E402
from tickgauge.captures.run_logs import published  # noqa: E402
from tickgauge.tfa.audit import audit_releases  # noqa: E402
from tickgauge.tfa.inputs import releases_in  # noqa: E402
from tickgauge.tfa.pages import read_published  # noqa: E402

NAMES = sorted(targets.TARGETS)


def _kept(name: str) -> list[Path]:
    return sorted((FUZZ / "corpus" / f"py_{name}").glob("*"))


KEPT = [(name, path) for name in NAMES for path in _kept(name)]


@pytest.mark.parametrize("name", NAMES)
def test_seeds_keep_every_promise(name):
    made = seeds.seeds(name)
    assert made, name
    for data in made:
        targets.run(name, data)


@pytest.mark.parametrize("name", NAMES)
def test_seeds_are_read_not_refused(name):
    """A target whose seeds are all refused would test nothing behind the first check."""
    read = 0
    for data in seeds.seeds(name):
        try:
            targets.TARGETS[name](data)
            read += 1
        except targets.ALLOWED:
            pass
    assert read >= 2, f"{read} seeds of {name} are read"


@pytest.mark.parametrize(("name", "path"), KEPT, ids=[f"{n}-{p.name}" for n, p in KEPT])
def test_finds_stay_found(name, path):
    """Each file broke a promise once; so do, if the mend was too narrow, its beginnings."""
    data = path.read_bytes()
    targets.run(name, data)
    for cut in range(1, 5):
        targets.run(name, data[: len(data) * cut // 5])


def test_every_folder_of_finds_has_a_target():
    folders = {path.name for path in (FUZZ / "corpus").glob("py_*")}
    assert folders <= {f"py_{name}" for name in NAMES}


def test_what_is_said_of_finds(tmp_path):
    log = tg.read(b"timestamps: []\n")
    with pytest.raises(tg.NotEnoughData, match="the sources have none"):
        tg.snapshot(log)
    (tmp_path / "index.sqlite").write_bytes(b"x" * 4096)
    with pytest.raises(tg.InputError, match="index of the batch is damaged"):
        Index(tmp_path / "index.sqlite", "v")
    (tmp_path / "runs.csv").write_bytes(b"sour.\r{}")
    with pytest.raises(tg.InputError, match="table of run times is damaged"):
        published(tmp_path / "runs.csv")
    (tmp_path / "page.rst").write_bytes(b".. table:: CPU_SUSPEND\n" + b"x\n" * (1 << 19))
    with pytest.raises(tg.InputError, match="more than 1048576 characters"):
        read_published(tmp_path / "page.rst")


@pytest.mark.parametrize("where", ["", "missing/index.sqlite"])
def test_an_index_that_cannot_be_opened_is_an_oserror(tmp_path, where):
    with pytest.raises(OSError, match="unable to open") as told:
        Index(tmp_path / where, "v")
    assert told.value.filename == str(tmp_path / where)


def test_an_audit_of_too_many_tables_is_refused():
    one = next(r for r in releases_in(str(PUBLISHED), "juno") if len(r) > 60)
    with pytest.raises(tg.LimitError, match="too many to audit"):
        audit_releases([one] * 256)
