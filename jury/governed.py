"""A provider with a throttle and a budget before it: `calls.call` asks `admit` before each attempt. Decides no limit.

What a call can cost at most: its texts and its schema at a token for each byte, and the limit of output tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jury.allowances import in_line
from jury.budget import Budget
from jury.errors import CallError, ConfigError
from jury.limits import Throttle
from jury.providers import prices
from jury.providers.base import Provider, Request, Settings, rungs_of
from jury.results import Reply, Rung, Usage

_LOST = frozenset({"timeout", "connection", "bad_body"})  # the provider may have worked, and charged, all the same
_TURNED_AWAY = frozenset({"rate_limited", "overloaded"})
_CHARS_PER_TOKEN = 4  # a usual text; for the pace, not for money
_OVERHEAD = 400  # tokens that an API adds around texts, tools and roles
_LIMITS_OF_OUTPUT = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_ENOUGH = 8  # replies before what they took is believed
FREE = frozenset({"local", "scripted"})


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of one request: `likely` of the input, the most of input and output."""

    likely: int
    most_in: int
    most_out: int


def tokens(request: Request) -> Estimate:
    """How many tokens a request takes. The most is a bound: no tokenizer makes more tokens than there are bytes."""
    texts = [request.system, *(t.text for t in request.turns)]
    schema = _schema_bytes(request.schema)
    size = sum(len(t) if t.isascii() else len(t.encode("utf-8", "surrogatepass")) for t in texts)
    settings = request.settings
    given = [v for n in _LIMITS_OF_OUTPUT if isinstance(v := settings.extra.get(n), int)]
    copies = settings.extra.get("n")
    out = max([settings.max_tokens, *given]) * (copies if isinstance(copies, int) and copies > 1 else 1)
    return Estimate((sum(map(len, texts)) + schema) // _CHARS_PER_TOKEN, size + 2 * schema + _OVERHEAD, out)


def most_cost(price: prices.Price, estimate: Estimate) -> float:
    """US dollars that the request can cost at most."""
    dearest = max(price.input, price.cache_write or 0.0, price.cached_input or 0.0)
    long = price.input_limit is not None and estimate.most_in > price.input_limit
    factor = 2 if long else 1  # above the limit another price holds: at most twice as much with every known vendor
    return factor * (estimate.most_in * dearest + estimate.most_out * price.output) / 1e6


_schemas: dict[int, tuple[Any, int]] = {}


def _schema_bytes(schema: Mapping[str, Any] | None) -> int:
    if schema is None:
        return 0
    known = _schemas.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_schemas) > 1000:
            _schemas.clear()
        known = _schemas[id(schema)] = (schema, len(json.dumps(schema, default=str)))
    return known[1]


