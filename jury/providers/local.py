"""The provider `local`: a small open model on this machine's processor, for a first run without any key.

Before it grades an answer that has no reference, it answers the question itself, from the context where there is one,
and grades against that: a model of this size recognises a right answer far better than it remembers one.
Replies are held to a grammar while they are written: the schema's, or that of one sentence where the reasons are short
(an object around it takes a small machine twice as long). It costs no money: `cost` is 0.0. The shipped prompts give
way to short ones of its own (`local_prompts.py`).

`settings.extra["method"]` of a seat says how it is asked:

    auto         the default: own answer first where there is no reference and no long task
    own_answer   own answer first for every item
    direct       never
    one_token    like `auto`, but the verdict is one word and no reasons; unsure (below 0.7) is an abstention
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, cast

from jury.errors import ConfigError, ProviderError
from jury.providers import local_machine, local_model, local_prompts
from jury.providers.base import TIMEOUT_S, Request, Settings
from jury.providers.local_engine import Completion, Engine
from jury.providers.local_words import (
    choices,
    for_small_model,
    longest,
    object_grammar,
    object_of,
    one_word_grammar,
    openings,
    sentence_grammar,
    verdict_of,
    whole_words,
)
from jury.results import Reply, Rung, Usage

TURN_S = 600.0  # of a call, where nobody sets a timeout: a busy machine is slow, and no socket hangs here
METHODS = ("auto", "direct", "own_answer", "one_token")
_OWN = "own_answer"  # under this key of `settings.extra`, `prepare` hands the answer to `complete`
_TEXT_TOKENS = 1024  # of a reply without a schema
_MOST_ANSWERS = 4096  # questions whose answers are kept


def _turn_s(settings: Settings) -> float:
    """Seconds that a call may take from its turn on. A timeout that somebody set stands, also one of 90 s."""
    return TURN_S if settings.timeout_s is TIMEOUT_S else settings.timeout_s


class Runtime(Protocol):
    """What the provider needs of an engine (`local_engine.Engine`)."""

    def submit(
        self, body: Mapping[str, Any], started: Callable[[], None], stop: threading.Event
    ) -> Future[Completion]: ...


@dataclass(frozen=True, slots=True)
class _Loaded:
    engine: Runtime
    model: str
    answers: dict[str, Future[Completion]] = field(default_factory=dict[str, "Future[Completion]"])


class LocalProvider:
    """One model for all seats, items and event loops of the process; loaded at the first call.

    `load` makes an engine of a file (tests pass a fake). Calls wait for their turn, and the deadline `timeout_s` starts
    when it comes (`keeps_deadline`).
    """

    name = "local"
    keeps_deadline = True

    def __init__(self, load: Callable[[Path], Runtime] | None = None) -> None:
        self._load = load or _checked_engine
        self._loaded: dict[str, Future[_Loaded]] = {}
        self._lock = threading.Lock()
        self._unpaid: dict[str, Usage] = {}  # own answer -> tokens that no judgment has counted yet

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return ("schema",)

    async def warm_up(self, model: str, progress: local_model.Progress | None = None) -> str:
        """Assembles and loads the model and gives its name. `progress(done, total)`, in bytes, is called in a thread.

        Raises `MissingExtra`, `ConfigError`, or `ProviderError` where memory is short.
        """
        return (await self._ready(model, progress)).model

    async def prepare(self, request: Request, case: Any) -> Request:
        """What the model is asked about an item, its own answer to the question included where the method wants one.

        `case` is a `judge.Case`. The own answer is asked once for all seats and items, outside any deadline.
        """
        method = _method(request)
        plan = local_prompts.plan(request, case, one_word=method == "one_token")
        fits = not plan.known and len(plan.question) <= local_prompts.LONGEST_QUESTION
        if not plan.question or method == "direct" or not (fits or method == "own_answer"):
            return plan.asked()
        own = await self._own_answer(await self._ready(request.model), plan.question, plan.context)
        asked = plan.asked(own)
        extra = {**request.settings.extra, _OWN: own}
        return replace(asked, settings=replace(asked.settings, extra=extra))

    def shown(self, request: Request, case: Any) -> Request:
        """`prepare` without the own answer, for showing what would be asked. Calls nobody."""
        return local_prompts.plan(request, case, one_word=_method(request) == "one_token").asked()

    async def complete(self, request: Request) -> Reply:
        """One reply, held to the schema. Raises `ProviderError`, `ConfigError`, `MissingExtra`."""
        one_word = choices(request.schema) if _method(request) == "one_token" else None
        loaded = await self._ready(request.model)
        done = await self._ask(loaded.engine, _body(request, one_word), _turn_s(request.settings))
        own = request.settings.extra.get(_OWN)
        usage = Usage.total((_usage(done), self._unpaid.pop(own, None) if own else None))
        if done.finish == "length" and one_word is None:
            raise ProviderError("truncated", f"cut after {done.output_tokens} tokens", usage=usage)
        text = done.text
        if one_word is not None:
            text = json.dumps(verdict_of(done.text, done.first, one_word, request.schema or {}), ensure_ascii=False)
        elif request.schema is not None:
            said = object_of if openings(request.schema) else whole_words
            text = said(text, request.schema)
        notes = (f"answered the question itself first: {own}",) if own else ()
        return Reply(text, model=loaded.model, usage=usage, notes=notes)

    async def _own_answer(self, loaded: _Loaded, question: str, context: str) -> str:
        """The model's answer to a question, asked once for all seats and items. It has no deadline but its length."""
        key = f"{question}\0{context}"
        with self._lock:
            task = loaded.answers.get(key)
            first = task is None
            if task is None:
                if len(loaded.answers) >= _MOST_ANSWERS:
                    loaded.answers.pop(next(iter(loaded.answers)))
                body = local_prompts.question_body(question, context)
                task = loaded.answers[key] = loaded.engine.submit(body, lambda: None, threading.Event())
        try:
            done = await asyncio.shield(asyncio.wrap_future(task))
        except ProviderError:
            loaded.answers.pop(key, None)  # a failure is not kept
            raise
        answer = done.text.strip()
        if first:
            self._unpaid[answer] = Usage.total((self._unpaid.get(answer), _usage(done))) or _usage(done)
        return answer

    async def _ask(self, engine: Runtime, body: Mapping[str, Any], timeout_s: float) -> Completion:
        loop = asyncio.get_running_loop()
        stop = threading.Event()
        deadline = asyncio.timeout(None)
        over = False

        def begin() -> None:
            if not over:
                deadline.reschedule(loop.time() + timeout_s)

        try:
            async with deadline:
                job = engine.submit(body, lambda: _tell(loop, begin), stop)
                return await asyncio.wrap_future(job)
        except TimeoutError:
            raise ProviderError("timeout", f"no reply within {timeout_s:g} s of its turn") from None
        finally:
            over = True
            stop.set()  # a call that nobody waits for ends at its next token

    async def _ready(self, model: str, progress: local_model.Progress | None = None) -> _Loaded:
        """The loaded model; the first caller starts a thread that loads it, all wait for the same."""
        own = local_model.own_file()
        shipped = None if own else local_model.find(model)
        key = str(own or model.casefold())

        def load() -> _Loaded:
            path = own or local_model.path_of(cast("local_model.Model", shipped), progress)
            return _Loaded(self._load(path), shipped.name if shipped else path.stem)

        with self._lock:
            task = self._loaded.get(key)
            if task is None or (task.done() and task.exception() is not None):
                task = self._loaded[key] = _in_thread(load)
        return await asyncio.shield(asyncio.wrap_future(task))


