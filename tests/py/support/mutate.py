"""Bytes made wrong on purpose: seeded, so that a find can be had again."""

from __future__ import annotations

import random

#: What parsers stumble over, put where it does not belong.
NASTY = [
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\x1b[31m", b"-", b"-1", b"1e999999",
    b"NaN", b"Infinity", b"null", b"true", b"[]", b"{}", b'"', b"'", b",", b";", b"\t", b"=",
    b"0", b"99999999999999999999", b"9" * 5000, b"18446744073709551616", b"0x", b"1.5", b"1e5",
    "\u0660\u00b2\u00b5".encode(), b"\xed\xa0\x80", b"[" * 3000, b'{"a":' * 3000, b"A" * 200_000,
    b"../../x", b"+---+\n| a |\n+---+\n", b".. include:: /etc/passwd\n",
]  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    """`data` with one to four things wrong: bits, numbers, cuts, doubled, moved, foreign parts."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        size = len(out)
        at = rng.randrange(size + 1)
        end = min(size, at + int(2 ** rng.uniform(0, 9)))
        kind = rng.randrange(8)
        if kind == 0 and size:
            out[min(at, size - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at:at] = rng.choice(NASTY)
        elif kind == 2:
            del out[at:end]
        elif kind == 3:
            out[at:at] = out[at:end] * rng.randint(1, 3)
        elif kind == 4:
            out[at:end] = rng.choice(NASTY)
        elif kind == 5:
            del out[at:]
        elif kind == 6:  # a number becomes another one
            while at < len(out) and not 48 <= out[at] <= 57:
                at += 1
            end = at
            while end < len(out) and 48 <= out[end] <= 57:
                end += 1
            out[at:end] = rng.choice([b"0", b"-1", b"1.5", b"9" * 20, b"9" * 5000, b"x", b'"7"'])
        else:
            out[at:end] = rng.randbytes(end - at)
    return bytes(out)
