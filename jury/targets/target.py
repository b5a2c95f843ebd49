"""`Target`: one item in, one output or error out, with what it cost. Whatever goes wrong is the target's error.

    target = Target(TargetSpec.of("openai/gpt-5-mini"))
    question = target.question(point)        # `question.key` digests everything that shapes the output
    made = await target.ask(question)        # never raises for what the target does

A function is called with the arguments it names, once; a model or an address through `calls.call`, with its retries.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from jury import namespace
from jury.calls import call
from jury.data import DataPoint, Message, Output, TargetError
from jury.errors import CallError, ConfigError, DataError
from jury.keys import KeyMaker, function_name
from jury.messages import text_of, to_messages, to_output
from jury.names import Known, known
from jury.providers import registry
from jury.providers.base import Provider, Request, Turn
from jury.providers.endpoints import Endpoint
from jury.providers.openai import OpenAIProvider
from jury.redaction import told
from jury.results import Reply, Usage
from jury.targets.http import HttpTarget
from jury.targets.spec import TargetSpec
from jury.targets.usage import with_usage
from jury.tasks import contained
from jury.templates import Template, check

ARGUMENTS = ("input", "messages", "system_instructions", "context", "row", "data")
_LIST = re.compile(r"\{\{\{?\s*(?:input\.all_messages|log\.messages)\s*\}?\}\}")
_SPOKEN = ("user", "assistant")
_HIDDEN = {"input": {"expected_output"}, "log": {"output", "reference", "expected_output"}}


@dataclass(frozen=True, slots=True)
class Question:
    """What a target is asked about one item. `key` digests everything that shapes the output."""

    key: str
    item: str
    request: Request | None = None
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What came of one question. An `output` with an `error` is an errored target. `refused`: not asked, for money."""

    output: Output
    usage: Usage | None = None
    calls: int = 1
    retries: int = 0
    latency_s: float = 0.0
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How what a target gives becomes an output; `read` raises `DataError`. `key`: where an address's reply has it.

    `name` tells targets apart that are read in different ways; `what` is what their errors call it.
    """

    read: Callable[[Any], Output] = to_output
    key: str = "output"
    name: str = ""
    what: str = "output"


class Target:
    """A `TargetSpec` made ready: its templates compiled, its function's parameters read. Needs no key yet.

    `identity` is a text that differs for any two targets, whatever they are asked.
    """

    def __init__(self, spec: TargetSpec, reading: Reading = Reading()) -> None:
        self.spec = spec
        self._reading = reading
        self._provider = spec.provider
        self._model = spec.model or ""
        if spec.provider is not None and "/" in self._model:
            self._model = self._model.partition("/")[2]
        self._names, self._whole = _parameters(spec.function) if spec.function else ((), False)
        self._system = _template(spec.system, "system")
        self._prompt = _template(spec.prompt, "prompt")
        self._body = _compiled(spec.body)
        used = [t for t in (self._system, self._prompt, *_templates(self._body)) if t is not None]
        self._wanted = frozenset(name for t in used for name in t.names)
        self.identity = f"{_identity(spec)}{reading.name}"  # once: what a function holds may change while it works
        self._keys = KeyMaker(self.identity, None, None, None)

    @property
    def provider(self) -> Provider | None:
        """Whom a model or an address is asked through, None for a function; found at the first call."""
        spec = self.spec
        if spec.function is not None or self._provider is not None:
            return self._provider
        if spec.url is not None and spec.model is None:
            self._provider = HttpTarget(spec.name or "target", spec.url, spec.key_env)
        elif spec.url is not None:
            keys = (spec.key_env,) if spec.key_env else ()
            endpoint = Endpoint(spec.name or "target", spec.url.rstrip("/"), key_env=keys, open=not keys)
            self._provider = OpenAIProvider(endpoint)
        else:
            name, self._model = registry.split(cast("str", spec.model))
            self._provider = registry.provider(name)
        return self._provider

    @property
    def model(self) -> str:
        """The model's name at its provider; empty for a function and for an address without one."""
        _ = self.provider
        return self._model

    def route(self, through: Callable[[Provider], Provider]) -> None:
        """Puts something before the provider, or takes it away again."""
        if self.provider is not None:
            self._provider = through(self.provider)

    async def close(self) -> None:
        """Closes the connections to an address. A provider that others have too stays as it is."""
        if self.spec.provider is None and self.spec.url is not None and isinstance(self._provider, OpenAIProvider):
            await self._provider.close()

    def question(self, point: DataPoint) -> Question:
        """What the target is asked about an item. Calls nobody. Raises `DataError` for an input that is none."""
        maker = self._keys
        item = str(point.id or "")
        if self.spec.function is not None:
            given = {name: _argument(name, point) for name in (self._names or ("input",))}
            texts = [f"{k}={_told(v)}" for k, v in given.items()]
            return Question(maker.key(maker.request(*texts), "none", 0), item, arguments=given)
        request = self._request(point)
        shown = _told(request.settings.extra)
        turns = [f"{t.role}: {t.text}" for t in request.turns]
        return Question(maker.key(maker.request(request.system, *turns, shown), "none", 0), item, request=request)

    async def ask(self, question: Question) -> Made:
        """One output. Raises `ConfigError` alone: what another item could not help either."""
        started = time.monotonic()
        try:
            if question.request is not None:
                return await self._ask_provider(question.request)
            return await self._ask_function(question.arguments or {}, started)
        except ConfigError:
            raise
        except CallError as error:
            said = error.context.get("said")
            took = time.monotonic() - started
            attempts = int(error.context.get("attempts", 1))
            output = Output(error=TargetError(error.detail, error.kind, error.status), model=self._named())
            if error.kind == "refused" and isinstance(said, str) and said.strip():
                output = Output(said, model=self._named())  # a target's refusal is its answer
            refused = error.kind == "budget"
            return Made(output, error.usage, int(not refused), attempts - 1, took, refused)
        except Exception as error:  # noqa: BLE001 - the code under test may raise anything
            fault = TargetError(told(error), "exception")
        return Made(Output(error=fault, model=self._named()), latency_s=time.monotonic() - started)

    async def _ask_provider(self, request: Request) -> Made:
        provider = self.provider
        assert provider is not None
        reply = await call(provider, request)
        return Made(self._output(reply), reply.usage, 1, reply.retries, reply.latency_s)

    async def _ask_function(self, arguments: Mapping[str, Any], started: float) -> Made:
        function = cast("Callable[..., Any]", self.spec.function)
        deadline = asyncio.timeout(self.spec.settings.timeout_s)
        usage = None
        try:
            async with deadline:
                result = await _called(function, arguments, self._whole)
        except TimeoutError:
            if not deadline.expired():
                raise
            detail = f"no output within {self.spec.settings.timeout_s:g} s"
            output = Output(error=TargetError(detail, "timeout"), model=self._named())
        else:
            result, usage = with_usage(result)
            output = self._of(result, "the function returned")
        return Made(output, usage, latency_s=time.monotonic() - started)

    def _output(self, reply: Reply) -> Output:
        if self.spec.model is not None:
            if reply.message is not None:  # it calls tools
                return replace(self._of(reply.message, "the reply is"), model=self._named(reply.model))
            if not reply.text.strip():
                return Output(error=TargetError("the reply is blank", "empty"), model=self._named(reply.model))
            return Output(reply.text, model=self._named(reply.model))
        body: Any = reply.text if reply.data is None else reply.data["body"]
        if self.spec.output is not None:
            try:
                body = _walk(body, self.spec.output)
            except (KeyError, IndexError, TypeError, ValueError):
                told = f"the reply has no {self.spec.output}"
                told = f"{told}: it is no JSON" if reply.data is None else told
                return Output(error=TargetError(told, "bad_body"), model=self._named())
        elif isinstance(body, Mapping) and self._reading.key in body:
            body = cast("Mapping[str, Any]", body)[self._reading.key]
        return self._of(body, "the reply is")

    def _of(self, value: Any, what: str) -> Output:
        """An output from whatever the target gave; nothing at all is an error."""
        if value is None:
            return Output(error=TargetError(f"{what} nothing", "empty"), model=self._named())
        try:
            made = self._reading.read(value)
        except DataError as error:
            made = Output(error=TargetError(f"{what} no {self._reading.what}: {error}", error.kind))
        return made if made.model is not None else replace(made, model=self._named())

    def _named(self, model: str | None = None) -> str | None:
        return model or self.spec.model or self.spec.name

    def _request(self, point: DataPoint) -> Request:
        spec = self.spec
        _ = self.provider
        values = _values(point, self._wanted)
        if spec.model is None:
            body = _filled(self._body, values, point) if spec.body is not None else _usual_body(point)
            return Request("", "", (), rung="text", settings=replace(spec.settings, extra=body), judge="target")
        messages = to_messages(point)
        told = [point.system_instructions, *(text_of(m.content) for m in messages if m.role not in _SPOKEN)]
        system = "\n\n".join(t for t in told if t) if self._system is None else self._system.render(values)
        turns = tuple(Turn(m.role, text_of(m.content)) for m in _spoken(messages))
        if self._prompt is not None:
            turns = (Turn("user", self._prompt.render(values)),)
        return Request(self._model, system, turns, rung="text", settings=spec.settings, judge="target")


