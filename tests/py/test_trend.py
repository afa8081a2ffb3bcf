"""trend: the published Juno releases, hand-made series, gaps."""

import json

import pytest

import tickgauge as tg
from support.sides import JUNO, boots, release
from tickgauge.comparison.side import Key


@pytest.fixture(scope="module")
def juno():
    return tg.trend([release("juno", *one) for one in JUNO])


def steps_of(made, **where):
    frame = made.steps
    rows = [frame.row(i) for i in range(len(frame))]
    return [r for r in rows if all(r[k] == v for k, v in where.items())]


@pytest.mark.parametrize("core", [1, 2, 3])
def test_the_amu_regression_and_its_end_are_named(juno, core):
    found = steps_of(juno, key=f"susp_deep_serial cache_flush 1,{core}")
    assert [(s["before"], s["at"], s["until"]) for s in found] == [
        ("v2.10", "v2.14", "v2.14"),
        ("v2.14", "v2.15", "v2.15"),
    ]
    assert found[0]["missing"] == "v2.11 to v2.13"
    assert found[1]["missing"] is None or found[1]["missing"] == ""
    assert found[0]["old"] < 5_000 < 85_000 < found[0]["new"]


@pytest.mark.parametrize("test", ["cpu_off_serial", "cpu_susp_serial"])
@pytest.mark.parametrize("core", [1, 2, 3])
def test_the_other_serial_flushes_of_these_cores_do_not_step(juno, test, core):
    assert steps_of(juno, key=f"{test} cache_flush 1,{core}") == []


def test_it_says_what_is_not_in_the_data_and_what_a_step_costs(juno):
    text = str(juno)
    assert "v2.11 to v2.13 between v2.10 and v2.14 are not in the data" in text
    assert "a step costs 2 x max(10 % of the median, resolution)" in text
    assert (
        "susp_deep_serial cache_flush 1,2: 4500 ns to 87.5 us (+1844.9 %) first seen at v2.14 "
        "(last before: v2.10; v2.11 to v2.13 not in the data), changed again after v2.14" in text
    )


def test_parallel_tests_are_followed_by_rank(juno):
    keys = {s["key"] for s in steps_of(juno, test="cpu_susp_parallel", metric="powerdown")}
    assert keys == set()  # per cpu it jumps by -72 to +425 %
    per_cpu = tg.trend([release("juno", *one) for one in JUNO], exchange="none")
    assert steps_of(per_cpu, test="cpu_susp_parallel", metric="powerdown")


def series(*values, key=None):
    key = key or Key(test="t", metric="m", unit="us", exp10=-1)
    return [boots({key: [[v]]} if v is not None else {}, name=f"r{i}") if v is not None
            else boots({Key(test="other", unit="ns"): [[1]]}, name=f"r{i}")
            for i, v in enumerate(values)]  # fmt: skip


def test_up_and_back_in_the_last_release():
    made = tg.trend(series(44, 44, 44, 769, 769, 44), labels=list("abcdef"))
    assert [(s["before"], s["at"]) for s in steps_of(made)] == [("c", "d"), ("e", "f")]
    row = made.series.row(0)
    assert (row["releases"], row["steps"], row["p"]) == (6, 2, None)


def test_the_energy_p_is_a_column_from_eight_releases_on():
    made = tg.trend(series(*[10] * 6, 12, 12))
    assert made.series.row(0)["p"] == pytest.approx(1 / 14)
    assert made.series.row(0)["p_min"] == pytest.approx(1 / 14)


def test_gaps_are_gaps():
    made = tg.trend(series(44, None, None, 769), labels=["v1.0", "v1.1", "v1.2", "v1.3"])
    (step,) = steps_of(made)
    assert (step["before"], step["at"], step["missing"]) == ("v1.0", "v1.3", "v1.1 to v1.2")
    row = next(made.series.row(i) for i in range(2) if made.series.row(i)["test"] == "t")
    assert [row[f"r{i}"] for i in range(4)] == [4400, None, None, 76900]


def test_one_tick_is_no_step():
    made = tg.trend(series(44, 44, 45, 45), margin=0)
    assert len(made) == 0


def test_releases_of_different_steps_meet_on_the_coarser_one():
    ns = Key(test="t", metric="m", unit="ns", resolution=20)
    us = Key(test="t", metric="m", unit="us")
    tick = Key(test="t", metric="m", unit="tick", clock_hz=24_000_000)
    made = tg.trend(boots([2000], us), boots([2_000_000], ns), boots([48_000], tick),
                    boots([96_000], tick))  # fmt: skip
    (step,) = steps_of(made)
    assert (step["old"], step["new"], step["percent"]) == (2_000_000, 4_000_000, 100)
    assert made.series.row(0)["r2"] == 2_000_000


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
