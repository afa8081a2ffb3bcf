"""References stay flat: every function of the C modules, called again and again, keeps nothing.

Each call of a case makes its own arguments, so that a reference that is kept keeps an object. In a
process of their own the cases run 10,000 times each, and the blocks of Python's allocator and the
bytes of the C library's are counted before and after: one object or one byte a call would show.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tickgauge._core as _core

CALLS = 10_000

SETUP = """
import numpy as np
import tickgauge as tg
import _tickgauge_legacy as legacy
from tickgauge import _core

RULE = dict(name="r", pattern="fft {n:uint} {w:word} usec", values="n=n", unit="us")
ROWS = dict(name="s", pattern="table {n:uint}", rows=("row=size {v:uint}",), end="end")
SET = _core.RuleSet([RULE], builtin=False)
LINES = b"fft 17 a usec\\nfft 18 torn\\n"
PLATFORM = ("n1", ("N1", "n1"), 10**8, ((0, 0), (1, 0)), ((0, 0),), ((((0, 0),), ((1, 0),)),))
CSV = (
    b"Sample in Buffer,Sample in Window,TRIGGER,"
    b"m_arvalid,m_arready,m_rvalid,m_rready,m_araddr[7:0]\\n"
    b"Radix - UNSIGNED,UNSIGNED,UNSIGNED,HEX,HEX,HEX,HEX,HEX\\n"
    b"0,0,0,1,1,0,0,10\\n1,1,1,0,0,1,1,10\\n2,2,0,0,0,q,0,10\\n"
)
VCD = b"$var wire 1 ! clk $end\\n$enddefinitions $end\\n#0\\n0!\\n#1\\n1!\\n"
DUMP = b"ILA Data Dump\\nsample_count :8\\n"


def i8(*v): return np.array(v or (4, 1, 3, 9), "i8")
def u8(*v): return np.array(v, "u8")
def f8(*v): return np.array(v or (1.0, 1.01, 0.99, 2.0), "f8")
def samples(*units):
    return (i8(1, 2, 3, 4), None, u8(*(units or (0, 2, 4))), u8(0, 2), u8(1), u8(1), u8(1))
def vectors(): return (i8(1, 2, 3, 4), u8(2), u8(2), u8(1), u8(1), u8(1))
def column(kind="u64", data=(1, 2), valid=None, words=None):
    return ("a", kind, 0, np.array(data, {"text": "u4", "f64": "f8"}.get(kind, "u8")), valid, words)
def table():
    words = ("w", "text", 0, np.array([0, 1], "u4"), None, ["x", b"y"])
    return _core.table_from_columns([column(), words])
def reader(**o):
    r = _core.Reader(SET, **o)
    r.feed(bytearray(LINES))
    return r
def records(**o): return reader(**o).finish()
def fed(form="csv", data=CSV, **o):
    c = _core.Capture(form, **o)
    c.feed(bytearray(data))
    return c
def capture(*a, **o):
    c = fed(*a, **o)
    c.finish()
    return c


CLOCK = b"$timescale 1ns $end\\n$var wire 1 ! clk $end\\n$var wire 1 # s_axi_arvalid $end\\n"
CLOCK += b"$var wire 100 % s_axi_araddr [99:0] $end\\n$enddefinitions $end\\n"
def changes():
    codes = {"v": b"#", "a": b" %", "long": b"x" * 65}
    return _core.Changes(fed("vcd", CLOCK), codes)
