"""gate: what passes, what fails, and what is not enough data."""

import json

import numpy as np
import pytest

import tickgauge as tg
from support.sides import boots, release
from tickgauge.comparison.noise import unfit
from tickgauge.comparison.plan import order_of
from tickgauge.comparison.side import Key

BASE = [1000, 1001, 1002, 1003, 1004]
SLOWER = [1200, 1201, 1202, 1203, 1204]


def test_equal_sides_pass_and_the_pass_says_what_it_guards_against():
    made = tg.gate(boots(BASE), boots(BASE))
    assert (made.outcome, made.exit_status, made.gated) == ("pass", 0, 1)
    assert made.header[0] == "gate: pass: 0 of 1 key regressed; guards 1 of 1 key against +10 %"
    assert made.header[1].startswith("5 v 5 boots, family error 5 %")
    assert made.guard == (10, 1)


def test_a_regression_fails_with_one_line_of_reason():
    made = tg.gate(boots(BASE), boots(SLOWER))
    assert made.exit_status == 1
    (line,) = made.reasons()
    assert line.startswith("regressed: t m: +20.0 %, 1002 ns to 1202 ns, +19.6..+20.3 % at 96.8 %")
    assert "p 0.004 over 1 key" in line
    row = made.comparison.rows.row(0)
    assert row["p_gate"] == pytest.approx(1 / 252)


def test_an_improvement_passes():
    assert tg.gate(boots(SLOWER), boots(BASE)).exit_status == 0


def test_one_boot_a_side_is_not_enough_data():
    made = tg.gate(boots([1000]), boots([1200]))
    assert made.exit_status == 3
    assert "1 v 1 can never be red (least p 1/2); 19 v 1 can" in made.reasons()[0]


def test_n1sdp_is_not_enough_data_and_never_a_pass():
    old, new = (release("n1sdp", "fe7d06a67", v) for v in ("v2.9", "v2.10"))
    assert tg.gate(old, new).exit_status == 3


@pytest.mark.parametrize(
    ("old", "new", "reached"),
    [(3, 3, True), (3, 1, False), (15, 1, False), (19, 1, True), (3, 2, False), (5, 2, True)],
)
def test_reach_is_arithmetic(old, new, reached):
    made = tg.gate(boots([1000 + i for i in range(old)]), boots([1000 + i for i in range(new)]))
    assert made.reach.reached == reached
    assert made.exit_status == (0 if reached else 3)


def test_three_against_three_can_be_red():
    made = tg.gate(boots([1000, 1001, 1002]), boots([1100, 1101, 1102]))
    assert made.exit_status == 1
    assert made.comparison.rows.row(0)["p_gate"] == pytest.approx(1 / 20)


def test_scatter_is_no_reason_to_fail():
    old, new = boots([1000, 1200, 900, 1150, 1020]), boots([1010, 1190, 950, 1100, 1080])
    made = tg.gate(old, new)
    assert made.exit_status == 0
    assert made.guard == (50, 1)  # such boots tell a change of half, not of a tenth
    assert tg.gate(old, new, guard="20%").exit_status == 3
    assert tg.gate(old, new, guard="50%").exit_status == 0
    assert tg.gate(old, new, guard="20%", guard_share=0).exit_status == 0
    strict = tg.gate(old, new, strict_undecided=True)
    assert strict.exit_status == 3
    assert strict.open == [("t m", "inconclusive, not shown to be equivalent")]


def test_missing_keys_are_never_a_pass_unless_allowed():
    a, b, c = (Key(test="t", metric=m, unit="ns") for m in "abc")
    old, new = boots({a: BASE, b: BASE}), boots({a: BASE, c: BASE})
    made = tg.gate(old, new)
    assert made.exit_status == 3
    assert made.missing == [("t b", "not on the new side")]
    assert tg.gate(old, new, allow_missing=True).exit_status == 0


def test_nothing_in_common_is_not_enough_data():
    a, b = (Key(test="t", metric=m, unit="ns") for m in "ab")
    assert tg.gate(boots({a: BASE}), boots({b: BASE})).exit_status == 3


