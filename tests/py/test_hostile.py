"""Files made wrong at random: a reader answers, or raises an Error or an OSError, nothing else.

Every case is seeded and can be had again by its number. `TICKGAUGE_HOSTILE=n` tries n of each
instead of the few that `make test` has time for.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

import tickgauge as tg
from support.mutate import mutated
from support.sides import JUNO, boots, release
from tickgauge.boards.platforms import load as load_platforms
from tickgauge.rules.rule import load_rules

ROUNDS = int(os.environ.get("TICKGAUGE_HOSTILE", "40"))
DATA = Path(__file__).parent.parent / "data"
LOG = b"NOTICE:  BL1: v2.12\n" + b"fft 8 points: 1.5 usec\n<RT_INSTR:psci_suspend:42>\n" * 20

TS = b"timestamps:\n" + b"".join(
    b"    - core: 0\n      counter: %d\n      address: 0x%x\n      component: '%s'\n"
    % (64 * i, 4096 + i, [b"libteec", b"kmodule", b"core"][min(i % 6, 5 - i % 6)])
    for i in range(60)
)
TSV = b"".join(b"0\t%d\t0x%x\tkmodule\n" % (64 * i, 4096 + i) for i in range(30))
BOARDS = b"""
[board]
title = "A board"
names = ["board", "b2"]
clock_hz = 50000000
clusters = [{cores = 2, name = "x"}, {cores = 4}]
linear = ["1,0", "0,0"]
[[board.labels]]
printed = ["0,0", "0,1"]
cpus = ["0,1", "0,0"]
source = "console"
"""
CSV = b"Cluster,Core,Powerdown,Wakeup,Cache Flush\n0,0,24220,9020,3820\n0,1,23620,9120,3860\n"


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("a.log", "b" * 150 + ".log", "\u00e9.log"):
            info = tarfile.TarInfo(name)
            info.size = len(LOG)
            archive.addfile(info, io.BytesIO(LOG))
    return out.getvalue()


def _zip(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return out.getvalue()


ILA = (
    b"Sample in Buffer,Sample in Window,TRIGGER,a/axi_arvalid,a/axi_arready,a/axi_araddr[31:0]\n"
    b"Radix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,HEX\n"
    + b"".join(b"%d,%d,0,%d,%d,%08x\n" % (i, i, i % 2, i % 3 == 0, 64 * i) for i in range(40))
)
DMP = b"GTKWave 4\n"

SEEDS = {
    "a.log": lambda: LOG,
    "snapshot.json": lambda: tg.snapshot(release("juno", *JUNO[4]), boots([1, 2])).to_bytes(),
    "counts.json": lambda: tg.snapshot(boots([[1, 1, 2], [3, 3]], digest="d")).to_bytes(),
    "a.ts": lambda: TS,
    "b.ts": lambda: TSV,
    "psci-performance-n1sdp.rst": lambda: (
        DATA / "tfa" / "psci-performance-n1sdp.rst"
    ).read_bytes(),
    "long.csv": lambda: b"\n".join(
        gzip.decompress((DATA / "tfa" / "published.csv.gz").read_bytes()).split(b"\n")[:40]
    ),
    "psci_powerdown_serial.csv": lambda: CSV,
    "a.tar": _tar,
    "a.tar.gz": lambda: gzip.compress(_tar()),
    "a.log.gz": lambda: gzip.compress(LOG),
    "a.zip": lambda: _zip(a__log=LOG, b__log=LOG),
    "ila.csv": lambda: ILA,
    "a.ila": lambda: _zip(waveform__csv=ILA, waveform__dmp=DMP),
}


def _rounds(name: str) -> list[random.Random]:
    return [random.Random(f"{name} {i}") for i in range(ROUNDS)]


def _use(found: object) -> None:
    """What a user would do next."""
    repr(found)
    if isinstance(found, tg.Snapshot):
        found.to_bytes()
        tg.compare(found, found)
        tg.trend(found, found)
    elif isinstance(found, tg.Capture):
        assert len(found.signals) >= len(found.interfaces)
        found.transactions()
    else:
        assert len(found.readings.ns) == len(found.readings)
        found._repr_html_()
        tg.compare(found, found)


@pytest.mark.parametrize("name", SEEDS)
def test_a_source_made_wrong_gives_an_answer_or_an_error(name, tmp_path):
    seed = SEEDS[name]()
    path = tmp_path / name
    for number, rng in enumerate(_rounds(name)):
        path.write_bytes(mutated(seed, rng))
        try:
            _use(tg.read(path))
        except (tg.Error, OSError):
            pass
        except Exception as error:
            raise AssertionError(f"round {number} of {name}: {error!r}") from error


def test_platforms_made_wrong(tmp_path):
    path = tmp_path / "boards.toml"
    for number, rng in enumerate(_rounds("platforms")):
        path.write_bytes(mutated(BOARDS, rng))
        try:
            tg.read(LOG, platform=str(path))
            for board in load_platforms(path).values():
                assert board.for_core()[0] == board.name
                board.topology()
        except (tg.Error, OSError):
            pass
        except Exception as error:
            raise AssertionError(f"round {number}: {error!r}") from error


def test_rule_files_made_wrong(tmp_path):
    seed = (DATA / "rules" / "fft.toml").read_bytes()
    path = tmp_path / "rules.toml"
    for number, rng in enumerate(_rounds("rules")):
        path.write_bytes(mutated(seed, rng))
        try:
            load_rules(path)
        except (tg.Error, OSError):
            pass
        except Exception as error:
            raise AssertionError(f"round {number}: {error!r}") from error


def test_finds_of_earlier_rounds():
    """What came out of these was another exception, or came out after hours."""
    far = TS.replace(b"counter: 0\n", b"counter: 9999999999999999999\n", 1)
    wide = TS.replace(b"counter: 3776\n", b"counter: 9999999999999999999\n", 1)
    for data in (far, wide, TSV.replace(b"0\t64\t", b"0\t" + b"9" * 5000 + b"\t")):
        with contextlib.suppress(tg.Error):
            _use(tg.read(data))
    many = b"".join(b"%d\t%d\t0x1\tkmodule\n" % (i, i) for i in range(200_000))
    assert len(tg.read(many).infos) == 1  # a ring a core: not stamps times cores


def test_cpus_of_a_board_are_bounded(tmp_path):
    path = tmp_path / "boards.toml"
    path.write_text("[b]\nclusters = [{cores = 1000000000000}]\n")
    with pytest.raises(tg.InputError, match="up to 4096"):
        load_platforms(path)
    path.write_text("[b]\nclusters = [" + "{cores = 4096}," * 2 + "]\n")
    with pytest.raises(tg.InputError, match="more than 4096 cpus"):
        load_platforms(path)


def test_a_clock_of_any_size_is_refused():
    with pytest.raises(tg.InputError, match="is not a whole number"):
        tg.read(LOG, clock="1e999999999")
