"""Archives of logs: tar and zip from anywhere, cut, nested, too large; URLs, globs and folders."""

from __future__ import annotations

import bz2
import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tickgauge as tg
from tickgauge.errors import InputError, LimitError
from tickgauge.limits import Limits
from tickgauge.sources.expand import expand, nameable
from tickgauge.sources.opening import opened
from tickgauge.sources.source import Source

LOGS = {"boot/1.log": b"one\n" * 1000, "boot/2.log": b"", "3.log": b"three\n" * 100_000}


def tar(logs: dict[str, bytes] = LOGS) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        folder = tarfile.TarInfo("boot")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        link = tarfile.TarInfo("latest")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for name, data in logs.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(logs: dict[str, bytes] = LOGS) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in logs.items():
            archive.writestr(name, data)
    return out.getvalue()


def names_of(what: Any) -> list[str]:
    return [source.name for source in nameable(what)]


def contents(what: object, limits: Limits | None = None) -> dict[str, bytes | Exception]:
    """What every stream gives, by name: its bytes, or those and then an error as `NAME!`."""
    found: dict[str, bytes | Exception] = {}
    for stream in opened(expand(what), limits or Limits()):
        data = b""
        try:
            for piece in stream:
                data += piece
        except (InputError, LimitError) as error:
            found[f"{stream.source.name}!"] = error
        if data or f"{stream.source.name}!" not in found:
            found[stream.source.name] = data
    return found


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("from_file", [True, False])
def test_members(
    make: Callable[[], bytes], pack: Callable[[bytes], bytes], from_file: bool, tmp_path: Path
) -> None:
    data = pack(make())
    if from_file:
        path = tmp_path / "logs"
        path.write_bytes(data)
        assert contents(path) == {f"{path}/{name}": log for name, log in LOGS.items()}
    else:
        found = contents(data)
        assert list(found.values()) == [LOGS[n] for n in (sorted(LOGS) if make is zipped else LOGS)]


def test_members_are_unpacked_and_looked_into() -> None:
    inner = tar({"x.gz": gzip.compress(b"deep\n"), "y": b"flat\n"})
    found = contents(tar({"a.tar.gz": gzip.compress(inner), "b.zip": zipped({"z": b"zip\n"})}))
    assert list(found.values()) == [b"deep\n", b"flat\n", b"zip\n"]
    assert [name.split("/", 1)[1] for name in found] == ["a.tar.gz/x.gz", "a.tar.gz/y", "b.zip/z"]


def test_text_that_begins_like_an_archive_is_text() -> None:
    for data in (b"PK\x05 text\n", b"x" * 257 + b"ustar" + b"x" * 300, b"ustar"):
        assert list(contents(data).values()) == [data]


@pytest.mark.parametrize("cut", [0.5, 0.9])
def test_a_cut_tar_keeps_what_it_has_and_tells(cut: float) -> None:
    data = tar()
    found = list(contents(data[: int(len(data) * cut)]).items())
    assert found[0][1] == LOGS["boot/1.log"]
    kept = dict(found)
    third = next(value for name, value in found if name.endswith("3.log"))
    assert isinstance(third, bytes)
    assert LOGS["3.log"].startswith(third)
    assert any(isinstance(value, InputError) for value in kept.values())


def test_a_tar_without_its_end_is_told() -> None:
    whole = tar({"a": b"a" * 512})
    end = whole.rstrip(b"\0")
    found = contents(end + b"\0" * (-len(end) % 512))
    first, second = found.values()
    assert first == b"a" * 512
    assert "no end mark" in str(second)


def test_a_cut_gzip_around_a_tar_is_told() -> None:
    packed = gzip.compress(tar({"a": b"a" * 5000, "b": bytes(range(256)) * 1000}))
    found = list(contents(packed[: len(packed) - 700]).values())
    assert found[0] == b"a" * 5000
    assert any(isinstance(value, InputError) for value in found)


@pytest.mark.parametrize("size", [30, 1000])
def test_a_damaged_zip_is_told(size: int) -> None:
    (error,) = contents(zipped()[:size]).values()
    assert isinstance(error, InputError)
    assert "damaged or cut" in str(error)


