"""Formats and rules say what one independent observation is, and whether they need a clock."""

from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge import _core
from tickgauge.comparison.inputs import side_of

BOOT = "NOTICE:  BL1: v2.{v}(release):v2.{v}.0\n"
LINE = "door {n} took {t} ticks\n"
RULES = """
[[rule]]
name = "door"
template = "door {{n:uint}} took {{t:uint}} ticks"
value = "t"
unit = "tick"
{more}
"""


def rules(tmp_path: Path, more: str) -> Path:
    path = tmp_path / "doors.toml"
    path.write_text(RULES.format(more=more))
    return path


def log(boots: int, per_boot: int, first: int) -> bytes:
    """`boots` boots of one door that took first, first + 1 ... ticks."""
    text = ""
    for b in range(boots):
        text += BOOT.format(v=9)
        text += "".join(LINE.format(n=1, t=first + b + i) for i in range(per_boot))
    return text.encode()


@pytest.mark.parametrize(
    ("more", "unit", "units"),
    [("", "run", "run (4 v 4)"), ('unit_of_observation = "boot"', "boot", "boot (4 v 4)")],
)
def test_a_rule_is_compared_by_its_own_unit(
    tmp_path: Path, more: str, unit: str, units: str
) -> None:
    path = rules(tmp_path, more)
    sides = [tg.read(log(4, 5, at), rules=path, clock="50MHz") for at in (100, 200)]
    assert set(sides[0].keys["observation"]) == {unit}
    assert side_of(sides[0]).unit_of(None) == unit
    compared = tg.compare(*sides)
    assert compared.header[0].startswith(f"unit: {units}")
    assert compared.rows["shown"][0] == "ns"  # ticks of 20 ns, by the clock given


def test_the_unit_of_a_rule_goes_with_its_snapshot(tmp_path: Path) -> None:
    path = rules(tmp_path, 'unit_of_observation = "boot"')
    data = tg.read(log(4, 5, 100), rules=path, clock="50MHz")
    made = tg.snapshot(data)
    assert [key["observation"] for key in made.keys] == ["boot"]
    file = tmp_path / "doors.json"
    made.save(file)
    assert side_of(file).unit_of(None) == "boot"


def test_keys_of_built_in_formats_are_written_as_before() -> None:
    data = tg.read(b"NOTICE:  Raw results:\nNOTICE:  120 cycles\t1920 ns\n")
    assert set(data.keys["observation"]) == {"boot"}
    assert all("observation" not in key for key in tg.snapshot(data).keys)


def test_a_rule_that_needs_a_clock_says_what_settles_it(tmp_path: Path) -> None:
    path = rules(tmp_path, "needs_clock = true")
    (note,) = tg.read(log(1, 1, 5), rules=path).notes
    assert note.startswith("no clock is known for some boots, doors values are ticks; ")
    assert tg.read(log(1, 1, 5), rules=path, clock="50MHz").notes == []
    assert tg.read(log(1, 1, 5), rules=rules(tmp_path, "")).notes == []


def test_the_set_of_rules_lists_its_formats() -> None:
    own = {"name": "door.open", "pattern": "door {n:uint} opens", "observation": 1}
    formats = _core.RuleSet([own]).formats
    assert formats["door"] == {"title": "", "observation": "boot", "needs_clock": None}
    assert formats["tftf"]["observation"] == "boot"
    assert formats["pmf"]["needs_clock"] == "ticks"
    assert formats["qconv"]["observation"] == "run"
    assert _core.formats() == {name: formats[name] for name in _core.formats()}


def test_another_word_is_refused(tmp_path: Path) -> None:
    path = rules(tmp_path, 'unit_of_observation = "board"')
    with pytest.raises(tg.RuleError, match="unit_of_observation is run or boot, not 'board'"):
        tg.read(b"", rules=path)
    with pytest.raises(ValueError, match="observation of a rule is 0 to 1"):
        _core.RuleSet([{"name": "a", "pattern": "door", "observation": 2}])
