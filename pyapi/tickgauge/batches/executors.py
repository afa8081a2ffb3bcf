"""Who does the work of a batch: this process, an executor, own processes, a cluster.

A driver runs a function over items, in any order, and folds byte strings in a tree. It changes
nothing about the result: functions are pure, and folding does not depend on order or arity.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any, Protocol

from ..util.optional import need

__all__ = ["CALM", "Cluster", "Driver", "Own", "Pool", "Serial", "driver_for", "local_client"]

ARITY = 64  # byte strings folded at a time


#: Settings of `dask` for workers whose tasks take seconds. By default each process ticks 50 times a
#: second, is profiled 100 times, and gives freed memory back to the system at once: a tenth of a
#: core for each worker. ``docs/examples/dask.yaml`` has them for clusters.
CALM: dict[str, Any] = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 128 << 20,
    # With the one above set, glibc no longer adapts this one: each large block was mapped anew.
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 32 << 20,
}


class Driver(Protocol):
    """The interface of all of them."""

    def times(self, bunches: int) -> int:
        """How many usual bunches are one item, where there are so many of them."""

    def each(
        self, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any, BaseException | None]]:
        """``(item, result, error)`` for every item, as they are done."""

    def fold(self, merge: Callable[[Sequence[Any]], bytes], parts: Sequence[Any]) -> bytes:
        """All parts merged into one; at least one part."""


def _levels(parts: Sequence[Any], one_level: Callable[[list[Sequence[Any]]], Sequence[Any]]) -> Any:
    """Merge in groups of `ARITY` until one is left."""
    while True:
        parts = one_level([parts[i : i + ARITY] for i in range(0, len(parts), ARITY)])
        if len(parts) == 1:
            return parts[0]


class Serial:
    """One after the other, here."""

    def times(self, bunches: int) -> int:
        return 1

    def each(
        self, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any, BaseException | None]]:
        for item in items:
            try:
                result, error = work(item), None
            except Exception as failure:
                result, error = None, failure
            yield item, result, error

    def fold(self, merge: Callable[[Sequence[Any]], bytes], parts: Sequence[Any]) -> bytes:
        merged: bytes = _levels(parts, lambda groups: [merge(group) for group in groups])
        return merged


class Pool:
    """Any executor of `concurrent.futures`; it stays the caller's.

    Parameters
    ----------
    executor : Executor
    ahead : int
        Items given to it at a time.
    """

    def __init__(self, executor: Executor, ahead: int = 256) -> None:
        self._executor = executor
        self._ahead = ahead

    def times(self, bunches: int) -> int:
        return 1

    def each(
        self, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any, BaseException | None]]:
        """A broken executor takes no more items; those it had are given back with its error."""
        waiting: dict[Future[Any], Any] = {}
        coming = iter(items)
        broken: BaseException | None = None
        try:
            while True:
                for item in islice(coming, 0 if broken else self._ahead - len(waiting)):
                    try:
                        waiting[self._executor.submit(work, item)] = item
                    except BrokenExecutor as error:
                        broken = error
                        yield item, None, error
                        break
                if not waiting:
                    return
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    item = waiting.pop(future)
                    failure = future.exception()
                    if isinstance(failure, BrokenExecutor):
                        broken = failure
                    yield item, None if failure else future.result(), failure
        finally:
            for future in waiting:
                future.cancel()

    def fold(self, merge: Callable[[Sequence[Any]], bytes], parts: Sequence[Any]) -> bytes:
        def level(groups: list[Sequence[Any]]) -> Sequence[Any]:
            if len(groups) == 1:
                return [merge(groups[0])]
            return list(self._executor.map(merge, groups))

        merged: bytes = _levels(parts, level)
        return merged


class Own:
    """Processes of its own, made anew when one is killed.

    When a process dies the items it may have had are tried again one at a time, so that the one
    that kills its process is told apart from the others, which lose nothing.

    The processes leave Ctrl-C to this one. They end when it is interrupted or killed, in the
    middle of an item too.

    Parameters
    ----------
    jobs : int
        Processes.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    @contextlib.contextmanager
    def _executor(self, jobs: int) -> Iterator[ProcessPoolExecutor]:
        # A fork of a process with threads may copy a lock that nobody will ever release.
        kind = "fork" if _threads() == 1 else "forkserver"
        context = multiprocessing.get_context(kind)
        ask, end = context.Pipe(duplex=False)
        executor = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_begin_worker, initargs=(ask, dict(os.environ))
        )
        try:
            with _without_interrupts():  # a worker must not take one before it knows to ignore it
                executor.submit(int)  # starts the processes
            yield executor
        except BaseException:
            end.send_bytes(b"end")
            executor.shutdown(cancel_futures=True)
            raise
        finally:
            executor.shutdown()
            ask.close()
            end.close()

    def times(self, bunches: int) -> int:
        return 1

    def each(
        self, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any, BaseException | None]]:
        suspects: deque[Any] = deque()
        coming = iter(items)
        while True:
            first = list(islice(coming, 1))
            if not first:
                break
            with self._executor(self._jobs) as executor:
                for item, result, error in Pool(executor, 4 * self._jobs).each(
                    work, _chain(first, coming)
                ):
                    if isinstance(error, BrokenExecutor):
                        suspects.append(item)
                    else:
                        yield item, result, error
        while suspects:
            item = suspects.popleft()
            with self._executor(1) as executor:
                yield from Pool(executor, 1).each(work, [item])

    def fold(self, merge: Callable[[Sequence[Any]], bytes], parts: Sequence[Any]) -> bytes:
        if len(parts) <= ARITY:
            return merge(parts)
        with self._executor(self._jobs) as executor:
            return Pool(executor).fold(merge, parts)


