"""OpenAI and everything that speaks its language: Chat Completions, or Responses where asked.

Responses: the provider name `openai-responses/<model>`, `api: responses` of a configured endpoint, or a seat's
`extra={"api": "responses"}`. The rungs: `schema` (a strict JSON schema), `tool` (a forced function), `json` (JSON mode
with the schema in the text), `text`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from jury.errors import ConfigError
from jury.providers import endpoints, schemas
from jury.providers.adapt import LIMITS
from jury.providers.base import Request, Settings
from jury.providers.clients import Client, Made, http_client
from jury.providers.endpoints import Endpoint
from jury.providers.remote import Call, RemoteProvider, ambient_headers, merged, system_text
from jury.results import Rung

_HOSTS = ("openai.com", "azure.com")  # where `max_completion_tokens`, strict functions and bounds are understood


class OpenAIProvider(RemoteProvider):
    """Chat Completions or Responses at one endpoint.

    `endpoint` comes from the registry. By hand: `client`, an own `AsyncOpenAI` (or Azure's), or anything with an async
    `chat.completions.create`; or `base_url` and `api_key`. The key of the environment goes to OpenAI's address only.
    """

    def __init__(
        self,
        endpoint: Endpoint | None = None,
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        api: str | None = None,
    ) -> None:
        found = endpoint or endpoints.by_hand("openai", api_key, base_url)
        super().__init__(replace(found, api=api) if api else found, client)
        if self.endpoint.api not in ("chat", "responses"):
            raise ConfigError(f"{self.name}: api must be 'chat' or 'responses', got {self.endpoint.api!r}")
        host = urlsplit(str(getattr(client, "base_url", "")) if client is not None else self.endpoint.base_url).hostname
        self._official = any((host or "").endswith(h) for h in _HOSTS)

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return ("schema", "tool", "json", "text")

    def call(self, request: Request) -> Call:
        extra = dict(request.settings.extra)
        api = extra.pop("api", self.endpoint.api)
        if api not in ("chat", "responses"):
            raise ConfigError(f"{self.name}: extra['api'] must be 'chat' or 'responses', got {api!r}")
        if api == "responses":
            return Call("openai_responses", "/responses", merged(self._responses(request), extra))
        return Call("openai_chat", "/chat/completions", merged(self._chat(request, extra), extra))

    def _chat(self, request: Request, extra: Mapping[str, Any]) -> dict[str, Any]:
        settings = request.settings
        messages = [{"role": turn.role, "content": turn.text} for turn in request.turns]
        system = system_text(request)
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": "system", "content": system}, *messages] if system else messages,
        }
        if not any(name in extra for name in LIMITS):
            body[LIMITS[1] if self._official else LIMITS[0]] = settings.max_tokens
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if request.schema is not None and request.rung == "schema":
            made = self._prepared(request)
            form = {"name": schemas.TOOL, "schema": made, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif request.schema is not None and request.rung == "tool":
            body["tools"] = [{"type": "function", "function": self._function(request)}]
            body["tool_choice"] = {"type": "function", "function": {"name": schemas.TOOL}}
        elif request.rung == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def _responses(self, request: Request) -> dict[str, Any]:
        settings = request.settings
        body: dict[str, Any] = {
            "model": request.model,
            "input": [{"role": turn.role, "content": turn.text} for turn in request.turns],
            "max_output_tokens": settings.max_tokens,
            "store": False,  # what is judged is not left with the vendor
        }
        if system := system_text(request):
            body["instructions"] = system
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if request.schema is not None and request.rung == "schema":
            form = {"type": "json_schema", "name": schemas.TOOL, "schema": self._prepared(request), "strict": True}
            body["text"] = {"format": form}
        elif request.schema is not None and request.rung == "tool":
            body["tools"] = [{"type": "function", "strict": self._official, **self._function(request)}]
            body["tool_choice"] = {"type": "function", "name": schemas.TOOL}
        elif request.rung == "json":
            body["text"] = {"format": {"type": "json_object"}}
        return body

    def _prepared(self, request: Request) -> Any:
        assert request.schema is not None
        if self._official and not request.model.startswith("ft:"):
            return schemas.prepared(request.schema, "openai", schemas.for_openai)
        return schemas.prepared(request.schema, "plain", _without_bounds)

    def _function(self, request: Request) -> dict[str, Any]:
        function = {
            "name": schemas.TOOL,
            "description": schemas.TOOL_DESCRIPTION,
            "parameters": self._prepared(request),
        }
        return {**function, "strict": True} if self._official else function

    def _make(self) -> Made:
        import openai

        key = self._hide(self.endpoint.secret()) or "none"  # an open server gets no key; the SDK wants one
        headers: dict[str, Any] = {}
        if not self.endpoint.vendor:
            custom = os.environ.get("OPENAI_CUSTOM_HEADERS")
            headers = ambient_headers(custom, key, openai.Omit(), "OpenAI-Organization", "OpenAI-Project")
        http = http_client(openai)
        client = openai.AsyncOpenAI(
            api_key=key,
            base_url=self.endpoint.base_url,
            max_retries=0,
            default_headers=headers,
            http_client=http.client,
        )
        return Made(cast("Client", client), http.share)

    def _sdk_error(self) -> type[Exception]:
        import openai

        return openai.OpenAIError

    def _create(self, client: Any, path: str) -> Any:
        if path == "/responses" and hasattr(client, "responses"):
            return client.responses.create
        if path == "/chat/completions" and hasattr(client, "chat"):
            return client.chat.completions.create
        return super()._create(client, path)


def _without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    return schemas.for_openai(schema, bounds=False)
