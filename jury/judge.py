"""One seat asked about one item: `JudgeSpec` -> `Judgment`. Never aggregates, never decides who is asked.

A `Case` is one item as every judge of a panel sees it: the namespace is built once, each prompt rendered once. A `Seat`
is a spec made ready: templates compiled, signature read, the reply's format known; the provider is found at the first
call.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Protocol, cast

from jury import namespace
from jury.budget import check_max_cost
from jury.data import DataPoint, Output, ResponsePair
from jury.errors import CallError, ConfigError, place_of
from jury.families import family
from jury.formats import ReplyFormat
from jury.further import declared_fields
from jury.keys import KeyMaker, Question, function_name
from jury.ladder import Climb, climb
from jury.prompts import PromptSpec
from jury.providers import registry
from jury.providers.base import Provider, Request, Settings, Turn, rungs_of
from jury.providers.function import TEXTS, FunctionJudge
from jury.redaction import told
from jury.results import Failure, Judgment, Order, Reply, Verdict
from jury.scales import Scale, native
from jury.templates import Template

_SETTINGS = frozenset(f.name for f in fields(Settings))


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """One seat: who judges, with which prompt and settings.

    `model` is a judge id such as `openai/<model>`; `function` a Python function (`providers/function.py`) instead.
    `prompt` (a text or a loaded `PromptSpec`) and `system_prompt` replace the jury's; `settings` (a mapping of
    `Settings` fields) stand above the jury's. `provider` answers instead of the one the id names. `id` names the seat
    in votes: by default the model, or the name of the function. `weight` counts in every built-in rule. `family`
    overrides what the model's name says. `max_cost`: US dollars that one call of a function costs at most.
    """

    model: str | None = None
    function: Callable[..., Any] | None = None
    id: str | None = None
    prompt: str | PromptSpec | None = None
    system_prompt: str | None = None
    settings: Mapping[str, Any] | Settings | None = None
    provider: Provider | None = None
    family: str | None = None
    weight: float = 1.0
    max_cost: float | None = None

    def __post_init__(self) -> None:
        if (self.model is None) == (self.function is None):
            raise ConfigError("a judge needs either a model or a function")
        if self.model is not None and not isinstance(cast("Any", self.model), str):
            told = "; a function stands in function=" if callable(self.model) else ""
            raise ConfigError(f"judges: the model of a judge must be a text, got {self.model!r}{told}")
        if self.model is not None and not self.model.strip():
            raise ConfigError(f"judges must not be blank, got {self.model!r}")
        if self.function is not None and not callable(self.function):
            raise ConfigError(f"judges: {self.function!r} is no function")
        if self.provider is not None and not callable(getattr(self.provider, "complete", None)):
            raise ConfigError(f"judges: the provider of {self.name} has no `complete` method")
        if self.provider is not None and not isinstance(getattr(self.provider, "name", None), str):
            raise ConfigError(f"judges: the provider of {self.name} has no `name`, which keeps its judgments apart")
        object.__setattr__(self, "weight", native(self.weight))
        if not isinstance(self.weight, int | float) or isinstance(self.weight, bool) or not 0 <= self.weight < 1e12:
            raise ConfigError(f"weight of {self.name} must be a number from 0, got {self.weight!r}")
        check_max_cost(f"judge {self.name}", self.max_cost, allowed=self.function is not None)
        for name in ("id", "prompt", "system_prompt", "family"):
            text: Any = getattr(self, name)
            text = text.user if name == "prompt" and isinstance(text, PromptSpec) else text
            if text is not None and not (isinstance(text, str) and (text.strip() or name == "system_prompt")):
                raise ConfigError(f"judges: the {name} of a judge must be a text that is not blank, got {text!r}")
        if self.settings is not None and not isinstance(cast("Any", self.settings), Mapping | Settings):
            raise ConfigError(f"judges: the settings of {self.name} must be a mapping, got {self.settings!r}")
        unknown = [k for k in self.settings if k not in _SETTINGS] if isinstance(self.settings, Mapping) else []
        if unknown:
            raise ConfigError(f"judges: unknown settings {unknown} of {self.name}; known are {sorted(_SETTINGS)}")

    @property
    def name(self) -> str:
        """What the seat is called in votes."""
        return self.id or self.model or str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def family_name(self) -> str:
        """The family of its model; a function is a family of its own."""
        return self.family or (family(self.model) if self.model else f"function {self.name}")


class Prompt:
    """A system and a user template, compiled once and shared by all seats that use them."""

    def __init__(self, spec: PromptSpec) -> None:
        self.spec = spec
        self.user = Template(spec.user, name=f"prompt {spec.name}")
        self.system = Template(spec.system, name=f"system prompt {spec.name}")
        self.wanted = frozenset(self.user.names) | frozenset(self.system.names)
        self.digest = spec.digest


class Case:
    """One item in one order, as every judge of a panel sees it.

    `wanted` are the template paths that any seat uses; the rest of the namespace is built only if somebody asks. For
    judge functions: `input`, `output`, `expected_output`, `criteria`, `question`, `response_a`, `response_b`,
    `reference` are the texts that templates show, `item` is the `DataPoint` or `ResponsePair`, `answer` the `Output`.
    `format`: how this case is to be answered, where that is not the seat's own way (an order of criteria, say).
    """

    __slots__ = ("_build", "_full", "_turns", "answer", "format", "item", "namespace", "order")

    def __init__(self, item: DataPoint | ResponsePair, build: Callable[[], dict[str, Any]], order: Order) -> None:
        self.item = item
        self.order: Order = order
        self.answer: Output | None = None
        self.format: ReplyFormat | None = None
        self._build = build
        self._full: dict[str, Any] | None = None
        self._turns: dict[int, tuple[str, tuple[Turn, ...]]] = {}

    @classmethod
    def of_output(
        cls, data: DataPoint, output: Output, criteria: str, extra: Mapping[str, Any], wanted: frozenset[str]
    ) -> Case:
        build = partial(namespace.pointwise, data, output, criteria=criteria, extra=extra)
        case = cls(data, build, "none")
        case.answer = output
        case.namespace = build(wanted=wanted)
        return case

    @classmethod
    def of_pair(
        cls, pair: ResponsePair, order: Order, criteria: str, extra: Mapping[str, Any], wanted: frozenset[str]
    ) -> Case:
        shown = pair.swapped() if order == "ba" else pair
        build = partial(namespace.pairwise, shown, criteria=criteria, extra=extra)
        case = cls(shown, build, order)
        case.namespace = build(wanted=wanted)
        return case

    def render(self, prompt: Prompt) -> tuple[str, str]:
        """The system and user text of a prompt for this item; each prompt is rendered once."""
        system, turns = self.turns(prompt)
        return system, turns[0].text

    def turns(self, prompt: Prompt) -> tuple[str, tuple[Turn, ...]]:
        """The same as a request holds them: the system text, and the user's turn, which all seats share."""
        turns = self._turns.get(id(prompt))
        if turns is None:
            turns = (prompt.system.render(self.namespace), (Turn("user", prompt.user.render(self.namespace)),))
            self._turns[id(prompt)] = turns
        return turns

    def argument(self, name: str) -> Any:
        """What a judge function gets for a parameter of this name."""
        if name == "data":
            return self.item
        if name == "row":
            return dict(self.item.row)
        if name == "context":
            return getattr(self.item, "context", None) or ""
        return self.text(TEXTS[name])

    def text(self, path: str) -> str:
        """The text at one template path, such as `output.response`; KeyError where there is none."""
        try:
            return _at(self.namespace, path)
        except (KeyError, TypeError):  # none of the panel's own, which alone were built
            if self._full is None:
                self._full = self._build()
            return _at(self._full, path)

    def __getattr__(self, name: str) -> str:
        if name in TEXTS:
            try:
                return self.text(TEXTS[name])
            except (KeyError, TypeError):
                pass
        raise AttributeError(f"a case has no {name!r} here")


