"""trend: the published Juno releases, hand-made series, gaps."""

import itertools
import json

import numpy as np
import pytest

import tickgauge as tg
from support import stats_oracles as slow
from support.sides import JUNO_ALL, PUBLISHED, boots, release
from tickgauge.comparison.side import Key


@pytest.fixture(scope="module")
def juno():
    return tg.trend([release("juno", *one) for one in JUNO_ALL])


def steps_of(made, **where):
    frame = made.steps
    rows = [frame.row(i) for i in range(len(frame))]
    return [r for r in rows if all(r[k] == v for k, v in where.items())]


@pytest.mark.parametrize("core", [1, 2, 3])
def test_the_amu_regression_and_its_end_are_named(juno, core):
    found = steps_of(juno, key=f"susp_deep_serial cache_flush 1,{core}")
    assert [(s["before"], s["at"], s["until"]) for s in found] == [
        ("v2.10", "v2.14", "v2.14 #3"),
        ("v2.14 #3", "v2.15", "v2.15"),
    ]
    assert found[0]["missing"] == "v2.11 to v2.13"
    assert not found[1]["missing"]
    assert found[0]["old"] < 5_000 < 85_000 < found[0]["new"]


def test_one_event_for_a_change_of_the_firmware(juno):
    """The flush of the big cluster's other cores came and went: one line each, not one a key."""
    for at, up in (("v2.14", True), ("v2.15", False)):
        (event,) = [
            e for e in juno.events
            if (e.at, e.metric, e.up, e.cluster) == (at, "cache_flush", up, 1)
        ]  # fmt: skip
        assert {f"susp_deep_serial cache_flush 1,{core}" for core in (1, 2, 3)} <= set(event.keys)
        assert 10 < (event.factor if up else 1 / event.factor) < 25
        # 3 odd releases of 7 lie together like this, or more so, in 8 of 35 orders
        assert event.p >= 8 / 35 - 0.04
        assert not event.confirmed
        assert "not confirmed" in event.sentence
        assert event.alone == (at == "v2.15")
        assert sum(line == event.sentence for line in str(juno).splitlines()) == 1
    assert len(juno.sentences()) == len(juno.events) < len(juno.steps) / 2


@pytest.mark.parametrize("test", ["cpu_off_serial", "cpu_susp_serial"])
@pytest.mark.parametrize("core", [1, 2, 3])
def test_the_other_serial_flushes_of_these_cores_do_not_step(juno, test, core):
    assert steps_of(juno, key=f"{test} cache_flush 1,{core}") == []


def test_it_says_what_is_not_in_the_data_and_what_chance_may_do(juno):
    text = str(juno)
    assert "v2.11 to v2.13 between v2.10 and v2.14 are not in the data" in text
    assert "margin 10 %, error 5 % over all keys and places" in text
    assert (
        "v2.14 cache_flush up x18.9 (cluster 1: susp_deep_parallel rank 1 of 4, rank 2 of 4" in text
    )


def test_parallel_tests_are_followed_by_rank(juno):
    assert steps_of(juno, test="cpu_susp_parallel", metric="powerdown") == []


def test_nothing_changed_gives_no_step():
    rng = np.random.default_rng(2)
    keys = [Key(test="t", metric="m", unit="ns", core=c, cluster=0) for c in range(20)]
    releases = []
    for _ in range(12):
        noise = 1e5 * (1 + 0.2 * rng.standard_normal(20))
        releases.append(boots({k: [[int(v)]] for k, v in zip(keys, noise, strict=True)}))
    assert len(tg.trend(releases)) == 0


@pytest.mark.parametrize(("last", "steps"), [(1050, 0), (1120, 1), (1190, 1)])
def test_the_newest_release_is_seen_and_marked(last, steps):
    made = tg.trend(series(*[1000] * 11, last))
    assert len(made) == steps
    assert all("alone, not confirmed" in line for line in made.sentences())


def series(*values, key=None):
    key = key or Key(test="t", metric="m", unit="us", exp10=-1)
    return [boots({key: [[v]]} if v is not None else {}, name=f"r{i}") if v is not None
            else boots({Key(test="other", unit="ns"): [[1]]}, name=f"r{i}")
            for i, v in enumerate(values)]  # fmt: skip


def test_up_and_back_in_the_last_release():
    made = tg.trend(series(440, 441, 440, 439, 7690, 7691, 7690, 440), labels=list("abcdefgh"))
    assert [(s["before"], s["at"]) for s in steps_of(made)] == [("d", "e"), ("g", "h")]
    row = made.series.row(0)
    assert (row["releases"], row["steps"]) == (8, 2)


