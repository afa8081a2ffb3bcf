"""Every limit: what lies at it is read, one more is refused; the message names its option."""

from __future__ import annotations

import gc
import gzip
import io
import tarfile
import zipfile
from dataclasses import fields
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge import _core
from tickgauge.boards import platforms
from tickgauge.cli import main
from tickgauge.rules.rule import load_rules

RULE = tg.Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="us")
NAMED = tg.Rule("took {who:word}: {t:uint} us", value="t", unit="us")


# ---- logs: what was read is kept ------------------------------------------------------------


def test_labels_that_change_on_every_line_end_at_the_limit():
    log = b"".join(b"fft %d points: 1.5 usec\n" % i for i in range(5000))
    log += b"fft 7 points: 2.5 usec\n"  # of a key that was kept
    data = tg.read(log, rules=RULE, limits=tg.Limits(keys=1000))
    assert [i.state for i in data.infos] == ["limit"]
    assert data.infos[0].message == (
        "has more than 1000 keys, 4000 readings of others are left out (--limit keys=N)"
    )
    assert (len(data.keys), len(data.readings), data.infos[0].records) == (1000, 1001, 5001)
    assert data.readings["line"].tolist() == [*range(1, 1001), 5001]
    assert tg.read(log, rules=RULE, limits=tg.Limits(keys=5000)).infos[0].state == "read"
    assert tg.read(log, rules=RULE, limits=tg.Limits(keys=4999)).infos[0].state == "limit"


def test_records_end_at_the_limit():
    log = b"".join(b"fft 8 points: %d.5 usec\n" % i for i in range(5000))
    data = tg.read(log, rules=RULE, limits=tg.Limits(records=100))
    assert data.infos[0].state == "limit"
    assert data.infos[0].message == (
        "holds more than 100 records, the first ones are kept (--limit records=N)"
    )
    assert data.readings.ns.tolist() == [1000 * i + 500 for i in range(100)]
    assert tg.read(log, rules=RULE, limits=tg.Limits(records=5000)).infos[0].state == "read"


