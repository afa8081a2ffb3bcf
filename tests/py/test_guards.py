"""What the binding refuses, so that no call from Python can reach memory that moves or is gone."""

from __future__ import annotations

import numpy as np
import pytest

from tickgauge import _core

HEADER = b"Sample in Buffer,Sample in Window,TRIGGER,m_arvalid,m_arready\n"
RULE = {"name": "r", "pattern": "fft {n:uint} usec", "values": "n=n", "unit": "us"}
READS = {
    "about": lambda c: c.about(),
    "word": lambda c: c.word("clock"),
    "table": lambda c: c.table("problems"),
    "changes": lambda c: c.changes(0),
    "axi": lambda c: c.axi(0),
    "adopt": lambda c: c.adopt(c),
}


@pytest.mark.parametrize("name", READS)
def test_an_unfinished_capture_shows_nothing_that_the_next_bytes_move(name):
    core = _core.Capture("csv")
    core.feed(HEADER + b"0,0,0,1,1\n1,1,0,q,1\n")
    with pytest.raises(ValueError, match="not finished"):
        READS[name](core)
    core.feed(b"2,2,0,0,1\n")
    core.finish()
    assert core.about()["samples"] == 3
    assert len(core.table("problems")) == 1


def test_a_dump_that_adopts_itself_is_refused():
    core = _core.Capture("dmp")
    core.feed(b"ILA Data Dump\nsample_count :8\ngaps :3\n")
    core.finish()
    with pytest.raises(ValueError):
        core.adopt(core)


RULES = _core.RuleSet([RULE], builtin=False)
RECORDS = _core.Reader(RULES).finish()


@pytest.mark.parametrize("wrong", [-1, 1 << 64])
@pytest.mark.parametrize(
    "call",
    [
        lambda v: _core.Reader(RULES, max_line=v),
        lambda v: _core.Reader(RULES, max_records=v),
        lambda v: _core.Reader(RULES, max_problems=v),
        lambda v: _core.reduce([RECORDS], clock_hz=v),
        lambda v: _core.Capture("csv", samples=v),
        lambda v: _core.Capture("csv", max_item=v),
        lambda v: _core.t_quantile(0.05, v),
        lambda v: _core.t_two_sided(0.05, v),
        lambda v: _core.bimodal(np.array([1, 2]), v),
        lambda v: _core.modes(np.array([1, 2]), None, v),
        lambda v: _core.histogram(np.array([1, 2]), None, v),
    ],
)
def test_integers_are_refused_not_cut(call, wrong):
    with pytest.raises(OverflowError):
        call(wrong)


class Turns:
    """Something that turns into a flag or a number, and changes the rules while it does."""

    def __init__(self, rules):
        self.rules = rules

    def __bool__(self):
        self.rules[0].clear()
        return True

    def __index__(self):
        self.rules[0].clear()
        return 1


@pytest.mark.parametrize("key", ["all", "soft", "better"])
def test_no_python_code_runs_while_a_rule_is_taken(key):
    rules = [dict(RULE, name="".join(["a", "b"] * 50))]
    rules.append(dict(RULE, **{key: Turns(rules)}))
    with pytest.raises(TypeError, match=key):
        _core.RuleSet(rules, builtin=False)
    assert rules[0]


def test_text_with_a_nul_is_refused_not_cut():
    for bad in ({"name": "r\0s"}, {"rows": ("a={n:uint}\0",), "end": ""}):
        with pytest.raises(ValueError, match="NUL"):
            _core.RuleSet([RULE | bad], builtin=False)
    with pytest.raises(ValueError, match="NUL"):
        RULES.fields("r\0")


def test_an_unknown_direction_is_refused():
    side = (
        np.array([1, 2], "i8"),
        None,
        *(np.array(v, "u8") for v in ([0, 1, 2], [0, 2], [1], [1], [1])),
    )
    with pytest.raises(ValueError):
        _core.compare(side, side, better=np.array([3], "u1"))


def test_values_at_the_ends_of_levels_and_numbers():
    x = np.arange(1024)
    assert _core.median_interval(x, 1e-300)[1:] == (0, 1023, 1)
    assert 0 < _core.min_p(10**18, 10**18) < 1e-300
    with pytest.raises(ValueError):
        _core.histogram(np.array([0, 1 << 61]), None, 1, 1 << 62)