def test_a_newest_release_of_several_boots_is_judged_by_them():
    quiet = [boots([1000 + i for i in range(3)], name=f"r{n}") for n in range(5)]
    slow = boots([1300, 1301, 1299], name="r5")
    notes = tg.trend([*quiet, slow]).notes
    begin = "r5 by its boots, against those since r0: gate: regressed"
    assert any(note.startswith(begin) for note in notes)
    same = boots([1001, 1000, 1002], name="r5")
    assert any("gate: pass" in note for note in tg.trend([*quiet, same]).notes)


def test_a_newest_release_names_the_keys_that_its_boots_do_not_judge():
    """One whose values are beyond 61 bits, and one that it lacks: the gate passes without them."""
    kept, far, gone = (Key(format="tftf", test="t", metric=m, unit="ns") for m in "abc")
    before = {kept: [1000, 1001, 1002], far: [5, 6, 7], gone: [20, 21, 22]}
    sides = [boots(before, name=f"r{n}") for n in range(5)]
    newest = {kept: [1001, 1000, 1002], far: [2**61 + 5] * 3}
    made = tg.trend([*sides, boots(newest, name="r5")])
    notes = made.notes
    assert "t b: beyond 2^61 steps of its grid at r5: no value there" in notes
    assert [(row["key"], row["releases"]) for row in made.series] == [
        ("t a", 6), ("t b", 5), ("t c", 5),
    ]  # fmt: skip
    at = next(i for i, note in enumerate(notes) if "gate: pass" in note)
    assert notes[at + 1] == "only in r0: t c"
    assert notes[at + 2].startswith("not comparable (1 key): ") and notes[at + 2].endswith(": t b")


def test_one_release_up_and_back_is_no_step():
    assert len(tg.trend(series(440, 441, 440, 7690, 440, 441, 440, 439))) == 0


def test_the_energy_p_is_a_column_from_eight_releases_on():
    made = tg.trend(series(*[10] * 6, 12, 12))
    assert made.series.row(0)["p"] == pytest.approx(1 / 14)
    assert made.series.row(0)["p_min"] == pytest.approx(1 / 14)


def test_up_and_back_in_one_release_is_one_event_a_cluster(juno_by_version):
    """v2.14 is one release between two of one level: J6.2 knows no such step, the keys share it."""
    for at, up in (("v2.14", True), ("v2.15", False)):
        for cluster in (0, 1):
            (event,) = [
                e for e in juno_by_version.events
                if (e.at, e.metric, e.up, e.cluster) == (at, "cache_flush", up, cluster)
            ]  # fmt: skip
            assert event.once
            assert event.p < 0.001
            assert not event.confirmed  # one boot: an odd boot looks alike
            assert ("2 more boots of v2.14 tell" in event.sentence) == up
        assert {f"susp_deep_serial cache_flush 1,{core}" for core in (1, 2, 3)} <= set(event.keys)


@pytest.fixture(scope="module")
def juno_by_version():
    return tg.trend(PUBLISHED, board="juno")


def test_the_places_of_odd_releases_carry_the_p():
    """Every place of 2 and 3 odd releases among 8: the share of all places that change as much."""
    for odd in (2, 3):
        changes = {
            place: slow.change([i in place for i in range(8)])
            for place in itertools.combinations(range(8), odd)
        }
        for place, change in changes.items():
            value = [1500 if i in place else 1000 for i in range(8)]
            found = steps_of(tg.trend(series(*value)))
            share = sum(c >= change for c in changes.values()) / len(changes)
            for step in found:
                assert step["p"] >= 2 / len(changes)
                assert step["p"] == pytest.approx(share, abs=4 * (share / 999) ** 0.5)
                assert (step["kind"] == 0) == (step["p"] <= 0.05 and len(place) > 1)


def test_a_newest_release_outside_the_others_is_told_with_what_would_confirm_it():
    rng = np.random.default_rng(5)
    former = np.rint(10000 * (1 + 0.01 * rng.standard_normal(11))).astype(int).tolist()
    made = tg.trend(series(*former, 11900))
    assert len(made) == 0
    assert "no confirmed step" in str(made)
    assert made.newest.startswith("newest r11: 1 of 1 key outside all releases before")
    assert "t m +1" in made.newest
    assert "1 time in 12: 1 more release at this level, or 2 boots of r11, would" in made.newest
    # so it is: a second release at the level is a step, and two boots make the gate red
    assert [s["kind"] for s in steps_of(tg.trend(series(*former, 11900, 11910)))] == [0]
    two = [*series(*former), boots([1190000, 1191000], name="r11")]
    assert "gate: regressed" in "\n".join(tg.trend(two).notes)
    # and nothing is said of a release like the others
    assert tg.trend(series(*former, 10050)).newest == ""