def _checked_engine(path: Path) -> Engine:
    local_machine.check_cpu()
    local_machine.check_memory(path.stat().st_size)
    return Engine(path, local_machine.threads())


def _in_thread(work: Callable[[], _Loaded]) -> Future[_Loaded]:
    future: Future[_Loaded] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - a future carries whatever was raised to who waits for it
            future.set_exception(error)

    threading.Thread(target=run, name="jury-local-load").start()
    return future


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop was closed: nobody waits any more
        loop.call_soon_threadsafe(what)


def _method(request: Request) -> str:
    method = request.settings.extra.get("method", "auto")
    if method not in METHODS:
        raise ConfigError(f"a local judge's method must be one of {list(METHODS)}, got {method!r}")
    return method


def _body(request: Request, one_word: Mapping[str, Any] | None) -> dict[str, Any]:
    settings = request.settings
    body: dict[str, Any] = {
        "messages": [
            *([{"role": "system", "content": request.system}] if request.system else []),
            *({"role": t.role, "content": t.text} for t in request.turns),
        ],
        "max_tokens": min(settings.max_tokens, _TEXT_TOKENS),
        "seed": request.repetition,
        **{k: v for k, v in settings.extra.items() if k not in (_OWN, "method")},
    }
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if one_word is not None:
        grammar = one_word_grammar(list(one_word))
        body |= {"grammar": grammar, "max_tokens": 32, "logprobs": True, "top_logprobs": 20}
    elif request.schema is not None:
        schema = for_small_model(request.schema)
        body["grammar"] = sentence_grammar(schema) if openings(schema) else object_grammar(schema)
        body["max_tokens"] = min(settings.max_tokens, longest(schema))
    return body


def _usage(done: Completion) -> Usage:
    return Usage(1, done.input_tokens, done.output_tokens, done.cached_tokens, 0.0)