def test_incomparable_sides_are_not_enough_data():
    made = tg.gate(boots(BASE, platform="juno"), boots(BASE, platform="n1sdp"))
    assert made.exit_status == 3
    assert any("other platform: juno v n1sdp" in line for line in made.reasons())


def test_a_regression_outranks_missing_data():
    a, b = (Key(test="t", metric=m, unit="ns") for m in "ab")
    assert tg.gate(boots({a: BASE, b: BASE}), boots({a: SLOWER})).exit_status == 1


def test_confirm_needs_both():
    assert tg.gate(boots(BASE), boots(SLOWER), confirm=boots(SLOWER)).exit_status == 1
    assert tg.gate(boots(BASE), boots(SLOWER), confirm=boots(BASE)).exit_status == 0
    one = tg.gate(boots(BASE), boots([1200]), confirm=boots([1210]))  # 1/21
    assert one.exit_status == 1
    assert "confirming boots took part" in one.header[1]


def test_keys_without_a_better_direction_are_not_gated():
    key = Key(test="t", metric="m", unit="ns", better="none")
    made = tg.gate(boots(BASE, key), boots(SLOWER, key))
    assert (made.exit_status, made.gated) == (3, 0)
    assert made.notes == ["1 key without a better direction: not gated"]


def test_higher_can_be_better():
    key = Key(test="t", metric="rate", unit="MB/s", better="higher")
    assert tg.gate(boots(SLOWER, key), boots(BASE, key)).exit_status == 1
    assert tg.gate(boots(BASE, key), boots(SLOWER, key)).exit_status == 0


def test_the_margin_in_ns():
    old, new = boots([100, 101, 102, 100, 101, 103]), boots([130, 131, 132, 130, 131, 134])
    assert tg.gate(old, new, margin=0.05).exit_status == 1
    assert tg.gate(old, new, margin=0.05, margin_ns=500).exit_status == 0


def test_identical_boots_are_asked_about_and_then_facts():
    old, new = boots([17400] * 4), boots([1066500] * 4)
    made = tg.gate(old, new)
    assert made.exit_status == 3
    assert made.header[0] == (
        "gate: not enough data: identical boots; as facts, 1 of 1 key would be regressed"
    )
    assert made.reasons() == [
        "not enough data: identical boots: a deterministic board or copies of one file; say "
        "--deterministic, and differences are facts"
    ]
    red = tg.gate(old, new, deterministic=True)
    assert (red.exit_status, red.facts) == (1, {"t m": "regressed"})
    assert tg.gate(old, boots([17400]), deterministic=True).facts == {"t m": "identical"}
    assert tg.gate(old, boots([17900]), deterministic=True).facts == {"t m": "within margin"}
    with pytest.raises(tg.NotComparableError, match="boots of new differ in t m"):
        tg.gate(old, boots([17400, 17500]), deterministic=True)


def test_a_boot_that_hung_is_left_out_and_named():
    keys = [Key(test="t", metric=m, unit="ns") for m in "abcd"]
    old = boots(dict.fromkeys(keys, BASE))
    new = boots({k: SLOWER if k is keys[0] else [*SLOWER, 9000] for k in keys[:1]}
                | dict.fromkeys(keys[1:3], SLOWER) | {keys[3]: [*SLOWER, 99999]})  # fmt: skip
    made = tg.gate(old, new)
    assert made.notes[0] == "new: boot 6 has fewer than half of the keys and is left out"
    assert made.reach.new == 5


def test_boots_of_olds_own_firmware_join_old():
    one, new = boots([1000], version="v1", digest="a"), boots([1200, 1210], digest="b")
    noise = boots([990, 1010, 1000, 1005], version="v1", digest="c")
    made = tg.gate(one, new, noise=noise)
    assert (made.reach.old, made.exit_status) == (5, 1)
    assert made.notes == ["--noise: 4 boots join OLD"]
    other = tg.gate(one, new, noise=boots([990, 1010, 1000, 1005], version="v0", digest="c"))
    assert (other.reach.old, other.exit_status) == (1, 3)
    assert other.notes[0].startswith("--noise: no boot of OLD's own version")


