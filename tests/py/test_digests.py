"""Digests on demand: the right one, only where it is used, and never one of other bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import tarfile
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.sources.digest import Digest, Firsts, comparable

LOG = b"\n".join(b"<RT_INSTR:t\t0\t%d\t%d\t50\t60/>" % (i % 4, 1000 + i) for i in range(40)) + b"\n"


SHA256 = hashlib.sha256


def sha(data: bytes) -> str:
    return SHA256(data).hexdigest()


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of every hash that is worked out for a source."""
    sizes: list[int] = []
    real = hashlib.sha256

    class Counting:
        def __init__(self, data: bytes = b"") -> None:
            self.state = real(data)
            self.size = len(data)

        def update(self, data: bytes) -> None:
            self.size += len(data)
            self.state.update(data)

        def hexdigest(self) -> str:
            sizes.append(self.size)
            return self.state.hexdigest()

    monkeypatch.setattr("hashlib.sha256", Counting)
    return sizes


def test_reading_and_comparing_hash_nothing(tmp_path: Path, hashed: list[int]) -> None:
    (tmp_path / "a.log").write_bytes(LOG)
    (tmp_path / "b.log").write_bytes(LOG.replace(b"60/", b"160/"))
    old, new = tg.read(tmp_path / "a.log"), tg.read(tmp_path / "b.log")
    tg.compare(old, new)
    tg.compare(str(tmp_path / "a.log"), str(tmp_path / "b.log"))
    tg.gate(old, new).to_md()
    tg.summarize(old)
    repr(old)
    assert hashed == []
    assert old.infos[0].digest == sha(LOG)
    assert hashed == [len(LOG)]
    assert old.sources["digest"].tolist() == [sha(LOG)]
    assert hashed == [len(LOG)]


def test_of_several_only_those_of_equal_size_are_hashed(tmp_path: Path, hashed: list[int]) -> None:
    texts = {"a": LOG, "b": LOG + b"\n", "c": LOG, "d": LOG[:-1] + b"x", "e": LOG + b"\n\n"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    data = tg.read(tmp_path)
    assert sorted(hashed) == [len(LOG)] * 3
    assert [info.state for info in data.infos] == ["read", "read", "duplicate of 0", "read", "read"]
    assert [info.digest for info in data.infos] == [sha(text) for text in texts.values()]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("early", [False, True])
def test_the_digest_is_of_the_decompressed_bytes(tmp_path: Path, pack, early: bool) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(pack(LOG))
    data = tg.read(path, digest=early)
    if early:
        path.unlink()
    assert data.infos[0].digest == sha(LOG)


def test_what_cannot_be_read_again_has_its_digest(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        info = tarfile.TarInfo("a.log")
        info.size = len(LOG)
        archive.addfile(info, io.BytesIO(LOG))
    for source in (LOG, io.BytesIO(LOG), str(tmp_path / "a.tar")):
        assert tg.read(source).infos[0].digest == sha(LOG)


@pytest.mark.parametrize("change", ["rewritten", "longer", "replaced", "gone", "cut"])
def test_a_file_that_is_another_one_by_then_has_no_digest(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    data = tg.read(path)
    status = path.stat()
    if change == "rewritten":  # the same size
        path.write_bytes(LOG.replace(b"50", b"51"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif change == "longer":
        path.open("ab").write(b"more\n")
    elif change == "replaced":  # by one that looks alike
        (tmp_path / "b.log").write_bytes(LOG.replace(b"50", b"51"))
        os.utime(tmp_path / "b.log", ns=(status.st_atime_ns, status.st_mtime_ns))
        (tmp_path / "b.log").replace(path)
    elif change == "gone":
        path.unlink()
    else:
        os.truncate(path, 10)
    with pytest.raises(tg.NotEnoughData, match=r"by digest: .*a\.log"):
        tg.snapshot(data)
    assert data.infos[0].digest == "-"
    assert tg.compare(data, data).rows["verdict"].tolist()  # what was read is still there


def test_a_snapshot_of_a_path_does_not_read_it_again(tmp_path: Path, hashed: list[int]) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    assert tg.snapshot(str(path)).sources[0]["digest"] == sha(LOG)
    assert hashed == [len(LOG)]


def test_a_log_and_its_snapshot_are_one_source(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    tg.snapshot(str(path)).save(tmp_path / "a.json")
    both = tg.compare(str(path), str(tmp_path / "a.json"))
    assert "a source stands on both sides" in both.notes
    (tmp_path / "b.log").write_bytes(LOG)
    copies = tg.compare(str(path), str(tmp_path / "b.log"))
    assert "a source stands on both sides" in copies.notes
    pooled = tg.compare(str(path), [str(path), str(tmp_path / "a.json")])
    assert pooled.units == (1, 1)


def test_of_many_of_one_size_each_is_asked_once() -> None:
    asked: list[int] = []

    def late(n: int) -> Digest:
        return Digest(7, lambda: asked.append(n) or str(n % 90))

    many = [late(n) for n in range(100)]
    firsts = Firsts()
    assert [firsts.of(one, n) for n, one in enumerate(many)] == [n % 90 for n in range(100)]
    assert asked == list(range(100))
    keys = comparable([*many, Digest(8, lambda: 1 / 0)])
    assert len({*keys}) == 91  # the one of its own size was not asked
    lost = [Digest(7, Path("/nowhere/at/all").read_text) for _ in range(2)]
    assert [firsts.of(one, 200 + n) for n, one in enumerate(lost)] == [200, 201]
    assert len({*comparable([*lost, "-", many[1]])}) == 4


def test_digests_are_equal_by_size_then_by_hash_and_unknown_ones_are_not() -> None:
    asked: list[str] = []

    def late(text: str) -> Digest:
        return Digest(len(text), lambda: asked.append(text) or text)

    a, b, c = late("abc"), late("abd"), late("abcd")
    assert a != c
    assert c not in {a}
    assert asked == []
    assert a != b
    assert a == late("abc")
    assert a != "abc"

    def lost() -> str:
        raise OSError("gone")

    assert Digest(3, lost) != Digest(3, lost)
    assert str(Digest(3, lost)) == "-"
    assert pickle.loads(pickle.dumps(late("xyz"))) == late("xyz")
    assert str(Digest(3, "ab").of_release("v2.9")) == "ab@v2.9"
