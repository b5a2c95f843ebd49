"""Scripted judges for the cases: plain functions that give their answers in order and count how often they were asked.

Translates the words of the cases into the keywords of `llm_jury` and its like; no behaviour of a jury lives here.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jury import AgentResponse, CallError, JudgeSpec, TargetError, Text, Usage
from jury.data import Reasoning, ToolCall

Answers = Sequence[Any]
# The words of the cases that are the factories' own.
KEYWORDS = frozenset(
    {"verdict_kind", "labels", "passing_labels", "threshold", "score_range", "repetitions", "assignment", "swap"}
)


class Script:
    """Judges by name, and the calls they got: by name, and by name and order in comparisons."""

    def __init__(self, usage_per_call: Mapping[str, Any] | None = None) -> None:
        self.asked: list[str] = []
        self.calls: Counter[Any] = Counter()
        self._usage = usage_per_call
        self._lock = threading.Lock()  # plain functions run in threads
        self._specs: dict[str, JudgeSpec] = {}

    def judge(self, name: str, answers: Answers) -> JudgeSpec:
        """A judge of single outputs. Its i-th call gets the i-th answer, further calls the last one again."""

        def answer(case: Any) -> Any:
            with self._lock:
                turn, self.calls[name] = self.calls[name], self.calls[name] + 1
                self.asked.append(name)
            return self._say(answers[min(turn, len(answers) - 1)])

        return self._specs.setdefault(name, JudgeSpec(function=answer, id=name))

    def pair_judge(self, name: str, answers: Mapping[str, Answers]) -> JudgeSpec:
        """A judge of pairs, with answers for each order."""

        def answer(case: Any) -> Any:
            order = case.order
            with self._lock:
                turn, self.calls[name, order] = self.calls[name, order], self.calls[name, order] + 1
            return self._say(answers[order][min(turn, len(answers[order]) - 1)])

        return self._specs.setdefault(name, JudgeSpec(function=answer, id=name))

    def _say(self, answer: Any) -> Any:
        if not isinstance(answer, Mapping) or not answer.keys() & {"value", "abstain", "error", "raise"}:
            return {"value": answer, "usage": self._usage}
        usage = None if answer.get("no_usage") else self._usage
        if "error" in answer:
            raise CallError("server_error", answer["error"], usage=usage and Usage(calls=1, **usage))
        if "raise" in answer:
            raise RuntimeError(answer["raise"])
        return {**{k: answer[k] for k in ("value", "explanation", "abstain") if k in answer}, "usage": usage}


def keywords(jury: Mapping[str, Any], seat: Callable[[str], JudgeSpec]) -> dict[str, Any]:
    """The `jury` of a case as keywords of a factory; `seat` makes a judge of a name."""
    given = {k: v for k, v in jury.items() if k in KEYWORDS}
    given["criteria"] = "Is it right?"
    given["judges"] = [seat(name) for name in jury["judges"]]
    given["min_successful_judges"] = jury.get("min_successful_judges", 1)
    if "replacement_judges" in jury:
        given["replacement_judges"] = [seat(name) for name in jury["replacement_judges"]]
    if "aggregator" in jury:
        given["aggregator"] = aggregator(jury["aggregator"], jury["judges"])
    if "tie_break" in jury:
        given["tie_break"] = tie_break(jury["tie_break"])
    return given


def tie_break(given: Any) -> Any:
    """A tie-break of the cases as a function."""
    if not isinstance(given, Mapping):
        return given
    if "returns" in given:
        return lambda values: given["returns"]
    return lambda values: next((v for v in given["prefer"] if v in values), None)


def aggregator(given: Any, judges: Sequence[str] = ()) -> Any:
    """The name of a rule, or one of the custom rules of the cases as a function over the votes."""
    if not isinstance(given, Mapping):
        return given
    weights: Mapping[str, float] = given.get("weights", {})

    def weighted_mean(votes: Sequence[Any]) -> Any:
        pairs = [(v.value, weights.get(v.judge, 1)) for v in votes if v.decided]
        return sum(value * weight for value, weight in pairs) / sum(weight for _, weight in pairs)

    def all_configured_must_agree(votes: Sequence[Any]) -> Any:
        if not all(v.decided for v in votes if not v.replacement):
            return None
        values = {v.value for v in votes if v.decided}
        return values.pop() if len(values) == 1 else None

    rules: dict[str, Callable[[Sequence[Any]], Any]] = {
        "none": lambda votes: None,
        "constant": lambda votes: given["value"],
        "any_false_is_false": lambda votes: all(v.value for v in votes if v.value is not None),
        "weighted_mean": weighted_mean,
        "all_configured_must_agree": all_configured_must_agree,
    }
    return rules[given["custom"]]


def output(given: Any) -> Any:
    """An output of the cases as what a user would hand over."""
    if not isinstance(given, Mapping):
        return given
    if given["as"] == "repeat":
        return given["text"] * given["times"]
    if given["as"] == "value":
        return given["value"]
    error = TargetError(given["error"]["message"]) if given.get("error") is not None else None
    return AgentResponse(items=[_item(i) for i in given["items"]], error=error)


def _item(given: Mapping[str, Any]) -> Any:
    if given["type"] == "tool_call":
        return ToolCall(given["name"], given.get("arguments"), given.get("result"), given.get("id"))
    return Text(given["text"]) if given["type"] == "text" else Reasoning(given["text"])
