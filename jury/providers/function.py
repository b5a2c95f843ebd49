"""Judges that are Python functions. A function is called with the arguments it names, once: no ladder, no re-ask.

    def short(output): return len(output) < 400
    def cites(output, row): return (row["source"] in output, "looked for the source")
    def quotes(output, context): return output in context
    async def custom(case): ...                        # one parameter of any other name gets the whole case

It returns a value of the scale, `(value, explanation)`, a mapping, dataclass or pydantic object with `value`,
`explanation`, `abstain`, `evidence`, `usage`, or a `Verdict`; None is an abstention. A plain function runs in a thread:
one that waits holds up nobody. Whatever a function raises or returns, what it costs is its own vote: never the process,
never the panel. A text that an item does not have is empty. Where a function names it without a default and decides all
the same, a warning says so once, and so do the notes of each vote: with nothing expected, `expected_output in output`
always holds.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from difflib import get_close_matches
from typing import Any, cast

from jury.errors import ConfigError, DataError, ReplyError
from jury.parsing import abstains
from jury.providers.bodies import MOST
from jury.results import Failure, Usage, Verdict
from jury.scales import Scale, native, shown
from jury.tasks import contained
from jury.values import data_of, plain

logger = logging.getLogger("jury.providers.function")

# Parameter name -> the template path whose text it gets. The others are handed over as they are.
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
OBJECTS = ("data", "row", "prompt", "context")
_OPTIONAL = ("input", "expected_output", "context", "question", "reference")  # what an item may lack
_NEAR = 0.8  # of difflib's likeness: `outputs` and `outptu` are no names for the whole case
_RESULT_KEYS = frozenset({"value", "explanation", "abstain", "evidence", "usage"})
UNREADABLE = Usage(1)  # by identity: a function did tell what it cost, and nobody can read it
_USAGE = ("calls", "input_tokens", "output_tokens", "cached_input_tokens", "cost")


class FunctionJudge:
    """A function with its signature read once. Raises `ConfigError` for parameters that nothing can fill."""

    def __init__(self, function: Callable[..., Any], kind: str) -> None:
        self.function = function
        self.names, self.whole = _parameters(function, kind)
        self._needed = tuple(n for n in self.names if n in _OPTIONAL and _required(function, n))
        self._told: set[str] = set()

    @property
    def wanted(self) -> frozenset[str]:
        """The template paths its arguments need."""
        return frozenset(TEXTS[n] for n in self.names if n in TEXTS)

    def lacking(self, judge: str, item: Any) -> tuple[str, ...]:
        """What the function asks for and the item does not have, as notes; the first of each kind is warned of."""
        missing = [n for n in self._needed if _blank(getattr(item, n, True))]
        for name in missing:
            if name not in self._told:
                self._told.add(name)
                logger.warning(
                    "judge %s asks for %s, and an item has none: it gets an empty text. Name the column that holds it "
                    "(--map %s=COLUMN), or give the parameter a default if it may be missing",
                    judge,
                    name,
                    name,
                )
        return tuple(f"asked for {name}, which the item does not have" for name in missing)

    async def __call__(self, case: Any, argument: Callable[[str], Any]) -> Any:
        keywords = {name: argument(name) for name in self.names}
        try:
            return await contained("the judge function", self.function, (case,) if self.whole else (), keywords)
        except (TypeError, AttributeError) as error:
            if not self.whole or not any(word in str(error) for word in ("'Case'", "a case has no")):
                raise
            kind = TypeError if isinstance(error, TypeError) else AttributeError
            raise kind(
                f"{error}: it was given the whole case; a text has the name `output`, `response_a`, ..."
            ) from error


def _parameters(function: Callable[..., Any], kind: str) -> tuple[tuple[str, ...], bool]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return (), True  # a built-in without a signature gets the case
    usable = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
    side = {"question", "response_a", "response_b", "reference"}
    mine = {"input", "output", "expected_output", "context"}
    known = (TEXTS.keys() | set(OBJECTS)) - (mine if kind == "pairwise" else side)
    if len(usable) == 1 and usable[0].name not in TEXTS.keys() | set(OBJECTS):
        _check_near(function, usable[0].name, known)
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


def _check_near(function: Callable[..., Any], name: str, known: Iterable[str]) -> None:
    near = get_close_matches(name, list(known), n=1, cutoff=_NEAR)
    if near:
        called = getattr(function, "__name__", repr(function))
        raise ConfigError(
            f"judge function {called}: is the parameter {name!r} meant to be {near[0]!r}? A single parameter of "
            "another name gets the whole case: call it case"
        )


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)  # an array compared with a text is no yes or no


def _required(function: Callable[..., Any], name: str) -> bool:
    parameter = inspect.signature(function).parameters[name]
    return parameter.default is parameter.empty


def read_result(result: Any, scale: Scale) -> tuple[Verdict, Usage | None]:
    """What a function returned, as a verdict. Off-contract values are `error` verdicts, never clamped or guessed."""
    if callable(getattr(result, "model_dump", None)) or (is_dataclass(result) and not isinstance(result, Verdict)):
        result = data_of(result)  # an object with the names of a mapping
    usage, fault = usage_of(cast("Mapping[str, Any]", result).get("usage") if isinstance(result, Mapping) else None)
    if fault is not None:
        return fault, usage
    try:
        return _read(result, scale), usage
    except ReplyError as error:
        return Verdict("error", failure=Failure(error.kind, error.detail)), usage


def _read(result: Any, scale: Scale) -> Verdict:
    if isinstance(result, Verdict):
        return _own_verdict(result, scale)
    explanation: Any = ""
    evidence: tuple[str, ...] = ()
    abstain = False
    if isinstance(result, Mapping):
        given = cast("Mapping[str, Any]", result)
        unknown = [k for k in given if k not in _RESULT_KEYS]
        if unknown:
            raise _wrong(f"unknown keys {unknown}; known are {sorted(_RESULT_KEYS)}")
        explanation, abstain = given.get("explanation"), abstains(native(given.get("abstain")))
        evidence = _evidence(given.get("evidence"))
        result = given.get("value")
    elif isinstance(result, tuple) and len(cast("tuple[Any, ...]", result)) == 2:
        result, explanation = cast("tuple[Any, Any]", result)
    if abstain or result is None:
        return Verdict("abstained", explanation=_text(explanation), evidence=evidence)
    return _scored(result, scale, _text(explanation), evidence)


def _scored(given: Any, scale: Scale, explanation: str, evidence: tuple[str, ...]) -> Verdict:
    try:
        value = scale.read(given)
    except ReplyError as error:
        return Verdict("error", None, explanation, Failure(error.kind, error.detail), evidence)
    status = "not_applicable" if scale.na is not None and value == scale.na else "scored"
    return Verdict(status, value, explanation, None, evidence)


def _own_verdict(given: Verdict, scale: Scale) -> Verdict:
    """A verdict that a function made itself, held to the scale like any other answer."""
    explanation, evidence, fields = _text(given.explanation), _evidence(given.evidence), _fields(given.fields)
    match given.status:
        case "scored" | "not_applicable":
            value = scale.na if given.value is None and given.status == "not_applicable" else given.value
            verdict = _scored(value, scale, explanation, evidence)
            if verdict.decided and verdict.status != given.status:
                told = f"the value {shown(given.value)}; on this scale na={scale.na!r}"
                raise _wrong(f"a {given.status} verdict with {told}")
            return Verdict(verdict.status, verdict.value, explanation, verdict.failure, evidence, fields)
        case "abstained":
            return Verdict("abstained", None, explanation, None, evidence, fields)
        case "error":
            failure: Any = given.failure
            if not isinstance(failure, Failure):
                failure = Failure("exception", _text(failure) or explanation or "the judge function gave no reason")
            return Verdict("error", None, explanation, failure, evidence, fields)
        case _:
            raise _wrong(f"a verdict of the unknown status {shown(given.status)}")


def _wrong(what: str) -> ReplyError:
    return ReplyError("wrong_type", f"a judge function returned {what}")


def _text(given: Any) -> str:
    return "" if given is None else str(given)


def _evidence(given: Any) -> tuple[str, ...]:
    if given is None or isinstance(given, str):
        return (given,) if given else ()
    if not isinstance(given, Iterable):
        raise _wrong(f"evidence that is no list of texts: {type(given).__name__}")
    return tuple(str(e) for e in cast("Iterable[Any]", given))


def _fields(given: Any) -> dict[str, Any]:
    try:
        fields: Any = plain(given, "fields")
    except DataError as error:
        raise _wrong(f"fields that are no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise _wrong(f"fields that are no mapping: {type(given).__name__}")
    return cast("dict[str, Any]", fields)


def usage_of(given: Any) -> tuple[Usage | None, Verdict | None]:
    """What a judge function tells it did cost; `UNREADABLE`, and the error verdict for it, where that is no usage."""
    try:
        return read_usage(given), None
    except ReplyError as error:
        return UNREADABLE, Verdict("error", failure=Failure(error.kind, error.detail))


def read_usage(given: Any) -> Usage | None:
    """Tokens and money that a function reports: a `Usage` or a mapping. Raises `ReplyError`."""
    if given is None:
        return None
    if isinstance(given, Usage):
        given = {name: getattr(given, name) for name in _USAGE}
    if not isinstance(given, Mapping):
        raise _wrong(f"usage that is no mapping: {type(given).__name__}")
    counts: dict[str, Any] = {"calls": 1, **cast("Mapping[str, Any]", given)}
    return Usage(**{name: _amount(name, counts.get(name)) for name in _USAGE})


def _amount(name: str, given: Any) -> Any:
    value: Any = plain(given) if hasattr(given, "tolist") else given  # a number of numpy
    whole = name != "cost"
    if value is None and name != "calls":
        return None
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise _wrong(f"usage whose {name} is no {'whole ' if whole else ''}number: {shown(value)}")
    if not 0 <= value <= MOST:
        raise _wrong(f"usage whose {name} is {shown(value)}")
    return value