def test_releases_of_one_firmware_rarely_have_a_newest_one_outside():
    rng = np.random.default_rng(9)
    keys = [Key(test="t", metric="m", unit="ns", core=c, cluster=0) for c in range(20)]
    said = 0
    for _ in range(30):
        value = np.rint(1e5 * np.exp(0.1 * rng.standard_t(3, (8, 20)))).astype(int)
        releases = [boots({k: [[int(v)]] for k, v in zip(keys, row, strict=True)})
                    for row in value]  # fmt: skip
        said += bool(tg.trend(releases).newest)
    assert said / 30 <= 1 / 8 + 0.1  # the newest of 8 is the oddest in one of 8


def test_gaps_are_gaps():
    made = tg.trend(series(44, 45, 44, None, None, 769, 768, 769),
                    labels=[f"v1.{n}" for n in range(8)])  # fmt: skip
    (step,) = steps_of(made)
    assert (step["before"], step["at"], step["missing"]) == ("v1.2", "v1.5", "v1.3 to v1.4")
    row = next(made.series.row(i) for i in range(2) if made.series.row(i)["test"] == "t")
    assert [row[f"r{i}"] for i in range(5)] == [4400, 4500, 4400, None, None]


def test_one_tick_is_no_step():
    made = tg.trend(series(44, 44, 44, 44, 45, 45, 45, 45), margin=0)
    assert len(made) == 0


def test_few_releases_have_no_steps_and_a_note():
    made = tg.trend(series(44, 44, 769, 769))
    assert len(made) == 0
    assert "steps are looked for from 5 releases on" in str(made)


def test_releases_of_different_steps_meet_on_the_coarser_one():
    ns = Key(test="t", metric="m", unit="ns", resolution=20)
    us = Key(test="t", metric="m", unit="us")
    tick = Key(test="t", metric="m", unit="tick", clock_hz=24_000_000)
    made = tg.trend(*[boots([2000], us)] * 3, *[boots([2_000_000], ns)] * 2,
                    *[boots([48_000], tick)] * 2, *[boots([96_000], tick)] * 3)  # fmt: skip
    (step,) = steps_of(made)
    assert (step["old"], step["new"]) == (pytest.approx(2_000_000), pytest.approx(4_000_000))
    assert made.series.row(0)["r5"] == 2_000_000


def test_json_obeys_its_schema(juno):
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    schema = json.loads(files("tickgauge").joinpath("schemas/trend.json").read_text("utf-8"))
    jsonschema.validate(json.loads(juno.to_json()), schema)


def test_every_form(juno):
    for text in (juno.to_csv(), juno.to_md(), juno.to_rst().replace("\\", ""), juno._repr_html_()):
        assert "susp_deep_serial cache_flush 1,1" in text


def test_wrong_calls():
    with pytest.raises(tg.NotEnoughData):
        tg.trend(boots([1]))
    with pytest.raises(ValueError, match="labels"):
        tg.trend(boots([1]), boots([2]), labels=["a"])


def test_a_plot_on_given_axes(juno):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    figure, ax = plt.subplots()
    assert juno.plot.steps(ax) is ax
    plt.close(figure)


def test_logs_of_one_version_and_build_time_are_one_release(tmp_path):
    banner = "NOTICE:  BL31: v2.14.0(release):v2.14.0\nNOTICE:  BL31: Built : {}, May 18 2026\n"
    line = "fft 1024 points: 179.1 usec\n"
    paths = []
    for i, built in enumerate(("10:00:00", "10:00:00", "11:30:00")):
        paths.append(tmp_path / f"{i}.log")
        paths[i].write_text(banner.format(built) + line)
    rules = [tg.Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="us")]
    read = [tg.read(path, rules=rules) for path in paths]
    assert tg.trend(read).releases == ["v2.14.0", "v2.14.0 #2"]
    assert len(tg.trend(read, labels=["a", "b", "c"]).releases) == 3
    with pytest.raises(tg.NotEnoughData, match=r"not v2\.14\.0 alone"):
        tg.trend(read[:2])