RECORDS, TABLE, CAPTURE, DONE = records(keep_near=True), table(), capture(), capture("dmp", DUMP)
"""

#: what is called, and as "name!" what must fail
CASES = {
    "build_info": ["_core.build_info()"],
    "table_from_columns": ["table()"],
    "table_from_columns!": [
        "_core.table_from_columns([])",
        "_core.table_from_columns(7)",
        "_core.table_from_columns([7])",
        "_core.table_from_columns([column('nothing')])",
        "_core.table_from_columns([column(data=(-1.5,))[:3] + ([-1.5], None, None)])",
        "_core.table_from_columns([column(), column()])",
        "_core.table_from_columns([column(), ('b', 'u64', 0, u8(1), None, None)])",
        "_core.table_from_columns([column(valid=np.ones(7, bool))])",
        "_core.table_from_columns([column('text', words=['x'])])",
        "_core.table_from_columns([column('text', words=[7, 8])])",
    ],
    "Table": [
        "TABLE.names, TABLE.types, TABLE.exponents, TABLE.mask, len(TABLE)",
        "TABLE.column('a'), TABLE.column(1), TABLE.valid('a'), TABLE.words('w'), TABLE.words('a')",
        "TABLE.__reduce__()",
        "TABLE.__arrow_c_schema__(), TABLE.__arrow_c_array__(), TABLE.__arrow_c_stream__(None)",
        "table().column('a')",
    ],
    "Table!": [
        "TABLE.column('b' * 40)",
        "TABLE.column(2)",
        "TABLE.column(-1)",
        "TABLE.column(1 << 70)",
        "TABLE.column(None)",
        "TABLE.column('a\\0')",
        "TABLE.valid('no')",
        "TABLE.words('no')",
        "TABLE.__reduce__(7)",
        "TABLE.__arrow_c_stream__(1, 2)",
        "TABLE.__arrow_c_array__(1, requested_schema=2)",
        "TABLE.__arrow_c_schema__(other=2)",
    ],
    "compare": [
        "_core.compare(samples(), samples(), better=np.array([0], 'u1'), noise=samples())",
        "_core.compare(samples(), samples(), group=np.array([0], 'u4'), margin_abs=f8(2))",
    ],
    "compare!": [
        "_core.compare(samples(), samples(), margin=-1.5)",
        "_core.compare(samples(), samples(), better=np.array([7], 'u1'))",
        "_core.compare(samples(), samples(), better=np.array([0, 0], 'u1'))",
        "_core.compare(samples(), samples(0, 2, 1))",
        "_core.compare(samples(0, 2, 9), samples())",
        "_core.compare([1], samples())",
        "_core.compare(samples(), samples()[:4])",
    ],
    "formats": ["_core.formats()"],
    "formats!": ["_core.formats(7)"],
    "codes": ["_core.codes([u8(1, 2, 2).astype('u4'), i8()[:3]])"],
    "codes!": ["_core.codes([])", "_core.codes([i8(), i8()[:3]])", "_core.codes(7)"],
    "stack": [
        "_core.stack(2 * [table()], [(0, u8(0, 2), None)], u8(3, 4).astype('u4'))",
        "_core.stack([table()], [(0, u8(0), np.arange(3, dtype='u4'))], None)",
    ],
    "stack!": [
        "_core.stack([], [], None)",
        "_core.stack(7, [], None)",
        "_core.stack([7], [], None)",
        "_core.stack([table()], 7, None)",
        "_core.stack([table()], [7], None)",
        "_core.stack([table()], 25 * [(0, u8(0), None)], None)",
        "_core.stack([table()], [(0, u8(0, 1), None)], None)",
        "_core.stack([table()], [(0, u8(0), u8(1).astype('u4'))], None)",
        "_core.stack([table()], [(1, u8(0), None)], None)",
        "_core.stack([table()], [], u8(3, 4).astype('u4'))",
    ],
    "samples": [
        "_core.samples(u8(0, 1, 0, 0).astype('u4'), None, i8(), n_keys=2)",
        "_core.samples(*2 * [u8(0, 1, 0, 0).astype('u4')], i8(), u8(1, 2, 3, 4), n_keys=2, "
        "n_units=2)",
    ],
    "samples!": ["_core.samples(u8(0).astype('u4'), None, i8(), n_keys=1)"],
    "count_groups": ["_core.count_groups(i8(), u8(1, 2, 3, 4), u8(0, 2, 4), 2)"],
    "count_groups!": ["_core.count_groups(i8(), None, u8(0, 2, 9), 2)"],
    "gate": [
        "_core.gate(samples(), samples(), margin_abs=f8(1), better=np.array([1], 'u1'))",
        "_core.gate((*samples(), np.array([0, 1], 'u4')), samples(), confirm_from=1)",
    ],
    "gate!": ["_core.gate(samples(), 7)", "_core.gate(samples(), samples(), margin=-1.5)"],
    "drift": ["_core.drift(samples(), samples())"],
    "drift!": ["_core.drift(7, samples())"],
    "summarize": ["_core.summarize(samples())"],
    "summarize!": ["_core.summarize(samples(0, 0, 0))", "_core.summarize(i8())"],
    "collapse": ["_core.collapse(samples())"],
    "collapse!": ["_core.collapse(samples(0, 0, 0))", "_core.collapse(None)"],
    "trend": [
        "_core.trend(i8(), u8(0, 1, 2, 3).astype('u4'), u8(0, 4), u8(1), u8(1), u8(1), "
        "margin=0.05, group=np.array([0], 'u4'))",
    ],
    "trend!": [
        "_core.trend(i8(), u8(0, 1, 2, 3).astype('u4'), u8(0, 5), u8(1), u8(1), u8(1))",
        "_core.trend(i8(), u8(0, 1, 2, 3).astype('u4'), u8(0, 4), u8(1), u8(0), u8(1))",
        "_core.trend(i8(), f8(), u8(0, 4), u8(1), u8(0), u8(1))",
    ],
    "signflip_test": ["_core.signflip_test(i8())"],
    "signflip_test!": ["_core.signflip_test(np.array([], 'i8'))", "_core.signflip_test('x' * 50)"],
    "u_test": ["_core.u_test(i8(), i8())"],
    "u_test!": ["_core.u_test(i8(), np.array([], 'i8'))", "_core.u_test(i8(), f8(1.5))"],
    "mean_test": ["_core.mean_test(i8(), i8())"],
    "mean_test!": ["_core.mean_test(i8(1 << 62), i8())", "_core.mean_test(i8())"],
    "hl_shift": ["_core.hl_shift(i8(), i8())"],
    "hl_shift!": [
        "_core.hl_shift(i8(), i8(), 7.5)",
        "_core.hl_shift(np.zeros((2, 2), 'i8'), i8())",
    ],
    "hl_paired": ["_core.hl_paired(i8())"],
    "hl_paired!": ["_core.hl_paired(i8(), 2.5)", "_core.hl_paired(np.zeros(2001, 'i8'))"],
    "median_interval": ["_core.median_interval(i8())"],
    "median_interval!": ["_core.median_interval(i8(), -1.5)"],
    "prediction": ["_core.prediction(i8())"],
    "prediction!": ["_core.prediction(i8(1))"],
    "series_stats": ["_core.series_stats(i8())"],
    "series_stats!": ["_core.series_stats(i8(1))", "_core.series_stats(object())"],
    "anova": ["_core.anova(i8(), u8(0, 2, 4))"],
    "anova!": ["_core.anova(i8(), u8(0, 2, 5))", "_core.anova(i8(), u8(0, 0, 0))"],
    "min_p": ["_core.min_p(1000, 3)"],
    "min_p!": ["_core.min_p(1 << 90, 3)"],
    "tick_halfwidth": ["_core.tick_halfwidth(1000, 0.5)"],
    "tick_halfwidth!": ["_core.tick_halfwidth('m', 0.5)"],
    "detectable_sd": ["_core.detectable_sd(4, 4)"],
    "detectable_sd!": ["_core.detectable_sd(4)"],
    "t_quantile": ["_core.t_quantile(0.05, 5)"],
    "t_quantile!": ["_core.t_quantile(0.05, -1)"],
    "t_two_sided": ["_core.t_two_sided(1.5, 5)"],
    "t_two_sided!": ["_core.t_two_sided(1.5, 1 << 64)"],
    "bh": ["_core.bh(f8())"],
    "bh!": ["_core.bh('no' * 20)"],
    "geometric_mean": ["_core.geometric_mean(f8())"],
    "geometric_mean!": ["_core.geometric_mean(f8(-1.0))"],
    "common_factor": ["_core.common_factor(f8(), u8(1, 1, 1, 1).astype('u4'))"],
    "common_factor!": [
        "_core.common_factor(f8(), u8(1).astype('u4'))",
        "_core.common_factor(f8(), u8(1, 1, 1, 1).astype('u4'), 0)",
    ],
    "modes": ["_core.modes(i8(), None, 1)", "_core.modes(i8(), u8(1, 2, 3, 4), 1)"],
    "modes!": ["_core.modes(i8(), u8(1), 1)", "_core.modes(i8(), None, 0)"],
    "histogram": ["_core.histogram(i8(), None, 1)"],
    "histogram!": ["_core.histogram(i8(), None, 1, 0)", "_core.histogram(i8(), None, -1)"],
    "bimodal": ["_core.bimodal(i8())"],
    "bimodal!": ["_core.bimodal(i8(), 0)"],
    "ladder": ["_core.ladder(f8())"],
    "ladder!": ["_core.ladder(f8(1.5))"],
    "segment": ["_core.segment(i8(), 1.5)"],
    "segment!": ["_core.segment(i8(), -1.5)", "_core.segment(np.zeros(4097, 'i8'), 1.5)"],
    "change": ["_core.change(i8())"],
    "change!": ["_core.change(i8(1 << 62, 1))", "_core.change(f8())"],
    "energy_step": ["_core.energy_step(i8())"],
    "energy_step!": ["_core.energy_step(i8(1, 2))"],
    "compare_vectors": ["_core.compare_vectors(vectors(), vectors())"],
    "compare_vectors!": [
        "_core.compare_vectors(vectors(), (i8(1), *[u8(1)] * 5))",
        "_core.compare_vectors(vectors(), (i8(1), u8(9), *[u8(1)] * 4))",
        "_core.compare_vectors(vectors(), vectors()[:3])",
    ],
    "RuleSet": [
        "SET.formats",
        "_core.RuleSet([dict(RULE), dict(ROWS)], builtin=False)",
        "SET.names, len(SET), SET.tag('r'), SET.fields(0), SET.formats",
        "SET.match('r', bytearray(LINES), 0), SET.match(0, b'fft x' * 9, 0)",
    ],
    "RuleSet!": [
        "_core.RuleSet([dict(RULE, pattern='fft {n')], builtin=False)",
        "_core.RuleSet([dict(RULE), dict(RULE)], builtin=False)",
        "_core.RuleSet([dict(RULE, name=7)], builtin=False)",
        "_core.RuleSet([dict(RULE, name='a\\0b')], builtin=False)",
        "_core.RuleSet([dict(RULE, all=1)], builtin=False)",
        "_core.RuleSet([dict(RULE, better=3)], builtin=False)",
        "_core.RuleSet([dict(ROWS, rows=['x'])], builtin=False)",
        "_core.RuleSet([dict(ROWS, rows=('x', 7))], builtin=False)",
        "_core.RuleSet([[]], builtin=False)",
        "_core.RuleSet(7)",
        "SET.tag('no' * 20)",
        "SET.fields(99)",
        "SET.match('no' * 20, bytearray(LINES), 0)",
        "SET.match('r', bytearray(LINES), 10**6)",
        "SET.match('r', 'str', 0)",
    ],
    "Reader": ["records(keep_near=True)", "reader()", "reader(repair_uart=True).finish()"],
    "Reader!": [
        "_core.Reader(7)",
        "_core.Reader(SET, max_line=-1)",
        "_core.Reader(SET, max_line=1 << 64)",
        "reader().feed('str' * 9)",
        "reader().feed_fd(-1)",
        "reader().feed_fd(0, -1)",
        "_core.Reader(SET, max_records=1).feed(LINES.replace(b'torn', b'a usec'))",
        "(lambda r: (r.finish(), r.feed(bytearray(9))))(reader())",
        "(lambda r: (r.finish(), r.finish()))(reader())",
        "[_core.Reader(SET) for r in [reader()]]",
    ],
    "Records": [
        "RECORDS.rules, len(RECORDS), RECORDS.counts(), RECORDS.ledger(), RECORDS.totals()",
        "RECORDS.table('r').column('n'), RECORDS.problems().words('rule'), RECORDS.near()",
        "RECORDS.unread()",
        "records().append(records())",
    ],
    "Records!": [
        "RECORDS.table('no' * 20)",
        "RECORDS.table()",
        "RECORDS.problems(1)",
        "RECORDS.near(1)",
        "records().append(7)",
        "RECORDS.append(records())",
        "(lambda r: r.append(r))(records())",
        "type(RECORDS)()",
    ],
    "reduce": ["_core.reduce([RECORDS], clock_hz=10**9, tee_offset=-(10**9), topology=[PLATFORM])"],
    "reduce!": [
        "_core.reduce(7)",
        "_core.reduce([TABLE])",
        "_core.reduce([RECORDS, RECORDS])",
        "_core.reduce([RECORDS], clock_hz=-1)",
        "_core.reduce([RECORDS], tee_offset=1 << 90)",
        "_core.reduce([RECORDS], topology=[PLATFORM, PLATFORM[:5]])",
        "_core.reduce([RECORDS], topology=[PLATFORM[:3] + (((0, -1),), (), ())])",
        "_core.reduce([RECORDS], topology=[PLATFORM[:5] + ((((((0, 0),), ())),),)])",
        "_core.reduce([RECORDS], topology=[PLATFORM[:1] + ((7,),) + PLATFORM[2:]])",
    ],
    "Capture": [
        "capture(keep=['m_rready'], map=[('bvalid', 'm_rvalid')]).axi(0, lanes=(0, 2))",
        "CAPTURE.axi(0, assume=[('bready', 1), ('bvalid', 0)], kind='axi4', ignore_gaps=True)",
        "CAPTURE.about(), CAPTURE.word('clock'), CAPTURE.changes(0)",
        "[CAPTURE.table(t) for t in ('signals', 'interfaces', 'marks', 'problems')]",
        "capture('vcd', VCD, sample_on='clk').adopt(DONE)",
        "fed('vcd', CLOCK).rises(0, u8(5, 15))",
    ],
    "Changes": [
        "[(c.change(0, 'v', 1), c.change(1, 'v', 'x'), c.flush()) for c in [changes()]]",
        "[(c.change(0, 'a', 1 << 90), c.change(2, 'a', 'x' * 9000)) for c in [changes()]]",
        "[(c.clock(0), c.edge(0, 'c', 0), c.edge(5, 'c', 1), c.flush()) for c in [changes()]]",
    ],
    "Changes!": [
        "_core.Changes(7, {})",
        "_core.Changes(CAPTURE, 7)",
        "changes().change(0, 'v')",
        "changes().change(0, 'nothing', 1)",
        "changes().change(-1, 'v', 1)",
        "changes().change(0, [], 1)",
        "changes().change(0, 'long', 1)",
        "changes().edge('t', 'c', 1)",
        "[(c.clock(1), c.edge(0, 'c', 0), c.edge(5, 'c', 1), c.flush()) for c in [changes()]]",
        "[(c.change(0, 'v', 1), c.flush()) for c in [_core.Changes(CAPTURE, {'v': b'#'})]]",
    ],
    "Capture!": [
        "_core.Capture('nothing')",
        "_core.Capture('csv', keep=7)",
        "_core.Capture('csv', keep=[7])",
        "_core.Capture('csv', keep=['x'] * 257)",
        "_core.Capture('csv', map=[('arvalid',)])",
        "_core.Capture('csv', map=[('nothing', 'x')])",
        "_core.Capture('csv', map=[('arvalid', 7)])",
        "_core.Capture('csv', max_item=-1)",
        "_core.Capture('csv').finish()",
        "fed('csv', b'Sample in Buffer,no ILA\\n')",
        "fed().feed('str')",
        "fed().about()",
        "fed().word('clock')",
        "fed().table('problems')",
        "fed().changes(0)",
        "fed().axi(0)",
        "fed().adopt(DONE)",
        "fed().rises(0, b'12345678')",
        "fed('vcd', CLOCK).rises(0, b'1234567')",
        "fed('vcd', CLOCK).rises(-1, b'')",
        "CAPTURE.adopt(7)",
        "CAPTURE.adopt(DONE)",
        "DONE.adopt(DONE)",
        "CAPTURE.feed(b'')",
        "CAPTURE.table('no' * 20)",
        "CAPTURE.changes(99)",
        "CAPTURE.changes(-1)",
        "CAPTURE.axi(99)",
        "CAPTURE.axi(1 << 32)",
        "CAPTURE.axi(0, kind='no')",
        "CAPTURE.axi(0, lanes=7)",
        "CAPTURE.axi(0, assume=[('arvalid', 'x')])",
        "CAPTURE.axi(0, assume=[('arvalid', 7)])",
    ],
    "capture_sniff": ["_core.capture_sniff(bytearray(CSV))"],
    "capture_sniff!": ["_core.capture_sniff('str')"],
    "legacy.read": ["legacy.read(LOG, lambda digits: None)", "legacy.read('/nowhere', None)"],
    "legacy.read!": [
        "legacy.read(LOG, 7)",
        "legacy.read(LOG, lambda digits: 1 // 0)",
        "legacy.read(7)",
        "legacy.read('a\\0b', None)",
    ],
}

LOG = "TEEDriver: do smc call, cmd=7, cntvct=0x12\nCounterTimerFrequency: 0x3b9aca0\n"

#: cases that take much more than a microsecond, which one call in so many stands for
SHORT = 10

COUNT = '''
import ctypes, gc, json, sys, time

class Mallinfo(ctypes.Structure):
    _fields_ = [(n, ctypes.c_size_t) for n in (
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost").split()]

def heap():
    """Bytes of the C library's allocator that are in use; of the process where it does not say."""
    try:
        info = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    info.restype = Mallinfo
    found = info()
    return found.uordblks + found.hblkhd

