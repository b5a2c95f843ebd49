"""What a call cost: list prices with their date, a user's own from the configuration, and the sum. Unknown is None.

Prices are US dollars per million tokens of the vendors' standard tier, collected by `AS_OF`; above each table stands
where they come from. A reply that names another tier (priority, flex, batch), a prompt beyond the length a price holds
for, or a kind of token without a price makes the cost unknown, never zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from jury import config
from jury.errors import ConfigError
from jury.providers.bodies import MOST, tokens
from jury.results import Usage
from jury.scales import shown

AS_OF = "2026-11-05"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `cached_input`: read from the vendor's cache; `cache_write`: written to it.

    `input_limit`: above so many input tokens another price holds, which is not known here.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    input_limit: int | None = None
    date: str = ""


Row = tuple[float, float | None, float] | tuple[float, float | None, float, float]


def _listed(provider: str, rows: Mapping[str, Row], limit: int | None = None) -> dict[str, Price]:
    """Rows of input, cached input (None: unknown), output and, where writing to the cache has its own price, cache
    write."""
    return {
        f"{provider}/{model}": Price(row[0], row[2], row[1], row[3] if len(row) == 4 else row[0], limit, AS_OF)
        for model, row in rows.items()
    }


# From developers.openai.com/api/docs/pricing and the pages of the models there. Where no page on record says
# what cached tokens cost, it is None.
_OPENAI_LONG: Mapping[str, Row] = {  # twice as much above 272,000 input tokens
    "gpt-6.2-sol": (2.0, 0.1, 10.0, 2.5),
    "gpt-6.1-sol": (2.0, 0.1, 10.0, 2.5),
    "gpt-6-sol": (2.0, 0.2, 10.0, 2.5),
    "gpt-6-luna": (0.1, 0.01, 0.5, 0.125),
    "gpt-6-astra": (10.0, 1.0, 50.0, 12.5),
    "gpt-5.6-sol": (4.0, 0.4, 20.0, 5.0),
    "gpt-5.6-terra": (2.0, 0.2, 12.0, 2.5),
    "gpt-5.6-luna": (0.2, 0.02, 1.2, 0.25),
    "gpt-5.5": (5.0, 0.5, 30.0),
    "gpt-5.4": (2.5, 0.25, 15.0),
}
_OPENAI: Mapping[str, Row] = {
    "gpt-5.4-mini": (0.75, 0.075, 4.5),
    "gpt-5.4-nano": (0.2, 0.02, 1.25),
    "gpt-5.2": (1.75, 0.175, 14.0),
    "gpt-5.1": (1.25, 0.125, 10.0),
    "gpt-5": (1.25, 0.125, 10.0),
    "gpt-5-mini": (0.25, 0.025, 2.0),
    "gpt-5-nano": (0.05, 0.005, 0.4),
    "gpt-4.1": (2.0, None, 8.0),
    "gpt-4.1-mini": (0.4, None, 1.6),
    "gpt-4.1-nano": (0.1, None, 0.4),
    "gpt-4o": (2.5, 1.25, 10.0),
    "gpt-4o-mini": (0.15, 0.075, 0.6),
    "o3": (2.0, None, 8.0),
    "o4-mini": (1.1, None, 4.4),
}

# From platform.claude.com/docs/en/about-claude/pricing; cache writes at the rate for five minutes.
_ANTHROPIC: Mapping[str, Row] = {
    "claude-fable-5-1": (10.0, 0.25, 50.0, 12.5),
    "claude-fable-5": (10.0, 1.0, 50.0, 12.5),
    "claude-opus-5-5": (4.0, 0.2, 20.0, 5.0),
    "claude-opus-5": (5.0, 0.5, 25.0, 6.25),
    "claude-opus-4-8": (5.0, 0.5, 25.0, 6.25),
    "claude-opus-4-7": (5.0, 0.5, 25.0, 6.25),
    "claude-opus-4-6": (5.0, 0.5, 25.0, 6.25),
    "claude-opus-4-5": (5.0, 0.5, 25.0, 6.25),
    "claude-sonnet-5-5": (2.0, 0.1, 10.0, 2.5),
    "claude-sonnet-5": (2.0, 0.2, 10.0, 2.5),
    "claude-sonnet-4-6": (3.0, 0.3, 15.0, 3.75),
    "claude-haiku-4-5": (1.0, 0.1, 5.0, 1.25),
}

PRICES: Mapping[str, Price] = {
    **_listed("openai", _OPENAI_LONG, limit=272_000),
    **_listed("openai", _OPENAI),
    "openai/gpt-4o-2024-05-13": Price(5.0, 15.0, date=AS_OF),  # a snapshot dearer than its alias
    **_listed("anthropic", _ANTHROPIC),
    **_listed("anthropic", {"claude-haiku-5-5": (0.1, 0.01, 0.5, 0.125)}, limit=100_000),
    **_listed("anthropic", {"claude-sonnet-4-5": (3.0, 0.3, 15.0, 3.75)}, limit=200_000),
    # For these two vendors no page is on record: a quote to check before relying on it.
    **_listed("gemini", {"gemini-2.5-flash": (0.3, 0.03, 2.5), "gemini-2.5-flash-lite": (0.1, 0.01, 0.4)}),
    **_listed("groq", {"openai/gpt-oss-120b": (0.15, 0.075, 0.6), "openai/gpt-oss-20b": (0.075, 0.037, 0.3)}),
}

_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|20\d{6})$")  # "-2026-03-17", "-20251001": priced as the name without it
_STANDARD = frozenset({None, "", "auto", "default", "standard", "on_demand"})


def find(provider: str, model: str) -> Price | None:
    """The price of a model: the user's (configuration `prices`, by `provider/model` or `provider/*`), else the listed.

    Raises `ConfigError` where the configuration holds a price that is none.
    """
    provider = provider.removesuffix("-responses")
    own = config.load().prices
    for name in (f"{provider}/{model}", f"{provider}/*"):
        if name in own:
            return _own(name, own[name])
    return PRICES.get(f"{provider}/{model}") or PRICES.get(f"{provider}/{_SNAPSHOT.sub('', model)}")


def problems() -> list[str]:
    """What is wrong with the prices of the configuration, a sentence each. Raises `ConfigError`."""
    found: list[str] = []
    for name, row in config.load().prices.items():
        if not all(part.strip() for part in name.partition("/")):
            found.append(f"prices.{name}: a price is named by provider/model, or provider/* for all of its models")
            continue
        try:
            _own(name, row)
        except ConfigError as error:
            found.append(str(error))
    return found


def cost(price: Price | None, usage: Usage | None, body: Any = None) -> float | None:
    """US dollars of one call, None where a price or a count is unknown. `body`: the reply's JSON (tiers, caches)."""
    if price is None or usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    if price.input_limit is not None and usage.input_tokens > price.input_limit:
        return None
    reply = _mapping(body)
    counted = _mapping(reply.get("usage"))
    tiers = (reply.get("service_tier"), counted.get("service_tier"), counted.get("speed"))
    if any(t not in _STANDARD for t in tiers if t is None or isinstance(t, str)):
        return None
    cached, written = usage.cached_input_tokens or 0, _written(counted)
    if written is None or (cached and price.cached_input is None) or (written and price.cache_write is None):
        return None
    fresh = max(usage.input_tokens - cached - written, 0)
    dollars = fresh * price.input + usage.output_tokens * price.output
    dollars += cached * (price.cached_input or 0.0) + written * (price.cache_write or 0.0)
    return dollars / 1e6


