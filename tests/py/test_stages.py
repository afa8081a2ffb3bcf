"""Stages of boots on their axes, two versions beside each other, the evidence for a format."""

from __future__ import annotations

import pytest

import tickgauge as tg
from support.boot_truth import boot_log
from tickgauge.cli import main
from tickgauge.comparison.boot_delta import boot_delta, median_boot
from tickgauge.dataset.stages import beside
from tickgauge.dataset.timeline import boots_of, joins_of, strip_lines, timeline
from tickgauge.errors import InputError, NotComparableError

BOOT = """\
PMF:cpu 0\ttid 0\tts 100000
NOTICE:  BL1: v2.12.0(debug):v2.12.0
PMF:cpu 0\ttid 1\tts {bl1}
U-Boot 2024.01 (Jan 08 2024 - 15:37:48 +0000)
Timer summary in microseconds (3 records):
       Mark    Elapsed  Stage
          0          0  reset
    {first}    {first}  board_init_f
  1,000,000    {second}  board_init_r

Accumulated time:
                10,017  dm_r
"""
TWO = BOOT.format(bl1=300000, first="750,000", second="250,000") + BOOT.format(
    bl1=310000, first="500,000", second="500,000"
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "boots.log"
    path.write_text(TWO)
    return path


def test_clocks_that_nothing_ties_are_shown_apart(log):
    strips, notes = timeline(tg.read(log, clock="50MHz"), 0)
    assert [[clock.name for clock in strip.clocks] for strip in strips] == [["counter"], ["U-Boot"]]
    assert [strip.length for strip in strips] == [4_000_000, 1_000_000_000]  # 200000 of 50 MHz
    assert "no line ties these clocks: counter; U-Boot" in notes[0]
    # 750 ms and 250 ms of 1000 ms: 36 and 12 of 48 characters, the second behind the first.
    lines = strip_lines(strips[1], 48 + 25 + len(" bootstage: board_init_r"))
    assert [line.split("|")[1] for line in lines if "board" in line] == [
        "=" * 36 + " " * 12, " " * 36 + "#" * 12,
    ]  # fmt: skip


def test_a_join_of_the_user_puts_them_on_one_axis(log):
    data = tg.read(log, clock="50MHz")
    strips, notes = timeline(data, 0, joins_of(["counter=U-Boot+100ms"]))
    assert (len(strips), notes) == (1, [])
    bars = {bar.name: (bar.start, bar.ns) for bar in strips[0].bars}
    assert bars["BL1"] == (102_000_000, 4_000_000)  # tick 100000 is 2 ms behind its zero
    assert bars["begin .. BL1"] == (0, 102_000_000)
    assert bars["BL1 .. board_init_r"] == (106_000_000, 644_000_000)
    notes = timeline(data, 0, joins_of(["counter=kernel"]))[1]
    assert "--join: no clock kernel in this boot; there are counter, U-Boot" in notes
    for text in ("counter", "counter=", "a=b+5", "a=b+5min"):
        with pytest.raises(InputError, match="not of the form"):
            joins_of([text])


def test_ticks_without_a_clock_are_an_axis_of_their_own(log):
    strips, notes = timeline(tg.read(log), 0, joins_of(["counter=U-Boot"]))
    assert [strip.unit for strip in strips] == ["ticks", "ms"]
    assert strips[0].length == 200_000
    assert any("counter: in ticks and by itself" in note for note in notes)


def test_boots_stand_beside_each_other(log):
    rows = {row["stage"]: row for row in beside(tg.read(log).stages).to_records()}
    assert (rows["board_init_f"]["boot 0"], rows["board_init_f"]["boot 1"]) == (750.0, 500.0)
    assert (rows["BL1"]["unit"], rows["BL1"]["boot 1"]) == ("tick", 210000)  # no clock is known


def test_show_stages(log, capsys):
    assert main(["show", "--stages", str(log)]) == 0
    out = capsys.readouterr().out
    assert "boot 1: 1000.000 ms by the clock U-Boot" in out
    assert "beside each other" in out


@pytest.mark.parametrize("seed", range(6))
def test_all_clocks_of_a_stamped_console_lie_on_one_axis(seed):
    """The zero of each clock lies within its bounds, and gaps are what the stages leave."""
    text, truth = boot_log(seed, boots=3)
    data = tg.read(text.encode())
    assert boots_of(data) == [0, 1, 2]
    for boot in range(3):
        strips, notes = timeline(data, boot)
        assert (len(strips), notes) == (1, [])
        (strip,) = strips
        at = truth[boot]
        begin = strip.clocks[0].zero  # of the host's clock, from the begin of the strip
        for clock in strip.clocks[1:]:
            true = begin + at.zero[clock.name]
            assert clock.zero - clock.early <= true <= clock.zero, clock
        claimed = [0] * (strip.length // 100_000 + 2)  # a slow count, in steps of 0.1 ms
        for bar in strip.bars:
            if not bar.gap and (not bar.whole or bar.name in at.lone):
                for k in range(bar.start // 100_000, -(-bar.finish // 100_000)):
                    claimed[k] = 1
        free = sum(not one for one in claimed[: strip.length // 100_000]) * 100_000
        assert abs(free - strip.unclaimed) <= 100_000 * 2 * len(strip.bars)


def test_lines_that_arrive_late_only_widen_the_bounds():
    """A host that buffers: every arrival is later by up to 40 ms, never earlier."""
    text, truth = boot_log(1, boots=1, late=40_000_000)
    (strip,), _ = timeline(tg.read(text.encode()), 0)
    for clock in strip.clocks[1:]:
        true = strip.clocks[0].zero + truth[0].zero[clock.name]
        assert clock.zero - clock.early <= true <= clock.zero


def test_the_stage_that_costs_it_is_found():
    old = tg.read(boot_log(3, boots=8)[0].encode())
    new = tg.read(boot_log(4, boots=8, slower={"wlan_init": 300, "to kernel": 200})[0].encode())
    delta = boot_delta(old, new)
    rows = {(r["service"], r["stage"]): r for r in delta.grid().to_records()}
    worse = {key for key, row in rows.items() if row["verdict"] == "regressed"}
    assert ("kernel", "wlan_init") in worse
    assert ("console", "to the kernel") in worse
    assert ("all", "the boot") in worse
    assert not {row["verdict"] for row in rows.values()} & {"only old", "only new"}
    assert rows["kernel", "wlan_init"]["change"] == pytest.approx(300, rel=0.05)
    assert not worse & {("kernel", "mmc_init"), ("boot", "BL2"), ("bootstage", "main_loop")}


def test_one_version_against_itself_regresses_nothing():
    sides = [tg.read(boot_log(seed, boots=8)[0].encode()) for seed in (5, 6)]
    verdicts = [row["verdict"] for row in boot_delta(*sides).grid().to_records()]
    assert verdicts.count("regressed") + verdicts.count("improved") <= 2  # of 29, at 5 %


def test_the_verb_boot(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    paths = []
    for seed in (7, 8):
        paths.append(tmp_path / f"{seed}.log")
        paths[-1].write_text(boot_log(seed, boots=3)[0])
    one, two = map(str, paths)
    drawn = tmp_path / "boot.png"
    assert main(["boot", one, "--plot", str(drawn)]) == 0
    said = capsys.readouterr().out
    assert f"boot {median_boot(tg.read(one))} of 3: the one of median length" in said
    assert "by the clocks console, counter, U-Boot, kernel, systemd; nobody claims" in said
    assert drawn.stat().st_size > 10_000
    assert main(["boot", one, two, "--plot", str(drawn)]) == 0
    assert "stages of boot (3 v 3), medians" in capsys.readouterr().out
    assert main(["boot", one, "--boot", "9"]) == 3
    assert "no boot 9 with stages; there are 0, 1, 2" in capsys.readouterr().err
    nothing = tmp_path / "none.log"
    nothing.write_text("call mmc0+ returned 0 after 5 usecs\n")
    assert main(["boot", str(nothing)]) == 3
    with pytest.raises(NotComparableError):
        boot_delta(tg.read(nothing), tg.read(one))


def test_lines_of_the_boot_fit_a_narrow_terminal():
    strips, _ = timeline(tg.read(boot_log(9, boots=1)[0].encode()), 0)
    bars = [line for line in strip_lines(strips[0], 78) if line.endswith("|")]
    assert max(map(len, bars)) <= 78


def test_every_format_has_its_evidence_and_score(tmp_path):
    path = tmp_path / "mixed.log"
    path.write_text(
        TWO
        + "min=1us max=2us mean=1us stddev=1us (cv 1%) (1MiB/s)\n"
        + "min=1us max=2us mean=1us stddev=1us (cv 1%) (1Mi\n"
    )
    evidence = {line.partition(":")[0]: line for line in tg.read(path).infos[0].evidence}
    assert set(evidence) == {"pmf", "bootstage", "xtest", "console"}
    assert "4 records" in evidence["pmf"]
    assert "score 100" in evidence["pmf"]
    assert "1 records (result), 1 torn (score 50)" in evidence["xtest"]
