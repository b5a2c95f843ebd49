"""`TargetSpec`: what is under test, as data. Everything is checked here; nobody is asked, no code is imported.

target: app.py:answer                       # a Python function
target: openai/gpt-5-mini                   # a model
target: {model: my-bot, url: http://127.0.0.1:8000/v1}          # a model behind an OpenAI-compatible address
target: {url: http://127.0.0.1:8000/ask, output: reply.text}    # any address that takes JSON and gives JSON
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Self, cast
from urllib.parse import urlsplit

from jury.budget import check_max_cost
from jury.errors import ConfigError
from jury.providers.base import Provider, Settings
from jury.redaction import address

Loader = Callable[[str], Callable[..., Any]]
LONGEST_S = 10**7
_OWN = Settings(temperature=None)  # a target is what it is: its temperature is its maker's, not a judge's zero
_CALL = ("temperature", "max_tokens", "timeout", "retries", "extra")


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """What is under test: one of `function`, `model`, `url`; or `model` behind a `url` that speaks OpenAI's API.

    `name` is what it is called in prices, limits and results. `system` and `prompt` are templates over the item for a
    model; without them it gets the item's own instructions and messages. For an address: `body` is the JSON to send,
    with templates in its texts, `output` the path of the answer in what comes back, `key_env` the variable that holds a
    key for it. `provider` answers instead of the one that the model names. `max_cost`: US dollars that one call of a
    function or an address without a model can cost at most, which a budget needs to know. Raises `ConfigError`.
    """

    function: Callable[..., Any] | None = None
    model: str | None = None
    url: str | None = None
    name: str | None = None
    system: str | None = None
    prompt: str | None = None
    body: Mapping[str, Any] | None = None
    output: str | None = None
    key_env: str | None = None
    provider: Provider | None = None
    settings: Settings = _OWN
    max_cost: float | None = None

    def __post_init__(self) -> None:
        if (self.function is not None) + (self.model is not None or self.url is not None) != 1:
            raise ConfigError("target: give a function, a model, or a url (with or without a model)")
        if self.function is not None and not callable(self.function):
            raise ConfigError(f"target: {self.function!r} is no function")
        for word in ("model", "url", "name", "system", "prompt", "output", "key_env"):
            text: Any = getattr(self, word)
            if text is not None and not (isinstance(text, str) and text.strip()):
                raise ConfigError(f"target: {word} must be a text that is not blank, got {text!r}")
        if self.url is not None:
            _check_url(self.url)
        plain = self.url is not None and self.model is None
        misplaced = {
            "system": plain or self.function is not None,
            "prompt": plain or self.function is not None,
            "body": not plain,
            "output": not plain,
            "key_env": self.url is None,
        }
        for word, wrong in misplaced.items():
            if wrong and getattr(self, word) is not None:
                where = "a model" if word in ("system", "prompt") else "a url"
                raise ConfigError(f"target: {word} is for {where}{' without a model' if not plain else ''}")
        check_max_cost("target", self.max_cost, allowed=self.model is None)
        if self.body is not None and not isinstance(cast("Any", self.body), Mapping):
            raise ConfigError(f"target: body must be a mapping, got {type(self.body).__name__}")
        _check_settings(self.settings)

    @property
    def label(self) -> str:
        """What the target is called: its name, else what it is."""
        if self.name:
            return self.name
        if self.url and not self.model:
            return address(self.url)
        return self.model or str(getattr(self.function, "__name__", type(self.function).__name__))

    @classmethod
    def of(cls, given: Any, load: Loader | None = None) -> Self:
        """From a function, a text (`module:function` or a model) or a mapping. Raises `ConfigError`."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls(function=_loaded(given, load)) if is_function(given) else cls(model=given.strip() or None)
        if callable(given):
            return cls(function=given)
        if not isinstance(given, Mapping):
            raise ConfigError(f"target must be a function, a model or a mapping, got {given!r}")
        return cls._of_mapping(cast("Mapping[str, Any]", given), load)

    @classmethod
    def _of_mapping(cls, given: Mapping[str, Any], load: Loader | None) -> Self:
        own = [f.name for f in fields(cls) if f.name not in ("settings", "provider")]
        known = [*own, *_CALL]
        for key in given:
            if key not in known:
                near = get_close_matches(str(key), known, 1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                if "key" in str(key) or key == "headers":
                    hint = "; a key stands in the environment, never in a file: name its variable with key_env"
                raise ConfigError(f"target: unknown {key!r}{hint}; known are {', '.join(known)}")
        chosen = {k: v for k, v in given.items() if v is not None}
        if isinstance(chosen.get("function"), str):
            chosen["function"] = _loaded(chosen["function"], load)
        call = {("timeout_s" if k == "timeout" else k): chosen.pop(k) for k in _CALL if k in chosen}
        return cls(**chosen, settings=replace(_OWN, **cast("Any", call)))


def described(given: Any) -> Any:
    """A target as the manifest keeps it: JSON values, a function by its name."""
    if given is None or isinstance(given, str):
        return given and address(given)
    if isinstance(given, Mapping):
        return {str(k): described(v) for k, v in cast("Mapping[Any, Any]", given).items()}
    if isinstance(given, TargetSpec):
        return given.label
    if callable(given):
        return str(getattr(given, "__qualname__", type(given).__qualname__))
    return given if isinstance(given, bool | int | float) else str(given)


def is_function(text: str) -> bool:
    """Does this text name a Python function? Models may hold a colon too (`ollama/llama3:8b`), but have a slash."""
    home, colon, name = text.rpartition(":")
    return bool(colon) and name.isidentifier() and (home.endswith(".py") or "/" not in home)


def _loaded(text: str, load: Loader | None) -> Callable[..., Any]:
    if load is None:
        raise ConfigError(f"target: {text!r} names a function; pass the function itself")
    return load(text)


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("target: url must be http://... or https://...")
    if parts.username or parts.password:
        raise ConfigError("target: the url must not hold a password; put a key into a variable and name it in key_env")


def _check_settings(settings: Settings) -> None:
    heat: Any = settings.temperature
    if heat is not None and (isinstance(heat, bool) or not isinstance(heat, int | float) or not heat >= 0):
        raise ConfigError(f"target: temperature must be a number from 0, got {heat!r}")
    timeout: Any = settings.timeout_s
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_S:
        raise ConfigError(f"target: timeout must be a number of seconds above 0, got {timeout!r}")
    for word, least in (("max_tokens", 1), ("retries", 0)):
        count: Any = getattr(settings, word)
        if isinstance(count, bool) or not isinstance(count, int) or count < least:
            raise ConfigError(f"target: {word} must be a whole number from {least}, got {count!r}")
    if not isinstance(cast("Any", settings.extra), Mapping):
        raise ConfigError(f"target: extra must be a mapping, got {settings.extra!r}")
