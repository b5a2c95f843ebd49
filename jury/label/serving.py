"""The server around the page: a socket on 127.0.0.1, a token, uvicorn, and the browser. Needs the extra `label`."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkstemp
from threading import Thread

from jury.errors import ConfigError, MissingExtra
from jury.label.desk import Desk

HOST = "127.0.0.1"  # never another: labels and texts are for this computer alone
_WAY = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>jury label</title>
<meta http-equiv="refresh" content="0; url={0}"><p><a href="{0}">To the labelling page</a></p>
"""


def check_extra() -> None:
    """Raises `MissingExtra` where the page's packages are not installed."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingExtra.of(f"the labelling page needs {' and '.join(missing)}", "label")


def serve(desk: Desk, *, port: int = 0, browser: bool = True, told: Callable[[str], None] = print) -> None:
    """Serves the page until it is closed, or the process is interrupted. `told` gets its address once it is open.

    `port` 0 takes a free one. Raises `ConfigError` where the port is taken, `MissingExtra`.
    """
    check_extra()
    import uvicorn

    from jury.label.app import application

    with _listening(port) as listener:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        address = f"http://{HOST}:{port}/?token={token}"

        def stop() -> None:
            server.should_exit = True

        app = application(desk, token=token, port=port, stop=stop)
        config = uvicorn.Config(
            app,
            access_log=False,
            log_level="warning",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=3,
        )
        server = uvicorn.Server(config)
        told(address)  # the socket listens already: who is quick waits a moment
        with ExitStack() as after:
            if browser and _has_screen():
                way = after.enter_context(_way_to(address, desk.run.folder))
                Thread(target=_open, args=(way,), daemon=True).start()
            with suppress(KeyboardInterrupt):  # uvicorn has answered what was in flight, then raises it again
                server.run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ConfigError(f"a port lies between 0 and 65535, got {port}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let another program take the port over
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise ConfigError(f"port {port} cannot be had: {error.strerror or error}; choose another --port") from None
    return listener


def _has_screen() -> bool:
    """Whether a browser would open in a window; one that takes the terminal over helps nobody."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextmanager
def _way_to(address: str, folder: Path) -> Generator[str]:
    """The address of a file that leads there and that nobody else may read: a command line is open to all users.

    It lies in the run folder, since some browsers may not read temporary files.
    """
    descriptor, name = mkstemp(".html", "open-", folder)  # for its owner alone
    file = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8") as opened:
            opened.write(_WAY.format(address))
        yield file.resolve().as_uri()
    finally:
        file.unlink(missing_ok=True)


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
