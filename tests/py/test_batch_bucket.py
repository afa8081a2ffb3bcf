"""Batches over a bucket: an S3 server, throttling, cut answers, workers without a common disk."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tickgauge as tg

pytest.importorskip("s3fs", reason="the extra 'remote' with s3fs is not installed")
moto_server = pytest.importorskip("moto.server", reason="moto is not installed")
import s3fs  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

DATA = Path(__file__).resolve().parents[1] / "data" / "tfa" / "console"
SLOW = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"

pytestmark = pytest.mark.noasan


class Faults:
    """A bucket on a bad day: of the reads of objects some are throttled, some end too early."""

    def __init__(self, app: Any) -> None:
        self.app, self.reads, self.throttled, self.cut, self.on = app, 0, 0, 0, False

    def __call__(self, environ: Any, start: Any) -> Any:
        if not self.on or environ["REQUEST_METHOD"] != "GET" or ".log" not in environ["PATH_INFO"]:
            return self.app(environ, start)
        self.reads += 1
        if self.reads % 3 == 1:
            self.throttled += 1
            start("503 Slow Down", [("Content-Type", "application/xml")])
            return [SLOW]
        if self.reads % 5 == 2:
            self.cut += 1

            def cut_start(status: str, headers: Any, *more: Any) -> Any:
                return start(status, headers, *more)

            body = b"".join(self.app(environ, cut_start))
            return [body[: len(body) // 2]]  # Content-Length promises more: the peer sees a reset
        return self.app(environ, start)


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, Faults]]:
    app = moto_server.DomainDispatcherApplication(moto_server.create_backend_app)
    faults = Faults(app)
    server = make_server("127.0.0.1", 0, faults, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    patch = pytest.MonkeyPatch()
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    files = s3fs.S3FileSystem(skip_instance_cache=True)
    files.mkdir("logs")
    for path in sorted(DATA.glob("*.log*")):
        files.put(str(path), f"logs/run/{path.name}")
    yield "s3://logs/run/*", faults
    server.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("logs")
    for path in DATA.glob("*.log*"):
        shutil.copy(path, folder)
    return tg.batch(folder, jobs=1).snapshot.to_bytes()


def test_a_bucket_gives_the_bytes_of_local_files(bucket, expected) -> None:
    url, faults = bucket
    faults.on = False
    made = tg.batch(url, jobs=2, out="s3://logs/results")
    assert made.failed == []
    assert made.snapshot.to_bytes() == expected
    files = s3fs.S3FileSystem(skip_instance_cache=True)
    assert files.cat("logs/results/snapshot.json") == expected


def test_throttling_and_cut_answers_change_nothing(bucket, expected) -> None:
    url, faults = bucket
    faults.on = True
    made = tg.batch(url, jobs=1)
    faults.on = False
    assert faults.throttled and faults.cut
    assert [(s.path, s.message) for s in made.failed] == []
    assert made.snapshot.to_bytes() == expected


@pytest.mark.slow
def test_workers_that_share_no_disk_and_one_that_is_killed(bucket, expected) -> None:
    distributed = pytest.importorskip("distributed")
    url, faults = bucket
    faults.on = False
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local) as client,
    ):  # fmt: skip
        killed = []

        def kill(done: int, of: int, status: Any) -> None:
            if not killed:
                killed.append(next(iter(local.workers.values())).process.pid)
                os.kill(killed[0], signal.SIGKILL)

        made = tg.batch(url, client=client, progress=kill, out="s3://logs/cluster")
    assert killed
    assert made.snapshot.to_bytes() == expected
    files = s3fs.S3FileSystem(skip_instance_cache=True)
    assert files.cat("logs/cluster/snapshot.json") == expected
