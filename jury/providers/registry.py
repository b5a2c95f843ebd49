"""Names -> providers: `split("openai/gpt-5-mini")`, `provider("openai")`. One instance a name, shared by the process.

Known: OpenAI, Anthropic, the compatible endpoints of `endpoints.py`, `local`, `scripted`; besides, endpoints of the
configuration file and of the environment, and entry points of the group `jury.providers` (a provider, or a callable
that makes one). A built-in name cannot be taken by an entry point. No SDK is loaded before a provider is asked for.
"""

from __future__ import annotations

import difflib
import importlib
from importlib.metadata import entry_points
from typing import Any, cast

from jury.errors import ConfigError, ProviderError
from jury.families import family
from jury.providers import endpoints
from jury.providers.base import Provider
from jury.providers.endpoints import Endpoint

GROUP = "jury.providers"

_BUILT_IN = {"local": "jury.providers.local:LocalProvider", "scripted": "jury.providers.scripted:ScriptedFiles"}
# Who serves a family under its own name; the others are served by many.
_HOME = {name: name for name in ("anthropic", "deepseek", "mistral", "openai", "xai")} | {"google": "gemini"}

_made: dict[str, tuple[Endpoint | None, Provider]] = {}


def split(judge_id: str) -> tuple[str, str]:
    """`("openai", "gpt-5-mini")` of `"openai/gpt-5-mini"`; a model may hold slashes itself. Raises `ConfigError`."""
    name, slash, model = judge_id.strip().partition("/")
    if judge_id.strip().endswith(".py"):
        raise ConfigError(f"judge {judge_id!r} is a file: say which function in it, {judge_id.strip()}:NAME")
    if slash and name.strip() and model.strip():
        return name.strip(), model.strip()
    if slash:
        raise ConfigError(f"judge {judge_id!r}: write <provider>/<model>, such as openai/gpt-5-mini")
    raise ConfigError(f"judge {judge_id!r} names no provider: write <provider>/<model>{_suggestion(name)}")


def provider(name: str) -> Provider:
    """The provider of a name, its SDK loaded; needs no key. Raises `ConfigError` with near names where there is none.

    The SDK is loaded here and not at the first `complete`: that takes about a second, which no deadline should count.
    """
    endpoint = None if name in _BUILT_IN else endpoints.find(name)
    held = _made.get(name)
    if held is None or held[0] != endpoint:  # the same address and key: the same provider, with what it has learned
        held = _made[name] = (endpoint, _make(name, endpoint))
    return held[1]


def names() -> tuple[str, ...]:
    """All names that can stand before the slash, endpoints named by the environment alone excepted."""
    plugins = {point.name for point in entry_points(group=GROUP)}
    return tuple(sorted({*endpoints.names(), *_BUILT_IN, *plugins}))


def key_problem(name: str) -> str | None:
    """What is missing before a provider can be called, as a sentence; None where nothing is. Calls nobody.

    Raises `ConfigError` for a name that nobody has, `MissingExtra` where the local model is not installed: unlike a
    key, that can be had here and now, so nothing starts without it.
    """
    endpoint = None if name in _BUILT_IN else endpoints.find(name)
    if endpoint is None and name not in names():
        raise ConfigError(_unknown(name))
    if name == "local":
        from jury.providers.local_model import check_installed

        check_installed()
    try:
        if endpoint is not None:
            endpoint.secret()
    except ProviderError as error:
        return error.detail
    return None


def reset() -> None:
    """Forget every provider and what it has learned (tests; or after a server was replaced under the same address)."""
    _made.clear()


def _make(name: str, endpoint: Endpoint | None) -> Provider:
    if endpoint is not None and endpoint.api == "anthropic":
        from jury.providers.anthropic import AnthropicProvider

        importlib.import_module("anthropic")
        return AnthropicProvider(endpoint)
    if endpoint is not None:
        from jury.providers.openai import OpenAIProvider

        importlib.import_module("openai")
        return OpenAIProvider(endpoint)
    if name in _BUILT_IN:
        module, _, kind = _BUILT_IN[name].partition(":")
        return cast("Provider", getattr(importlib.import_module(module), kind)())
    for point in entry_points(group=GROUP, name=name):
        return _plugin(name, point.load())
    raise ConfigError(_unknown(name))


def _plugin(name: str, loaded: Any) -> Provider:
    made = loaded if isinstance(loaded, Provider) and not isinstance(loaded, type) else loaded()
    if not isinstance(made, Provider):
        raise ConfigError(f"the entry point {name!r} of {GROUP} gives a {type(made).__name__}, which is no provider")
    return made


def _unknown(name: str) -> str:
    known = names()
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    own = f"an own server: set {endpoints.env_name(name)}_URL, or list it under `providers` in the configuration"
    if "-" in name or "." in name:  # `meta-llama/llama-3.3-70b`: the name of a maker, not of who serves it
        hint += f"; a model of a hub needs the hub's name in front: openrouter/{name}/<model>"
    return f"no provider is named {name!r}: {hint}; {own}"


def _suggestion(model: str) -> str:
    if ":" in model and model.partition(":")[0] in names():
        return f"; here {model.replace(':', '/', 1)}"
    from jury.providers.prices import PRICES

    listed = {key.partition("/")[2]: key for key in PRICES}
    near = [listed[n] for n in difflib.get_close_matches(model.casefold(), listed, n=3, cutoff=0.7)]
    home = _HOME.get(family(model))
    if home and f"{home}/{model}" not in near:
        near.insert(0, f"{home}/{model}")
    return f"; near {model!r}: {', '.join(near)}" if near else ", such as openai/gpt-5-mini or ollama/llama3.2"
