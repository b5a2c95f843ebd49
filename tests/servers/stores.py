"""A Redis and a PostgreSQL for tests, from Debian's packages: on the loopback address, in a folder that goes again."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "only-for-tests"
_PATIENCE_S = 120.0


def redis_binary() -> str | None:
    return shutil.which("redis-server")


def postgres_home() -> Path | None:
    """The folder with `initdb` and `postgres`, of the newest version that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def redis_server() -> Iterator[str]:
    """Its address. It keeps nothing on disk."""
    port = _free_port()
    options = [
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--requirepass",
        PASSWORD,
    ]
    with _folder() as home, _process([str(redis_binary()), *options, "--dir", str(home)]) as process:
        _until(lambda: _listens(port), process)
        yield f"redis://:{PASSWORD}@127.0.0.1:{port}/0"


@contextmanager
def postgres_server() -> Iterator[str]:
    """Its address. Where the tests run as root, it runs as the user that Debian's package has made for it."""
    tools, port = postgres_home(), _free_port()
    assert tools is not None
    other = ["runuser", "-u", "postgres", "--"] if getpass.getuser() == "root" else []
    with _folder() as home:
        (home / "password").write_text(PASSWORD)
        if other:
            for path in (home, home / "password"):
                shutil.chown(path, "postgres")
        data = home / "data"
        made = [str(tools / "initdb"), "-D", str(data), "-U", "jury", "-A", "scram-sha-256", "-N"]
        subprocess.run([*other, *made, f"--pwfile={home / 'password'}"], check=True, capture_output=True, cwd=home)
        quick = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"]
        command = [str(tools / "postgres"), "-D", str(data), "-p", str(port), "-k", str(home), *quick]
        with _process([*other, *command], cwd=home) as process:
            ready = [str(tools / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
            _until(lambda: subprocess.run(ready, check=False).returncode == 0, process)
            yield f"postgresql://jury:{PASSWORD}@127.0.0.1:{port}/postgres"


@contextmanager
def _folder() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="jury-store-"))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _process(command: list[str], cwd: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, cwd=cwd, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 15)  # the session that was started above, and nothing else
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _until(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not ready():
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        if time.monotonic() > end:
            raise RuntimeError(f"{process.args!r} does not answer")
        time.sleep(0.05)
