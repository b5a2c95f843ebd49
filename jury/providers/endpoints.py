"""Where a provider is and which key may go there: `Endpoint`, the table of known ones, configuration and environment.

A key belongs to the host it was given for. The variable of a known vendor is read for that vendor's own address; for an
address from elsewhere only for `JURY_PROVIDER_<NAME>_KEY`, or the variable that the configuration names for it. The one
exception is a base URL in a variable of the vendor's own SDK, which its user set beside the key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import urlsplit

from jury import config
from jury.errors import ConfigError, ProviderError

APIS = ("chat", "responses", "anthropic")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address. `api`: `chat`, `responses` or `anthropic`. `key_env`: variables that may hold its key, in order.

    `key`: given outright, never shown. `open`: works without a key. `vendor`: the address is the SDK vendor's own or
    was set for its SDK, so the SDK's further variables (organisation, project, custom headers) are meant for it.
    """

    name: str
    base_url: str
    api: str = "chat"
    key_env: tuple[str, ...] = ()
    key: str | None = field(default=None, repr=False)
    open: bool = False
    vendor: bool = False

    def secret(self) -> str | None:
        """The key, None where none is needed. Raises `ProviderError` `auth` naming the variable to set."""
        given = self.key
        for name in () if given else self.key_env:
            given = os.environ.get(name)
            if given and given.strip():
                break
        key = (given or "").strip()
        if not key:
            if self.open:
                return None
            names = " or ".join(self.key_env) or f"{env_name(self.name)}_KEY"
            raise ProviderError("auth", f"no key for {self.name}: set {names}")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ProviderError(
                "auth", f"the key for {self.name} holds characters that no key has (blanks, line breaks)"
            )
        return key


def _vendor(name: str, url: str, *keys: str, **more: Any) -> Endpoint:
    return Endpoint(name, url, key_env=keys, **more)


ANTHROPIC_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")  # the second is a token, which older SDKs send otherwise


KNOWN: Mapping[str, Endpoint] = {
    e.name: e
    for e in (
        _vendor("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", vendor=True),
        _vendor("openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY", api="responses", vendor=True),
        _vendor("anthropic", "https://api.anthropic.com", *ANTHROPIC_KEYS, api="anthropic", vendor=True),
        _vendor("azure", "", "AZURE_OPENAI_API_KEY"),
        _vendor("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        _vendor("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
        _vendor("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        _vendor("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        _vendor("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        _vendor("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        _vendor("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
        _vendor("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
        Endpoint("ollama", "http://127.0.0.1:11434/v1", open=True),
        Endpoint("vllm", "http://127.0.0.1:8000/v1", open=True),
    )
}

# Variables of the vendors' own SDKs and tools that name an address, and what is to be put behind it.
_SDK_URLS = {
    "openai": ("OPENAI_BASE_URL", ""),
    "openai-responses": ("OPENAI_BASE_URL", ""),
    "anthropic": ("ANTHROPIC_BASE_URL", ""),
    "azure": ("AZURE_OPENAI_ENDPOINT", "/openai/v1"),
    "ollama": ("OLLAMA_HOST", "/v1"),
}
_SETTINGS = ("base_url", "key_env", "api")


def find(name: str) -> Endpoint | None:
    """The endpoint of a name: the configuration's, the environment's (`JURY_PROVIDER_<NAME>_URL`), or a known one.

    Raises `ConfigError` for one that is set up wrongly; None where nobody knows the name.
    """
    known = KNOWN.get(name)
    if known is not None and name in _SDK_URLS:
        known = _from_sdk(known, *_SDK_URLS[name])
    prefix = env_name(name)
    own = config.load().providers.get(name)
    found = known if own is None else _configured(name, own, known)
    url, key = os.environ.get(f"{prefix}_URL", "").strip(), os.environ.get(f"{prefix}_KEY", "").strip()
    if url:
        api = os.environ.get(f"{prefix}_API", "").strip() or (found.api if found else "chat")
        found = Endpoint(name, url, api=api, open=True)
    if found is None:
        return None
    if key:
        found = replace(found, key=key)
    if name == "azure" and not found.base_url:
        raise ConfigError("azure: set AZURE_OPENAI_ENDPOINT to https://<resource>.openai.azure.com")
    if found.api not in APIS:
        raise ConfigError(f"{name}: api must be one of {list(APIS)}, got {found.api!r}")
    return replace(found, base_url=_checked(name, found.base_url))


def api_of(name: str) -> str | None:
    """The API that judges of this name are asked over, whatever their address; None where nobody knows the name."""
    own, known = config.load().providers.get(name), KNOWN.get(name)
    row: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
    return os.environ.get(f"{env_name(name)}_API", "").strip() or row.get("api") or (known.api if known else None)


def problems() -> list[str]:
    """What is wrong with the providers of the configuration, a sentence each. Raises `ConfigError`."""
    found: list[str] = []
    for name in config.load().providers:
        try:
            find(name)
        except ConfigError as error:
            found.append(str(error))
    return found


def by_hand(name: str, key: str | None, base_url: str | None) -> Endpoint:
    """An endpoint that code names: without a base URL the usual one, with one no key but the one given with it."""
    if base_url is None:
        found = find(name) or KNOWN[name]
        return replace(found, key=key) if key else found
    return Endpoint(name, _checked(name, base_url), api=KNOWN[name].api, key=key, open=key is None)


def env_name(name: str) -> str:
    """What the variables of a provider begin with: `my-server` has `JURY_PROVIDER_MY_SERVER_URL` and `..._KEY`."""
    return "JURY_PROVIDER_" + re.sub(r"[^A-Z0-9]", "_", name.upper())


def names() -> tuple[str, ...]:
    """Every name there is without asking the environment: known ones and those of the configuration, sorted."""
    return tuple(sorted({*KNOWN, *config.load().providers}))


def _from_sdk(known: Endpoint, variable: str, path: str) -> Endpoint:
    url = os.environ.get(variable, "").strip()
    if not url:
        return known
    if "://" not in url:  # OLLAMA_HOST is a host, with or without a port
        url = f"http://{url}" if ":" in url else f"http://{url}:11434"
    url = url.rstrip("/")
    return replace(known, base_url=url if url.endswith("/v1") or not path else url + path)


def _configured(name: str, given: Any, known: Endpoint | None) -> Endpoint:
    row: Mapping[str, Any] = cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {}
    wrong = [k for k in row if k not in _SETTINGS]
    if wrong:
        hint = "; a key stands in the environment, never in a file" if "key" in wrong or "api_key" in wrong else ""
        raise ConfigError(f"providers.{name}: unknown {wrong}; known are {list(_SETTINGS)}{hint}")
    if not all(isinstance(v, str) and v.strip() for v in row.values()):
        raise ConfigError(f"providers.{name}: {list(row)} must be texts")
    if "base_url" not in row and known is None:
        raise ConfigError(f"providers.{name} needs base_url, such as http://127.0.0.1:8000/v1")
    base = (
        known if known and "base_url" not in row else Endpoint(name, row.get("base_url", ""), open="key_env" not in row)
    )
    changes: dict[str, Any] = {"api": row.get("api", known.api if known else base.api)}
    if "key_env" in row:
        changes["key_env"] = (row["key_env"],)
    return replace(base, **changes)


def _checked(name: str, url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"{name}: the base URL must be http://... or https://..., got {parts.scheme}://{parts.hostname}"
        )
    if parts.username or parts.password:
        raise ConfigError(f"{name}: the base URL must not hold a password; set {env_name(name)}_KEY")
    return url.rstrip("/")
