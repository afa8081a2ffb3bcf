"""Histograms: a row stands for many readings. Right values are sums of the printed counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg

DATA = Path(__file__).parents[1] / "data" / "suspend"


def rows_of(data):
    stats = data.stats()
    return {
        (row["metric"], row["cpu"], row["labels"]): row
        for row in (stats.row(i) for i in range(len(stats)))
    }


def test_cyclictest_counts_per_thread_and_beyond_the_top():
    rows = rows_of(tg.read(DATA / "04_cyclictest_hist.txt"))
    first = rows["latency", None, "thread=0"]
    assert (first["n"], first["median"], first["max"]) == (10002, 13000, 14000)
    assert np.isinf(first["max_below"])  # two samples lie beyond the last bucket
    second = rows["latency", None, "thread=1"]
    assert (second["n"], second["median"], second["p99.9"]) == (6667, 13000, 13000)


def test_rtla_counts_per_cpu():
    rows = rows_of(tg.read(DATA / "05_rtla_timerlat_hist.txt"))
    for cpu, zero in ((0, 9000), (1, 8800)):
        irq = rows["IRQ", cpu, None]
        assert (irq["n"], irq["median"], irq["p99"], irq["max"]) == (10000, 0, 1000, 2000), zero
        assert rows["Thr", cpu, None]["n"] == 10000
        assert rows["Thr", cpu, None]["p99.9"] == 9000


def test_a_table_whose_sums_differ_from_its_own_total_is_told():
    text = (DATA / "05_rtla_timerlat_hist.txt").read_text()
    data = tg.read(text.replace("count:    10000     10000", "count:    10000     10007").encode())
    assert data.problems["reason"].tolist() == ["total"]
    assert "column Thr-000 has 10000 readings in the table" in data.problems["detail"][0]


def test_ranges_give_quantiles_with_bounds():
    (row,) = rows_of(tg.read(DATA / "06_bpftrace_hist.txt")).values()
    assert row["n"] == 353
    assert (row["median"], row["median_below"]) == (8000, 16000)  # ns: [8, 16) us
    assert (row["max"], row["max_below"]) == (1_024_000, 2_048_000)


def test_a_map_without_a_name_has_its_key_as_label():
    # print_lhist and print_hist of bpftrace's output.cpp: "@[key]: ", then a row a bucket
    text = (
        "@[kworker/0:1]: \n[2, 4)                 5 |@@@@@      |\n"
        "[4, 8)                11 |@@@@@@@@@@@|\n\n"
        "@[bash]: \n[1]                    3 |@@@        |\n"
        "[2, 4)                 7 |@@@@@@@    |\n"
    )
    rows = rows_of(tg.read(text.encode()))
    assert {key: row["n"] for key, row in rows.items()} == {
        ("value", None, "key=kworker/0:1"): 16,
        ("value", None, "key=bash"): 10,
    }


def test_quantiles_of_counts_are_those_of_the_readings_one_by_one():
    random = np.random.default_rng(5)
    for _ in range(20):
        values = random.choice(200, size=30, replace=False)
        counts = random.integers(1, 400, size=30)
        table = "".join(f"{v:06d} {c:06d}\n" for v, c in zip(values, counts, strict=True))
        text = f"# Histogram\n{table}# Histogram Overflow at cycle number:\n"
        (row,) = rows_of(tg.read(text.encode())).values()
        every = np.repeat(values, counts) * 1000
        assert row["n"] == counts.sum()
        for name, q in (("median", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
            if row[name] is not None:
                assert row[name] == np.quantile(every, q, method="inverted_cdf"), name


def test_a_comparison_of_counts_is_that_of_the_readings():
    """Seven thousand million samples are judged without being written out."""

    def side(shift):
        rows = "".join(f"{10 + shift + i:06d} 1000000000\n" for i in range(7))
        return tg.read(f"# Histogram\n{rows}# Histogram Overflow at cycle number:\n".encode())

    result = tg.compare(side(0), side(5))
    row = result.rows.row(0)
    assert (row["old"], row["new"]) == (13000, 18000)


def test_only_the_last_update_of_a_thread_counts():
    old = tg.read(DATA / "03_cyclictest_updates_old.txt")
    new = tg.read(DATA / "03_cyclictest_updates_new.txt")
    assert len(old.readings) == 3
    assert rows_of(old)["max", None, "interval=1000 prio=99 thread=0"]["max"] == 120_000
    assert rows_of(new)["max", None, "interval=1000 prio=99 thread=0"]["max"] == 900_000


def test_two_runs_in_one_log_are_two_results():
    line = "T: 0 (  412) P:99 I:1000 C:{:7d} Min:{:7d} Act:{:5d} Avg:{:5d} Max:{:8d}\n"
    states = [(100, 8, 9, 9, 30), (200, 8, 9, 9, 40), (100, 7, 9, 9, 20), (300, 7, 9, 9, 90)]
    data = tg.read("".join(line.format(*state) for state in states).encode())
    readings = data.readings.select(metric="max")
    assert readings["value"].tolist() == [40, 90]
    assert readings["run"].tolist() == [0, 1]


def test_screens_that_are_drawn_again_give_their_last_state():
    """rtla timerlat top clears the screen and prints its table anew, four times here."""
    side = "      cur       min       avg       max"
    screen = (
        "\x1b[2J\x1b[1;1H                         Timer Latency\n"
        "  0 00:00:01   |          IRQ Timer Latency (us)        |   Thread Timer Latency (us)\n"
        f"CPU COUNT      |{side} |{side}\n"
        "  0 #{}     |        0         0         1        {} |       9       3        10      34\n"
        "  1 #{}     |        0         0         1        {} |       9       3        10      35\n"
    )
    text = "".join(screen.format(1000 * k, 10 + k, 1000 * k, 20 + k) for k in range(1, 5))
    data = tg.read(text.encode())
    stats = data.select(metric="irq_max").stats()
    assert stats["n"].tolist() == [1, 1]
    assert stats["max"].tolist() == [14000, 24000]
    assert len(data.problems) == 0


#: Tables as the programs print them: rt-tests/cyclictest.c, rtla/timerlat_*.c, bcc/table.py,
#: bpftrace/output.cpp. Of each key (metric, cpu, labels): n, median, end of the range of max.
TABLES = {
    "cyclictest -H": (
        "# Histogram\n000001 000010\t000020\t000030\n000002 000011\t000021\t000032\n"
        "000003 000012\t000022\t000034\n# Min Latencies: 00001 00001\n"
        "# Max Latencies: 00031 00112 00112\n# Histogram Overflows: 00001 00003 00004\n"
        "# Histogram Overflow at cycle number:\n",
        {
            ("latency", None, "thread=0"): (34, 2000, np.inf),  # 10 + 11 + 12, and 1 beyond
            ("latency", None, "thread=1"): (66, 2000, np.inf),
        },
    ),
    "cyclictest -h, three threads": (
        "# Histogram\n000001 000010\t000020\t000030\n000002 000011\t000021\t000032\n"
        "000003 000012\t000022\t000035\n# Histogram Overflow at cycle number:\n",
        {
            ("latency", None, "thread=0"): (33, 2000, None),
            ("latency", None, "thread=1"): (63, 2000, None),
            ("latency", None, "thread=2"): (97, 2000, None),
        },
    ),
    "rtla timerlat hist -u": (
        "# RTLA timerlat histogram\n# Time unit is nanoseconds (ns)\n# Duration:   0 00:10:01\n"
        "Index   IRQ-001   Thr-001   Usr-001\n0        477555         0         0\n"
        "1000     122385      7998         0\n2000         47    587376    492150\n"
        "over:         0         0         3\ncount:   599987    595374    492153\n"
        "min:          0         1         2\navg:          0         1         2\n"
        "max:          2         2        31\nALL:        IRQ       Thr       Usr\n"
        "count:   599987    595374    492153\n",
        {
            ("IRQ", 1, None): (599987, 0, None),
            ("Thr", 1, None): (595374, 2000, None),
            ("Usr", 1, None): (492153, 2000, np.inf),
        },
    ),
    "rtla timerlat hist --no-summary": (
        "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:02\n"
        "Index   IRQ-000   Thr-000\n0           100         0\n1            20        90\n",
        {("IRQ", 0, None): (120, 0, None), ("Thr", 0, None): (90, 1000, None)},
    ),
    "runqlat -P": (
        "Tracing run queue latency... Hit Ctrl-C to end.\n\npid = 0\n"
        "     usecs               : count     distribution\n"
        "         0 -> 1          : 351      |****|\n         2 -> 3          : 96       |*|\n\n"
        "pid = 12929 'bash'\n     usecs               : count     distribution\n"
        "         0 -> 1          : 1        |****|\n         2 -> 3          : 0        ||\n"
        "         4 -> 7          : 1        |****|\n\n"
        "Tracing block device I/O... Hit Ctrl-C to end.\n\n"
        "     msecs               : count     distribution\n"
        "         0 -> 1          : 7        |****|\n",
        {
            ("usecs", None, "by=pid key=0"): (447, 0, 4000),
            ("usecs", None, "by=pid key=\"12929 'bash'\""): (2, 0, 8000),
            ("msecs", None, None): (7, 0, 2_000_000),
        },
    ),
    "bpftrace": (
        "Attaching 3 probes...\n\n@:\n[0]                    3 |@@@@@@   |\n"
        "[1]                    4 |@@@@@@@@ |\n\n"
        "@ns[umount]:\n[16K, 32K)             3 |      |\n[1M, 2M)             131 |@@@@@@|\n\n"
        "@usecs[1234, read]: \n[4, 8)                 2 |      |\n\n@start[12]: 7172596442409\n\n"
        "@delta:\n[-16, -8)              2 |@@    |\n[-8, 0)                1 |@     |\n"
        "[0, 8)                 4 |@@@@  |\n[8, ...)               1 |@     |\n",
        {
            ("value", None, None): (7, 1, None),
            ("ns", None, "key=umount"): (134, 1 << 20, 2 << 20),
            ("usecs", None, 'key="1234, read"'): (2, 4000, 8000),
            ("delta", None, None): (8, 0, np.inf),
        },
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_every_program_give_their_own_counts(name):
    text, want = TABLES[name]
    data = tg.read(text.encode())
    rows = rows_of(data)
    assert len(data.problems) == 0
    assert {k: (row["n"], row["median"]) for k, row in rows.items()} == {
        k: (n, median) for k, (n, median, _) in want.items()
    }
    for key, (_, _, end) in want.items():
        assert rows[key].get("max_below") == end, key


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_the_json_of_cyclictest_gives_what_its_table_gives(unit):
    thread = {"cycles": 1000, "min": 2, "max": 31, "avg": 2.88, "cpu": 1, "node": 0}
    document = {
        "file_version": 1, "cmdline:": "cyclictest -q -h 4 --json=x", "rt_test_version:": "2.40",
        "return_code": 0, "num_threads": 2, "resolution_in_ns": int(unit == "ns"),
        "thread": {
            "0": {"histogram": {"2": 123, "3": 876}, **thread},  # one cycle is beyond
            "2": {"histogram": {"2": 100, "4": 900}, **thread, "max": 4},
            "1": {"histogram": {}, **thread, "cycles": 0},
        },
    }  # fmt: skip
    data = tg.read(json.dumps(document, indent=2).encode())
    rows = rows_of(data)
    scale = 1000 if unit == "us" else 1
    first, last = rows["latency", None, "thread=0"], rows["latency", None, "thread=2"]
    assert (first["n"], first["median"], first["max_below"]) == (1000, 3 * scale, np.inf)
    assert (last["n"], last["median"], last["max"]) == (1000, 4 * scale, 4 * scale)
    assert rows["max", 1, "thread=2"]["max"] == 4 * scale
    assert rows["avg", 1, "thread=0"]["median"] == pytest.approx(2.88 * scale)
    assert len(data.problems) == 0
    broken = json.dumps({**document, "thread": [1]}).encode()
    with pytest.raises(tg.InputError, match="without its member 'thread'"):
        tg.read(broken)


def test_values_below_the_first_bucket_are_told():
    """Nothing is known of them but that they are less: no quantile is made of them."""
    text = "@lin:\n(..., 0)               3 |@@@@  |\n[0, 200)              66 |@@@@@@|\n\n"
    data = tg.read(text.encode())
    assert rows_of(data)["lin", None, None]["n"] == 66
    assert data.problems["reason"].tolist() == ["row"]
    assert "(..., 0)" in data.problems["excerpt"][0]


def test_the_user_threads_of_rtla_top_and_its_line_of_all():
    group = "      cur       min       avg       max"
    text = (
        "                                     Timer Latency\n"
        "  0 00:00:01   |  IRQ Timer Latency (us)  |  Thread Timer Latency (us)  |  Ret user\n"
        f"CPU COUNT      |{group} |{group} |{group}\n"
        "  0 #1001      |  0  0  0  11 |  2  1  2  12 |  3  2  3  22\n"
        "---------------|-----|-----|-----\n"
        "ALL #1001  e0  |  0  0  11 |  1  2  12 |  2  3  22\n"
    )
    data = tg.read(text.encode())
    assert len(data.problems) == 0
    assert {k[0]: row["max"] for k, row in rows_of(data).items()}["user_max"] == 22000
    assert len(data.readings) == 9


@pytest.mark.parametrize(
    ("rules", "log", "want"),
    [
        ("13.toml", "13_section_header_label.txt", {"mode=deep step=resume": 300_000_000,
                                                    "mode=s2idle step=resume": 20_000_000}),
    ],
)  # fmt: skip
def test_fields_of_a_head_line_are_labels(rules, log, want):
    data = tg.read(DATA / log, rules=DATA / rules)
    assert {k[2]: row["median"] for k, row in rows_of(data).items()} == want
    assert len(data.problems) == 0


def test_the_line_behind_labels_a_line():
    """The six callbacks of one device belong to six phases."""
    data = tg.read(DATA / "12_callback_two_phases.txt", rules=DATA / "12.toml")
    got = {row["labels"].partition("phase=")[2].partition(" ret")[0]: row["median"]
           for row in rows_of(data).values()}  # fmt: skip
    assert got == {
        "suspend": 22_240_000, '"late suspend"': 15_273_000, '"noirq suspend"': 0,
        '"noirq resume"': 14_589_000, '"early resume"': 8_000, "resume": 46_076_000,
    }  # fmt: skip


def test_a_template_that_matches_without_its_value_says_so():
    data = tg.read(DATA / "18_optional_bracket.txt", rules=DATA / "18.toml")
    assert data.problems["reason"].tolist() == ["no-value"]
    assert "[[ is the character" in data.problems["detail"][0]


IN_EIGHT_LINES = {
    "argsort": (
        """
