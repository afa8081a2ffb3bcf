"""A source at an http URL is read like its file: `pip install tickgauge[remote]`."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import tickgauge as tg

DATA = Path(__file__).resolve().parents[1] / "data"

pytest.importorskip("fsspec", reason="the extra 'remote' is not installed")
pytest.importorskip("aiohttp", reason="the extra 'remote' is not installed")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder; one name is always broken off in the middle."""

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_GET(self) -> None:
        if not self.path.endswith("/cut.log"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", "4000")
        self.end_headers()
        self.wfile.write(b"<RT_INSTR:t\t0\t1\t20\t50\t60/>\n" * 3)


@pytest.fixture
def address() -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(DATA))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["optee/ree.log.gz", "rules/fft.log", "suspend/before.dmesg"])
def test_a_url_gives_the_readings_of_its_file(address: str, name: str) -> None:
    rules = {"rules": DATA / "rules" / "fft.toml"} if "fft" in name else {}
    near, far = tg.read(DATA / name, **rules), tg.read(f"{address}/{name}", **rules)
    assert far.readings.to_csv() == near.readings.to_csv()
    assert len(far.readings)
    assert [str(i.digest) for i in far.infos] == [str(i.digest) for i in near.infos]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tickgauge", *arguments],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip


def test_verbs_take_a_url(address: str) -> None:
    url, path = f"{address}/stats/tfa-2.12.json.gz", str(DATA / "stats" / "tfa-2.12.json.gz")
    new = str(DATA / "stats" / "tfa-2.14.json.gz")
    far = command("compare", url, new, "--margin", "5%", "--format", "csv")
    near = command("compare", path, new, "--margin", "5%", "--format", "csv")
    assert (far.returncode, far.stdout) == (near.returncode, near.stdout)
    assert far.stdout.count("\n") > 60


@pytest.mark.parametrize(("name", "said"), [("no.log", "no.log"), ("cut.log", "cut.log")])
def test_a_url_that_fails_is_named_with_status_2(address: str, name: str, said: str) -> None:
    done = command("show", f"{address}/{name}")
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
