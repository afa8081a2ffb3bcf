"""What a TF-A console says of itself and must not be lost: banners, verdicts, torn tags."""

from __future__ import annotations

import re

import pytest

import tickgauge as tg
from tickgauge.cli import main

TEST = "> Executing 'CPU suspend on all cores in sequence'\n"
ROWS = [
    f"<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t{k}\t20{k}00\t1{k}00\t4000/>\n" for k in range(4)
]


def console(number="v2.14.0", build="release", rows=ROWS, verdict="Passed", end="\n"):
    banners = "".join(
        f"NOTICE:  {stage}: {number}({build}):v2.14.0\nNOTICE:  {stage}: Built : 10:00, May 18\n"
        for stage in ("BL1", "BL2", "BL31")
    )
    tftf = "NOTICE:  Booting trusted firmware test framework\nNOTICE:  v2.14(juno,release):v2.14\n"
    text = banners + tftf + TEST + "".join(rows) + "  TEST COMPLETE" + " " * 30 + f"{verdict}\n"
    return text.replace("\n", end).encode()


def facts(data):
    boot = data.boots.row(0)
    return boot["version"], boot["build"], boot["built"], boot["chain"]


def test_a_tab_behind_the_number_hides_no_build_type():
    """The Makefile of v2.10.0 leaves one."""
    data = tg.read(console("v2.10.0\t", "debug"))
    assert facts(data) == ("v2.14.0", "debug", "10:00, May 18", "BL1 BL2 BL31 TFTF")


def test_a_reset_at_the_line_end_is_no_part_of_a_version():
    plain, coloured = tg.read(console()), tg.read(console(end="\x1b[0m\n"))
    assert facts(plain) == facts(coloured)
    assert len(coloured.readings) == 12


def test_debug_is_not_compared_with_release(tmp_path, capsys):
    for name, text in (("old", console()), ("new", console("v2.14.0\t", "debug"))):
        (tmp_path / name).write_bytes(text)
    assert main(["table", str(tmp_path / "old"), str(tmp_path / "new")]) == 3
    err = capsys.readouterr().err
    assert "build type" in err and "release" in err and "debug" in err


def test_a_build_type_only_one_side_states_is_said(tmp_path, capsys):
    (tmp_path / "old").write_bytes(console())
    (tmp_path / "new").write_bytes(b"".join(console().splitlines(keepends=True)[6:]))
    assert main(["table", str(tmp_path / "old"), str(tmp_path / "new")]) in (0, 1)
    out = capsys.readouterr().out
    assert "does not state its build type" in out and "not checked" in out


def test_a_fact_that_a_banner_leaves_out_is_no_pass(tmp_path, capsys):
    """The console names its firmware and no platform: that it is the same board is a guess."""
    lines = console().splitlines(keepends=True)
    (tmp_path / "old").write_bytes(b"".join(lines))
    (tmp_path / "new").write_bytes(b"".join(x for x in lines if b"juno" not in x))
    args = ["table", str(tmp_path / "old"), str(tmp_path / "new")]
    assert main(args) == 3
    assert re.search("platform: .* has juno, .* does not state it", capsys.readouterr().err)
    assert main([*args, "--anyway"]) in (0, 1)


@pytest.mark.parametrize("damage", [("<RT_INSTR", "<RT_I\0STR"), ("<RT_INSTR", "\ufffdRT_INSTR")])
@pytest.mark.parametrize("row", range(4))
def test_a_damaged_tag_is_a_problem(damage, row):
    rows = [line.replace(*damage) if k == row else line for k, line in enumerate(ROWS)]
    data = tg.read("".join(map(str, [console(rows=rows).decode()])).encode())
    assert len(data.readings) == 9
    assert data.problems["reason"].tolist() == ["mismatch"]
    line = console(rows=rows).split(b"\n").index(rows[row].rstrip().encode()) + 1
    assert data.problems["line"].tolist() == [line]


def test_a_record_with_a_whole_tag_that_is_cut_is_one_problem():
    data = tg.read(console(rows=[ROWS[0], ROWS[1][:50] + "\n", *ROWS[2:]]))
    assert len(data.problems) == 1


def test_the_name_of_a_record_elsewhere_is_none_before_the_test_framework_speaks():
    assert (
        len(tg.read(b"see test_rt_instr_susp\nREE time: 1 seconds, 5 milliseconds\n").problems) == 0
    )