def _identity(spec: TargetSpec) -> str:
    """What the target is, whatever the item: an output of one is none of another."""
    if spec.function is not None:
        return f"target {function_name(spec.function)}"
    shape = {"system": spec.system, "prompt": spec.prompt, "body": spec.body, "output": spec.output}
    how = {"temperature": spec.settings.temperature, "max_tokens": spec.settings.max_tokens}
    told = json.dumps({**shape, **how, "extra": spec.settings.extra}, sort_keys=True, default=repr)
    return f"target {spec.url or ''} {spec.model or ''} {told}"


async def _called(function: Callable[..., Any], arguments: Mapping[str, Any], whole: bool) -> Any:
    """What the function gives; a plain one runs in a thread."""
    given: tuple[Any, ...] = tuple(arguments.values()) if whole else ()
    named = {} if whole else dict(arguments)
    return await contained("the target", function, given, named)


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """The arguments a function names; or none of them and True: its only parameter gets the input."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (), True  # a built-in without a signature
    usable = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(usable) == 1 and usable[0].name not in ARGUMENTS:
        return (), True
    names: list[str] = []
    for p in usable:
        if p.name in ARGUMENTS and p.kind is not p.POSITIONAL_ONLY:
            names.append(p.name)
        elif p.default is p.empty:
            name = getattr(function, "__name__", repr(function))
            raise ConfigError(
                f"target function {name}: nothing to pass for parameter {p.name!r}; a target may name "
                f"{list(ARGUMENTS)}, or take one parameter of another name, which gets the input"
            )
    return tuple(names), False


def _told(value: Any) -> str:
    """A value in a key: the same whatever the order of its names."""
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except TypeError:  # names of several types, which have no order
        return repr(value)


def _argument(name: str, point: DataPoint) -> Any:
    match name:
        case "messages":
            return [{"role": m.role, "content": text_of(m.content)} for m in to_messages(point)]
        case "input":
            return point.input
        case "row":
            return dict(point.row)
        case "data":
            return replace(point, expected_output=None)  # it would give the answer away
        case _:
            return getattr(point, name)


def _spoken(messages: tuple[Message, ...]) -> list[Message]:
    return [m for m in messages if m.role in _SPOKEN and m.kind == "text"]


def _usual_body(point: DataPoint) -> dict[str, Any]:
    messages = [{"role": m.role, "content": text_of(m.content)} for m in to_messages(point)]
    last = messages[-1]["content"] if messages else ""
    told = {"system_instructions": point.system_instructions, "context": point.context}
    return {"input": last, "messages": messages, **{k: v for k, v in told.items() if v}}


def _names() -> Known:
    """What a target's templates may name: the item, and nothing of what it is judged by."""
    ours = known("pointwise").keys
    kept = {k: v for k, v in ours.items() if k not in ("output", "criteria", "fence")}
    for family, hidden in _HIDDEN.items():
        kept[family] = Known({k: v for k, v in ours[family].keys.items() if k not in hidden})
    return Known(kept)


