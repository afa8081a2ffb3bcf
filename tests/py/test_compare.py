"""compare: published releases, hand-made boots, words, files."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

import tickgauge as tg
from support.sides import JUNO, boots, release
from tickgauge.comparison.options import parse_margin
from tickgauge.comparison.pack import pack
from tickgauge.comparison.side import Key, Side, merged


def row_of(made, **where):
    rows = made.rows.select(**where)
    assert len(rows) == 1
    return rows.row(0)


# ---- published releases -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def n1sdp():
    return tg.compare(release("n1sdp", "fe7d06a67", "v2.9"), release("n1sdp", "fe7d06a67", "v2.10"))


def test_every_n1sdp_wakeup_is_up_as_published_and_unreplicated(n1sdp):
    wakeups = n1sdp.rows.select(metric="wakeup")
    assert len(wakeups) == 20
    percent = np.array(wakeups["percent"])
    assert (round(percent.min(), 2), round(percent.max(), 2)) == (128.63, 195.52)
    assert set(n1sdp.rows["verdict"]) == {"unreplicated"}
    assert n1sdp.header[0].startswith("unit: boot (1 v 1), margin 5 %")


def test_one_line_says_what_unreplicated_means_and_what_settles_it(n1sdp):
    (line,) = n1sdp.explanations()
    assert line.startswith("unreplicated: one boot a side")
    assert "4 boots a side" in line
    assert " ".join(line.split()) in " ".join(str(n1sdp).split())


@pytest.fixture(scope="module")
def juno():
    return tg.compare(release("juno", *JUNO[3]), release("juno", *JUNO[4]))


def test_lock_order_is_told_from_cost(juno):
    group = next(
        juno.groups.row(i) for i in range(len(juno.groups))
        if juno.groups.row(i)["group"] == "cpu_susp_parallel powerdown"
    )  # fmt: skip
    assert (round(group["core_low"]), round(group["core_high"])) == (-58, 417)
    assert (round(group["rank_low"], 2), round(group["rank_high"], 2)) == (0.02, 0.39)
    assert "lock order, not cost" in group["note"]
    assert round(group["ols_a_new"] / 1000, 1) == 104.7
    assert round(group["ols_b_new"] / 1000, 1) == 145.2
    ranks = juno.rows.select(test="cpu_susp_parallel", metric="powerdown")
    assert len(ranks) == 6
    assert set(ranks["verdict"]) == {"unreplicated"}
    assert sorted(ranks["rank"]) == [f"{n}/6" for n in range(1, 7)]


def test_a_common_factor_is_reported_once():
    made = tg.compare(release("juno", *JUNO[2]), release("juno", *JUNO[3]))
    found = [f for f in made.factors if f["metric"] == "cache_flush" and f["cluster"] == 0]
    assert [round(f["factor"], 2) for f in found] == [1.22]
    assert "common factor x1.22: serial cache_flush of cluster 0 (Cortex-A57) (4 keys)" in str(made)
    assert set(found[0]["keys"]) == {
        "susp_deep_serial cache_flush 0,0",
        "susp_deep_serial cache_flush 0,1",
        "cpu_off_serial cache_flush 0,0",
        "cpu_off_serial cache_flush 0,1",
    }


def test_the_last_cpu_down_is_a_key_of_its_own(juno):
    keys = [k for k in juno.rows["key"] if "last down" in k]
    assert sorted(keys) == [f"susp_deep_parallel cache_flush cluster {c} last down" for c in (0, 1)]
    # the last man's L2 flush hardly moved, the others lost theirs
    for key in keys:
        assert abs(row_of(juno, key=key)["percent"]) < 5


def test_exchange_can_be_overridden():
    old, new = release("juno", *JUNO[3]), release("juno", *JUNO[4])
    plain = tg.compare(old, new, exchange="none")
    assert len(plain.groups) == 0
    row = row_of(plain, test="cpu_susp_parallel", metric="powerdown", cluster=1, core=0)
    assert round(row["percent"], 2) == 417.28
    some = tg.compare(old, new, exchange={("cpu_susp_parallel", "powerdown"): "none"})
    assert "cpu_susp_parallel powerdown" not in list(some.groups["group"])
    with pytest.raises(ValueError, match="exchange must be one of"):
        tg.compare(old, new, exchange="cores")


# ---- verdicts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "verdict", "note"),
    [
        ([41] * 4, [41] * 4, "equivalent", "below resolution"),
        ([41], [41], "unreplicated", "below resolution"),
        ([41] * 3, [41] * 4, "equivalent", "below resolution"),
        ([41] * 5, [42], "unreplicated", "below resolution"),
        ([41] * 4, [83], "unreplicated", ""),
        ([24, 24, 25, 25], [25, 26, 26, 27], "inconclusive", ""),
        ([24] * 15 + [25] * 10, [24] * 5 + [25] * 20, "inconclusive", ""),
        ([48, 48, 49, 48, 49], [50, 50, 49, 50, 51], "changed", ""),
    ],
)
def test_constant_and_tied_series(old, new, verdict, note):
    made = tg.compare(boots(old), boots(new))
    row = made.rows.row(0)
    assert row["verdict"] == verdict
    assert row["note"] == note
    assert "significant" not in str(made)


def test_p_stands_beside_the_word_and_never_makes_it():
    made = tg.compare(boots([24] * 15 + [25] * 10), boots([24] * 5 + [25] * 20))
    row = made.rows.row(0)
    assert row["p"] == pytest.approx(0.00858, abs=5e-6)
    assert (row["shift"], row["lo"], row["hi"]) == (0, -0.5, 1.5)
    assert row["p_bh"] == row["p"]


def test_several_readings_of_a_boot_are_one_observation():
    """Cores or calls of one boot are no replication: 2 boots of 50 stay 2 boots."""
    old = boots([[100] * 50, [101] * 50])
    new = boots([[200] * 50, [201] * 50])
    made = tg.compare(old, new)
    assert made.units == (2, 2)
    assert made.rows.row(0)["verdict"] == "inconclusive"
    by_reading = tg.compare(old, new, unit="reading")
    assert by_reading.units == (100, 100)
    assert by_reading.rows.row(0)["verdict"] == "regressed"
    assert by_reading.header[0].startswith("unit: reading (100 v 100)")


def test_within_one_boot_the_shift_is_shown():
    made = tg.compare(boots([[10, 11, 10, 12, 10]]), boots([[20, 21, 20, 22, 20]]))
    row = made.rows.row(0)
    assert row["verdict"] == "unreplicated"
    assert row["within"] == 10
    assert "within boot +10 ns (" in made.to_text(None)
    assert "between boots: not replicated" in made.to_text(None)


def test_one_against_two_is_too_few_boots_on_a_side():
    made = tg.compare(boots([1000]), boots([1000, 1200]))
    assert made.rows.row(0)["verdict"] == "unreplicated"
    assert made.explanations()[0].startswith("unreplicated: too few boots on a side:")


def test_three_against_three_says_that_it_cannot_tell():
    made = tg.compare(boots([100, 101, 102]), boots([200, 201, 202]))
    row = made.rows.row(0)
    assert (row["verdict"], row["p_min"], row["needed"]) == ("inconclusive", 0.1, 4)
    assert "none at 5 % with 3 v 3 boots; at least 4 boots a side" in row["sentence"]


def test_margin_in_ns_binds_times_only():
    time, rate = Key(test="t", metric="a", unit="us"), Key(test="t", metric="b", unit="MB/s",
                                                           better="higher")  # fmt: skip
    old = boots({time: [1] * 5, rate: [1000, 1001, 1002, 1003, 1004]})
    new = boots({time: [2] * 5, rate: [1100, 1101, 1102, 1103, 1104]})
    made = tg.compare(old, new, margin=0, margin_ns=5000)
    assert row_of(made, metric="a")["delta"] == 5000
    assert row_of(made, metric="a")["verdict"] == "equivalent"
    assert row_of(made, metric="b")["verdict"] == "improved"
    assert row_of(made, metric="b")["shown"] == "MB/s"


def test_console_ticks_and_printed_us_meet_exactly():
    ticks = Key(test="t", metric="m", unit="tick", clock_hz=24_000_000)
    us = Key(test="t", metric="m", unit="us")
    made = tg.compare(boots([240] * 4, ticks), boots([10] * 4, us))
    row = made.rows.row(0)
    assert (row["old"], row["new"], row["shift"], row["step"]) == (10_000, 10_000, 0, 1000)
    assert "different resolution" in row["note"]


def test_an_unknown_clock_is_not_comparable_with_ns_and_says_what_settles_it():
    ticks, ns = Key(test="t", metric="m", unit="tick"), Key(test="t", metric="m", unit="ns")
    made = tg.compare(boots([240] * 4, ticks), boots([10] * 4, ns))
    assert len(made) == 0
    assert made.not_comparable == [("t m", "the clock of one side is unknown: --clock settles it")]


def test_other_platform_or_build_is_not_comparable():
    old = boots([1, 2, 3, 4], platform="juno", build="release")
    for new in (boots([1, 2], platform="n1sdp"), boots([1, 2], build="debug")):
        made = tg.compare(old, new)
        assert len(made) == 0
        assert made.not_comparable[0][1].startswith("other ")
        assert len(tg.compare(old, new, anyway=True)) == 1


def test_unmatched_keys_are_listed():
    a, b = Key(test="t", metric="a", unit="ns"), Key(test="t", metric="b", unit="ns")
    made = tg.compare(boots({a: [1, 2]}), boots({b: [1, 2]}))
    assert made.unmatched == {"old": ["t a"], "new": ["t b"]}
    assert "only in old: t a" in str(made)


def test_cpus_that_one_side_lacks_are_counted():
    values = {"old": [10, 11, 12, 13], "new": [10, 11, 12]}  # a row of the new side was torn
    sides = [
        tg.from_columns(v, test="p", cluster=1, core=range(len(v)), exchange="cluster")
        for v in values.values()
    ]
    text = str(tg.compare(*sides))
    assert "cluster 1: 4 cpus in old, 3 cpus in new: ranks among unlike numbers" in text
    assert "only in" not in text


def test_regressed_comes_first():
    keys = [Key(test="t", metric=m, unit="ns") for m in "abc"]
    old = boots({k: [1000, 1001, 1002, 1003, 1004] for k in keys})
    new = boots(
        {
            keys[0]: [1000, 1001, 1002, 1003, 1004],
            keys[1]: [900, 901, 902, 903, 904],
            keys[2]: [1200, 1201, 1202, 1203, 1204],
        }
    )
    made = tg.compare(old, new)
    assert list(made.rows["verdict"]) == ["regressed", "improved", "equivalent"]
    assert made.counts == {"regressed": 1, "improved": 1, "equivalent": 1}
    assert made.expected_false_alarms == pytest.approx(3 * 4 / 252)
    assert made.geometric_mean == pytest.approx((0.9 * 1.2) ** (1 / 3), rel=1e-3)


def test_boots_of_one_firmware_serve_one_boot_against_one():
    noise = boots(list(range(996, 1005)))
    made = tg.compare(boots([1000]), boots([1100]), noise=noise)
    row = made.rows.row(0)
    assert (row["verdict"], row["method"], row["reference"]) == ("regressed", "noise set", 72)
    assert "keys of one metric scatter alike" in row["note"]
    two = tg.compare(boots([1000]), boots([1100]), noise=boots([990, 991, 1400, 1401]))
    assert two.rows.row(0)["verdict"] == "unreplicated"
    assert "bimodal" in two.rows.row(0)["note"]
    assert "no answer from --noise, bimodal: t m" in str(two)
    assert made.header[0].endswith("boots of one firmware: A/A (k = 9 boots)")


def test_a_single_boot_needs_39_boot_keys():
    keys = [Key(test="t", metric="m", unit="ns", core=c, cluster=0) for c in range(8)]
    old = boots({k: [1000 + 7 * i * (c + 1) % 11 for i in range(5)] for c, k in enumerate(keys)})
    slow = {k: [1500 if c == 3 else 1004] for c, k in enumerate(keys)}
    made = tg.compare(old, boots(slow))
    assert row_of(made, core=3)["verdict"] == "regressed"
    assert row_of(made, core=3)["method"] == "pooled residuals"
    assert set(made.rows["reference"]) == {40}
    few = tg.compare(boots([1000, 1001, 1002, 999]), boots([2000])).rows.row(0)
    assert few["verdict"] == "unreplicated"
    assert "needs 39 boot-keys of this metric, has 4" in few["sentence"]


def test_paired_boots():
    old, new = [100, 200, 300, 400, 500, 600], [110, 214, 327, 431, 540, 652]
    made = tg.compare(boots(old), boots(new), paired=True, margin=0.05)
    assert made.rows.row(0)["p"] == 0.03125
    assert made.rows.row(0)["verdict"] == "regressed"
    assert tg.compare(boots(old), boots(new)).rows.row(0)["verdict"] == "inconclusive"


@pytest.mark.parametrize(("text", "value"), [("5%", 0.05), ("0.05", 0.05), (0.1, 0.1), ("0%", 0)])
def test_margins(text, value):
    assert parse_margin(text) == pytest.approx(value)


def test_large_margins_are_written_out():
    # 5 means 5 %: read as 500 % it would let everything pass.
    for text in ("5", "5.0", " 2 ", 5, "1e1"):
        with pytest.raises(ValueError, match="%"):
            parse_margin(text)
    assert parse_margin("500%") == parse_margin(5.0) == 5


@pytest.mark.parametrize("text", ["-1%", "x", "5x", "", "nan", math.inf])
def test_bad_margins(text):
    with pytest.raises(ValueError):
        parse_margin(text)


def test_cores_of_own_lines_are_not_one_key(tmp_path):
    """A line may name a core without a cluster, a cluster alone, or a cpu and a cluster."""
    for where in ("core", "cluster", "cpu"):
        other = {"cpu": " (cluster 0)"}.get(where, "")
        rule = tg.Rule(
            f"irq {{t:uint}} ns {where} {{{where}:uint}}"
            + (" (cluster {cluster:uint})" if other else ""),
            value="t",
            unit="ns",
        )
        lines = [f"irq {t} ns {where} {n}{other}" for t, n in ((100, 0), (101, 0), (900, 1))]
        if other:
            lines.append("irq 5000 ns cpu 0 (cluster 1)")
        data = tg.read(("\n".join(lines) + "\n").encode(), rules=[rule])
        rows = tg.summarize(data)
        assert len(rows) == len(data.keys) == 2 + bool(other)
        assert rows["max"].tolist() == [101, 900] + [5000] * bool(other)
        assert len(set(tg.compare(data, data).rows["key"].tolist())) == len(rows)


# ---- packing ----------------------------------------------------------------------------------


def cpus(*rows, exchange="all"):
    """A side of blocks: each row of a boot is one block of cpus."""
    keys = [
        Key(test="p", metric="m", unit="ns", cluster=0, core=c, exchange=exchange)
        for c in range(max(len(r) for boot in rows for r in boot))
    ]
    cells = [
        (c, b, n, value)
        for b, boot in enumerate(rows)
        for n, block in enumerate(boot)
        for c, value in enumerate(block)
    ]
    key, boot, block, value = (np.array(column, "i8") for column in zip(*cells, strict=True))
    zero = np.zeros(len(value), "i8")
    return Side(keys, key, zero, boot, zero, block, value)


def test_ranks_are_taken_block_by_block():
    side = cpus([(30, 10, 20), (1, 2, 3)], [(5, 4, 6)])
    packed = pack(side, "boot")
    one = np.ones(3, "u8")
    value, _, unit_start, key_start, *_ = packed.samples([0, 1, 2], one, one, one)
    assert key_start.tolist() == [0, 2, 4, 6]
    per_unit = [sorted(v.tolist()) for v in np.split(value, unit_start[1:-1].astype(int))]
    assert per_unit == [[1, 10], [4], [2, 20], [5], [3, 30], [6]]


def test_a_block_that_lacks_a_cpu_is_left_out_and_said_so():
    side = cpus([(30, 10, 20)], [(1, 2)], [(5, 4, 6)])
    packed = pack(side, "boot")
    assert packed.notes == [
        "p m: 1 of 3 blocks have another number of cpus than 3 and are left out"
    ]
    assert len(packed.shown) == 3


def test_more_cpus_on_one_side_are_unmatched_not_compared():
    made = tg.compare(cpus([(1, 2, 3)]), cpus([(1, 2)]))
    assert len(made) == 0
    assert len(made.unmatched["old"]) == 3
    assert len(made.unmatched["new"]) == 2


def test_merging_sides_keeps_boots_apart():
    both = merged([boots([1, 2]), boots([3])])
    assert both.boot.tolist() == [0, 1, 2]
    assert both.source.tolist() == [0, 0, 1]
    assert len(both.keys) == 1


def test_ten_shuffled_boots_are_equal_sorted_and_differ_by_cpu():
    rng = np.random.default_rng(5)
    ladder = np.array([100, 240, 380, 520])

    def side(shift):
        return cpus(*[[tuple((rng.permutation(ladder) + shift).tolist())] for _ in range(10)])

    made = tg.compare(side(0), side(0))
    assert set(made.rows["verdict"]) == {"equivalent"}
    group = made.groups.row(0)
    assert group["exchange_p"] > 0.01
    slower = tg.compare(side(0), side(40))
    assert slower.rows.select(rank="1/4").row(0)["verdict"] == "regressed"
    assert slower.groups.row(0)["w1"] == 40


# ---- leaving ----------------------------------------------------------------------------------


def test_every_form_tells_the_same(n1sdp):
    document = json.loads(n1sdp.to_json())
    assert (document["schema"], document["command"]) == ("tickgauge", "compare")
    assert document["unit"] == "boot (1 v 1)"
    assert len(document["rows"]) == 64
    first = n1sdp.rows.row(0)
    assert document["rows"][0]["percent"] == pytest.approx(first["percent"])
    assert list(document["rows"][0]).index("percent") < list(document["rows"][0]).index("verdict")
    for text in (n1sdp.to_md(), n1sdp.to_rst(), n1sdp.to_html(), n1sdp.to_csv(), str(n1sdp)):
        assert first["key"].split(" ")[0].replace("_", "") in text.replace("\\_", "_").replace(
            "_", ""
        )
        assert "unreplicated" in text
    assert len(n1sdp.to_csv().splitlines()) == 65


def test_json_obeys_its_schema(n1sdp, juno):
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    schema = json.loads(files("tickgauge").joinpath("schemas/compare.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for made in (n1sdp, juno, tg.compare(boots([1, 2, 3, 4]), boots([5, 6, 7, 8]))):
        jsonschema.validate(json.loads(made.to_json()), schema)


def test_frames_leave_for_pandas(n1sdp):
    pd = pytest.importorskip("pandas")
    frame = n1sdp.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 64


def test_a_forest_plot_on_given_axes(n1sdp):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    figure, ax = plt.subplots()
    assert n1sdp.plot.forest(ax) is ax
    plt.close(figure)


def test_equal_input_gives_equal_bytes():
    old, new = boots(list(range(100, 160))), boots(list(range(103, 163)))
    assert tg.compare(old, new).to_json() == tg.compare(old, new).to_json()


def test_what_is_no_side_is_refused():
    with pytest.raises(TypeError, match="not a data set"):
        tg.compare(5, boots([1]))
    with pytest.raises(tg.NotEnoughData):
        tg.compare([], boots([1]))
    with pytest.raises(ValueError, match="unit must be one of"):
        tg.compare(boots([1]), boots([1]), unit="core")


# ---- units ------------------------------------------------------------------------------------


def runs(values, weight=None):
    key = Key(format="user.fft", test="t", metric="m", unit="us")
    n = len(values)
    zero, none = np.zeros(n, "i8"), np.full(n, -1, "i8")
    return Side([key], zero, zero, zero, none, none, np.array(values, "i8"), weight)


def test_a_figure_without_a_run_is_a_run_of_its_own():
    made = tg.compare(runs([100, 101, 102, 103, 104]), runs([120, 121, 122, 123, 124]))
    assert made.header[0].startswith("unit: run (5 v 5)")
    assert made.rows.row(0)["verdict"] == "regressed"


def test_counted_runs_are_as_many_runs():
    counted = runs([100, 102], np.array([3, 2], "u8"))
    plain = runs([100, 100, 100, 102, 102])
    new = runs([120, 121, 122, 123, 124])
    assert tg.compare(counted, new).rows.to_csv() == tg.compare(plain, new).rows.to_csv()


def test_firmware_formats_count_boots():
    assert boots([1]).unit_of(None) == "boot"
    assert runs([1]).unit_of(None) == "run"
    assert tg.compare(boots([[1, 2]]), boots([[1, 2]]), unit="run").unit == "run"


# ---- several new sides in order -----------------------------------------------------------------


def ordered(*levels, boots_each=6, scatter=0.01, seed=1):
    """Sides of one key whose boots scatter about the levels."""
    rng = np.random.default_rng(seed)
    return [
        boots(np.rint(level * (1 + scatter * rng.standard_normal(boots_each))).astype(int).tolist())
        for level in levels
    ]


def test_the_side_at_which_a_key_changes_is_named():
    old, *news = ordered(10000, 10020, 13000, 13050)
    made = tg.changes_of(tg.compare_all(old, news), ["v2", "v3", "v4"], "v1")
    (change,) = made
    assert (change.at, change.after, change.open, change.back) == ("v3", "v2", [], "")
    assert change.sentence.startswith("changes at v3: t m up, 10.0 us to 13.")
    assert change.sentence.endswith("; between v2 and v3")


def test_a_side_that_cannot_decide_makes_the_place_uncertain():
    """v2 scatters so that neither 'like v1' nor 'changed' fits: the change is at v2 or v3."""
    old, wide, late = *ordered(10000), *ordered(12500, scatter=0.3, seed=4), *ordered(13000)
    (change,) = tg.changes_of(tg.compare_all(old, [wide, late]), ["v2", "v3"], "v1")
    assert (change.at, change.after, change.open, change.likely) == ("v3", "v1", ["v2"], "v2")
    assert "behind v1, at v3 or before: v2 not decided, most likely at v2" in change.sentence


def test_a_side_that_lacks_so_large_a_change_bounds_the_place():
    """v2 scatters by 10 %: not shown to be like v1 within 5 %, but it has no factor of 3."""
    old, some, late = ordered(10000, 10100, 30000, scatter=0.1, seed=2)
    made = tg.compare_all(old, [some, late])
    assert made[0].rows.row(0)["verdict"] == "inconclusive"
    (change,) = tg.changes_of(made, ["v2", "v3"], "v1")
    assert (change.at, change.after, change.open) == ("v3", "v2", [])


def test_a_change_that_goes_back_says_where():
    old, *news = ordered(10000, 13000, 10010)
    (change,) = tg.changes_of(tg.compare_all(old, news), ["v2", "v3"], "v1")
    assert (change.at, change.back) == ("v2", "v3")
    assert tg.changes_of(tg.compare_all(old, news[1:] * 2), ["v2", "v3"]) == []


def test_places_of_changes_are_rarely_found_in_nothing():
    """Four sides of one firmware, a key: each comparison errs in 5 % at most, margin apart."""
    found = sum(
        bool(tg.changes_of(tg.compare_all(old, news), list("bcd")))
        for seed in range(60)
        for old, *news in [ordered(10000, 10000, 10000, 10000, scatter=0.1, seed=seed)]
    )
    assert found <= 9  # 3 comparisons of 5 % with one OLD, of 60 runs


@pytest.mark.parametrize("bad", [2**61 + 5, -(2**62), 2**63 - 1, -(2**63)])
def test_a_key_beyond_what_is_exact_is_refused_by_name_and_the_others_are_judged(bad, tmp_path):
    rng = np.random.default_rng(1)
    boots = np.arange(15)

    def side(slower, last):
        good, other, odd = rng.integers(1000, 1020, (3, 15))
        odd[3] = last
        return tg.from_columns(
            np.concatenate([good, other + slower, odd]), boot=np.tile(boots, 3),
            metric=np.repeat(["good", "other", "odd"], 15),
        )  # fmt: skip

    old, new = side(0, 1005), side(200, bad)
    why = "a value is beyond 2^61 steps of the grid that both sides share"
    made = tg.compare(old, new, margin="5%")
    assert {row["key"]: row["verdict"] for row in made.rows} == {
        "good": "equivalent", "other": "regressed",
    }  # fmt: skip
    assert made.not_comparable == [("odd", why)]
    gate = tg.gate(old, new, margin="5%")
    assert (gate.outcome, gate.missing) == ("regressed", [("odd", why)])
    assert [key for key, _ in gate.failing] == ["other"]
    gate = tg.gate(old, side(0, bad), margin="5%")  # the others pass: the answer is not a pass
    assert (gate.outcome, gate.failing) == ("not enough data", [])
    paths = [str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    for path, data in zip(paths, (old, new), strict=True):
        tg.snapshot(data).save(path)
    for verb, status in (("compare", 0), ("gate", 1)):
        command = [sys.executable, "-m", "tickgauge", verb, *paths, "--margin", "5%"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done.stderr
        assert any(why in line and "odd" in line for line in done.stdout.splitlines()), done.stdout
        assert "other" in done.stdout