def test_a_copy_of_a_source_beyond_the_limit_counts_once(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(b"fft 8 points: 1.5 usec\n" * 9)
    data = tg.read(tmp_path / "a", tmp_path / "b", rules=RULE, limits=tg.Limits(records=3))
    assert [one.state for one in data.infos] == ["limit", "duplicate of 0"]
    assert data.infos[0].bytes == 9 * 23
    assert len(data.readings) == 3


def test_records_end_at_the_limit_where_a_file_is_read_in_halves(tmp_path, monkeypatch):
    monkeypatch.setattr("tickgauge.reading.split_file.HALVE_FROM", 1000)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    path = tmp_path / "a.log"
    path.write_bytes(b"".join(b"fft 8 points: %d.5 usec\n" % i for i in range(5000)))
    for most, kept, state in ((100, 100, "limit"), (3000, 3000, "limit"), (5000, 5000, "read")):
        data = tg.read(path, rules=RULE, limits=tg.Limits(records=most))
        assert (len(data.readings), data.infos[0].state) == (kept, state)


def test_a_file_whose_second_half_is_beyond_the_limit_leaves_the_next_to_be_read(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tickgauge.reading.split_file.HALVE_FROM", 1000)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    path = tmp_path / "a.log"
    path.write_bytes(b"x\n" * 10_000 + b"fft 8 points: 1.5 usec\n" * 500)
    was_on = gc.isenabled()
    gc.disable()  # the rule sets are free again without it
    try:
        data = tg.read(path, rules=RULE, limits=tg.Limits(records=300))
        assert (data.infos[0].records, data.infos[0].state) == (300, "limit")
        assert tg.read(path, rules=RULE).infos[0].records == 500
    finally:
        if was_on:
            gc.enable()


def test_a_text_of_a_record_ends_at_the_limit():
    log = b"took aaaa: 1 us\ntook bbbbb: 2 us\ntook c: 3 us\n"
    data = tg.read(log, rules=NAMED, limits=tg.Limits(label=4))
    assert data.readings.ns.tolist() == [1000, 3000]
    assert [(p["line"], p["offset"], p["reason"]) for p in data.problems] == [(2, 21, "label")]
    assert "at most 4 bytes (--limit label=N)" in data.problems.row(0)["detail"]
    [(tag, *counts)] = [row for row in data.infos[0].ledger if row[0] == b"took"]
    assert (tag, counts) == (b"took", [3, 2, 1, 0])
    assert len(tg.read(log, rules=NAMED, limits=tg.Limits(label=5)).problems) == 0


def test_a_label_has_at_most_4096_bytes_by_default():
    log = b"took %s: 1 us\ntook %s: 2 us\n" % (b"a" * 4096, b"b" * 4097)
    data = tg.read(log, rules=NAMED)
    assert data.readings.ns.tolist() == [1000]
    assert data.problems["reason"].tolist() == ["label"]


def test_problems_are_listed_up_to_the_limit():
    log = b"took a: 1 us\n" + b"took a: x us\n" * 9
    data = tg.read(log, rules=NAMED, limits=tg.Limits(problems=4))
    assert (len(data.problems), data.infos[0].problems) == (4, 9)
    assert len(tg.read(log, rules=NAMED, limits=tg.Limits(problems=9)).problems) == 9


# ---- rules and templates --------------------------------------------------------------------


def test_a_template_ends_at_the_limit(tmp_path):
    text = "took {t:uint}" + "x" * 100
    assert tg.Rule(text, limits=tg.Limits(template=len(text))).template == text
    wanted = f"the template has {len(text)} bytes, more than {len(text) - 1} .--limit template=N."
    with pytest.raises(tg.LimitError, match=wanted):
        tg.Rule(text, limits=tg.Limits(template=len(text) - 1))
    path = tmp_path / "own.toml"
    path.write_text(f"[[rule]]\ntemplate = '{text}'\n")
    with pytest.raises(tg.LimitError, match=r"rule 'own\.took', the template") as told:
        load_rules(path, tg.Limits(template=100))
    assert told.value.path == str(path)


def test_a_template_longer_than_the_default_is_taken_where_it_is_asked_for():
    wide = tg.Limits(template=1 << 20)
    text = "took {t:uint} " + "x" * 100_000
    with pytest.raises(tg.LimitError, match="100014 bytes, more than 4096"):
        tg.Rule(text)
    rule = tg.Rule(text, value="t", unit="us", limits=wide)
    log = b"took 5 " + b"x" * 100_000 + b"\n"
    assert tg.read(log, rules=rule, limits=wide).readings.ns.tolist() == [5000]
    with pytest.raises(tg.LimitError, match="--limit template=N"):
        tg.read(log, rules=rule)


def test_rules_end_at_the_limit(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("".join(f"[[rule]]\nname='r{i}'\ntemplate='tag{i} x'\n" for i in range(20)))
    assert len(load_rules(path, tg.Limits(rules=20))) == 20
    with pytest.raises(tg.LimitError, match=r"has 20 rules, more than 19 \(--limit rules=N\)"):
        load_rules(path, tg.Limits(rules=19))
    many = [tg.Rule(f"tag{i} {{t:uint}}", name=f"r{i}", value="t") for i in range(4100)]
    with pytest.raises(tg.LimitError, match=r"beyond the 4096 that a set may have.*rules=N"):
        tg.read(b"tag7 5\n", rules=many)
    data = tg.read(b"tag4099 5\n", rules=many, limits=tg.Limits(rules=5000))
    assert data.readings["value"].tolist() == [5]


def test_the_bytes_of_a_file_of_rules_are_bounded(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("[[rule]]\ntemplate='took {t:uint}'\n")
    size = path.stat().st_size
    assert len(load_rules(path, tg.Limits(whole=size))) == 1
    with pytest.raises(tg.LimitError, match="--limit whole=N"):
        load_rules(path, tg.Limits(whole=size - 1))


# ---- captures -------------------------------------------------------------------------------


def test_signals_end_at_the_limit():
    names = b"".join(b"$var wire 1 s%d s%d $end\n" % (i, i) for i in range(3000))
    vcd = b"$timescale 1ns $end\n" + names + b"$enddefinitions $end\n#0\n0s0\n#1\n1s0\n"
    with pytest.raises(tg.LimitError) as told:
        tg.read(vcd, limits=tg.Limits(signals=2999))
    assert told.value.message == "defines more than 2999 signals (--limit signals=N)"
    assert told.value.line == 3001  # of the 3000th definition
    assert len(tg.read(vcd, limits=tg.Limits(signals=3000)).signals) == 3000
    csv = b"Sample in Buffer,Sample in Window,TRIGGER,a,b,c\n0,0,0,1,1,1\n"
    assert len(tg.read(csv, limits=tg.Limits(signals=3)).signals) == 3
    with pytest.raises(tg.LimitError, match="more than 2 signals"):
        tg.read(csv, limits=tg.Limits(signals=2))


def test_the_width_of_a_stored_value_ends_at_the_limit():
    value = (1 << 2047) + 5
    vcd = b"$timescale 1ns $end\n$var wire 2048 ! wide $end\n$enddefinitions $end\n#0\nb%s !\n#1\n"
    vcd %= f"{value:b}".encode()
    made = tg.read_capture(vcd, keep=["wide"], limits=tg.Limits(width=2048))
    assert made.signal("wide")[1][0] == value
    [problem] = tg.read_capture(vcd, keep=["wide"], limits=tg.Limits(width=2047)).problems
    assert problem["reason"] == "too-wide"
    assert problem["detail"].endswith(
        "2048 bits, more than the 2047 that are stored (--limit width=N)"
    )
    assert len(tg.read_capture(vcd, keep=["wide"]).problems) == 1


def test_a_row_of_a_capture_ends_at_the_limit():
    head = b"Sample in Buffer,Sample in Window,TRIGGER,abc\n"
    csv = head + b"0,0,0,1\n"
    assert tg.read(csv, limits=tg.Limits(row=len(head))).samples == 1
    with pytest.raises(tg.LimitError, match=r"more than 45 bytes \(--limit row=N\)"):
        tg.read(csv, limits=tg.Limits(row=len(head) - 1))


def test_the_path_of_a_scope_ends_at_the_limit():
    vcd = b"$scope module ab $end\n$scope module cde $end\n$var wire 1 ! x $end\n"
    vcd += b"$enddefinitions $end\n#0\n1!\n"
    assert tg.read(vcd, limits=tg.Limits(scope=6)).signals["name"].tolist() == ["ab.cde.x"]
    with pytest.raises(tg.LimitError, match=r"6 bytes, more than 5 \(--limit scope=N\)") as told:
        tg.read(vcd, limits=tg.Limits(scope=5))
    assert told.value.line == 2


def test_transactions_end_at_the_limit():
    """Reads of one beat, one behind the other: the n-th is accepted in sample 2n."""
    names = ["arvalid", "arready", "araddr", "rvalid", "rready", "rlast"]
    head = "Sample in Buffer,Sample in Window,TRIGGER," + ",".join(f"u_{n}" for n in names)
    rows = [f"{s},{s},0,{1 - s % 2},1,0,{s % 2},1,{s % 2}" for s in range(20)]
    csv = "\n".join([head, *rows]).encode() + b"\n"
    assert len(tg.read(csv, limits=tg.Limits(transactions=10)).port().transactions) == 10
    with pytest.raises(tg.LimitError) as told:
        tg.read(csv, limits=tg.Limits(transactions=9)).port()
    assert told.value.message == "holds more than 9 AXI transactions (--limit transactions=N)"


# ---- archives -------------------------------------------------------------------------------


def _archive(form: str, names: list[str], text: bytes) -> bytes:
    out = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for name in names:
                archive.writestr(name, text + name.encode())
    else:
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = len(text) + len(name)
                archive.addfile(info, io.BytesIO(text + name.encode()))
    return out.getvalue()


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_the_name_of_a_member_ends_at_the_limit(form):
    text = b"fft 8 points: 1.5 usec\n"
    data = _archive(form, ["a" * 300, "b" * 301, "c"], text)
    read = tg.read(data, rules=RULE, limits=tg.Limits(path=300))
    assert [info.state for info in read.infos].count("limit") == 1
    [message] = [info.message for info in read.infos if info.state == "limit"]
    assert message == "a member's name of 301 bytes, more than 300 (--limit path=N)"
    assert "limit" not in [i.state for i in tg.read(data, rules=RULE).infos]


def test_the_members_of_an_archive_end_at_the_limit():
    names = ["a", "b", "c"]
    for form, kept in (("zip", 0), ("tar", 2)):
        data = [_archive(form, names, b"nothing\n"), b"fft 8 points: 1.5 usec\n"]
        infos = tg.read(*data, rules=RULE, limits=tg.Limits(entries=3)).infos
        assert [i.state for i in infos] == ["not recognised"] * 3 + ["read"]
        infos = tg.read(*data, rules=RULE, limits=tg.Limits(entries=2)).infos
        assert [i.state for i in infos] == ["not recognised"] * kept + ["limit", "read"]
        assert infos[-2].message.endswith("--limit entries=N)")


def test_a_set_takes_as_many_rules_as_the_limit_says():
    given = [{"name": f"a.r{i}", "pattern": f"rule{i}: {{n:uint}}"} for i in range(20_000)]
    rules = _core.RuleSet(given, builtin=False, max_rules=20_000)
    reader = _core.Reader(rules)
    reader.feed(b"".join(b"rule%d: %d\n" % (i, 3 * i) for i in (0, 4095, 16_384, 19_999)))
    found = reader.finish()
    assert found.totals()["problems"] == 0
    assert found.table(16_384).column("n").tolist() == [3 * 16_384]
    assert found.table(19_999).column("n").tolist() == [3 * 19_999]


# ---- the command line -----------------------------------------------------------------------


def test_limits_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "a.log"
    path.write_bytes(b"".join(b"cpu_on %d\n" % i for i in range(9)))
    own = tmp_path / "own.toml"
    own.write_text('[[rule]]\ntemplate = "cpu_on {n:uint}"\nvalue = "n"\nunit = "us"\n')
    whole = ["show", str(path), "--rules", str(own)]
    assert main(whole) == 0
    assert main([*whole, "--limit", "records=4"]) == 2
    out, err = capsys.readouterr()
    assert "holds more than 4 records, the first ones are kept (--limit records=N)" in err
    assert "limit" in out
    assert main([*whole, "--limit", "template=4"]) == 2
    assert "--limit template=N" in capsys.readouterr().err


def test_an_unknown_limit_is_told_the_names(tmp_path, capsys):
    for wrong in ("colour=4", "colour", "=4"):
        with pytest.raises(SystemExit) as told:
            main(["show", str(tmp_path), "--limit", wrong])
        assert told.value.code == 2
        err = " ".join(capsys.readouterr().err.split())
        assert all(field.name in err for field in fields(tg.Limits))
    for wrong in ("keys", "keys=x", "keys=0", "keys=-1"):
        with pytest.raises(SystemExit):
            main(["show", str(tmp_path), "--limit", wrong])
        assert "keys=16M" in capsys.readouterr().err
    for wrong in ("18446744073709551616", "16777216T", "9" * 5000):
        with pytest.raises(SystemExit):
            main(["show", str(tmp_path), "--limit", f"keys={wrong}"])
        assert "keys is at most 18446744073709551615" in capsys.readouterr().err


def test_every_limit_is_in_the_help_and_on_the_page_about_security(capsys):
    with pytest.raises(SystemExit):
        main(["show", "--limit", "list"])
    words = capsys.readouterr().out
    page = (Path(__file__).parent.parent.parent / "SECURITY.md").read_text()
    for field in fields(tg.Limits):
        assert field.name in words
        assert f"`{field.name}`" in page


def test_a_limit_is_a_whole_number_from_one_on():
    for wrong in (0, -1, 1.5, "7", 1 << 64):
        with pytest.raises(ValueError, match="keys is a whole number"):
            tg.Limits(keys=wrong)


@pytest.mark.parametrize("name", [field.name for field in fields(tg.Limits)])
def test_the_largest_limit_is_none(name):
    limits = tg.Limits(**{name: 64 if name == "layers" else (1 << 64) - 1})
    vcd = b"$var wire 1 ! a $end\n$enddefinitions $end\n#0\n1!\n#9\n0!\n"
    assert tg.read(b"fft 8 points: 1.5 usec\n", rules=RULE, limits=limits).infos[0].records == 1
    assert tg.read(vcd, limits=limits).samples == 10


@pytest.mark.parametrize("form", ["gz", "zip"])
def test_layers_go_down_to_the_most_that_can_be_asked_for(form):
    data = [b"fft 8 points: 1.5 usec\n"]
    for _ in range(65):
        packed = io.BytesIO()
        if form == "gz":
            packed.write(gzip.compress(data[-1], mtime=0))
        else:
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("a", data[-1])
        data.append(packed.getvalue())
    limits = tg.Limits(layers=64)
    assert tg.read(data[64], rules=RULE, limits=limits).infos[0].records == 1
    beyond = tg.read(data[65], rules=RULE, limits=limits).infos[0]
    assert beyond.state == "limit"
    assert beyond.message.startswith("more than 64 ")
    with pytest.raises(ValueError, match="layers is a whole number from 1 to 64, not 65"):
        tg.Limits(layers=65)


def test_the_longest_line_is_a_number_of_64_bits():
    log = b"fft 8 points: 1.5 usec\n"
    assert tg.read(log, rules=RULE, max_line=(1 << 64) - 1).infos[0].records == 1
    for wrong in (-1, 1 << 64):
        with pytest.raises(ValueError, match="max_line is a number of bytes below"):
            tg.read(log, rules=RULE, max_line=wrong)


# ---- TOML --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 20_000 + " = 1\n",
        "[a" + ".a" * 20_000 + "]\n",
        "x = {a" + ".a" * 20_000 + " = 1}\n",
        '"a"' + '."a"' * 20_000 + " = 1\n",
        "# a comment is none " + "." * 200 + "\n" + "a" + " . a" * 20_000 + " = 1\n",
    ],
)
def test_a_key_of_many_parts_is_refused_before_the_parser_sees_it(text, tmp_path):
    """The parser of the standard library takes 16 s for each."""
    path = tmp_path / "rules.toml"
    path.write_text(text)
    for read in (tg.load_rules, platforms.load):
        with pytest.raises(tg.LimitError, match="more than 64 dots in a key") as caught:
            read(path)
        assert caught.value.path == str(path)


def test_a_toml_file_has_a_largest_size(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_bytes(b"# " + b"x" * (4 << 20))
    for read in (tg.load_rules, platforms.load):
        with pytest.raises(tg.LimitError, match="a TOML file of more than 4194304 bytes"):
            read(path)