@pytest.mark.parametrize("verdict", ["Failed", "Crashed"])
def test_values_of_a_test_that_failed_are_told(verdict):
    data = tg.read(console(verdict=verdict))
    assert data.problems["reason"].tolist() == ["test-failed"]
    assert f"cpu_susp_serial has the verdict {verdict}, and 4 records" in data.problems["detail"][0]


def test_a_test_that_passed_without_a_record_is_told():
    data = tg.read(console(rows=[]))
    assert data.problems["reason"].tolist() == ["no-record"]


def test_an_old_verdict_goes_to_the_test_that_it_names():
    text = (
        "NOTICE:  Starting unittest 'Suite - CPU suspend on all cores in parallel'\r\n"
        "<RT_INSTR:test_rt_instr_susp_parallel\t0\t100000\t15000\t8000/>\r\n"
        "<RT_INSTR:test_rt_instr_psci_version_parallel\t4\t520/>\r\n"
        "NOTICE:  Unittest 'Suite - CPU suspend on all cores in parallel' complete. "
        "Result: Passed\r\n"
    )
    tests = tg.read(text.encode()).tests
    assert tests["test"].tolist() == ["cpu_susp_parallel", "psci_version_parallel"]
    assert tests["verdict"].tolist() == ["Passed", None]


def test_the_reason_of_a_crash_is_the_whole_message():
    data = tg.read(TEST.encode() + b"Unhandled exception on CPU3.\r\nSystem registers:\r\n")
    assert data.tests["reason"].tolist() == ["Unhandled exception on CPU3."]


REPORT = """\
=> bootstage report
Timer summary in microseconds (3 records):
       Mark    Elapsed  Stage
          0          0  reset
    {first}    {first}  board_init_f
  1,000,000    {rest}  main_loop

"""


def test_two_bootstage_reports_of_other_marks_are_two_boots():
    one = REPORT.format(first="600,000", rest="400,000")
    two = REPORT.format(first="700,000", rest="300,000")
    data = tg.read((one + two).encode())
    assert len(data.boots) == 2
    found = data.readings.select(operation="board_init_f")
    assert found["boot"].tolist() == [0, 1]
    assert found.ns.tolist() == [600_000_000, 700_000_000]


def test_the_same_bootstage_report_twice_is_one_boot():
    assert len(tg.read((REPORT.format(first="600,000", rest="400,000") * 2).encode()).boots) == 1


def test_a_page_whose_table_file_is_missing_is_told(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(
        "Runtime Instrumentation Testing - Juno\n======================================\n\n"
        ".. csv-table:: ``CPU_SUSPEND`` latencies (ns) to deepest power level in parallel (new)\n"
        "    :header: Cluster, Core, Powerdown, Wakeup, Cache Flush\n"
        "    :file: data/juno/current/test_rt_instr_susp_deep_parallel.csv\n\n"
        ".. table:: ``CPU_SUSPEND`` latencies (ns) to deepest power level in serial (v2.14)\n\n"
        "    +---------+------+-----------+--------+-------------+\n"
        "    | Cluster | Core | Powerdown | Wakeup | Cache Flush |\n"
        "    +---------+------+-----------+--------+-------------+\n"
        "    |    0    |  0   |   2000    |  3000  |     500     |\n"
        "    +---------+------+-----------+--------+-------------+\n"
    )
    pytest.importorskip("docutils")
    data = tg.read(page)
    assert len(data.readings) == 3
    assert "data/juno/current/test_rt_instr_susp_deep_parallel.csv" in data.problems["detail"][0]


@pytest.mark.parametrize(
    "said, hz", [("62.50", 62_500_000), ("24.00", 24_000_000), ("33.33", None), ("3.12", None)]
)
def test_the_kernel_names_the_clock_where_no_other_line_does(said, hz):
    """Two digits are all it prints: what they may have cut is not taken for the frequency."""
    log = (
        "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd034]\n"
        f"[    0.000000] arch_timer: cp15 timer(s) running at {said}MHz (phys).\n"
    )
    data = tg.read(console() + log.encode())
    assert data.boots["clock_hz"].tolist() == [hz]
    keys = {(k["clock_hz"], k["origin"]) for k in map(data.keys.row, range(len(data.keys)))}
    assert keys == {(hz, "log") if hz else (50_000_000, "platform")}
