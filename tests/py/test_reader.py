"""The reader of the core: descriptors, one use at a time, lifetimes, the ledger, limits."""

from __future__ import annotations

import os
import threading

import pytest

import tickgauge as tg
from tickgauge import _core

FFT = tg.Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="us")
LOG = b"""booting
fft 256 points: 12.5 usec
noise fft 512 points: 1.25 usec more
fft 256 points: 13.5 usec
fft 999 points: torn
fft 512 points: 1.5 usec
"""


def rules(*more):
    return _core.RuleSet([FFT.definition(), *more], builtin=False)


def test_feed_fd_reads_a_descriptor(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(LOG * 1000)
    reader = _core.Reader(rules())
    with path.open("rb") as file:
        assert reader.feed_fd(file.fileno(), 10) == 10
        assert reader.feed_fd(file.fileno()) == 1000 * len(LOG) - 10
        assert reader.feed_fd(file.fileno()) == 0
    records = reader.finish()
    assert len(records) == 4000
    assert records.totals()["bytes"] == 1000 * len(LOG)


def test_feed_fd_reports_errors_and_keeps_records(tmp_path):
    reader = _core.Reader(rules())
    reader.feed(LOG)
    with pytest.raises(OSError):
        reader.feed_fd(os.open(tmp_path, os.O_RDONLY))
    with pytest.raises(OSError):
        reader.feed_fd(-1)
    assert len(reader.finish()) == 4


def test_a_rule_set_serves_one_reader_at_a_time():
    shared = rules()
    reader = _core.Reader(shared)
    with pytest.raises(RuntimeError, match="in use"):
        _core.Reader(shared)
    reader.feed(LOG)
    first = reader.finish()
    with pytest.raises(ValueError, match="finished"):
        reader.feed(LOG)
    again = _core.Reader(shared)
    again.feed(LOG)
    assert len(again.finish()) == len(first) == 4
    del reader
    _core.Reader(shared)


def test_a_reader_used_by_two_threads_is_refused():
    """While one thread waits for a pipe inside the reader, another must not get in."""
    read_end, write_end = os.pipe()
    reader = _core.Reader(rules())
    started = threading.Event()

    def first():
        started.set()
        reader.feed_fd(read_end)

    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    refused = False
    while thread.is_alive() and not refused:
        try:
            reader.feed(b"")
        except RuntimeError as error:
            assert "another thread" in str(error)
            refused = True
    os.write(write_end, LOG)
    os.close(write_end)
    thread.join()
    os.close(read_end)
    assert refused
    assert len(reader.finish()) == 4


def test_tables_outlive_records_and_rules():
    reader = _core.Reader(rules())
    reader.feed(LOG * 100)
    column = reader.finish().table(0).column("n")
    del reader
    assert column[:4].tolist() == [256, 512, 256, 512]
    assert len(column) == 400


def test_the_ledger_closes():
    reader = _core.Reader(rules())
    reader.feed(LOG)
    for tag, occurrences, used, problems, further in reader.finish().ledger():
        assert occurrences == used + problems + further
        assert occurrences == LOG.count(tag)


def test_limits_are_errors_of_their_own():
    reader = _core.Reader(rules(), max_records=2)
    with pytest.raises(tg.LimitError):
        reader.feed(LOG)
    assert len(reader.finish()) == 2


def test_rule_sets_tell_about_themselves():
    shared = rules()
    assert shared.names == ("user.fft",)
    assert shared.fields(0) == ("n", "t")
    assert shared.tag("user.fft") == b"fft"
    line = b"fft 256 points: 12 usec"
    assert shared.match(0, line, line.index(b"fft"))[0] is True
    with pytest.raises(KeyError):
        shared.fields("nothing")
    with pytest.raises(IndexError):
        shared.tag(5)