def test_noise_that_makes_a_pass_weaker_says_so():
    """15 v 3 clips the three new boots: 3 v 3 alone would guard the key."""
    rng = np.random.default_rng(8)

    def side(n, version, digest):
        value = 1e5 * (1 + 0.01 * rng.standard_normal(n))
        return boots(np.rint(value).astype(int).tolist(), version=version, digest=digest)

    old, new, quiet = side(3, "v1", "a"), side(3, "v2", "b"), side(12, "v1", "c")
    alone, joined = tg.gate(old, new), tg.gate(old, new, noise=quiet)
    assert alone.guard == (20, 1)
    assert joined.guard_line != alone.guard_line
    assert joined.notes == [
        f"--noise: 12 boots join OLD; without them the gate {alone.guard_line}"
    ]  # fmt: skip


def test_two_modes_have_one_word_in_compare_and_gate():
    """4 of 6 boots slow by half, before 0 of 6 (Fisher's exact p .03): both say open."""
    fast, slow = [1000, 1003, 998, 1001, 1002, 999], [1500, 1503, 1498, 1501, 1502, 1499]
    old = boots(fast)
    some, all_slow = boots([990, 991, *slow[:4]]), boots(fast[:1] + slow[:5])
    row = tg.compare(old, some).rows.row(0)
    assert row["verdict"] == "inconclusive"
    assert "open which is more often: 4 of 6 boots above 1003 ns, before 0 of 6" in row["sentence"]
    made = tg.gate(old, some)
    assert (made.outcome, made.comparison.rows.row(0)["verdict"]) == ("pass", "inconclusive")
    assert "guards none of 1 key against +1000 %; 1 in two modes" in made.header[0]
    # 5 of 6: the exact test of the middle and Fisher's (p .008) see it, gate and compare alike
    row = tg.compare(old, all_slow).rows.row(0)
    assert row["tail_p_slower"] == pytest.approx(6 / 792)
    assert row["verdict"] == "changed"
    assert "slow mode more often: 5 of 6 boots above 1003 ns, before 0 of 6" in row["sentence"]
    made = tg.gate(old, all_slow)
    assert made.outcome == "regressed"
    assert made.comparison.rows.row(0)["verdict"] == "regressed"
    assert made.failing[0][1].startswith("slow mode more often: 5 of 6 boots above 1003 ns")


def test_several_new_sides_share_one_error():
    same, slow = boots(BASE), boots(SLOWER)
    first, second = tg.gate_all(boots(BASE), [same, slow])
    assert (first.outcome, second.outcome) == ("pass", "regressed")
    assert first.reach.alpha == second.reach.alpha == 0.025
    # 3 v 3 reaches 1/20, which is within 5 % but not within the part of one of two sides
    few = [boots([1100, 1101, 1102])] * 2
    assert [g.exit_status for g in tg.gate_all(boots([1000, 1001, 1002]), few)] == [3, 3]


def test_a_key_has_one_word_in_the_gate_and_in_its_table():
    """One key of 40 is slower by itself, as chance makes one: no row says what the gate denies."""
    rng = np.random.default_rng(11)
    keys = [Key(test="t", metric="m", unit="ns", core=c, cluster=0) for c in range(40)]
    split = 0
    for _ in range(12):
        old, new = (
            boots({k: np.rint(1e5 * np.exp(0.1 * rng.standard_normal(5))).astype(int).tolist()
                   for k in keys})
            for _ in range(2)
        )  # fmt: skip
        split += tg.compare(old, new).counts.get("regressed", 0)
        made = tg.gate(old, new)
        assert made.comparison.counts.get("regressed", 0) == len(made.failing)
    assert split > 0