class Governed:
    """`inner` behind a throttle and, where there is one, a budget. Raises `ConfigError` for a budget without prices."""

    def __init__(self, inner: Provider, throttle: Throttle, budget: Budget | None = None) -> None:
        self.inner = inner
        self.throttle = throttle
        self._budget = budget
        self._prices: dict[str, prices.Price | None] = {}
        # What a usual call takes, as the replies tell: tokens out, tokens in for each that a usual text would take, and
        # how far a call is off.
        self._output = self._off = 0.0
        self._input = 1.0
        self._replies = 0

    @property
    def name(self) -> str:
        return self.inner.name

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return rungs_of(self.inner, model, settings)

    async def complete(self, request: Request) -> Reply:
        return await self.inner.complete(request)

    def price(self, model: str) -> prices.Price | None:
        """The price of a model; None is free. Raises `ConfigError` where nobody knows it."""
        if model not in self._prices:
            found = prices.find(self.name, model)
            if found is None and self.name not in FREE:
                raise ConfigError(
                    f"a budget needs a price for {self.name}/{model}: set it in jury.yaml, such as "
                    f"prices: {{{self.name}/{model}: {{input: 0.25, output: 2.0}}}} (US dollars per million tokens)"
                )
            self._prices[model] = found
        return self._prices[model]

    async def admit(self, request: Request) -> Admitted:
        """Waits until the request may be sent. Raises `ProviderError` of kind `budget`."""
        estimate = tokens(request)
        most = 0.0
        if self._budget is not None:
            price = self.price(request.model)
            most = most_cost(price, estimate) if price else 0.0
            with in_line():
                await self._budget.reserve(most)
        likely = 0.0

        def expected() -> float:  # at the moment when it is let in: by then more is known than when it came
            nonlocal likely
            likely = self._expected(estimate)
            return likely

        entered: float | None = None
        try:
            with in_line():
                entered = await self.throttle.enter(expected)
            if self._budget is not None:
                self._budget.begin(most)
        except BaseException:
            if entered is not None:
                self.throttle.leave(entered)
            if self._budget is not None:
                self._budget.give_back(most)
            raise
        return Admitted(self, self._budget, most, (estimate.likely, likely), entered)

    def _expected(self, estimate: Estimate) -> float:
        """Tokens to count for a call until its reply says how many it took: rather too many than too few."""
        if self._replies < _ENOUGH:
            return float(estimate.most_in + estimate.most_out)
        return estimate.likely * self._input + self._output + 2 * self._off

    def learn(self, likely_in: int, usage: Usage | None) -> None:
        """A usual reply is as long as the replies so far, and texts take as many tokens as those so far."""
        if usage is None or usage.output_tokens is None:
            return
        self._replies += 1
        share = max(0.05, 1 / self._replies)
        if self._replies > 1:
            off = abs(_taken(usage) - likely_in * self._input - self._output)
            self._off += (off - self._off) * share
        self._output += (usage.output_tokens - self._output) * share
        if usage.input_tokens is not None:
            self._input += (usage.input_tokens / max(1, likely_in) - self._input) * share


class Admitted:
    """One call that was let in; told its outcome once."""

    __slots__ = ("_budget", "_entered", "_likely", "_most", "_provider")

    def __init__(
        self, provider: Governed, budget: Budget | None, most: float, likely: tuple[int, float], entered: float
    ) -> None:
        self._provider = provider
        self._budget = budget
        self._most = most
        self._likely = likely
        self._entered = entered

    def done(self, outcome: Reply | CallError | None) -> None:
        """A reply, an error, or None: the call was cancelled."""
        throttle = self._provider.throttle
        usage = outcome.usage if outcome is not None else None
        if isinstance(outcome, Reply):
            self._provider.learn(self._likely[0], usage)
            throttle.went_well(self._entered)
        elif outcome is not None and outcome.kind in _TURNED_AWAY:
            throttle.was_turned_away(self._entered, outcome.retry_after_s)
        lost = outcome is None or (not isinstance(outcome, Reply) and _may_be_paid(outcome))
        throttle.leave(self._entered, self._took(outcome, lost) - self._likely[1])
        if self._budget is None:
            return
        if isinstance(outcome, Reply) or usage is not None:
            self._budget.settle(self._most, usage.cost if usage else None)
        elif lost:
            self._budget.settle(self._most, None, unsure=True)
        else:
            self._budget.settle(self._most, 0.0)  # turned away or refused: not paid

    def _took(self, outcome: Reply | CallError | None, lost: bool) -> float:
        """Tokens that the call took: as many as were expected where nobody says, none where it was refused unread."""
        if outcome is not None and outcome.usage is not None:
            return _taken(outcome.usage)
        unread = isinstance(outcome, CallError) and not lost and outcome.kind not in _TURNED_AWAY
        return 0.0 if unread else self._likely[1]


def _may_be_paid(error: CallError) -> bool:
    return error.kind in _LOST and not error.context.get("unsent")


def _taken(usage: Usage) -> float:
    return float((usage.input_tokens or 0) + (usage.output_tokens or 0))
