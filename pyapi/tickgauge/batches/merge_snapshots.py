"""Snapshots merged as text: a line a source and a key, so that nothing has to be parsed.

A snapshot of many sources is large and merging changes none of its numbers; taking the lines apart
at the few places that matter is some ten times as fast as JSON. The result is the
`Snapshot.merge` gives, byte by byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ..comparison.side import Key, sorting

__all__ = ["merge_texts"]

_SOURCES, _KEYS, _END = '\n"sources":[\n', '\n],\n"keys":[\n', "\n]}\n"
_UNITS = ',"units":['  # the last member of a key: names are sorted, and quotes in text are escaped
_SOURCE = re.compile(r'"source":"([^"]*)"')


def _by_source(units: str, single: str | None) -> Iterator[tuple[str, str]]:
    """The units of a key, source by source; they are sorted by source, boot and run.

    `single` is the digest of the only source, if there is one.
    """
    if single is not None:
        yield single, units
        return
    begin = end = 0
    current = None
    for match in _SOURCE.finditer(units):
        if match[1] != current:
            if current is not None:
                cut = units.rindex("},{", end, match.start())
                yield current, units[begin:cut]
                begin = cut + 3
            current = match[1]
        end = match.end()
    if current is None:
        raise ValueError("a key without units")
    yield current, units[begin:]


def _taken_apart(text: str, sources: dict[str, str], keys: dict[str, dict[str, str]]) -> str:
    """Add the lines of a snapshot to those of others; the text before its sources is returned.

    Raises
    ------
    ValueError
        It does not look like a snapshot of this version.
    """
    head, _, rest = text.partition(_SOURCES)
    source_lines, found, key_lines = rest.partition(_KEYS)
    if not found or not key_lines.endswith(_END):
        raise ValueError("not a snapshot as this version writes it")
    own = {json.loads(line)["digest"]: line for line in filter(None, source_lines.split(",\n"))}
    sources |= own
    single = next(iter(own)) if len(own) == 1 else None
    for line in filter(None, key_lines[: -len(_END)].split(",\n")):
        key, found, units = line.partition(_UNITS)
        if not found or not units.endswith("}]}"):
            raise ValueError("a key without units")
        keys.setdefault(key, {}).update(_by_source(units[1:-3], single))
    return head


def merge_texts(texts: Sequence[bytes]) -> bytes:
    """Several snapshots, as `Snapshot.to_bytes` writes them, as one.

    Parameters
    ----------
    texts : sequence of bytes
        At least one.

    Returns
    -------
    bytes
        The same whatever the order and grouping.

    Raises
    ------
    ValueError
        One is no snapshot, or they are of several versions.
    """
    sources: dict[str, str] = {}
    keys: dict[str, dict[str, str]] = {}
    heads = {_taken_apart(text.decode("ascii"), sources, keys) for text in texts}
    if len(heads) != 1:
        raise ValueError("snapshots of several versions")
    order = sorted(keys, key=lambda key: sorting(Key(**json.loads(key + "}"))))
    lines = []
    for key in order:
        units = "},{".join(keys[key][digest] for digest in sorted(keys[key]))
        lines.append(f"{key}{_UNITS}{{{units}}}]}}")
    ordered = ",\n".join(sources[digest] for digest in sorted(sources))
    joined = ",\n".join(lines)
    return f"{heads.pop()}{_SOURCES}{ordered}{_KEYS}{joined}{_END}".encode("ascii")
