"""Plain Python for the same answers: half an hour's work with ``re``.

Each finds the same readings, joins them where the job joins, and does no more: no problems, no
line numbers, no clock.
"""

PRELUDE = "import re, sys\nfrom collections import Counter, defaultdict\n"
PEER_SMC = (
    PRELUDE
    + r"""
row = re.compile(rb"NOTICE:\s+(\d+) cycles\s+(\d+) ns").search
test = re.compile(rb"> Executing '([^']*)'").search
def read(path):
    name, boot, out = b"", 0, []
    for line in open(path, "rb"):
        if m := row(line):
            out.append((name, boot, int(m[1]), int(m[2])))
        elif m := test(line):
            name = m[1]
        elif b"Booting Trusted Firmware" in line:
            boot += 1
    return out
out = read(sys.argv[1])
"""
)
PEER_RT = (
    PRELUDE
    + r"""
row = re.compile(rb"<RT_INSTR:(\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/>").search
def read(path):
    boot, out = 0, []
    for line in open(path, "rb"):
        if m := row(line):
            out.append((m[1], boot, *map(int, m.groups()[1:])))
        elif b"Booting Trusted Firmware" in line:
            boot += 1
    return out
out = read(sys.argv[1])
"""
)
PEER_OPTEE = (
    PRELUDE
    + r"""
smc = re.compile(rb"(TEEDriver|TEECore): (do|finish|receiving) smc call, cmd=(\d+), "
                 rb"cntvct=0x([0-9a-f]+)").search
client = re.compile(rb"Client(\w+): start=0x([0-9a-f]+), enter_ta=0x([0-9a-f]+), "
                    rb"return=0x([0-9a-f]+)").search
at, calls = {}, []
for line in open(sys.argv[1], "rb"):
    if m := smc(line):
        at[m[1], m[2]] = int(m[4], 16)
    elif m := client(line):
        a, ta, b = int(m[2], 16), int(m[3], 16), int(m[4], 16)
        d1, c1 = at.get((b"TEEDriver", b"do")), at.get((b"TEECore", b"receiving"))
        c2, d2 = at.get((b"TEECore", b"finish")), at.get((b"TEEDriver", b"finish"))
        if d1 and c1 and c2 and d2 and a <= d1 <= c1 <= ta <= c2 <= d2 <= b:
            calls.append((m[1], d1 - a, c1 - d1, ta - c1, c2 - ta, d2 - c2, b - d2))
        at = {}
for hop in zip(*(c[1:] for c in calls)):
    hop = sorted(hop)
    print(len(hop), hop[0], hop[len(hop) // 2], hop[-1])
"""
)
PEER_SUSPEND = (
    PRELUDE
    + r"""
call = re.compile(rb"(\S+) (\S+): PM: \S+ returned (-?\d+) after (\d+) usecs").search
phase = re.compile(rb"PM: (.*) of devices (\w+) after (\d+)\.(\d+) msecs").search
waiting, out = [], []
for line in open(sys.argv[1], "rb"):
    if m := call(line):
        waiting.append((m[1], m[2], int(m[4])))
    elif m := phase(line):
        out += [(m[1], *one) for one in waiting]
        out.append((m[1], b"", b"", int(m[3] + m[4])))
        waiting = []
"""
)
PEER_HISTOGRAM = (
    PRELUDE
    + r"""
row = re.compile(rb"^(\d+) ([\d\t]+)$").match
tables, counts = [], {}
for line in open(sys.argv[1], "rb"):
    if m := row(line.rstrip()):
        for thread, n in enumerate(m[2].split(b"\t")):
            counts[thread, int(m[1])] = int(n)
    elif line.startswith(b"# Histogram Overflow"):
        tables.append(counts)
        counts = {}
"""
)
PEER_FTRACE = (
    PRELUDE
    + r"""
event = re.compile(rb"\s*(.*)-(\d+)\s+\[(\d+)\]\s+\S+\s+(\d+)\.(\d+): optee_invoke_fn_(begin|end): "
                   rb"param=(\S+) (?:ret )?\((\w+)").match
begun, out = {}, []
for line in open(sys.argv[1], "rb"):
    if m := event(line):
        t = int(m[4]) * 10**6 + int(m[5])
        who = m[2], m[7]
        if m[6] == b"begin":
            begun[who] = t
        elif who in begun:
            out.append((who, t - begun.pop(who), m[8]))
"""
)
PEER_ANY = (
    PRELUDE
    + r"""
any_of = re.compile(rb"<RT_INSTR:(\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/>"
                    rb"|NOTICE:\s+(\d+) cycles\s+(\d+) ns|cntvct=0x([0-9a-f]+)"
                    rb"|optee_invoke_fn_(?:begin|end): param=(\S+)").search
out = [m.groups() for line in open(sys.argv[1], "rb") if (m := any_of(line))]
"""
)
PEER_SNAPSHOT = (
    PEER_SMC
    + r"""
import hashlib, json
counts = defaultdict(Counter)
for name, boot, ticks, ns in out:
    counts[name.decode(), boot][ticks] += 1
digest = hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest()
json.dump([digest, [[*k, sorted(c.items())] for k, c in counts.items()]], open(sys.argv[2], "w"))
"""
)
PEER_COMPARE = (
    PEER_SMC
    + r"""
from statistics import median
def medians(rows):
    per = defaultdict(list)
    for name, boot, ticks, ns in rows:
        per[name, boot].append(ticks)
    boots = defaultdict(list)
    for (name, boot), ticks in per.items():
        boots[name].append(median(ticks))
    return boots
old, new = medians(out), medians(read(sys.argv[2]))
for name in old:
    print(name, median(old[name]), median(new[name]))
"""
)
PEER_VCD = (
    PRELUDE
    + r"""
codes = {}
value, cycle, begun, spans, beats = defaultdict(str), 0, [], [], 0
lines = iter(open(sys.argv[1], "r"))
for line in lines:
    w = line.split()
    if w[:1] == ["$var"]:
        codes[w[3]] = w[4].split("_")[-1]
    if w[:1] == ["$enddefinitions"]:
        break
def edge():
    global cycle, beats
    cycle += 1
    if value["arvalid"] == "1" and value["arready"] == "1":
        begun.append(cycle)
    if value["rvalid"] == "1" and value["rready"] == "1":
        beats += 1
        if value["rlast"] == "1" and begun:
            spans.append(cycle - begun.pop(0))
rising = False
for line in lines:
    c = line[0]
    if c == "#":
        if rising:
            edge()
        rising = False
    elif c in "01xz":
        name = codes.get(line[1:].rstrip())
        if name == "aclk":
            rising = c == "1"
        else:
            value[name] = c
    elif c == "b":
        bits, code = line[1:].split()
        value[codes.get(code)] = bits
spans.sort()
print(len(spans), beats, spans[len(spans) // 2] if spans else None)
"""
)
COLUMNS = r"""
import sys
from array import array
n = int(sys.argv[1])
value = [i * 7919 % 10007 for i in range(n)]
boot = [i // 1000 for i in range(n)]
core = [i % 4 for i in range(n)]
"""
PEER_COLUMNS = (
    PRELUDE
    + COLUMNS
    + r"""
per = defaultdict(list)
for v, b, c in zip(value, boot, core):
    per[c, b].append(v)
"""
)
