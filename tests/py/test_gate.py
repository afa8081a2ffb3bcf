"""gate: what passes, what fails, and what is not enough data."""

import json

import pytest

import tickgauge as tg
from support.sides import boots, release
from tickgauge.comparison.noise import unfit
from tickgauge.comparison.side import Key

BASE = [1000, 1001, 1002, 1003, 1004]
SLOWER = [1200, 1201, 1202, 1203, 1204]


def test_equal_sides_pass():
    made = tg.gate(boots(BASE), boots(BASE))
    assert (made.outcome, made.exit_status, made.gated) == ("pass", 0, 1)
    assert made.header[0].startswith("gate: pass (1 key gated, 0 regressed")
    assert "expected false alarms 0.016" in made.header[0]


def test_a_regression_fails_with_one_line_of_reason():
    made = tg.gate(boots(BASE), boots(SLOWER))
    assert made.exit_status == 1
    (line,) = made.reasons()
    assert line.startswith("regressed: t m: +19.96 %, 1002 ns to 1202 ns, shift 197 ns to 203 ns")


def test_an_improvement_passes():
    assert tg.gate(boots(SLOWER), boots(BASE)).exit_status == 0


def test_one_boot_a_side_is_not_enough_data():
    made = tg.gate(boots([1000]), boots([1200]))
    assert made.exit_status == 3
    assert "4 boots a side" in made.reasons()[0]


def test_n1sdp_is_not_enough_data_and_never_a_pass():
    old, new = (release("n1sdp", "fe7d06a67", v) for v in ("v2.9", "v2.10"))
    assert tg.gate(old, new).exit_status == 3


def test_three_against_three_cannot_reach_the_level():
    made = tg.gate(boots([1000, 1001, 1002]), boots([1100, 1101, 1102]))
    assert made.exit_status == 3
    assert "smallest p attainable is 0.1" in made.reasons()[0]


def test_a_test_too_weak_for_the_margin_is_not_enough_data():
    made = tg.gate(boots([1000, 1200, 900, 1150, 1020]), boots([1010, 1190, 950, 1100, 1080]))
    assert made.exit_status == 3
    assert "a change is seen from" in made.reasons()[0]


def test_an_undecided_but_powerful_key_passes_with_a_note():
    old = [1000, 1010, 1020, 1030, 1040, 1050] * 2
    new = [v + 40 for v in old]
    made = tg.gate(boots(old), boots(new))
    assert made.exit_status == 0
    assert [key for key, _ in made.undecided] == ["t m"]
    assert tg.gate(boots(old), boots(new), fail_undecided=True).exit_status == 3


def test_missing_keys_are_never_a_pass():
    a, b, c = (Key(test="t", metric=m, unit="ns") for m in "abc")
    made = tg.gate(boots({a: BASE, b: BASE}), boots({a: BASE, c: BASE}))
    assert made.exit_status == 3
    assert made.missing == [("t b", "not on the new side")]


def test_nothing_in_common_is_not_enough_data():
    a, b = (Key(test="t", metric=m, unit="ns") for m in "ab")
    assert tg.gate(boots({a: BASE}), boots({b: BASE})).exit_status == 3


def test_incomparable_sides_are_not_enough_data():
    made = tg.gate(boots(BASE, platform="juno"), boots(BASE, platform="n1sdp"))
    assert made.exit_status == 3
    assert "other platform: juno v n1sdp" in made.reasons()[0]


def test_a_regression_outranks_missing_data():
    a, b = (Key(test="t", metric=m, unit="ns") for m in "ab")
    assert tg.gate(boots({a: BASE, b: BASE}), boots({a: SLOWER})).exit_status == 1


def test_confirm_needs_both():
    assert tg.gate(boots(BASE), boots(SLOWER), confirm=boots(SLOWER)).exit_status == 1
    made = tg.gate(boots(BASE), boots(SLOWER), confirm=boots(BASE))
    assert made.exit_status == 0
    assert "the confirmation says equivalent" in made.reasons()[0]


def test_keys_without_a_better_direction_are_not_gated():
    key = Key(test="t", metric="m", unit="ns", better="none")
    made = tg.gate(boots(BASE, key), boots(SLOWER, key))
    assert (made.exit_status, made.gated) == (3, 0)
    assert made.notes == ["1 key has no better direction and is not gated"]
    both = {key: BASE, key._replace(metric="n"): BASE}
    made = tg.gate(boots(both), boots(both))
    assert made.notes == ["2 keys have no better direction and are not gated"]
    assert made.header[0].startswith("gate: not enough data (0 keys gated")


def test_higher_can_be_better():
    key = Key(test="t", metric="rate", unit="MB/s", better="higher")
    assert tg.gate(boots(SLOWER, key), boots(BASE, key)).exit_status == 1
    assert tg.gate(boots(BASE, key), boots(SLOWER, key)).exit_status == 0


def test_the_margin_in_ns():
    old, new = boots([100] * 6), boots([130] * 6)
    assert tg.gate(old, new, margin=0.05).exit_status == 1
    assert tg.gate(old, new, margin=0.05, margin_ns=500).exit_status == 0


def test_noise_makes_one_boot_enough():
    noise = boots([990, 1010, 1000, 1000])
    assert tg.gate(boots([1000]), boots([1200]), noise=noise).exit_status == 1
    assert (
        tg.gate(boots([1000]), boots([1000]), noise=boots([1000, 1000, 1001, 1000])).exit_status
        == 0
    )


def test_unfit_noise_is_named():
    a, b, c = (Key(test="t", metric=m, unit="ns") for m in "abc")
    found = unfit(boots({a: [10, 11, 50, 51], b: [1, 2, 3], c: [20, 21, 23, 22]}))
    assert found == [("t a", "bimodal: 10..11 and 50..51 ns"), ("t b", "fewer than 4 boots (3)")]


def test_the_markdown_summary_and_json():
    made = tg.gate(boots(BASE), boots(SLOWER))
    text = made.to_md()
    assert text.startswith("### tickgauge gate: **regressed**")
    assert "- regressed: t m: +19.96 %" in text
    assert "| regressed" in text
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    document = json.loads(made.answer().to_json())
    schema = json.loads(files("tickgauge").joinpath("schemas/compare.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert (document["outcome"], document["exit_status"]) == ("regressed", 1)
    assert document["regressed"][0]["key"] == "t m"
