"""The page's own small API over a `Desk`: JSON in and out, static files. Who may speak to it is decided in `guard.py`.

GET  /                 the page              GET  /api/text?place=&block=   a whole text
GET  /api/about        what stays the same   POST /api/label                {place, answers, note} -> the next item
GET  /api/next         the item to label     POST /api/undo                 the last label is taken back
GET  /api/findings     what the labels say   POST /api/more                 {count}
                                             POST /api/close                ends the server
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from jury.errors import ConfigError, DataError, JuryError
from jury.label.desk import AlreadyLabelled, Desk
from jury.label.findings import findings
from jury.label.guard import Guard
from jury.label.words import as_data

STATIC = Path(__file__).parent / "static"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(desk: Desk, *, token: str, port: int, stop: Callable[[], None] = lambda: None) -> ASGIApp:
    """The guarded application. `stop` is called once the page asked to end."""
    routes = [
        Route("/", _static("index.html")),
        *(Route(f"/static/{file.name}", _static(file.name)) for file in sorted(STATIC.iterdir())),
        Route("/api/about", _answering(lambda _: desk.about())),
        Route("/api/next", _answering(lambda _: desk.next())),
        Route(
            "/api/text", _answering(lambda given: {"text": desk.text(_whole(given, "place"), _whole(given, "block"))})
        ),
        Route("/api/findings", _answering(lambda _: _findings(desk))),
        Route("/api/label", _answering(lambda given: _label(desk, given)), methods=["POST"]),
        Route("/api/undo", _answering(lambda _: desk.undo()), methods=["POST"]),
        Route("/api/more", _answering(lambda given: desk.more(_whole(given, "count"))), methods=["POST"]),
        Route("/api/close", _closing(desk, stop), methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), token=token, port=port)


def _findings(desk: Desk) -> dict[str, Any]:
    found = findings(desk)
    desk.reveal(one.item for one in found.differences)
    return as_data(found)


def _label(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    note = given.get("note", "")
    if not isinstance(note, str):
        raise ConfigError("a note is a text")
    return desk.save(_whole(given, "place"), given.get("answers"), note)


def _answering(work: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
    """An endpoint: the request as a mapping, `work` in a thread of its own (it waits for the disk), JSON back."""

    async def endpoint(request: Request) -> Response:
        try:
            given = await _given(request)
            return _json(await run_in_threadpool(work, given))
        except AlreadyLabelled as error:
            return _json({"error": str(error)}, 409)
        except DataError as error:  # the disk is full, the file is damaged: the label is not stored
            return _json({"error": str(error)}, 500)
        except JuryError as error:
            return _json({"error": str(error)}, 400)

    return endpoint


def _closing(desk: Desk, stop: Callable[[], None]) -> Callable[[Request], Any]:
    async def endpoint(_: Request) -> Response:
        stop()
        return _json({"labels": str(desk.run.folder / "labels.jsonl")})

    return endpoint


async def _given(request: Request) -> Mapping[str, Any]:
    if request.method != "POST":
        return {
            k: int(v) if v.isascii() and v.isdigit() and len(v) < 12 else v for k, v in request.query_params.items()
        }
    try:
        value: Any = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise ConfigError("the request is no JSON") from None
    if not isinstance(value, dict):
        raise ConfigError("the request is no JSON object")
    return cast("dict[str, Any]", value)


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConfigError(f"{name} is a whole number")
    return value


def _static(name: str) -> Callable[[Request], Any]:
    body, kind = (STATIC / name).read_bytes(), _TYPES[Path(name).suffix]

    async def endpoint(_: Request) -> Response:
        return Response(body, media_type=kind)

    return endpoint


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    """ASCII alone: half a surrogate pair in a judged text is no UTF-8, escaped it is JSON."""
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")
