"""Compressed input: every form, several members, damage, limits, the thread that works ahead."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import threading
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickgauge.errors import LimitError
from tickgauge.limits import Limits
from tickgauge.sources.decompress import Unpacked

zstd = pytest.importorskip("backports.zstd")

FORMS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": zstd.compress,
}
RNG = random.Random(8)
TEXT = b"".join(b"line %d: %x\n" % (i, RNG.getrandbits(64)) for i in range(40_000))  # 1.1 MB


def unpack(data: bytes, limits: Limits | None = None) -> tuple[bytes, Unpacked]:
    unpacked = Unpacked(io.BytesIO(data), "log", limits or Limits())
    return b"".join(unpacked), unpacked


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [0, 1, 100, 1 << 18, (1 << 18) + 1, len(TEXT)])
def test_forms_are_told_by_their_bytes(form: str, size: int) -> None:
    plain, unpacked = unpack(FORMS[form](TEXT[:size]))
    assert plain == TEXT[:size]
    assert unpacked.layers == (form,)
    assert unpacked.damage is None


@pytest.mark.parametrize("data", [b"", b"\x1f", b"BZ", b"B", b"plain\n", b"BZhello", b"\0" * 600])
def test_plain_bytes_stay_as_they_are(data: bytes) -> None:
    plain, unpacked = unpack(data)
    assert (plain, unpacked.layers, unpacked.damage) == (data, (), None)


@pytest.mark.parametrize("form", FORMS)
def test_members_behind_each_other_are_one_text(form: str) -> None:
    pack = FORMS[form]
    parts = [TEXT[:500_000], b"", TEXT[500_000:500_001], TEXT[500_001:]]
    plain, unpacked = unpack(b"".join(pack(part) for part in parts))
    assert plain == TEXT
    assert unpacked.damage is None


@pytest.mark.parametrize("form", ["gz", "bz2", "xz"])
def test_padding_of_a_tape_is_no_damage(form: str) -> None:
    packed = FORMS[form](b"one\n") + b"\0" * 512 + FORMS[form](b"two\n") + b"\0" * 5120
    plain, unpacked = unpack(packed)
    assert plain == b"one\ntwo\n"
    assert unpacked.damage is None


@pytest.mark.parametrize("form", FORMS)
def test_compressed_twice(form: str) -> None:
    plain, unpacked = unpack(gzip.compress(FORMS[form](TEXT)))
    assert plain == TEXT
    assert unpacked.layers == ("gz", form)


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_tail_is_told_and_the_rest_kept(form: str) -> None:
    packed = FORMS[form](TEXT)
    plain, unpacked = unpack(packed[: len(packed) * 3 // 4])
    assert TEXT.startswith(plain)
    if form == "gz":  # the others work in blocks
        assert len(plain) > len(TEXT) * 0.7
    assert unpacked.damage is not None
    assert form in str(unpacked.damage)
    assert unpacked.damage.path == "log"


def test_a_cut_second_member_keeps_the_first() -> None:
    packed = gzip.compress(TEXT) + gzip.compress(b"more\n" * 100)[:-9]
    plain, unpacked = unpack(packed)
    assert plain.startswith(TEXT)
    assert unpacked.damage is not None


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 400))
def test_a_cut_anywhere_gives_what_zlib_gives(cut: int) -> None:
    packed = gzip.compress(TEXT[:1000], mtime=0)
    cut = min(cut, len(packed) - 1)
    plain, unpacked = unpack(packed[:cut])
    if cut >= 2:
        assert plain == zlib.decompressobj(31).decompress(packed[:cut])
        assert unpacked.damage is not None


@settings(max_examples=60, deadline=None)
@given(at=st.integers(20, 3000), bit=st.integers(0, 7))
def test_a_damaged_byte_costs_only_what_is_behind_it(at: int, bit: int) -> None:
    """zlib fed byte by byte gives all it can before the damage; so does this."""
    packed = bytearray(gzip.compress(TEXT[:10_000], mtime=0))
    packed[at] ^= 1 << bit
    state, kept = zlib.decompressobj(31), b""
    try:
        for byte in packed:
            kept += state.decompress(bytes([byte]))
    except zlib.error:
        pass
    plain, unpacked = unpack(bytes(packed))
    assert plain == kept
    assert unpacked.damage is not None


def test_what_follows_and_is_no_member_is_told() -> None:
    plain, unpacked = unpack(gzip.compress(b"log\n") + b"something else")
    assert plain == b"log\n"
    assert "no further member" in str(unpacked.damage)


def test_a_bomb_is_refused() -> None:
    bomb = bz2.compress(bytes(80_000_000))  # 150 bytes
    with pytest.raises(LimitError, match="times its size"):
        unpack(bomb)
    with pytest.raises(LimitError, match="more than 1000 bytes"):
        unpack(gzip.compress(bytes(10_000)), Limits(size=1000))
    nest = b"log"
    for _ in range(6):
        nest = gzip.compress(nest)
    with pytest.raises(LimitError, match="compressions in each other"):
        unpack(nest)


def test_the_most_that_deflate_can_do_is_no_bomb() -> None:
    zeros = bytes(100_000_000)
    plain, unpacked = unpack(gzip.compress(zeros))
    assert plain == zeros
    assert unpacked.damage is None


def test_an_error_of_the_file_reaches_the_reader() -> None:
    packed = zlib.compress(RNG.randbytes(3_000_000), wbits=31)

    class Broken(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 1_500_000:
                raise OSError(5, "Input/output error")
            return super().read1(size)

    with pytest.raises(OSError, match="Input/output error"):
        b"".join(Unpacked(Broken(packed)))


def test_closing_early_ends_the_thread() -> None:
    unpacked = Unpacked(io.BytesIO(gzip.compress(RNG.randbytes(20_000_000), compresslevel=1)))
    pieces = iter(unpacked)
    for _ in range(5):
        next(pieces)
    assert any(thread.name == "unpack" for thread in threading.enumerate())
    unpacked.close()
    assert not any(thread.name == "unpack" for thread in threading.enumerate())


@pytest.mark.parametrize("seed", range(40))
def test_the_faster_library_gives_the_same_bytes_and_finds_the_same_damage(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    zlib_ng = pytest.importorskip("zlib_ng.zlib_ng")
    rng = random.Random(seed)
    size = rng.choice([0, 1, 5000, len(TEXT)])
    packed = bytearray(gzip.compress(TEXT[:size], rng.randrange(1, 10), mtime=0))
    packed += rng.choice([b"", b"\0\0", b"rubbish", gzip.compress(b"more", mtime=0)])
    for _ in range(rng.randrange(3)):
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    data = bytes(packed[: rng.choice([len(packed), rng.randrange(2, len(packed))])])
    found = []
    for library in (zlib, zlib_ng):
        monkeypatch.setattr("tickgauge.sources.decompress.inflating", library)
        plain, unpacked = unpack(data)
        damage = unpacked.damage
        found.append((plain, damage and (damage.message, damage.offset)))
    assert found[0] == found[1]