[[rule]]
template = "{program:word}~: size ~: {size:uint}"
tag = "size"
[[rule]]
template = "{program:word}~: average_time ~: ~{time:dec} # [[msec]]"
value = "time"
unit = "ms"
context = "size"
""",
        "generate_expect: size         : 1000\ngenerate_expect: average_time :  900.000 # [msec]\n"
        "argsort_test   : size         : 1000\nargsort_test   : average_time :    1.000 # [msec]\n"
        "argsort_test   : size         : 50000\nargsort_test   : average_time :  40.000 # [msec]\n",
        {
            "program=generate_expect size=1000": 900e6,
            "program=argsort_test size=1000": 1e6,
            "program=argsort_test size=50000": 40e6,
        },
    ),
    "cyclictest -h": (
        """
[[rule]]
template = "# Histogram$"
end = "# Histogram Overflow at cycle number:"
rows = { bin = "^{us:uint} {n:text}", over = "^# {_:word} Overflows: {n:text}", _ = "^# {_:text}" }
values = { latency = "us" }
count = "n"
columns = "{thread}"
unit = "us"
""",
        (DATA / "04_cyclictest_hist.txt").read_text().partition("# Histogram\n")[2],
        {"thread=0": 13000, "thread=1": 13000},
    ),
    "bpftrace": (
        """
