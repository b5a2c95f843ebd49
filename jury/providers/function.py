"""Judges that are Python functions. A function is called with the arguments it names, once: no ladder, no re-ask.

    def short(output): return len(output) < 400
    def cites(output, row): return (row["source"] in output, "looked for the source")
    async def custom(case): ...                        # one parameter of any other name gets the whole case

It returns a value of the scale, `(value, explanation)`, a mapping with `value`, `explanation`, `abstain`, `evidence`,
`usage`, or a `Verdict`; None is an abstention. A plain function runs in a thread: one that waits holds up nobody.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from jury.errors import ConfigError, ReplyError
from jury.results import Failure, Usage, Verdict
from jury.scales import Scale

# Parameter name -> the template path whose text it gets. `data`, `row` and `prompt` are handed over as they are.
TEXTS = {
    "input": "log.input",
    "output": "output.response",
    "expected_output": "input.expected_output",
    "criteria": "criteria",
    "question": "question",
    "response_a": "response_a.output.response",
    "response_b": "response_b.output.response",
    "reference": "reference",
}
OBJECTS = ("data", "row", "prompt")
_RESULT_KEYS = frozenset({"value", "explanation", "abstain", "evidence", "usage"})


class FunctionJudge:
    """A function with its signature read once. Raises `ConfigError` for parameters that nothing can fill."""

    def __init__(self, function: Callable[..., Any], kind: str) -> None:
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
        )
        self.names, self.whole = _parameters(function, kind)

    @property
    def wanted(self) -> frozenset[str]:
        """The template paths its arguments need."""
        return frozenset(TEXTS[n] for n in self.names if n in TEXTS)

    async def __call__(self, case: Any, argument: Callable[[str], Any]) -> Any:
        keywords = {name: argument(name) for name in self.names}
        positional = (case,) if self.whole else ()
        if self.is_async:
            return await self.function(*positional, **keywords)
        result = await asyncio.to_thread(self.function, *positional, **keywords)
        return await result if inspect.isawaitable(result) else result


def _parameters(function: Callable[..., Any], kind: str) -> tuple[tuple[str, ...], bool]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (), True  # a built-in without a signature gets the case
    usable = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
    side = {"question", "response_a", "response_b", "reference"}
    mine = {"input", "output", "expected_output"}
    known = (TEXTS.keys() | set(OBJECTS)) - (mine if kind == "pairwise" else side)
    if (
        len(usable) == 1
        and usable[0].name not in TEXTS.keys() | set(OBJECTS)
        and usable[0].kind != usable[0].VAR_KEYWORD
    ):
        return (), True
    names: list[str] = []
    for p in usable:
        if p.kind is p.VAR_KEYWORD:
            continue
        if p.name in known and p.kind is not p.POSITIONAL_ONLY:
            names.append(p.name)
        elif p.default is p.empty:
            name = getattr(function, "__name__", repr(function))
            raise ConfigError(
                f"judge function {name}: nothing to pass for parameter {p.name!r}; a {kind} judge may name "
                f"{sorted(known)}, or take one parameter of another name, which gets the whole case"
            )
    return tuple(names), False


def read_result(result: Any, scale: Scale) -> tuple[Verdict, Usage | None]:
    """What a function returned, as a verdict. Off-contract values are `error` verdicts, never clamped or guessed."""
    explanation: Any = ""
    evidence: tuple[str, ...] = ()
    usage: Usage | None = None
    abstain = False
    if isinstance(result, Verdict):
        if result.status != "scored":
            return result, None
        result = {"value": result.value, "explanation": result.explanation, "evidence": result.evidence}
    if isinstance(result, Mapping):
        given = cast("Mapping[str, Any]", result)
        unknown = [k for k in given if k not in _RESULT_KEYS]
        if unknown:
            detail = f"a judge function returned unknown keys {unknown}; known are {sorted(_RESULT_KEYS)}"
            return Verdict("error", failure=Failure("wrong_type", detail)), None
        usage = _usage(given.get("usage"))
        explanation, abstain = given.get("explanation") or "", bool(given.get("abstain", False))
        evidence = tuple(str(e) for e in given.get("evidence") or ())
        result = given.get("value")
    elif isinstance(result, tuple) and len(cast("tuple[Any, ...]", result)) == 2:
        result, explanation = cast("tuple[Any, Any]", result)
    if abstain or result is None:
        return Verdict("abstained", explanation=str(explanation), evidence=evidence), usage
    try:
        value = scale.read(result)
    except ReplyError as error:
        return Verdict("error", explanation=str(explanation), failure=Failure(error.kind, error.detail)), usage
    status = "not_applicable" if scale.na is not None and value == scale.na else "scored"
    return Verdict(status, value, str(explanation), evidence=evidence), usage


def _usage(given: Any) -> Usage | None:
    if given is None or isinstance(given, Usage):
        return given
    fields = cast("Mapping[str, Any]", given)
    return Usage(
        calls=int(fields.get("calls", 1)),
        input_tokens=fields.get("input_tokens"),
        output_tokens=fields.get("output_tokens"),
        cached_input_tokens=fields.get("cached_input_tokens"),
        cost=fields.get("cost"),
    )
