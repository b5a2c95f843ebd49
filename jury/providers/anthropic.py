"""Anthropic's Messages API. The rungs: `schema` (structured outputs), `tool` (a forced tool), `text`.

No temperature is sent to Anthropic: since API version 2026-10-21 it is refused for every model, and newer models
refused it before. The reply's notes say so; `extra={"temperature": ...}` sends one all the same. Thinking is set by a
seat's `extra={"thinking": {...}}`; its blocks are never the answer, and a tool cannot be forced then, so that rung is
left out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from jury.errors import ConfigError, ProviderError
from jury.providers import endpoints, schemas
from jury.providers.base import Request, Settings
from jury.providers.clients import Client, Made, http_client
from jury.providers.endpoints import Endpoint
from jury.providers.remote import Call, RemoteProvider, ambient_headers, merged, system_text
from jury.results import Rung


class AnthropicProvider(RemoteProvider):
    """Messages at one endpoint.

    `endpoint` comes from the registry. By hand: `client`, an own `AsyncAnthropic` (Bedrock's, Vertex's), or anything
    with an async `messages.create`; or `base_url` and `api_key`. The key of the environment goes to Anthropic's only.
    """

    def __init__(
        self,
        endpoint: Endpoint | None = None,
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> None:
        found = endpoint or endpoints.by_hand("anthropic", api_key, base_url)
        super().__init__(found, client)
        if self.endpoint.api != "anthropic":
            raise ConfigError(f"{self.name}: api must be 'anthropic', got {self.endpoint.api!r}")

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return ("schema", "text") if settings is not None and _thinks(settings) else ("schema", "tool", "text")

    def call(self, request: Request) -> Call:
        settings = request.settings
        thinks = _thinks(settings)
        if thinks and request.rung == "tool":
            # Known beforehand: the ladder goes on without a call.
            raise ProviderError("schema_refused", "a tool cannot be forced while the model thinks")
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": settings.max_tokens,
            "messages": [{"role": turn.role, "content": turn.text} for turn in request.turns],
        }
        if system := system_text(request):
            body["system"] = system
        lost: tuple[str, ...] = ()
        if settings.temperature is not None:
            if thinks or self.endpoint.vendor:
                lost = () if "temperature" in settings.extra else ("temperature",)
            else:
                body["temperature"] = settings.temperature
        if request.schema is not None and request.rung == "schema":
            form = schemas.prepared(request.schema, "anthropic", schemas.for_anthropic)
            body["output_config"] = {"format": {"type": "json_schema", "schema": form}}
        elif request.schema is not None and request.rung == "tool":
            form = schemas.prepared(request.schema, "anthropic", schemas.for_anthropic)
            tool = {"name": schemas.TOOL, "description": schemas.TOOL_DESCRIPTION, "input_schema": form}
            body["tools"] = [tool]
            body["tool_choice"] = {"type": "tool", "name": schemas.TOOL, "disable_parallel_tool_use": True}
        extra = {k: v for k, v in settings.extra.items() if k != "api"}
        return Call("anthropic_messages", "/v1/messages", merged(body, extra), lost)

    def _make(self) -> Made:
        import anthropic

        key = self._hide(self.endpoint.secret()) or "none"  # an open server gets no key; the SDK wants one
        api_key, token = (os.environ.get(name, "").strip() for name in endpoints.ANTHROPIC_KEYS)
        as_token = self.endpoint.vendor and self.endpoint.key is None and not api_key and key == token
        headers: dict[str, Any] = {}
        if not self.endpoint.vendor:
            custom = os.environ.get("ANTHROPIC_CUSTOM_HEADERS")
            headers = ambient_headers(custom, key, anthropic.Omit(), "Authorization")
        http = http_client(anthropic)
        client = anthropic.AsyncAnthropic(
            api_key=None if as_token else key,
            auth_token=key if as_token else None,
            base_url=self.endpoint.base_url.removesuffix("/v1"),
            max_retries=0,
            default_headers=headers,
            http_client=http.client,
        )
        return Made(cast("Client", client), http.share)

    def _sdk_error(self) -> type[Exception]:
        import anthropic

        return anthropic.AnthropicError

    def _create(self, client: Any, path: str) -> Any:
        return client.messages.create if hasattr(client, "messages") else super()._create(client, path)


def _thinks(settings: Settings) -> bool:
    thinking: Any = settings.extra.get("thinking")
    return isinstance(thinking, Mapping) and cast("Mapping[str, Any]", thinking).get("type") != "disabled"
