"""Seeds of the fuzzers of the Python readers: what the package writes, and small shipped files."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import sqlite3
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
sys.path.insert(0, str(ROOT / "tests" / "py"))

import tickgauge as tg  # noqa: E402
from support.sides import JUNO, boots, release  # noqa: E402
from tickgauge.batches.index import FileStatus, Index, SourceStatus  # noqa: E402
from tickgauge.comparison.side import Key  # noqa: E402

__all__ = ["seeds", "words"]

LOG = b"NOTICE:  BL1: v2.12\n<RT_INSTR:psci_suspend:42>\n" * 3


def _shipped(*names: str) -> Iterator[bytes]:
    for name in names:
        data = (DATA / name).read_bytes()
        yield gzip.decompress(data) if name.endswith(".gz") else data


def _snapshots() -> Iterator[bytes]:
    key = Key(format="optee", test="fft", metric="m", unit="us", exp10=-3, place="a", cpu=1,
              labels="n=8", clock_hz=10**8, origin="option", better="higher")  # fmt: skip
    one = tg.snapshot(boots([[1, 1, 2], [3, 3]], digest="d", platform="juno", version="v1"))
    two = tg.snapshot(boots({key: [[5], [7, 8]]}, digest="e", build="debug"))
    yield from (one.to_bytes(), one.merge(two).to_bytes(), gzip.compress(two.to_bytes()))
    text = tg.snapshot(release("juno", *JUNO[4])).to_bytes().split(b"\n")
    tail = [text[-4].rstrip(b","), *text[-2:]] if text[-1] == b"" else text[-3:]
    yield b"\n".join([*text[:8], *tail])


def _indexes() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as small:  # the fuzzer cuts at 8 KiB
            small.execute("PRAGMA page_size = 512")
            small.execute("VACUUM")
        with Index(path, "v") as index:
            yield path.read_bytes()
            index.store([FileStatus("a.log", size=1, mtime=2, sources=[SourceStatus("a.log")])])
        yield path.read_bytes()


def _rules() -> Iterator[bytes]:
    yield from _shipped("rules/fft.toml")
    for path in sorted((ROOT / "pyapi" / "tickgauge" / "rules").glob("*.toml")):
        yield path.read_bytes()
    yield (
        b'format = "own"\n[[rule]]\nname = "a"\ntemplate = "begin {n:uint}"\nend = ""\n'
        b'rows = {x = "cpu {c:uint}: {t:dec} us"}\nexponents = {t = -6}\nunit = "us"\n'
        b'value = "60*t+c"\nmetric = "m"\nbetter = "none"\nall = true\nsoft = true\ntag = "begin"\n'
    )


def _boards() -> Iterator[bytes]:
    yield (ROOT / "pyapi" / "tickgauge" / "boards" / "platforms.toml").read_bytes()
    yield (
        b'[b]\ntitle = "A board"\nnames = ["b", "b2"]\nclock_hz = 50000000\n'
        b'clusters = [{cores = 2, name = "x"}, {cores = 1}]\nlinear = ["1,0", "0,0"]\n'
        b'[[b.labels]]\nprinted = ["0,0", "0,1"]\ncpus = ["0,1", "0,0"]\nsource = "console"\n'
        b'forms = ["csv"]\nuntil = "v2.14"\nnote = "n"\n'
    )


def _stamps() -> Iterator[bytes]:
    names = ("libteec", "kmodule", "core", "kmodule", "libteec")
    calls = [(core, 64 * i + 7 * core, names[i % 5]) for core in (0, 1) for i in range(10)]
    yield b"timestamps:\n" + b"".join(
        f"    - core: {c}\n      counter: {t}\n      address: 0x{t:x}\n"
        f"      component: '{name}'\n".encode()
        for c, t, name in calls
    )
    yield b"".join(f"{c}\t{t}\t0x{t:x}\t{name}\n".encode() for c, t, name in calls)
    yield b"timestamps: []\n"


def _runs() -> Iterator[bytes]:
    (text,) = _shipped("zynq/qconv_published.csv.gz")
    yield text
    yield b"\n".join(text.split(b"\n")[:3])


def _consoles() -> Iterator[bytes]:
    names = sorted(p.name for p in (DATA / "tfa" / "console").glob("*log*"))
    yield from (data[:4096] for data in _shipped(*(f"tfa/console/{name}" for name in names)))
    for name in ("optee/ree.log.gz", "optee/tee.log.gz", "optee/two-clients.log.gz",
                 "ftrace/tracefs.txt.gz", "ftrace/trace-cmd.txt.gz"):  # fmt: skip
        yield next(_shipped(name))[:4096]
    yield from _shipped("zynq/v2018.2.log", "zynq/v2019.1-sync.log", "rules/fft.log")


def _captures() -> Iterator[bytes]:
    rows = "".join(f"{i},{i},{int(i == 2)},{i % 2},1,{64 * i:x},{i % 2}\n" for i in range(8))
    ila = (
        "Sample in Buffer,Sample in Window,TRIGGER,a/axi_arvalid,a/axi_arready,a/axi_araddr[31:0],"
        f"a/axi_rvalid\nRadix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,HEX,HEX\n{rows}"
    ).encode()
    yield ila
    yield _zip({"waveform.csv": ila, "waveform.dmp": b"GTKWave 4\n"})
    with zipfile.ZipFile(DATA / "zynq" / "hostile.zip") as archive:
        for info in archive.infolist():
            if info.file_size < 4096:
                yield archive.read(info)
    for name in ("A.csv.xz", "qconv_io_128_2012.vcd.xz"):
        yield lzma.decompress((DATA / "zynq" / name).read_bytes())[:6000]


def _zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _tar(form: int, names: tuple[str, ...]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(LOG)
            archive.addfile(info, io.BytesIO(LOG))
    return out.getvalue()[:6144]


def _archives() -> Iterator[bytes]:
    plain = _tar(tarfile.USTAR_FORMAT, ("a.log", "d/b.log"))
    yield plain
    yield _tar(tarfile.GNU_FORMAT, ("b" * 120 + ".log",))
    yield _tar(tarfile.PAX_FORMAT, ("\u00e9.log",))
    yield gzip.compress(plain, mtime=0)
    files = {"a.log": LOG, "d/b.tar": plain, "c.gz": gzip.compress(LOG, mtime=0)}
    yield _zip({"a.log": LOG})
    yield _zip(files)
    yield lzma.compress(_zip({"a.log": LOG}))


def _packed() -> Iterator[bytes]:
    packers: list[Callable[[bytes], bytes]] = [
        lambda data: gzip.compress(data, mtime=0), bz2.compress, lzma.compress,
    ]  # fmt: skip
    try:
        from backports import zstd

        packers.append(zstd.compress)
    except ImportError:
        pass
    for pack in packers:
        yield pack(LOG)
        yield pack(LOG) + pack(b"x" * 9)
    for outer, inner in itertools.permutations(packers[:3], 2):
        yield outer(inner(LOG))


def _tables() -> Iterator[bytes]:
    text = next(_shipped("tfa/published.csv.gz")).splitlines()
    yield b"\n".join(text[:12]) + b"\n"
    old, new = (tg.from_columns(format="tftf", **_columns(f)) for f in (20, 40))
    made = tg.tables(old, new, release="v2.16", platform="juno", clock=50_000_000)
    yield from (made.to_tfa_csv().encode(), *(t.encode() for t in made.to_csv().values()))
    yield b"Cluster,Core,Powerdown,Wakeup,Cache Flush\n0,0,24.22 (+5.00%),9.02,3.8 (from 0)\n"


def _columns(step: int) -> dict[str, object]:
    cpus = [(0, 0), (0, 1), (1, 0)]
    rows = [(cl, co, m, step * (9 + cl + co)) for cl, co in cpus
            for m in ("powerdown", "wakeup", "cache_flush")]  # fmt: skip
    return {
        "test": ["cpu_susp_parallel"] * len(rows), "cluster": [r[0] for r in rows],
        "core": [r[1] for r in rows], "metric": [r[2] for r in rows],
        "value": [r[3] for r in rows], "unit": "ns",
    }  # fmt: skip


def _pages() -> Iterator[bytes]:
    (text,) = _shipped("tfa/psci-performance-n1sdp.rst")
    parts = text.split(b".. table::")
    yield text[:6000]
    for part in parts[1:4]:
        yield parts[0][-300:] + b".. table::" + part
    yield (
        b"Juno\n====\n\n.. csv-table:: ``CPU_OFF`` latencies (ns) on all non-lead CPUs (v2.14)\n"
        b"    :header: Cluster,Core,Powerdown,Wakeup\n\n    0,0,20,40 (+5.00%)\n    0,1,60,80\n"
        b"\n.. csv-table:: ``CPU_OFF`` latencies (v2.13)\n    :file: a/b.csv\n"
    )


_SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "snapshot": _snapshots, "index": _indexes, "rules": _rules, "boards": _boards,
    "stamps": _stamps, "runs": _runs, "console": _consoles, "capture": _captures,
    "archive": _archives, "unpack": _packed, "table": _tables, "page": _pages,
}  # fmt: skip

_WORDS: dict[str, str] = {
    "snapshot": "schema tickgauge-snapshot version sources keys digest format boots platform build "
    "clock_hz test metric operation place labels unit exchange cluster core cpu exp10 origin "
    "resolution better units source boot run block value count folded lower higher none all null "
    "true false NaN Infinity 18446744073709551616 9223372036854775807 -9223372036854775808 1e999",
    "index": "SQLite files path size mtime version status TEXT INTEGER PRIMARY KEY sources formats",
    "unpack": "BZh9 7zXZ",
    "rules": "[[rule]] name template value metric values unit tag better exponents all soft end "
    "rounded rows comment "
    "{n:uint} {t:dec} {x:exp} {h:hex} {w:word} {s:text} ~ [ ] true inf nan 1979-05-27",
    "boards": "[b] [[b.labels]] title names clock_hz clock_source clusters linear labels printed "
    "cpus source forms until note cores name console table 4096 inf nan 1979-05-27",
    "stamps": "timestamps: core: counter: address: component: 0x libteec kmodule libutee []",
    "runs": "source commit iw ih ic oc kw kh th usec",
    "console": "NOTICE: BL1: <RT_INSTR: TEE D/TC: I/TC: Running > Executing Passed ERROR: seconds",
    "capture": "TRIGGER Radix HEX UNSIGNED arvalid arready rvalid rready rlast awvalid wvalid "
    "$timescale $var $scope $upscope $end $enddefinitions $dumpvars waveform.csv waveform.dmp PK",
    "archive": "ustar GNU.sparse.major GNU.sparse.map GNU.sparse.size path= size= hdrcharset= PK "
    "././@LongLink",
    "table": "platform release_label test metric cluster core row value_ns printed_delta_pct "
    "commit test_rt_instr_cpu_susp_parallel test_rt_instr_cpu_off_serial .csv (+5.00%) (-0.00%) "
    "(from 0) Cluster Core Powerdown Wakeup Latency base step min max",
    "page": "table:: csv-table:: :file: :header: Cluster Core Powerdown Wakeup Cache Flush Latency "
    "PSCI_ENTRY CPU_SUSPEND CPU_OFF CPU_VERSION parallel serial deepest (ns) (us) (v2.14) (+5.00%) "
    "(from 0) +---+ +===+ true cpu ids |a| .. image:: .. math:: .. role:: .. default-role:: "
    ".. include:: .. raw:: .. class:: .. parsed-literal:: .. contents:: .. sectnum:: .. unicode::",
}


def seeds(target: str) -> list[bytes]:
    """Inputs of a target of `targets`, in a fixed order."""
    return list(_SEEDS[target]())


def words(target: str) -> list[str]:
    """What the dictionary of a target's fuzzer holds."""
    return _WORDS[target].split()