[[rule]]
template = "^@{metric:word}:~$"
tag = "@"
unit = "{metric}"
rows = { one = "^[[{v:size}]] ~{n:uint} ~|", range = "^[[{v:size}, {end:word}) ~{n:uint} ~|" }
value = "v"
below = "end"
count = "n"
""",
        (DATA / "06_bpftrace_hist.txt").read_text(),
        {None: 8000},  # ns: the bucket from 8 us on
    ),
    "device callbacks": (
        """
[[rule]]
template = "PM: {phase:text} of devices complete after {_:dec} msecs"
[[rule]]
template = "call {device:word}+ returned {_:int} after {us:uint} usecs"
value = "us"
unit = "us"
before = "pm"
""",
        "call a+ returned 0 after 5 usecs\nPM: suspend of devices complete after 1.0 msecs\n"
        "call a+ returned 0 after 7 usecs\nPM: resume of devices complete after 1.0 msecs\n",
        {"device=a phase=suspend": 5000, "device=a phase=resume": 7000},
    ),
    "sleep modes": (
        """
[[rule]]
template = "[[~{t:dec}]] PM: suspend entry ({mode:word})"
until = "[[~{t:dec}]] PM: suspend exit"
value = "t"
unit = "s"
""",
        "[  1.5] PM: suspend entry (deep)\n[  2.5] PM: suspend exit\n"
        "[  3.0] PM: suspend entry (s2idle)\n[  3.2] PM: suspend exit\n",
        {"mode=deep": 1e9, "mode=s2idle": 2e8},
    ),
}


@pytest.mark.parametrize("name", IN_EIGHT_LINES)
def test_it_is_said_in_at_most_eight_lines_of_toml(tmp_path, name):
    toml, text, want = IN_EIGHT_LINES[name]
    assert len(toml.strip().splitlines()) <= 8
    path = tmp_path / "mine.toml"
    path.write_text(toml)
    head = "# Histogram\n" if name == "cyclictest -h" else ""
    data = tg.read((head + text).encode(), rules=path)
    stats = data.stats()
    rows = [stats.row(i) for i in range(len(stats))]
    assert {row["labels"]: row["median"] for row in rows if row["format"] == "mine"} == want


def test_rtla_is_said_in_eight_lines_of_toml(tmp_path):
    path = tmp_path / "mine.toml"
    rows = {
        "unit": "^# Time unit is {_:word} ({u:word})", "head": "^Index ~{columns:text}",
        "bucket": "^{us:uint} ~{n:text}", "over": "^over: ~{n:text}", "rest": "^# {_:text}",
    }  # fmt: skip
    listed = ", ".join(f'{kind} = "{template}"' for kind, template in rows.items())
    toml = f"""[[rule]]
template = "# RTLA timerlat histogram"
end = "^count:"
rows = {{ {listed} }}
values = {{ latency = "us" }}
count = "n"
columns = "{{metric}}-{{cpu}}"
unit = "{{u}}"
"""
    assert len(toml.splitlines()) == 8
    path.write_text(toml)
    stats = tg.read(DATA / "05_rtla_timerlat_hist.txt", rules=path).stats()
    assert stats["n"].tolist() == [10000] * 4
    assert stats["metric"].tolist() == ["IRQ", "IRQ", "Thr", "Thr"]


def test_plots_see_each_row_as_often_as_it_counts():
    readings = tg.read(DATA / "04_cyclictest_hist.txt").select(labels="thread=1").readings
    spread = readings.spread()
    assert len(spread) == 6667
    values, counts = np.unique(spread["value"], return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {9: 267, 10: 3000, 13: 3400}
    few = readings.spread(most=100)
    assert len(few) <= 103
    assert set(few["value"].tolist()) == {9, 10, 13}
    assert few["ns"].tolist() == [v * 1000 for v in few["value"].tolist()]