def _threads() -> int:
    """The threads of this process, those of libraries included where the system tells them."""
    try:
        return sum(1 for _ in Path("/proc/self/task").iterdir())
    except OSError:
        return threading.active_count()


def _begin_worker(ask: Connection, environment: dict[str, str]) -> None:
    """Prepare a process: Ctrl-C is the parent's, and a thread ends it when the parent says so.

    The server of forks has the environment of its start: credentials may have been set since.
    """
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    sentinels: list[Any] = [ask] if parent is None else [ask, parent.sentinel]

    def end() -> None:
        wait_for(sentinels)
        os._exit(1)  # also out of a read that waits for ever

    threading.Thread(target=end, name="end", daemon=True).start()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold SIGINT back in this thread, and in processes that it makes."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _chain(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    yield from first
    yield from rest


class Cluster:
    """The workers of a `dask.distributed` client; merging is done there, too.

    Parameters
    ----------
    client : distributed.Client
    ahead : int
        Items on the scheduler at a time.
    """

    def __init__(self, client: Any, ahead: int = 2000) -> None:
        self._client = client
        self._ahead = ahead

    def times(self, bunches: int) -> int:
        """Up to eight, as long as each thread of the cluster has four items."""
        threads = sum(self._client.nthreads().values()) or 1
        return min(8, max(1, bunches // (4 * threads)))

    def each(
        self, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any, BaseException | None]]:
        as_completed = need("distributed", "dask").as_completed
        waiting: dict[Any, Any] = {}
        coming = iter(items)
        pool = as_completed()
        try:
            while True:
                for item in islice(coming, self._ahead - len(waiting)):
                    future = self._client.submit(work, item, pure=False)
                    waiting[future.key] = item
                    pool.add(future)
                if not waiting:
                    return
                future = next(pool)
                item = waiting.pop(future.key)
                try:  # waits where the worker died with the result, and it is made again
                    result, error = future.result(), None
                except (Exception, CancelledError) as failure:
                    result, error = None, failure
                yield item, result, error
                future.release()
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel([f for f in pool.futures if f.key in waiting])

    def fold(self, merge: Callable[[Sequence[Any]], bytes], parts: Sequence[Any]) -> bytes:
        def level(groups: list[Sequence[Any]]) -> Sequence[Any]:
            # a group is a list of futures but for the first level; dask hands over their results
            return [self._client.submit(merge, list(g), pure=False) for g in groups]

        merged: bytes = _levels(parts, level).result()
        return merged


@contextlib.contextmanager
def local_client() -> Iterator[Any]:
    """A cluster of this machine, a worker a core, and its client; both end with the context."""
    distributed = need("distributed", "dask")
    settings = need("dask.config", "dask").set
    with (
        settings(CALM),
        distributed.LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def driver_for(executor: Executor | None, client: Any, jobs: int | None) -> Driver:
    """The driver that the arguments of `tickgauge.batch` ask for.

    Raises
    ------
    ValueError
        More than one of them is given.
    """
    if sum(given is not None for given in (executor, client, jobs)) > 1:
        raise ValueError("give one of executor, client and jobs")
    if client is not None:
        return Cluster(client)
    if executor is not None:
        return Pool(executor)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    jobs = cores if jobs is None else jobs
    return Own(jobs) if jobs is not None and jobs > 1 else Serial()
