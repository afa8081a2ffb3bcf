"""trend: the published Juno releases, hand-made series, gaps."""

import json

import numpy as np
import pytest

import tickgauge as tg
from support.sides import JUNO_ALL, boots, release
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
        # v2.15 stands alone at the end of 7: chance puts an odd one at an end 2 times in 7
        assert event.p == pytest.approx(1 / 200 if up else 2 / 7)
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


def test_one_release_up_and_back_is_no_step():
    assert len(tg.trend(series(440, 441, 440, 7690, 440, 441, 440, 439))) == 0


def test_the_energy_p_is_a_column_from_eight_releases_on():
    made = tg.trend(series(*[10] * 6, 12, 12))
    assert made.series.row(0)["p"] == pytest.approx(1 / 14)
    assert made.series.row(0)["p_min"] == pytest.approx(1 / 14)


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