def _at(values: Any, path: str) -> str:
    for part in path.split("."):
        values = values[part]
    return "" if values is None else str(values)


class Recorder(Protocol):
    """Stands between a seat and its judge: hands out what is known, and keeps what is asked."""

    async def judged(self, question: Question, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
        """The judgment on a question, with `ask` called at most once. What it raises leaves the jury."""
        ...


class Seat:
    """A `JudgeSpec` made ready for a scale. Building it needs no key and no SDK. `recorder`: set by a run."""

    recorder: Recorder | None = None

    def __init__(
        self, spec: JudgeSpec, name: str, prompt: Prompt, settings: Settings, how: ReplyFormat | Scale, kind: str
    ) -> None:
        self.spec = spec
        self.name = name
        self.prompt = prompt
        own = isinstance(how, ReplyFormat)  # of a rubric or a session, with fields of its own
        self.fields: dict[str, Any] = {} if own else declared_fields(prompt.spec.meta, prompt.spec.name)
        self.format = how if isinstance(how, ReplyFormat) else ReplyFormat.of(how, self.fields)
        self.settings = _settings(settings, spec.settings)
        self.function = FunctionJudge(spec.function, kind) if spec.function else None
        self._provider = spec.provider
        self._keys: dict[int, tuple[ReplyFormat, KeyMaker]] = {}
        self.model = spec.model or ""
        if spec.model and spec.provider is not None and "/" in spec.model:
            self.model = spec.model.split("/", 1)[1]

    @property
    def provider(self) -> Provider:
        """Found at the first call: making a jury needs no client and no credentials."""
        if self._provider is None:
            name, self.model = registry.split(self.spec.model or "")
            self._provider = registry.provider(name)
        return self._provider

    def route(self, through: Callable[[Provider], Provider]) -> None:
        """Puts something before this seat's provider, or takes it away again; functions have none."""
        if self.function is None:
            self._provider = through(self.provider)

    @property
    def wanted(self) -> frozenset[str]:
        if self.function is None:
            return self.prompt.wanted
        return self.function.wanted | (self.prompt.wanted if "prompt" in self.function.names else frozenset[str]())

    def ask(self, case: Case, repetition: int = 0, *, propagate: bool = False) -> Coroutine[Any, Any, Judgment]:
        """One judgment. What goes wrong is an error verdict; with `propagate`, what a judge *function* raises leaves.

        A `ConfigError` about a model (an unknown provider, say) always leaves: no retry and no other item can help.
        """
        if self.recorder is None:
            return self._ask(case, repetition, propagate)
        return self._recorded(self.recorder, case, repetition, propagate)

    async def _recorded(self, recorder: Recorder, case: Case, repetition: int, propagate: bool) -> Judgment:
        question = self.question(case, repetition)
        judgment = await recorder.judged(question, lambda: self._ask(case, repetition, propagate))
        return self._named(judgment)

    def _named(self, judgment: Judgment) -> Judgment:
        """A judgment that may come from another run, with this seat's own names."""
        spec, is_ours = self.prompt.spec, judgment.prompt == self.prompt.digest
        names = {"judge": self.name, **({"prompt_name": spec.name, "prompt_version": spec.version} if is_ours else {})}
        return judgment if all(getattr(judgment, k) == v for k, v in names.items()) else replace(judgment, **names)

    async def _ask(self, case: Case, repetition: int, propagate: bool) -> Judgment:
        try:
            if self.function is not None:
                return await self._ask_function(case, repetition)
            provider = self.provider
            request = self.request(case, repetition)
            prepare = getattr(provider, "prepare", None)
            if prepare is not None:  # `providers.base.Preparing`: it may look at the item before it is asked
                request = await prepare(request, case)
            how = case.format or self.format
            found = await climb(provider, request, how.read)
            return self._judgment(case, repetition, how, found)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            detail = f"{type(error).__name__} inside the call"  # a client's own timer, say: nobody cancelled the judge
            verdict, usage = Verdict("error", failure=Failure("exception", detail)), None
        except CallError as error:  # no key, or a function's own word that it cannot judge
            failure = Failure(error.kind, error.detail, error.status)
            verdict, usage = Verdict("error", failure=failure), error.usage
        except Exception as error:
            if propagate if self.function is not None else isinstance(error, ConfigError):
                raise
            place = "" if self.function is None else place_of(error)
            detail = told(error) + place  # a client may have put its key into the text
            verdict, usage = Verdict("error", failure=Failure("exception", detail)), None
        how = case.format or self.format
        return Judgment(
            self.name, verdict, repetition, case.order, usage=usage, notes=how.notes, criterion=how.criterion
        )

    def question(self, case: Case, repetition: int = 0) -> Question:
        """What would be asked, as digests (`keys.py`). Calls nobody."""
        if self.function is None:
            texts = case.render(self.prompt)
        else:
            names = self.function.names
            part = case.format.notes if case.format else ()  # which part of a long session, say
            texts = tuple(repr(self._argument(case, n)) for n in names) or (repr(case.item), repr(case.answer), *part)
        keys = self._key_maker(case.format or self.format)
        request = keys.request(*texts)
        key = keys.key(request, case.order, repetition)
        plain = self.function is not None or rungs_of(self.provider, self.model, self.settings) == ("direct",)
        return Question(key, request, self.name, case.item.id, case.order, repetition, plain)

    def _key_maker(self, how: ReplyFormat) -> KeyMaker:
        known = self._keys.get(id(how))  # kept with its format, so that no other one can have this id
        if known is None:
            if self.function is None:
                provider = self.provider  # before the model, whose name it may shorten
                maker = KeyMaker(f"{provider.name}/{self.model}", how.schema, self.settings, how.na)
            else:
                maker = KeyMaker(function_name(self.function.function), how.schema, None, how.na)
            known = self._keys[id(how)] = (how, maker)
        return known[1]

    def request(self, case: Case, repetition: int = 0) -> Request:
        """What is sent first, whichever way it is asked for."""
        system, turns = case.turns(self.prompt)
        schema = (case.format or self.format).schema
        return Request(self.model, system, turns, schema, "schema", self.settings, self.name, repetition)

    def _judgment(self, case: Case, repetition: int, how: ReplyFormat, found: Climb) -> Judgment:
        reply, prompt = found.reply, self.prompt
        return Judgment(  # by place: by name it takes more than twice as long
            self.name,
            found.verdict,
            repetition,
            case.order,
            found.rung,
            _reply_text(reply),
            reply.model if reply else None,
            found.usage,
            found.calls,
            found.retries,
            found.reasked,
            found.latency_s,
            found.notes + how.notes if how.notes else found.notes,
            how.criterion,
            prompt.digest,
            prompt.spec.name,
            prompt.spec.version,
        )

    def _argument(self, case: Case, name: str) -> Any:
        return "\n\n".join(t for t in case.render(self.prompt) if t) if name == "prompt" else case.argument(name)

    async def _ask_function(self, case: Case, repetition: int) -> Judgment:
        function = cast("FunctionJudge", self.function)
        how = case.format or self.format
        start = time.monotonic()
        deadline = asyncio.timeout(self.settings.timeout_s)
        usage = None
        try:
            async with deadline:
                verdict, usage = how.result(await function(case, lambda n: self._argument(case, n)))
        except TimeoutError:
            if not deadline.expired():
                raise
            detail = f"no answer within {self.settings.timeout_s:g} s"
            verdict = Verdict("error", failure=Failure("timeout", detail))
        took = time.monotonic() - start
        return Judgment(
            self.name,
            verdict,
            repetition,
            case.order,
            usage=usage,
            latency_s=took,
            notes=(*how.notes, *(function.lacking(self.name, case.item) if verdict.decided else ())),
            criterion=how.criterion,
        )


def _reply_text(reply: Reply | None) -> str | None:
    """A reply as it is kept: its text, or the object that a forced tool was given."""
    if reply is None:
        return None
    if reply.data is None or reply.text.strip():
        return reply.text
    return json.dumps(reply.data, ensure_ascii=False, default=str)


def _settings(base: Settings, given: Mapping[str, Any] | Settings | None) -> Settings:
    return given if isinstance(given, Settings) else replace(base, **(given or {}))