def measure(call, rounds):
    """Growth over half of the rounds, the smaller of two: what is kept once is no leak."""
    marks = []
    for n in (50, rounds // 2, rounds // 2):
        for _ in range(n):
            call()
        gc.collect()
        marks.append((sys.getallocatedblocks(), heap()))
    first, second = (tuple(b - a for a, b in zip(*pair)) for pair in zip(marks, marks[1:]))
    return min(first[0], second[0]), min(first[1], second[1])

def failing(code):
    def call():
        try:
            eval(code)
        except Exception:
            return
        raise SystemExit("did not fail")
    return call

grown = []
gc.freeze()
for name, sources in json.loads(CASES).items():
    for source in sources:
        code = compile(source, source, "eval")
        call = failing(code) if name.endswith("!") else lambda code=code: eval(code)
        try:
            begin = time.perf_counter()
            call()
            rounds = CALLS if time.perf_counter() - begin < 15e-6 else CALLS // SHORT
            blocks, size = measure(call, rounds)
        except SystemExit as error:
            raise SystemExit(f"{source}: {error}")
        if blocks > rounds // 20 or size > 4 * rounds:
            grown.append([source, rounds, blocks, size])
print(json.dumps(grown))
'''


@pytest.mark.noasan
def test_no_call_keeps_anything(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(LOG)
    head = f"CASES, CALLS, SHORT, LOG = {json.dumps(CASES)!r}, {CALLS}, {SHORT}, {str(log)!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", head + SETUP + COUNT], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == []


def test_every_function_is_called() -> None:
    """What the module offers, and each method of its types, is in a case; functions fail too."""
    text = " ".join(source for sources in CASES.values() for source in sources)
    helpers = SETUP
    for name in dir(_core):
        thing = getattr(_core, name)
        if name.startswith("_"):
            continue
        assert name in CASES
        assert name == "build_info" or name + "!" in CASES
        for method in vars(thing) if isinstance(thing, type) else ():
            if not method.startswith("__"):
                assert f".{method}" in text or f".{method}" in helpers, f"{name}.{method}"