def _template(source: str | None, what: str) -> Template | None:
    if source is None:
        return None
    made = Template(source, name=f"target {what}")
    check(made, _names(), strict=True, prompt_name=f"target {what}")
    return made


def _values(point: DataPoint, wanted: frozenset[str]) -> dict[str, Any]:
    return namespace.pointwise(point, Output(), criteria="", wanted=wanted)


def _compiled(value: Any) -> Any:
    """A body with every text that has a tag as a template, and one that is just the messages as their list."""
    if isinstance(value, str):
        if _LIST.fullmatch(value.strip()):
            return list
        return _template(value, "body") if "{{" in value else value
    if isinstance(value, Mapping):
        return {str(k): _compiled(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    return [_compiled(v) for v in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


def _templates(body: Any) -> list[Template]:
    if isinstance(body, Template):
        return [body]
    parts: list[Any] = list(cast("dict[str, Any]", body).values()) if isinstance(body, dict) else []
    parts += cast("list[Any]", body) if isinstance(body, list) else []
    return [t for part in parts for t in _templates(part)]


def _filled(body: Any, values: Mapping[str, Any], point: DataPoint) -> Any:
    if isinstance(body, Template):
        return body.render(values)
    if body is list:
        return _argument("messages", point)
    if isinstance(body, dict):
        return {k: _filled(v, values, point) for k, v in cast("dict[str, Any]", body).items()}
    return [_filled(v, values, point) for v in cast("list[Any]", body)] if isinstance(body, list) else body


def _walk(value: Any, path: str) -> Any:
    for step in path.replace("[", ".").replace("]", "").split("."):
        at: Any = int(step) if isinstance(value, list) else step
        value = cast("Any", value)[at]
    return value
