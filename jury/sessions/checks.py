"""Exact checks of a session by code: `code_check`. Criteria of the same report, facts for a judge, or all there is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from jury.errors import ConfigError, place_of
from jury.redaction import told
from jury.results import CriterionResult
from jury.scales import native
from jury.sessions.events import Session

_PASS = {True: "PASS", False: "FAIL"}


@dataclass(frozen=True, slots=True)
class CodeCheck:
    """A check with its name. `passes` turns what the function found into true or false, where it is neither."""

    name: str
    function: Callable[[Session], Any]
    passes: Callable[[Any], bool] | None = None
    fact: bool = False

    def run(self, session: Session) -> CriterionResult:
        """The result on a session. What the function raises is an inconclusive result that says so."""
        try:
            found = self.function(session)
            found, why = cast("tuple[Any, Any]", found) if _is_pair(found) else (found, "")
            verdict = found if self.passes is None or found is None else bool(self.passes(found))
            return self._result(native(found), native(verdict), str(why))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the caller's code; the report must survive it
            why = f"the check raised {told(error)}{place_of(error)}"
            return CriterionResult(self.name, "inconclusive", reason="errors", explanation=why, code=True)

    def _result(self, found: Any, verdict: Any, why: str) -> CriterionResult:
        if inspect.isawaitable(verdict):
            raise TypeError("an async function: checks are plain ones")
        explanation = why or ("" if isinstance(found, bool) or found is None else f"found {shown(found)}")
        if verdict is None:
            return CriterionResult(self.name, "not_applicable", "NA", None, None, explanation, code=True)
        if isinstance(verdict, bool):
            return CriterionResult(self.name, "decided", _PASS[verdict], verdict, None, explanation, code=True)
        value = float(verdict) if isinstance(verdict, int | float) else shown(verdict)
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(f"{value} is no finite number")
        return CriterionResult(self.name, "decided", value, None, None, explanation, code=True)


def code_check(
    name: str, function: Callable[[Session], Any], *, passes: Callable[[Any], bool] | None = None, fact: bool = False
) -> CodeCheck:
    """A check of a session by a plain function, under a name of its own in the report.

    `function(session)` returns true or false, `(true or false, why)`, None where the check does not apply, or a number
    or text, which is reported as it is; with `passes`, a function of that value, it is a verdict too. `fact=True` also
    tells the judges what was found. Raises `ConfigError`.
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"a code check needs a name, got {name!r}")
    for what, given in (("function", function), ("passes", passes)):
        if given is not None and not callable(given):
            raise ConfigError(f"code check {name}: {what} must be a function, got {given!r}")
    return CodeCheck(name, function, passes, fact)


def facts(checks: Sequence[CodeCheck], results: Sequence[CriterionResult]) -> list[dict[str, str]]:
    """What judges are told: name and result of the checks that are facts."""
    said: list[dict[str, str]] = []
    for check, result in zip(checks, results, strict=True):
        if check.fact and result.status != "inconclusive":
            words = {"PASS": "yes", "FAIL": "no", "NA": "does not apply"}
            why = f" ({shown(result.explanation)})" if result.explanation and str(result.value) in words else ""
            said.append({"name": check.name, "result": words.get(str(result.value), shown(result.value)) + why})
    return said


def shown(value: Any) -> str:
    """A value on one line; a text as JSON, so that no line break of it can look like a line of the prompt."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(cast("tuple[Any, ...]", value)) == 2
