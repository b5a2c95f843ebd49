"""Who may speak to the page: this computer's browser, with the token, from the page itself. Wraps any ASGI application.

Refused: another `Host` (a name somebody else made point here), a request without the token, a write that another page
started. What the page may load is its own files and nothing else.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 256 * 1024
OPEN = "/static/"  # the page's own files hold nothing of a run
HEADER = "x-jury-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """`token` opens the page as `?token=`, afterwards it is a cookie; programs send it as the header `x-jury-token`."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"jury_label_{port}"  # cookies are not kept apart by port: the name does it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        opened = scope["path"] == "/" and self._is(asked)
        refused = self._refusal(scope, headers, opened)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(k.encode(), v.encode()) for k, v in _HEADERS.items()]
                if opened and refused is None:
                    cookie = f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
                    added.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message.get("headers", []), *added]}
            await send(message)

        if refused is None:
            await self._app(scope, receive, guarded)
            return
        status, told = refused
        start = {"type": "http.response.start", "status": status}
        await guarded({**start, "headers": [(b"content-type", b"text/plain; charset=utf-8")]})
        await guarded({"type": "http.response.body", "body": told.encode()})

    def _refusal(self, scope: Scope, headers: Mapping[str, str], opened: bool) -> tuple[int, str] | None:
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return 421, f"This page answers to {self._hosts[0]} alone.\n"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Not that way.\n"
        if scope["path"].startswith(OPEN):
            return None
        by_header = self._is(headers.get(HEADER, ""))
        if not (opened or by_header or self._is(self._cookie_of(headers))):
            return 403, "Open the whole address that `jury label` printed: it holds a token.\n"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and not opened:
            return 403, "Another page asked for this.\n"
        if scope["method"] != "POST":
            return None
        if headers.get("origin") != f"http://{host}" and not (by_header and "origin" not in headers):
            return 403, "Another page asked for this.\n"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "JSON alone.\n"
        length = headers.get("content-length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return 413, f"At most {LARGEST_BODY} bytes, and how many.\n"
        return None

    def _is(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _cookie_of(self, headers: Mapping[str, str]) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found else ""
