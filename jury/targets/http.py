"""`HttpTarget`: an address that takes JSON and gives JSON, as a provider: one POST, no redirects, no retries.

It goes through the client of the openai package, for its connections, its exceptions and its transport; nothing of
OpenAI's API is in what is sent. The body is in `request.settings.extra`, what came back is in `Reply.data`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from jury.errors import ProviderError
from jury.providers import complaints, faults
from jury.providers.base import Request, Settings
from jury.providers.bodies import dollars, tokens
from jury.providers.endpoints import Endpoint
from jury.providers.openai import OpenAIProvider
from jury.providers.remote import Call
from jury.results import Reply, Rung, Usage

_COUNTS = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
}


class HttpTarget(OpenAIProvider):
    """One address. `key_env`: the variable with a key, sent as a bearer token to this address only."""

    def __init__(self, name: str, url: str, key_env: str | None) -> None:
        super().__init__(Endpoint(name, url, key_env=(key_env,) if key_env else (), open=key_env is None))

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return ("text",)

    def call(self, request: Request) -> Call:
        return Call("openai_chat", self.endpoint.base_url, dict(request.settings.extra))

    def _read(self, call: Call, request: Request, answer: Any, lost: tuple[str, ...], structured: bool) -> Reply:
        if not answer.strip():
            raise ProviderError("empty", "the answer is blank")
        try:
            data: Any = json.loads(answer)
        except (ValueError, RecursionError):
            text = _text(answer)
            if text.lstrip().startswith("<"):
                raise ProviderError("bad_body", f"the answer is {complaints.read(text).message}") from None
            return Reply(text)
        if isinstance(data, Mapping) and complaints.is_error(data):
            raise faults.from_status(200, None, data, structured=False, secrets=self._secrets)
        return Reply("", data={"body": data}, usage=_usage(data))


def _text(answer: bytes | str) -> str:
    try:
        return answer if isinstance(answer, str) else answer.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ProviderError("bad_body", "the answer is neither JSON nor a text in UTF-8") from None


def _usage(data: Any) -> Usage | None:
    """Tokens and cost that an answer reports under `usage`, as far as they are numbers."""
    given: Any = cast("Mapping[str, Any]", data).get("usage") if isinstance(data, Mapping) else None
    if not isinstance(given, Mapping):
        return None
    said = cast("Mapping[str, Any]", given)
    counts = {
        name: next((n for w in words if (n := tokens(said.get(w))) is not None), None)
        for name, words in _COUNTS.items()
    }
    cost = dollars(said.get("cost"))
    if cost is None and all(v is None for v in counts.values()):
        return None
    return Usage(1, **counts, cost=cost)
