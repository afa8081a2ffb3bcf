"""What the script of 2015 does with a log, written for reading from what is known about it.

Lines are split at the line feed only, each is tried against eight regular expressions on bytes in
their order, and the first that is found anywhere in it counts.
"""

from __future__ import annotations

import re

HEX = rb"([0-9a-f]+)"
SMC = rb"\ssmc\scall,\scmd=([0-9]),\scntvct=0x" + HEX


def client(tag: bytes, middle: bytes) -> bytes:
    return tag + rb":\sstart=0x" + HEX + rb",\s" + middle + rb"=0x" + HEX + rb",\sreturn=0x" + HEX


PATTERNS = [
    (re.compile(rb"CounterTimerFrequency:\s0x" + HEX), "frequency"),
    (re.compile(client(b"ClientOpenSession", b"enter_ta")), "open"),
    (re.compile(client(b"ClientInvokeCommand", b"enter_ta")), "invoke"),
    (re.compile(client(b"SecureSysCall", b"enter_svc")), "syscall"),
    (re.compile(rb"TEEDriver:\sdo" + SMC), "driver start"),
    (re.compile(rb"TEEDriver:\sfinish" + SMC), "driver finish"),
    (re.compile(rb"TEECore:\sreceiving" + SMC), "core receive"),
    (re.compile(rb"TEECore:\sfinish" + SMC), "core finish"),
]

CALL = """
================================================================
{title}
================================================================
When                           Counter Value    Interval(ns)
----------------------------------------------------------------
Client Start Command        {0}
Driver Start SMC Call       {1}
TEE OS Receive SMC Call     {2}
TA Enter Command            {3}
TEE OS Finish SMC Call      {4}
Driver Finish SMC Call      {5}
Client Return From Command  {6}

----------------------------------------------------------------
Summary
----------------------------------------------------------------
Client -> TA (one way trip)    = {way:>10} (ns)
Client -> Client (round trip)  = {trip:>10} (ns)
SMC Call Send To Secure OS     = {send:>10} (ns)
SMC Call Return From Secure OS = {back:>10} (ns)

"""

SYSCALL = """
================================================================
Secure System Call (TEE_GetPropertyAsBinaryBlock)
================================================================
When                             Counter Value    Interval(ns)
----------------------------------------------------------------
TA Invoke System Call         {0}
Secure OS Receive System Call {1}
TA Return From System Call    {2}

----------------------------------------------------------------
Summary
----------------------------------------------------------------
TA -> OS = {there:>10} (ns)
OS -> TA = {back:>10} (ns)
TA -> TA = {trip:>10} (ns)



"""


def rows(stamps: list[int], resolution: int) -> list[str]:
    """The two columns of every row: the stamp, and the time since the row above it."""
    out = []
    for i, stamp in enumerate(stamps):
        since = 0 if i == 0 else resolution * (stamp - stamps[i - 1])
        out.append(f"{stamp:>16}{since:>16}")
    return out


def parse(log: bytes) -> tuple[dict[str, list[int]], list[int]]:
    """The values a log leaves, by name, and the unknown commands in order."""
    values = {"frequency": [0], "open": [0] * 3, "invoke": [0] * 3, "syscall": [0] * 3}
    for _, name in PATTERNS[4:]:
        values[name] = [0, 0]  # of open and invoke
    unknown = []
    for line in log.split(b"\n"):
        for pattern, name in PATTERNS:
            match = pattern.search(line)
            if match is None:
                continue
            if name in ("frequency", "open", "invoke", "syscall"):
                values[name] = [int(digits, 16) for digits in match.groups()]
            else:
                command, stamp = int(match[1]), int(match[2], 16)
                if command in (0, 1):
                    values[name][command] = values[name][command] or stamp
                elif command > 2:
                    unknown.append(command)
            break
    return values, unknown


def run(log: bytes, readable: bool = True) -> tuple[str, int]:
    """Stdout and exit status for a log; `readable` is False when the file could not be read."""
    values, unknown = parse(log)
    out = "".join(f"Unknown SMC call command = {command}\n" for command in unknown)
    if not readable:
        out += "can not open file\n"
    frequency = values["frequency"][0]
    if frequency == 0:
        return out, 1
    resolution = 10**9 // frequency
    out += f"Counter resolution (ns) = {resolution}\n"
    for which, (name, title) in enumerate([("open", "Open Session"), ("invoke", "Invoke Command")]):
        start, enter, back = values[name]
        do, done, receive, finish = (values[n][which] for _, n in PATTERNS[4:])
        out += CALL.format(
            *rows([start, do, receive, enter, finish, done, back], resolution),
            title=title,
            way=resolution * (enter - start),
            trip=resolution * (back - start),
            send=resolution * (receive - do),
            back=resolution * (done - finish),
        )
    start, enter, back = values["syscall"]
    out += SYSCALL.format(
        *rows([start, enter, back], resolution),
        there=resolution * (enter - start),
        back=resolution * (back - enter),
        trip=resolution * (back - start),
    )
    return out, 0
