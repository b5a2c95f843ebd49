"""A target of a run: its outputs on the way to the judges, recorded before they are judged.

What the folder holds is never asked for again; an error is, as a failed judgment is. Its money is in the budget, and
apart from the judges' in every number. Judges nothing.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jury.budget import Budget, Purse
from jury.data import Output
from jury.errors import ConfigError, ProviderError
from jury.governed import Governed
from jury.providers import prices, registry
from jury.results import PanelResult, Usage
from jury.runner.entries import Entry
from jury.runner.governors import Governors
from jury.runner.keeper import Asked, now
from jury.runner.spec import RunSpec
from jury.scales import INCONCLUSIVE
from jury.store import RunWriter, StoredOutput
from jury.store.index import Index
from jury.store.lines import encode, parse
from jury.store.outputs import OUTPUTS, output_from_dict, output_to_dict
from jury.targets import Made, Question, Target
from jury.wording import dollars

NAME = "target"  # of functions and addresses, in `limits`


@dataclass
class Outcomes(Asked):
    """What came of the target's questions in one pass. `failed`: it errored; `cost` is the target's alone."""

    silent: int = 0  # outputs that came without a word on their cost, and have no list price

    def note(self, made: Made) -> None:
        self.live += 1
        self.silent += made.usage is None and made.output.target_error is None
        self.failed += made.output.target_error is not None
        if made.usage is not None and made.usage.cost is None:
            self.unpriced += 1
        self.cost += (made.usage.cost if made.usage else None) or 0.0


class Maker:
    """The outputs of one target in one pass."""

    def __init__(self, target: Target, spec: RunSpec, writer: RunWriter, budget: Budget | None = None) -> None:
        self._purse = purse_of(target, budget) if target.spec.model is None else None
        self.target = target
        self.asked = Outcomes()
        self._writer = writer
        self._gate = asyncio.Semaphore(spec.limits_of(NAME).concurrency)
        self._source = _price_source(target)
        self._flying: dict[str, asyncio.Future[Output | None]] = {}
        writer.open_outputs()

    async def output(self, question: Question, item: str) -> Output | None:
        """None where it could not be paid. Raises `DataError` where nothing can be kept."""
        while question.key in self._flying:  # the same question of another item is being asked just now
            known = await asyncio.shield(self._flying[question.key])
            if known is not None:
                return self._same(question, item, known)
        stored = self._writer.recall_output(question.key)
        if stored is not None:
            if stored.item != item:
                return self._same(question, item, stored.output)
            self.asked.recalled += 1
            return stored.output
        flying = self._flying[question.key] = asyncio.get_running_loop().create_future()
        known = None
        try:
            made = await self._ask(question)
            if made.refused:
                self.asked.refused += 1
                return None
            self.asked.note(made)
            output = self._record(question, item, made)
            known = output if output.target_error is None else None  # another item may have better luck
        finally:
            del self._flying[question.key]
            flying.set_result(known)
        return output

    async def _ask(self, question: Question) -> Made:
        if self.target.spec.function is None:  # a provider has its own line
            return await self._asked(question)
        async with self._gate:
            return await self._asked(question)

    async def _asked(self, question: Question) -> Made:
        purse = self._purse
        if purse is None:  # a model, whose provider has the money before it
            return await self.target.ask(question)
        attempts = 1 if self.target.spec.function is not None else 1 + self.target.spec.settings.retries
        try:
            reserved = await purse.reserve(attempts)
        except ProviderError:
            return Made(Output(), calls=0, refused=True)
        try:
            made = await self.target.ask(question)
        except BaseException:
            purse.lost(reserved)
            raise
        said = made.usage.cost if made.usage is not None else None
        cost = purse.settle(reserved, said, 1 + made.retries, failed=made.output.target_error is not None)
        return made if cost is None or cost == said else replace(made, usage=replace(made.usage or Usage(1), cost=cost))

    def _same(self, question: Question, item: str, output: Output) -> Output:
        self.asked.same += 1
        self._writer.add_output(StoredOutput(question.key, item, output, None, 0, at=now(), source="same"))
        return output

    def _record(self, question: Question, item: str, made: Made) -> Output:
        # What is judged is what can be read back, so that the next pass asks the judges the same.
        plain: Any = json.loads(encode(output_to_dict(made.output)))
        output = output_from_dict(plain)
        self._writer.add_output(
            StoredOutput(
                key=question.key,
                item=item,
                output=output,
                usage=made.usage,
                calls=made.calls,
                retries=made.retries,
                latency_s=made.latency_s,
                price_source=self._source,
                at=now(),
            )
        )
        return output


def purse_of(target: Target, budget: Budget | None) -> Purse:
    """The money for a function or an address."""
    return Purse(budget, target.spec.max_cost, f"the target {target.spec.label}")


def routed(target: Target, spec: RunSpec, govern: Governors) -> None:
    """Puts limits, and where its price can be known the budget, before the target's provider."""
    metered = target.spec.model is not None
    target.route(govern.before if metered else Governors(spec, None).before)


def ready(target: Target, spec: RunSpec) -> None:
    """What can be known before the first call. Raises `ConfigError`: no key, or a budget and no price."""
    if spec.budget is not None and target.spec.model is None and target.spec.max_cost is None:
        what = "function" if target.spec.function is not None else "url"
        raise ConfigError(
            f"target: a budget needs to know what one call of {target.spec.label} can cost at most: add max_cost, such "
            f"as target: {{{what}: ..., max_cost: 0.02}} (US dollars; 0 where it costs nothing)"
        )
    provider = target.provider
    if provider is None:
        return
    endpoint = getattr(provider, "endpoint", None)
    if target.spec.url is not None and endpoint is not None:
        try:
            endpoint.secret()
        except ProviderError as error:
            raise ConfigError(f"target: {error.detail}") from None
    elif target.spec.provider is None and (problem := registry.key_problem(provider.name)):
        raise ConfigError(f"target: {problem}")
    if spec.budget is not None and target.spec.model is not None:
        governed = Governors(spec, Budget(spec.budget)).before(provider)
        if isinstance(governed, Governed):
            governed.price(target.model)  # raises where nobody knows it


def unpaid(entry: Entry, limit: float) -> PanelResult:
    """The result of an item for whose output there is no money."""
    return PanelResult(
        status="inconclusive",
        reason="budget",
        explanation=f"Not judged: the budget of {dollars(limit)} does not allow to ask the target.",
        value=INCONCLUSIVE,
        item_id=entry.item.id,
        trace_id=entry.item.trace_id,
    )


def recorded(folder: Path, index: Index | None, question: Question) -> Output | None:
    """The output that a folder holds for a question, without opening it for writing."""
    place = index.output(question.key) if index is not None else None
    if place is None:
        return None
    with suppress(OSError, KeyError, TypeError), (folder / OUTPUTS).open("rb") as file:
        file.seek(place)
        line = parse(file.readline()) or {}
        if line.get("key") == question.key:
            return output_from_dict(line["output"])
    return None


def _price_source(target: Target) -> str | None:
    provider = target.provider
    price = prices.find(provider.name, target.model) if provider is not None and target.model else None
    return (f"list {price.date}" if price.date else "configuration") if price else None


def history(asked: Outcomes) -> dict[str, Any]:
    """One pass of the target, as the manifest's history has it."""
    return {
        "asked": asked.live,
        "recalled": asked.recalled,
        "same": asked.same,
        "errored": asked.failed,
        "cost": None if asked.unpriced else asked.cost,
    }
