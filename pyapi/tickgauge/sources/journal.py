"""The kernel's lines out of systemd's journal and /dev/kmsg: their text behind its own stamp."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["JournalExport", "from_kmsg", "is_export", "is_kmsg", "stamped"]

#: The first field of an entry of ``journalctl -o export``.
_HEAD = re.compile(rb"\A\s*__CURSOR=[^\n]*\n(?:[^\n]*\n)*?__REALTIME_TIMESTAMP=[0-9]+\n")
#: A record of /dev/kmsg: priority, sequence, microseconds, flags; its text.
_KMSG = re.compile(rb"^[0-9]+,[0-9]+,([0-9]{1,18}),[^;\n]*;", re.MULTILINE)
#: A value that is not plain text has its length in 8 bytes before it, of at most so many bytes.
_LONGEST = 1 << 26


def stamped(text: str, entry: Mapping[str, Any]) -> str:
    """The text of an entry, behind the kernel's stamp in seconds if it is the kernel's.

    journald keeps when the kernel printed a line apart from the line.

    Parameters
    ----------
    text : str
    entry : mapping
        The fields of the entry.

    Returns
    -------
    str

    Examples
    --------
    >>> stamped("PM: suspend exit", {"_TRANSPORT": "kernel", "__MONOTONIC_TIMESTAMP": "2500000"})
    '[    2.500000] PM: suspend exit'
    """
    if entry.get("_TRANSPORT") != "kernel":
        return text
    for name in ("_SOURCE_MONOTONIC_TIMESTAMP", "__MONOTONIC_TIMESTAMP"):
        value = str(entry.get(name, ""))
        if value.isascii() and value.isdigit():
            us = int(value[:18])
            return f"[{us // 10**6:5d}.{us % 10**6:06d}] {text}"
    return text


def is_export(head: bytes) -> bool:
    """Whether a source that begins so is the output of ``journalctl -o export``."""
    return _HEAD.match(head[:4096]) is not None


def is_kmsg(head: bytes) -> bool:
    """Whether a source that begins so is a copy of /dev/kmsg."""
    lines = head[:4096].split(b"\n")[:-1]
    records = [line for line in lines if not line.startswith(b" ")]  # the others are properties
    return len(records) > 1 and all(map(_KMSG.match, records))


def from_kmsg(data: bytes) -> bytes:
    """Records of /dev/kmsg with the stamp that dmesg prints.

    Parameters
    ----------
    data : bytes
        Whole lines.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from_kmsg(b"6,339,5140900,-;NET: Registered protocol family 10\\n")
    b'[    5.140900] NET: Registered protocol family 10\\n'
    """

    def stamp(match: re.Match[bytes]) -> bytes:
        us = int(match[1])
        return b"[%5d.%06d] " % (us // 10**6, us % 10**6)

    return _KMSG.sub(stamp, data)


class JournalExport:
    """``journalctl -o export``: fields on lines, an empty line behind each entry."""

    title = "systemd's journal (export)"

    def __init__(self) -> None:
        self._rest = b""
        self._entry: dict[str, Any] = {}

    def feed(self, data: bytes) -> bytes:
        """Text of the entries that are complete."""
        return b"".join(self._fields(self._rest + data))

    def finish(self) -> bytes:
        """The last entry; a field that was cut is left out."""
        out = b"".join(self._fields(self._rest + b"\n"))
        self._rest = b""
        return out + self._end()

    def _fields(self, data: bytes) -> list[bytes]:
        out, at = [], 0
        while (end := data.find(b"\n", at)) >= 0:
            line = data[at:end]
            name, equals, value = line.partition(b"=")
            after = end + 1
            if not line:
                out.append(self._end())
            elif equals:
                self._entry[name.decode("latin-1")] = value.decode("utf-8", "replace")
            elif name.replace(b"_", b"").isalnum():
                size = int.from_bytes(data[after : after + 8], "little")
                if size <= _LONGEST:
                    if len(data) < after + 8 + size + 1:
                        break
                    value = data[after + 8 : after + 8 + size]
                    self._entry[name.decode("latin-1")] = value.decode("utf-8", "replace")
                    after += 8 + size + 1
            at = after
        self._rest = data[at:]
        return out

    def _end(self) -> bytes:
        entry, self._entry = self._entry, {}
        text = entry.get("MESSAGE")
        if text is None:
            return b""
        return (stamped(str(text), entry) + "\n").encode("utf-8", "replace")