def test_unfit_noise_is_named():
    a, b, c = (Key(test="t", metric=m, unit="ns") for m in "abc")
    found = unfit(boots({a: [10, 11, 50, 51], b: [1, 2, 3], c: [20, 21, 23, 22]}))
    assert found == [("t a", "bimodal: 10..11 and 50..51 ns"), ("t b", "fewer than 4 boots (3)")]


def test_the_markdown_summary_and_json():
    made = tg.gate(boots(BASE), boots(SLOWER))
    text = made.to_md()
    assert text.startswith("### tickgauge gate: **regressed**")
    assert "- regressed: t m: +20.0 %" in text
    assert "| regressed" in text
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    document = json.loads(made.answer().to_json())
    schema = json.loads(files("tickgauge").joinpath("schemas/compare.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert (document["outcome"], document["exit_status"]) == ("regressed", 1)
    assert document["regressed"][0]["key"] == "t m"


# ---- plan ---------------------------------------------------------------------------------------


def test_a_plan_from_too_few_boots_says_how_many_give_a_number():
    made = tg.plan(boots([1000, 1010]), boots([1000, 1020]))
    assert made.needed == {"t m": None}
    assert "no interval from 2 v 2 boots: a number needs 4 first boots a side" in str(made)
    assert (made.boots, made.order) == (4, "ABBABAAB")
    enough = tg.plan(boots([1000, 1010, 1005, 1002]), boots([1001, 1011, 1004, 1002]))
    assert enough.needed["t m"] is not None


def test_the_order_of_boots_balances_straight_and_curved_drift():
    order = order_of(8)
    assert order == "ABBABAABBAABABBA"
    place = np.arange(16)
    for power in (1, 2):
        a, b = ([p**power for p, who in zip(place, order, strict=True) if who == w] for w in "AB")
        assert sum(a) == sum(b)
    for n in range(1, 12):
        assert order_of(n).count("A") == order_of(n).count("B") == n


def test_a_plan_says_how_many_boots_show_a_change():
    rng = np.random.default_rng(1)
    keys = [Key(test="t", metric="m", unit="ns", core=c, cluster=0) for c in range(12)]
    quiet = {k: np.rint(1e5 * (1 + 0.05 * rng.standard_normal(12))).astype(int) for k in keys}
    made = tg.plan(boots({k: v.tolist() for k, v in quiet.items()}), see="20%")
    assert 4 <= made.boots <= 40
    assert made.order == order_of(made.boots)
    assert "boots a side show +20 %" in str(made)
    few = tg.plan(boots({k: v.tolist() for k, v in quiet.items()}), see="50%")
    assert few.boots <= made.boots
    with pytest.raises(ValueError, match="above the margin"):
        tg.plan(boots(BASE), see="5%")
    # the promise: so many boots show the change in about 4 of 5 cases
    seen = tried = 0
    for _ in range(60):
        x, y = (1e5 * (1 + 0.05 * rng.standard_normal(made.boots)) for _ in range(2))
        old, new = (
            boots(np.rint(x).astype(int).tolist()),
            boots(np.rint(1.2 * y).astype(int).tolist()),
        )
        tried += 1
        seen += tg.compare(old, new).rows.row(0)["verdict"] == "regressed"
    assert seen / tried >= 0.6


def test_a_plan_names_why_it_has_no_number_and_is_a_job_matrix():
    quiet = {Key(test="a", metric="m", unit="ns"): [100 + i * 7 % 5 for i in range(30)]}
    modes = {
        Key(test="b", metric="m", unit="ns"): [
            (100, 100, 200)[i * 7 % 3] + i % 3 for i in range(30)
        ]
    }
    made = tg.plan(boots(quiet | modes), see="20%")
    assert list(made.lost) == ["the boots lie in two modes, so no number of them promises anything"]
    few = tg.plan(boots({k: v[:4] for k, v in quiet.items()}))
    assert "no interval from 2 v 2 boots" in few.to_text()
    assert few.order == "ABBABAAB"  # the first boots that would give a number
    jobs = json.loads(tg.plan(boots(quiet), boots=2).to_matrix())["include"]
    assert [job["side"] for job in jobs] == ["old", "new", "new", "old"]
