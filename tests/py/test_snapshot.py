"""Snapshots: byte-stable, mergeable, and as good as their sources."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tickgauge as tg
from support.sides import JUNO, boots, release
from tickgauge.comparison.side import Key, merged
from tickgauge.comparison.snapshot import is_snapshot, load_snapshot

KEYS = [
    Key(format="t", test="a", metric="m", unit="ns"),
    Key(format="t", test="p", metric="m", unit="tick", clock_hz=24_000_000, cluster=0, core=0,
        exchange="all"),
    Key(format="t", test="p", metric="m", unit="tick", clock_hz=24_000_000, cluster=0, core=1,
        exchange="all"),
]  # fmt: skip

values = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=4), min_size=1, max_size=3)


@st.composite
def sources(draw):
    digest = draw(st.sampled_from("abcdef"))
    rng = np.random.default_rng(ord(digest))  # one digest, one content
    shape = [int(n) for n in rng.integers(1, 4, 3)]
    return boots(
        {k: [rng.integers(-3, 3, 3).tolist() for _ in range(shape[0])] for k in KEYS},
        version=f"v{digest}", digest=digest,
    )  # fmt: skip


@given(st.lists(sources(), min_size=1, max_size=5), st.randoms())
@settings(max_examples=60, deadline=None)
def test_merging_does_not_depend_on_order_or_grouping(parts, random):
    parts = [tg.snapshot(p) for p in parts]
    whole = parts[0].merge(*parts[1:]).to_bytes()
    shuffled = list(parts)
    random.shuffle(shuffled)
    cut = len(shuffled) // 2 or 1
    left, right = shuffled[:cut], shuffled[cut:] or shuffled[:1]
    grouped = left[0].merge(*left[1:]).merge(right[0].merge(*right[1:]))
    assert grouped.to_bytes() == whole
    assert grouped.merge(grouped).to_bytes() == whole
    assert load_snapshot(whole).to_bytes() == whole


@given(values)
@settings(max_examples=60, deadline=None)
def test_counts_are_exact(per_boot):
    made = tg.snapshot(boots({KEYS[0]: per_boot}))
    (entry,) = made.keys
    for unit, readings in zip(entry["units"], per_boot, strict=True):
        distinct, counts = np.unique(readings, return_counts=True)
        assert (unit["value"], unit["count"]) == (distinct.tolist(), counts.tolist())


def test_a_comparison_of_snapshots_is_that_of_their_sources():
    old, new = release("juno", *JUNO[3]), release("juno", *JUNO[4])
    direct, kept = tg.compare(old, new), tg.compare(tg.snapshot(old), tg.snapshot(new))
    assert kept.rows.to_csv() == direct.rows.to_csv()
    assert kept.groups.to_csv() == direct.groups.to_csv()
    assert kept.factors == direct.factors


def test_replicated_sides_too():
    rng = np.random.default_rng(3)
    sides = [
        boots({k: rng.integers(1000 + d, 1020 + d, (6, 4)).tolist() for k in KEYS}, digest=str(d))
        for d in (0, 300)
    ]
    direct = tg.compare(*sides)
    kept = tg.compare(*map(tg.snapshot, sides))
    assert kept.rows.to_csv() == direct.rows.to_csv()
    assert "regressed" in set(direct.rows["verdict"])


def test_no_paths_and_no_times_inside():
    text = tg.snapshot(release("juno", *JUNO[4])).to_bytes().decode()
    assert set(json.loads(text)) == {"schema", "version", "sources", "keys"}
    assert "name" not in text
    assert "/" not in text


def test_one_line_a_key_so_that_git_shows_what_changed():
    lines = tg.snapshot(boots({KEYS[0]: [[1, 2]], KEYS[1]: [[3]], KEYS[2]: [[4]]})).to_bytes()
    assert lines.count(b"\n") == 9  # head, "sources", one source, "]", "keys", three keys, end


def test_equal_sources_count_once():
    one = boots([1, 2, 3], digest="d")
    assert tg.snapshot(one, one) == tg.snapshot(one)
    assert tg.compare(tg.snapshot(one, one), one).units == (3, 3)


def test_many_distinct_values_are_folded_and_marked():
    most = tg.Limits().distinct
    many = list(range(1, most + 2))
    assert not tg.snapshot(boots([many[:-1]])).folded
    assert not tg.snapshot(boots([many]), limits=tg.Limits(distinct=most + 1)).folded
    assert tg.snapshot(boots([many]), limits=tg.Limits(distinct=100)).folded
    made = tg.snapshot(boots([many]))
    assert made.folded
    assert sum(made.keys[0]["units"][0]["count"]) == len(many)
    assert "folded" in repr(made)
    assert "folded" in " ".join(tg.compare(made, boots([1])).notes)


def test_the_file_obeys_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    schema = json.loads(files("tickgauge").joinpath("schemas/snapshot.json").read_text("utf-8"))
    for made in (tg.snapshot(release("juno", *JUNO[4])), tg.snapshot(boots([1, 2], KEYS[0]))):
        jsonschema.validate(json.loads(made.to_bytes()), schema)


def test_saved_and_found_by_content(tmp_path):
    made = tg.snapshot(boots([1, 2, 3, 4], digest="d"))
    path = tmp_path / "base.txt"
    made.save(path)
    assert is_snapshot(path.read_bytes()[:64])
    assert tg.compare(str(path), path).units == (4, 4)
    assert not is_snapshot(b'{"schema":"tickgauge","version":1')
    assert not is_snapshot(b"")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=2), "version 2 is not read"),
        (lambda d: d.update(schema="x"), "no schema"),
        (lambda d: d.pop("keys"), "damaged"),
        (lambda d: d["keys"][0]["units"][0].update(source="other"), "damaged"),
        (lambda d: d["keys"][0]["units"][0].update(boot=9), "boot is 9"),
        (lambda d: d["keys"][0]["units"][0]["count"].append(1), "differ in length"),
        (lambda d: d["keys"][0]["units"][0].update(value=[2**63]), "a value is 9223"),
        (lambda d: d["keys"][0]["units"][0].update(count=[0]), "a count is 0"),
        (lambda d: d["keys"][0].update(resolution=0), "resolution is 0"),
        (lambda d: d["keys"][0].update(strange=1), "damaged"),
        (lambda d: d["keys"][0]["units"][0].update(value=[1.5]), "a value is 1.5"),
        (lambda d: d["keys"][0]["units"][0].update(value=[True]), "a value is True"),
        (lambda d: d["keys"][0].update(exp10=10**9), "exp10 is 1000000000"),
        (lambda d: d["keys"][0].update(clock_hz=0), "clock_hz is 0"),
        (lambda d: d["keys"][0].update(test=["a"]), "test is no text"),
        (lambda d: d["keys"][0].update(exchange="some"), "exchange is some"),
        (lambda d: d["sources"][0]["boots"][0].update(clock_hz="x"), "clock_hz is x"),
        (lambda d: d.update(keys=5), "damaged"),
    ],
)
def test_damaged_snapshots_are_refused(change, message):
    document = json.loads(tg.snapshot(boots([7], digest="d")).to_bytes())
    change(document)
    with pytest.raises(tg.InputError, match=message):
        load_snapshot(json.dumps(document).encode())


def test_a_snapshot_of_any_depth_is_refused():
    head = b'{"schema":"tickgauge-snapshot","version":1,"keys":'
    with pytest.raises(tg.InputError, match="not a snapshot"):
        load_snapshot(head + b"[" * 200_000)


def test_a_snapshot_that_would_not_fit_is_refused():
    made = tg.snapshot(boots(list(range(2000)))).to_bytes()
    assert tg.read(made, limits=tg.Limits(whole=len(made))) == load_snapshot(made)
    with pytest.raises(tg.LimitError, match="read as a whole"):
        tg.read(made, limits=tg.Limits(whole=len(made) - 1))


def test_what_is_no_json_is_refused():
    with pytest.raises(tg.InputError, match="not a snapshot"):
        load_snapshot(b"\xff\x00")


def test_a_source_without_a_digest_cannot_be_kept():
    side = boots([1])
    side.sources = []
    with pytest.raises(tg.NotEnoughData, match="digest"):
        tg.snapshot(side)
    with pytest.raises(tg.NotEnoughData):
        tg.snapshot()


def test_a_merged_side_keeps_its_sources():
    both = merged([boots([1, 2], digest="a"), boots([3], digest="b")])
    assert tg.snapshot(both) == tg.snapshot(boots([1, 2], digest="a"), boots([3], digest="b"))


def test_counts_beyond_what_a_double_holds_are_kept():
    """2^53 + 1 was 2^53 in the side of a comparison, by way of a double."""
    document = json.loads(tg.snapshot(boots([7], digest="d")).to_bytes())
    document["keys"][0]["units"][0]["count"] = [2**53 + 1]
    side = load_snapshot(json.dumps(document).encode()).to_side()
    assert side.weight.tolist() == [2**53 + 1]
    assert (side.value.tolist(), side.boot.tolist(), side.run.tolist()) == ([7], [0], [0])


# ---- a snapshot that contradicts itself --------------------------------------------------------


def _made() -> dict:
    text = b"CounterTimerFrequency: 0x3b9aca0\n" + b"".join(
        b"[    1.0] optee: TEEDriver: %s smc call, cmd=1, cntvct=0x%x\n" % (word, stamp)
        for i in range(3)
        for word, stamp in ((b"do", 0x1000 + i * 0x4000), (b"finish", 0x2000 + i * 0x4000))
    )
    return json.loads(tg.snapshot(tg.read(text)).to_bytes())


def _refused(document: dict, match: str, **limits: int) -> None:
    data = json.dumps(document).encode()
    kind = tg.LimitError if limits else tg.InputError
    with pytest.raises(kind, match=match):
        tg.read(data, limits=tg.Limits(**limits))


def test_two_units_of_one_boot_are_refused():
    document = _made()
    units = document["keys"][0]["units"]
    units.append({**units[0], "value": [v + 1 for v in units[0]["value"]]})
    _refused(document, "two units of one boot and key")


def test_two_entries_of_one_key_are_refused():
    document = _made()
    document["keys"].append(document["keys"][0])
    _refused(document, "two entries of one key")


def test_two_sources_of_one_digest_are_refused():
    document = _made()
    document["sources"].append(document["sources"][0])
    _refused(document, "two sources have the digest")


@pytest.mark.parametrize("name", ["metric", "labels", "test", "place"])
def test_a_text_of_a_key_obeys_the_limit_of_labels(name):
    document = _made()
    document["keys"][0][name] = "x" * 300
    assert tg.read(json.dumps(document).encode(), limits=tg.Limits(label=300))
    _refused(document, rf"a {name} of more than 299 bytes \(--limit label=N\)", label=299)