def test_a_damaged_member_costs_only_itself() -> None:
    data = bytearray(zipped())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        at = archive.getinfo("boot/1.log").header_offset
    data[at + 50] ^= 0xFF
    found = contents(bytes(data))
    assert isinstance(next(v for n, v in found.items() if n.endswith("1.log!")), InputError)
    assert next(v for n, v in found.items() if n.endswith("3.log")) == LOGS["3.log"]


def test_limits() -> None:
    many = {f"{i}": b"x\n" for i in range(20)}
    for data in (tar(many), zipped(many)):
        assert any(isinstance(v, LimitError) for v in contents(data, Limits(entries=10)).values())
    nest = tar({"log": b"text\n"})
    for _ in range(5):
        nest = tar({"nest": nest})
    assert any(isinstance(v, LimitError) for v in contents(nest).values())
    bomb = zipped({"zeros": bytes(80_000_000)})
    (error,) = [v for v in contents(bomb, Limits(ratio=100)).values() if isinstance(v, Exception)]
    assert isinstance(error, LimitError)


def test_limits_can_be_set_by_the_user(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"CounterTimerFrequency: 0x3b9aca0\n" * 100_000))
    small = tg.Limits(size=1_000_000)
    data = tg.read(path, limits=small)
    assert data.sources["state"].tolist() == ["limit"]
    assert 0 < len(data.records["optee.frequency"]) < 100_000  # what was read is kept
    line = [sys.executable, "-m", "tickgauge", "show", str(path)]
    done = subprocess.run([*line, "--limit", "size=1M"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "unfolds into more than 1048576 bytes" in done.stderr
    for wrong in ("size", "size=x", "more=1"):
        done = subprocess.run([*line, "--limit", wrong], capture_output=True, text=True)
        assert done.returncode == 2
        assert "--limit: n" in done.stderr  # not of the form, or no such name


def test_a_member_can_only_be_read_with_its_archive() -> None:
    (stream, *_) = list(opened(expand(tar({"a": b"text\n"}))))
    with pytest.raises(InputError, match="while its archive is"):
        stream.source.open()


def test_folders_globs_and_names(tmp_path: Path) -> None:
    for name in ("b/2.log", "a/1.log", "b/.hidden", ".git/x"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    names = [str(tmp_path / "a/1.log"), str(tmp_path / "b/2.log")]
    assert names_of(tmp_path) == names
    assert names_of(f"{tmp_path}/**/*.log") == names
    assert names_of([Path(names[1]), names[0]]) == names[::-1]
    assert [Source(n, lambda: None).name for n in names] == names
    with pytest.raises(FileNotFoundError, match="no file matches"):
        expand(f"{tmp_path}/*.txt")
    with pytest.raises(InputError, match="no name"):
        nameable(b"text")


def test_urls() -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for name, data in LOGS.items():
        files.pipe(f"/archives-test/{name}", gzip.compress(data))
    assert contents("memory://archives-test/3.log") == {
        "memory://archives-test/3.log": LOGS["3.log"]
    }
    names = ["memory:///archives-test/boot/1.log", "memory:///archives-test/boot/2.log"]
    assert names_of("memory://archives-test/boot/*") == names
    assert list(contents("memory://archives-test/boot/*").values()) == [LOGS["boot/1.log"], b""]
    with pytest.raises(FileNotFoundError):
        expand("memory://archives-test/none/*")


def _header(name: bytes, size: int, kind: bytes, rest: bytes = b"") -> bytes:
    """A tar header by hand: what no archiver writes."""
    out = bytearray(512)
    out[: len(name)] = name
    out[100:108] = b"0000644\0"
    out[124:136] = b"\x80" + size.to_bytes(11, "big")
    out[148:156] = b" " * 8
    out[156:157] = kind
    out[257:265] = b"ustar  \0"
    out[386 : 386 + len(rest)] = rest
    out[148:156] = b"%06o\0 " % sum(out)
    return bytes(out)


@pytest.mark.parametrize("kind", [b"L", b"K", b"x", b"g"])
def test_a_long_name_of_a_terabyte_is_refused(kind: bytes) -> None:
    whole = tar({"a.log": b"one\n"}).rstrip(b"\0")
    whole += bytes(-len(whole) % 512)
    found = list(contents(whole + _header(b"long", 1 << 40, kind) + bytes(10240)).values())
    assert found[0] == b"one\n"
    assert isinstance(found[1], LimitError)
    assert "a header of more than 1048576 bytes" in str(found[1])


def test_a_sparse_member_that_is_all_holes_is_refused() -> None:
    """Half a kilobyte that stands for a terabyte of zeros."""
    size = b"\x80" + (1 << 40).to_bytes(11, "big")
    nothing_stored = size + b"\x80" + bytes(11)
    rest = nothing_stored + bytes(97 - len(nothing_stored)) + size
    data = _header(b"holes.log", 0, b"S", rest) + bytes(10240)
    found = list(contents(data).values())
    assert isinstance(found[0], LimitError)
    assert "unfolds to more than 5000 times" in str(found[0])


# ---- an archive is bounded as a whole ----------------------------------------------------------


def zip_of(members: dict[str, bytes], level: int = 9) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def read_of(data: bytes, **limits: int) -> tuple[int, list[str]]:
    """Decompressed bytes that were had of an archive, and the refusals."""
    size, refused = 0, []
    bounds = Limits(**limits)
    for stream in opened(expand(data), bounds):
        try:
            for piece in stream:
                size += len(piece)
        except LimitError as error:
            refused.append(error.message)
        except InputError as error:
            assert "verlap" in str(error)  # zipfile of later Pythons
    return size, refused


@pytest.mark.parametrize("kind", ["zip", "tar", "gz in tar"])
def test_the_bytes_of_all_members_count(kind: str) -> None:
    """20 members of 8 MiB, none of which is too large by itself, against 40 MiB."""
    part = bytes(8 << 20)
    names = [f"{i}.log" for i in range(20)]
    if kind == "zip":
        data = zip_of(dict.fromkeys(names, part))
    else:
        packed = part if kind == "tar" else gzip.compress(part, 1, mtime=0)
        data = tar(dict.fromkeys(names, packed))
    size, refused = read_of(data, size=40 << 20)
    assert len(refused) == 1 and "--limit size=N" in refused[0]
    assert size <= 40 << 20


def test_the_ratio_holds_for_all_members() -> None:
    """Zeros pack 1000 to 1 in each member; of 150 MiB no more than 100 times the archive."""
    data = zip_of({f"{i}.log": bytes(10 << 20) for i in range(15)})
    size, refused = read_of(data, ratio=100)
    assert len(refused) == 1 and "--limit ratio=N" in refused[0]
    assert size <= (64 << 20) + (1 << 20)


def test_entries_that_overlap_count_each_time() -> None:
    """One member of 10 MiB that stands 40 times in the directory."""
    data = zip_of({"a.log": bytes(10 << 20)})
    at = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[at:end]
    tail = bytearray(data[end:])
    tail[8:12] = (40).to_bytes(2, "little") * 2
    tail[12:16] = (40 * len(entry)).to_bytes(4, "little")
    size, refused = read_of(data[:at] + 40 * entry + bytes(tail), size=35 << 20)
    assert size <= 35 << 20
    assert all("--limit size=N" in text for text in refused)


def test_nested_archives_count_together() -> None:
    """Five archives of three members of 4 MiB in one: 60 MiB inside, 20 allowed; 15 members."""
    inner = zip_of({f"{i}.log": bytes(4 << 20) for i in range(3)}, 1)
    outer = zip_of({f"{i}.zip": inner for i in range(5)}, 1)
    size, refused = read_of(outer, size=20 << 20)
    assert size <= 20 << 20
    assert refused and "--limit size=N" in refused[0]
    size, refused = read_of(outer, entries=10)
    assert refused and "more than 10 members" in refused[0]
    assert read_of(outer) == (60 << 20, [])
