"""Reading sources: user rules, TOML files, many sources, compression, bad input."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from fractions import Fraction

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.frame.readings import convert

FFT = tg.Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="us")
LOG = b"""booting
fft 256 points: 12.5 usec
noise fft 512 points: 1.25 usec more
fft 256 points: 13.5 usec
fft 999 points: torn
fft 512 points: 1.5 usec
"""


def read(data=LOG, **more):
    return tg.read(data, **{"rules": FFT, **more})


def test_a_rule_in_one_line_gives_readings():
    data = read()
    assert len(data.readings) == 4
    assert data.readings["value"].tolist() == [v * 10**6 for v in (12500, 1250, 13500, 1500)]
    assert data.readings["unit"].tolist() == ["us"] * 4
    assert data.readings.ns.tolist() == [12500.0, 1250.0, 13500.0, 1500.0]
    assert data.readings["line"].tolist() == [2, 3, 4, 6]
    assert data.readings["offset"].tolist() == [LOG.index(b"fft"), 40, 71, 118]
    assert sorted(set(data.readings["labels"])) == ["n=256", "n=512"]
    assert data.readings.select(labels="n=256").ns.tolist() == [12500.0, 13500.0]


def test_every_reading_points_at_its_own_bytes():
    data = read()
    for row in range(len(data.readings)):
        place = data.trace(row)
        line = LOG[place["offset"] :].split(b"\n")[0]
        assert line.startswith(b"fft ")
        assert LOG[: place["offset"]].count(b"\n") + 1 == place["line"]
        assert place["digest"] == hashlib.sha256(LOG).hexdigest()


def test_a_torn_line_is_a_problem_with_its_place():
    problems = read().problems
    assert problems["line"].tolist() == [5]
    assert problems["rule"].tolist() == ["user.fft"]
    assert problems["excerpt"].tolist() == ["fft 999 points: torn"]


def test_statistics_of_keys():
    stats = read().stats()
    rows = {row["labels"]: row for row in stats}
    assert rows["n=256"]["n"] == 2
    assert (rows["n=256"]["min"], rows["n=256"]["median"], rows["n=256"]["max"]) == (
        12500.0,
        12500.0,  # inverted CDF: a value that occurred
        13500.0,
    )
    assert rows["n=512"]["unit"] == "ns"


def test_records_by_rule():
    records = read().records
    assert records["user.fft"]["n"].tolist() == [256, 512, 256, 512]
    with pytest.raises(tg.UnknownName, match=r"user\.fft"):
        records["user.ftt"]
    assert "user.fft" in repr(records)


def test_ticks_are_the_column_itself():
    rule = tg.Rule("took {t:uint} ticks", value="t", unit="tick")
    data = tg.read(b"took 1000 ticks\ntook 3 ticks\n", rules=rule)
    assert data.readings.ticks is data.readings.column("value").data
    assert data.readings.ticks.dtype == np.int64
    with pytest.raises(tg.InputError, match="clock=HZ"):
        data.readings.ns
    with pytest.raises(tg.InputError, match="not all readings are in ticks"):
        read().readings.ticks


@pytest.mark.parametrize(
    "factor", [Fraction(125, 3), Fraction(1), Fraction(10**9, 3), Fraction(1, 7)]
)
def test_conversion_rounds_the_exact_quotient_once(factor):
    values = np.array([0, 1, -1, 7, 2**40 + 1, 2**53 + 1, -(2**62) - 3, 2**63 - 1], "i8")
    out = convert(values, factor)
    for value, got in zip(values.tolist(), out.tolist(), strict=True):
        exact = value * factor
        for step in (np.nextafter(got, -np.inf), np.nextafter(got, np.inf)):
            assert abs(Fraction(got) - exact) <= abs(Fraction(float(step)) - exact)


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 64])
def test_the_result_does_not_depend_on_the_cuts(cut):
    class Slow(io.RawIOBase):
        def __init__(self):
            self._data = io.BytesIO(LOG)

        def readable(self):
            return True

        def read(self, n=-1):
            return self._data.read(cut)

    assert (
        read(Slow()).readings.to_structured().tolist() == read().readings.to_structured().tolist()
    )


# ---- rules --------------------------------------------------------------------------------------


def test_a_bad_template_points_at_the_column():
    with pytest.raises(tg.RuleError) as caught:
        tg.Rule("fft {n:uint points")
    assert caught.value.offset is not None
    lines = str(caught.value).splitlines()
    assert lines[-2].strip() == "fft {n:uint points"
    assert lines[-1].index("^") == 2 + caught.value.offset


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"better": "best"}, "better"),
        ({"metric": "m"}, "value is missing"),
        ({"value": "nothing"}, "no field of the template"),
    ],
)
def test_wrong_rules_are_refused(more, says):
    with pytest.raises(tg.RuleError, match=says):
        tg.Rule("fft {n:uint} points", **more)


def test_rules_compare_and_pickle():
    assert pickle.loads(pickle.dumps(FFT)) == FFT
    assert hash(FFT) == hash(tg.Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="us"))
    assert tg.Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="ms") != FFT
    assert repr(FFT).startswith("Rule('fft {n:uint} points")


TOML = """
[[rule]]
name = "run"
comment = "one transform"
template = "fft {n:uint} points: {t:dec} usec"
value = "t"
metric = "time"
unit = "us"
"""


def test_a_new_format_is_one_toml_file(tmp_path):
    path = tmp_path / "fft.toml"
    path.write_text(TOML)
    data = read(rules=path)
    assert set(data.readings["metric"]) == {"time"}
    assert set(data.readings["format"]) == {"fft"}
    assert data.sources["formats"].tolist() == ["fft"]
    assert len(read(rules=str(path)).readings) == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule]\n", "not a TOML file"),
        ("x = 1\n", r"no \[\[rule\]\]"),
        ("[[rule]]\nname = 'a'\n", "rule a: template is missing"),
        ("[[rule]]\ntemplate = 'abc {x:uint}'\nvalu = 'x'\n", "no such key: valu"),
        ("[[rule]]\ntemplate = 'abc {x:uit}'\n", "uit"),
        (
            "[[rule]]\ntemplate = 'abc {t:uint}'\nvalues = 't'\nunit = 'us'\n",
            r'values is a table, values = \{ metric = "field" \}; for one field write value = "t"',
        ),
        ("[[rule]]\ntemplate = 'abc {t:uint}'\nvalue = 't'\n", "unit is missing: a word"),
        (
            "[[rule]]\ntemplate = 'abc {t:uint}'\nvalue = 't'\nunit = 'microsecond'\n",
            '"microsecond" is not converted: write "us"',
        ),
        ("[[rule]]\ntemplate = 'abc {t:uint}'\nvalue = 't'\nunit = 'ticks'\n", 'write "tick"'),
        ("[[rule]]\ntemplate = 'abc {t:uint}'\nvalue = 't'\nunit = 3\n", "unit is a word"),
        ("[[rule]]\ntemplate = 'abc {t:uint}'\nrows = 'abc'\nunit = 's'\n", "rows is a table"),
    ],
)
def test_wrong_toml_files_are_refused(tmp_path, text, says):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(tg.RuleError, match=says) as caught:
        tg.load_rules(path)
    assert caught.value.path == str(path)


# ---- sources ------------------------------------------------------------------------------------


def test_paths_globs_folders_and_lists(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.log").write_bytes(LOG + b"%d\n" % i)
    (tmp_path / ".hidden").write_bytes(LOG)
    for what in (
        [tmp_path / f"{i}.log" for i in range(3)],
        str(tmp_path / "*.log"),
        str(tmp_path),
        tmp_path,
    ):
        data = read(what)
        assert len(data.readings) == 12
        assert data.sources["name"].tolist() == [str(tmp_path / f"{i}.log") for i in range(3)]
    assert data.readings["source"].tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_a_folder_that_is_closed_is_an_error_and_not_empty(tmp_path, monkeypatch):
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.log").write_bytes(LOG)
    there = os.scandir

    def scandir(path):
        if str(path) == str(tmp_path / "closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return there(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for what in (tmp_path, tmp_path / "closed", f"{tmp_path}/**/*.log"):
        with pytest.raises(PermissionError, match=r"Permission denied.*closed"):
            read(what)
    assert len(read(tmp_path / "open").sources) == 1


def test_links_that_lead_back_are_not_followed(tmp_path):
    """Two of them: 2^40 paths to one file, before the system says that it is enough."""
    folder = tmp_path / "[a]"
    (folder / "b" / "c").mkdir(parents=True)
    for place in (folder, folder / "b", folder / "b" / "c"):
        (place / "a.log").write_bytes(LOG + str(place).encode())
        for link in ("one", "two"):
            (place / link).symlink_to("." if place == folder else "..")
    every = [str(folder / name) for name in ("a.log", "b/a.log", "b/c/a.log")]
    for pattern, wanted in (
        ("**/*.log", every),
        ("**/**/a.*", every),
        ("**/c/**/*.log", every[2:]),
        ("b/**", every[1:]),
    ):
        data = read(f"{tmp_path}/?a]/{pattern}")
        assert data.sources["name"].tolist() == wanted
    assert read(folder).sources["name"].tolist() == every
    loop = tmp_path / "loop.log"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="symbolic links"):
        read(loop)


def test_keys_of_several_sources_are_one():
    other = b"fft 512 points: 9 usec\nfft 1024 points: 7 usec\n"
    data = tg.read([LOG, other], rules=FFT)
    assert len(data.keys) == 3
    by_labels = data.readings.select(labels="n=512")
    assert by_labels["value"].tolist() == [1250 * 10**6, 1500 * 10**6, 9000 * 10**6]
    assert by_labels["source"].tolist() == [0, 0, 1]
    assert len(data.boots) == 2
    assert sorted(set(data.readings["boot"].tolist())) == [0, 1]


def test_equal_sources_count_once():
    data = tg.read([LOG, gzip.compress(LOG), LOG + b"end\n"], rules=FFT)
    assert len(data.readings) == 8
    assert data.sources["state"].tolist() == ["read", "duplicate of 0", "read"]
    assert data.readings["source"].tolist() == [0] * 4 + [2] * 4
    assert "same bytes as source 0" in data.notes[0]


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a/one.log", data)
        archive.writestr("two.log", data + b"two\n")
    return out.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_told_by_content(tmp_path, pack):
    path = tmp_path / "a.txt"
    path.write_bytes(pack(LOG))
    data = read(path)
    assert data.readings.to_structured().tolist() == read().readings.to_structured().tolist()
    assert data.sources["digest"].tolist() == [hashlib.sha256(LOG).hexdigest()]


def test_zstd(tmp_path):
    zstd = pytest.importorskip(
        "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd"
    )
    assert len(read(zstd.compress(LOG)).readings) == 4


def test_members_of_a_zip_are_sources(tmp_path):
    path = tmp_path / "logs.zip"
    path.write_bytes(zipped(LOG))
    data = read(path)
    assert data.sources["name"].tolist() == [f"{path}/a/one.log", f"{path}/two.log"]
    assert len(data.readings) == 8


def test_file_objects_are_read_and_not_closed(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    with path.open("rb") as file:
        assert len(read(file).readings) == 4
        assert not file.closed
    with path.open() as file:
        assert len(read(file).readings) == 4
    with pytest.raises(tg.InputError, match="str, not bytes"):
        read(io.StringIO("text"))


def test_url(tmp_path):
    pytest.importorskip("fsspec")
    import fsspec

    with fsspec.open("memory://a.log", "wb") as file:
        file.write(LOG)
    assert len(read("memory://a.log").readings) == 4


def test_clock_forms():
    from tickgauge.units import parse_clock

    assert parse_clock("62.5MHz") == parse_clock(62.5e6) == parse_clock("62_500_000") == 62_500_000
    assert parse_clock("1 GHz") == 10**9
    for wrong in ("0", "fast", "-1", 1.5, "1e", "MHz"):
        with pytest.raises(tg.InputError, match="clock"):
            parse_clock(wrong)


# ---- bad input ----------------------------------------------------------------------------------


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        tg.read(tmp_path / "missing.log")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        tg.read(str(tmp_path / "*.log"))
    with pytest.raises(tg.InputError, match="no files"):
        tg.read(tmp_path)
    with pytest.raises(tg.InputError, match="no source"):
        tg.read()
    with pytest.raises(tg.InputError, match="NoneType"):
        tg.read(None)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        ("fft 256 points: 1 usec\n".encode("utf-16"), "no known kind of line was found in 1 line;"),
        ("fft 256 points: 1 usec\n".encode("utf-16-le"), "in 1 line; looked for"),
        (bytes(range(256)) * 40 + bytes(5000), "binary"),
        (b"hello\nworld\n", "no known kind of line was found in 2 lines; looked for"),
    ],
)
def test_what_is_not_recognised_gets_a_text_that_helps(tmp_path, content, says):
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(tg.InputError, match=says) as caught:
        tg.read(path)
    assert caught.value.path == str(path)


def test_an_unrecognised_source_among_others_is_reported(tmp_path):
    data = tg.read([LOG, b"hello\n"], rules=FFT)
    assert data.sources["state"].tolist() == ["read", "not recognised"]
    assert len(data.readings) == 4
    assert data.problems["reason"].tolist()[-1] == "not recognised"


class Failing(io.RawIOBase):
    """Gives good bytes, then an error."""

    def __init__(self, error):
        self._left = [LOG * 5000]
        self._error = error

    def readable(self):
        return True

    def read(self, n=-1):
        if self._left:
            return self._left.pop()
        raise self._error


def test_good_records_survive_an_unreadable_end():
    data = read(Failing(OSError(5, "Input/output error")))
    assert len(data.readings) == 4 * 5000
    assert data.sources["state"].tolist() == ["unreadable"]
    assert data.problems["detail"].tolist()[-1] == "Input/output error"


@pytest.mark.slow
def test_a_line_of_5_gigabytes():
    code = (
        "import re, tickgauge as tg\n"
        "d = tg.read('-', rules=tg.Rule('fft {n:uint} points: {t:dec} usec', value='t'))\n"
        "print(len(d.readings), d.sources['bytes'][0], d.problems['reason'][0])\n"
        "print(re.search('VmHWM:\\\\s+(\\\\d+) kB', open('/proc/self/status').read())[1])\n"
    )
    child = python(code)
    piece = b"x" * (1 << 24)
    child.stdin.write(LOG)
    for _ in range(320):
        child.stdin.write(piece)
    child.stdin.write(b"\n" + LOG)
    out = child.communicate(timeout=600)[0].decode().split()
    assert out[0] == "8"
    assert int(out[1]) == 320 * (1 << 24) + 2 * len(LOG) + 1
    assert int(out[-1]) < 150 * 1024


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_cut_compressed_data_keeps_what_it_gives(pack):
    numbers = np.random.default_rng(1).integers(0, 1 << 60, 100_000)
    noise = b" ".join(b"%d\n" % n for n in numbers.tolist())
    packed = pack(LOG + noise + LOG)
    data = read(packed[: len(packed) - 20])
    assert data.sources["state"].tolist() == ["damaged"]
    assert len(data.readings) >= 4


def test_a_file_that_shrinks_is_said_so(tmp_path, monkeypatch):
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    longer = os.stat_result([0o100644, 0, 0, 1, 0, 0, len(LOG) + 10, 0, 0, 0])
    monkeypatch.setattr("tickgauge.sources.source._status_of", lambda raw: longer)
    data = read(path)
    assert "shrank" in data.problems["detail"].tolist()[-1]
    assert len(data.readings) == 4


def test_of_a_file_that_grows_what_was_there_is_read(tmp_path):
    from tickgauge.sources.source import Source

    path = tmp_path / "a.log"
    path.write_bytes(LOG)

    class Growing(io.FileIO):
        def read(self, n=-1):
            with path.open("ab") as file:  # before every read: it would never end
                file.write(LOG)
            return super().read(n)

    data = read(Source("growing", lambda: Growing(path)))
    size = data.sources["bytes"][0]
    assert size < 10 * len(LOG)
    assert len(data.readings) == 4 * (size // len(LOG))
    assert data.sources["state"].tolist() == ["read"]


def python(code):
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe)


@pytest.mark.noasan  # its shadow memory counts
def test_a_line_without_end_is_a_problem_and_bounded():
    """A long line through a pipe: its bytes are counted, not kept."""
    code = (
        "import re, tickgauge as tg\n"
        "d = tg.read('-', rules=tg.Rule('fft {n:uint} points: {t:dec} usec', value='t'))\n"
        "print(len(d.readings), d.sources['bytes'][0], d.problems['reason'][0])\n"
        "print(re.search('VmHWM:\\\\s+(\\\\d+) kB', open('/proc/self/status').read())[1])\n"
    )
    total = 300
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    piece = b"x" * (1 << 20)
    child.stdin.write(LOG)
    for _ in range(total):
        child.stdin.write(piece)
    child.stdin.write(b"\n" + LOG)
    out = child.communicate(timeout=120)[0].decode().split()
    assert out[0] == "8"
    assert int(out[1]) == total * (1 << 20) + 2 * len(LOG) + 1
    assert int(out[-1]) < 150 * 1024  # KiB, of which NumPy is the most


def test_ctrl_c_while_reading_a_pipe():
    code = (
        "import signal, tickgauge as tg\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job may ignore it
        "print('ready', flush=True)\n"
        "try:\n"
        "    tg.read('-', rules='fft {n:uint} points')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout.readline() == b"ready\n"
    child.stdin.write(LOG * 20_000)  # more than a pipe holds: when it is gone, the child reads
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == b"interrupted\n"
    child.stdin.close()
    assert child.wait(timeout=60) == 0
