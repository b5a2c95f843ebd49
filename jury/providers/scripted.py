"""The public fake: a provider that answers from a script and records every request. For tests, demos and dry runs.

    provider = ScriptedProvider(['{"explanation": "Right.", "value": true}', None])
    jury = llm_jury(criteria="Is it right?", judges=[JudgeSpec("scripted/a", provider=provider)])

A reply is a text (read by the parser as a model's), a mapping (dumped as JSON), a `Reply`, an exception (raised), or
None (a failed call). On the command line `scripted/FILE.json` plays a JSON list of replies in order, once through.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, ProviderError
from jury.providers.base import Request, Settings
from jury.results import Reply, Rung

Script = Iterable[Any] | Mapping[str, Any] | Callable[[Request], Any]


class ScriptedProvider:
    """Answers from a list (by call order), a mapping (by judge, each a list or one reply for all), or a function
    (plain or async).

    `rungs`: which rungs of the ladder it plays; by default `direct`: asked once, no ladder and no re-ask. A script that
    has run out is a failed call of kind `bad_request`. `requests` holds every request so far.
    """

    def __init__(self, script: Script, *, rungs: tuple[Rung, ...] = ("direct",), name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._rungs = rungs
        self._answer: Callable[[Request], Any]
        if isinstance(script, str | bytes):
            raise ConfigError("a script is a list, a mapping or a function, not one text")
        if callable(script):
            self._answer = script
        elif isinstance(script, Mapping):
            table = cast("Mapping[str, Any]", script)
            queues = {judge: _queue(replies) for judge, replies in table.items()}
            self._answer = lambda request: _take(queues.get(request.judge), request)
        else:
            if not isinstance(cast("Any", script), Iterable):
                raise ConfigError(f"a script is a list, a mapping or a function, got {script!r}")
            queue = iter(script)
            self._answer = lambda request: _take(queue, request)

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return self._rungs

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self._answer(request)
        return _reply(await answer if inspect.isawaitable(answer) else answer, request)


class ScriptedFiles:
    """`scripted/FILE.json`: each file is a script of its own, a JSON list of replies (null is a failed call)."""

    name = "scripted"

    def __init__(self) -> None:
        self._files: dict[str, ScriptedProvider] = {}

    def rungs(self, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
        return ("direct",)

    async def complete(self, request: Request) -> Reply:
        return await self.script(request.model).complete(request)

    def script(self, file: str) -> ScriptedProvider:
        """The script in a file, read at its first use. Raises `ConfigError`."""
        if file not in self._files:
            try:
                script = _load(file)
            except (OSError, ValueError) as error:
                raise ConfigError(f"scripted/{file}: not a readable JSON file: {error}") from None
            if not isinstance(script, list | dict):
                raise ConfigError(f"scripted/{file}: must hold a list of replies, or a mapping from judge to them")
            self._files[file] = ScriptedProvider(cast("list[Any]", script))
        return self._files[file]


def _load(file: str) -> Any:
    return json.loads(Path(file).read_text("utf-8"))


def _queue(replies: Any) -> Iterator[Any]:
    if isinstance(replies, list | tuple):
        return iter(cast("list[Any]", replies))
    return iter(lambda: replies, object())  # one reply for every call


def _take(queue: Iterator[Any] | None, request: Request) -> Any:
    if queue is None:
        raise ProviderError("bad_request", f"the script knows no judge {request.judge!r}")
    for reply in queue:
        return reply
    raise ProviderError("bad_request", "the script has no reply left")


def _reply(answer: Any, request: Request) -> Reply:
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, BaseException):
        raise answer
    if answer is None:
        raise ProviderError("server_error", "scripted failure")
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return Reply(text, model=request.model)
