"""Drivers of a batch: every item once, whoever works, also when a process is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.driver_jobs import Killer, merge, setting, square
from tickgauge.batches import executors as drivers


@pytest.fixture(params=["alone", "beside a thread"])
def company(request: pytest.FixtureRequest) -> Iterator[None]:
    """Own processes are forked from a process with one thread, else served by a clean one."""
    if request.param == "alone":
        if threading.active_count() > 1:
            pytest.skip("threads of an earlier test are alive")
        yield
        return
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


def check(driver: drivers.Driver, count: int = 100) -> None:
    results: dict[int, Any] = {}
    for item, result, error in driver.each(square, iter(range(count))):
        assert item not in results
        results[item] = str(error) if error else result
    want: dict[int, Any] = {i: i * i for i in range(count)}
    want[13] = "thirteen"
    assert results == want
    for size in (1, 2, drivers.ARITY, drivers.ARITY + 1, 300):
        parts = [b"%d" % (i % 37) for i in range(size)]
        assert driver.fold(merge, parts) == merge(parts)


def test_serial() -> None:
    check(drivers.Serial())


def test_threads() -> None:
    with ThreadPoolExecutor(3) as executor:
        check(drivers.Pool(executor, ahead=7))


def test_processes_of_the_caller() -> None:
    with ProcessPoolExecutor(2) as executor:
        check(drivers.Pool(executor))


@pytest.mark.usefixtures("company")
def test_own_processes() -> None:
    check(drivers.Own(2))


@pytest.mark.usefixtures("company")
def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    done = sorted(drivers.Own(2).each(Killer(20, once=tmp_path / "killed"), iter(range(60))))
    assert done == [(i, i, None) for i in range(60)]


@pytest.mark.usefixtures("company")
def test_processes_have_the_environment_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    # a notebook sets its credentials after a first batch: the server of forks is older
    for value in ("one", "two", None):
        if value is None:
            monkeypatch.delenv("TICKGAUGE_TEST_SETTING")
        else:
            monkeypatch.setenv("TICKGAUGE_TEST_SETTING", value)
        found = drivers.Own(2).each(setting, iter(["TICKGAUGE_TEST_SETTING"]))
        assert [(result, error) for _, result, error in found] == [(value, None)]


def test_an_item_that_always_kills_is_found() -> None:
    failed = [item for item, _, error in drivers.Own(2).each(Killer(20), iter(range(60))) if error]
    assert failed == [20]


def test_a_broken_executor_gives_the_items_it_had_back() -> None:
    with ProcessPoolExecutor(1) as executor:
        done = list(drivers.Pool(executor, ahead=4).each(Killer(2), iter(range(50))))
    assert sorted(item for item, _, error in done if error is None) == [0, 1]  # as they finish
    assert {type(error).__name__ for _, _, error in done if error} == {"BrokenProcessPool"}


def test_only_one_may_be_asked_for() -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="one of"):
        drivers.driver_for(executor, None, 2)
    assert isinstance(drivers.driver_for(None, None, 1), drivers.Serial)
    assert isinstance(drivers.driver_for(None, None, 2), drivers.Own)