def _written(counted: Mapping[str, Any]) -> int | None:
    """Input tokens that were written to the cache; None where some were kept longer, which costs another price."""
    longer = _mapping(counted.get("cache_creation")).get("ephemeral_1h_input_tokens")
    for name in ("input_tokens_details", "prompt_tokens_details"):
        details = _mapping(counted.get(name))
        longer = longer or _mapping(details.get("cache_write_tokens_details")).get("ttl_12h_tokens")
        if details.get("cache_write_tokens") is not None:
            return None if longer else tokens(details["cache_write_tokens"])
    if longer:
        return None
    written = counted.get("cache_creation_input_tokens")
    return 0 if written is None else tokens(written)


def _own(name: str, given: Any) -> Price:
    known = [f.name for f in fields(Price)]
    row = _mapping(given)
    unknown = [k for k in row if k not in known]
    if unknown or not {"input", "output"} <= row.keys():
        raise ConfigError(f"prices.{name} needs input and output, in US dollars per million tokens; may hold {known}")
    for key, value in row.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key != "date" and not (number and 0 <= value <= MOST):
            raise ConfigError(f"prices.{name}.{key} must be a number of US dollars, at least 0, got {shown(value)}")
    return Price(**{k: cast("Any", str(v) if k == "date" else v) for k, v in row.items()})


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
