"""field.json: one operation a case; the table `OPERATIONS` maps each to what `jury` offers under its own names.

An operation without an entry is not offered yet: its cases are listed and expected to fail. Templates, data
files and statistics have tests of their own beside this one (`test_field_template.py` and its like).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from jury import (
    Boolean,
    CallError,
    Comparison,
    ConfigError,
    DataError,
    JudgeSpec,
    Labels,
    Numeric,
    ProviderError,
    ScriptedProvider,
    llm_jury,
    llm_jury_pairwise,
    position_bias,
    summarize,
    win_rate,
)
from jury.calls import MAX_WAIT_S, wait_before
from jury.errors import PROVIDER_KINDS, REPLY_KINDS, ReplyError
from jury.parsing import read_reply
from jury.providers import adapt, bodies, complaints, faults, schemas
from jury.providers.base import Request, Settings
from jury.scales import Scale
from tests.conformance.cases import load, params
from tests.conformance.comparing import Failed, fits

AREAS = ("parsing", "provider", "dataset", "aggregation", "pairwise", "cli", "report")
ELSEWHERE = (
    "load_rows",
    "run_cli",
    "run_cli_twice",
    "collect_batch",
    "load_session",
    "fit_session",
    "render",
    "render_format",
    "render_report",
    "format_rate",
    "export_csv",
    "write_results",
)  # test_field_dataset.py, test_field_cli.py, test_field_runs.py, test_field_sessions.py, test_field_report.py
WINNERS = Labels(["A", "B", "tie"])
UNREADABLE = frozenset(REPLY_KINDS) - frozenset(PROVIDER_KINDS)
USUAL = ("PASS", "FAIL", "NA")
_KEY = r"""([{,]\s*(?:\\?["'])?)NAME(?=(?:\\?["'])?\s*:)"""  # a key of an object; the same word in a text stays
SHOWN = ("This is answer one.", "This is answer two.")


def renamed(reply: str | None, *names: str) -> str | None:
    """A reply that uses one of these keys (`verdict`, `winner`), with the key that `jury` asks for."""
    if reply is None:
        return None
    for name in names or ("verdict", "winner"):
        reply = re.sub(_KEY.replace("NAME", name), r"\1value", reply)
        reply = re.sub(_KEY.replace("NAME", name.title()), r"\1Value", reply)
    return reply


def parse_verdict(given: Mapping[str, Any]) -> Any:
    want, reply = given["want"], given["reply"]
    if want.get("pairwise"):
        scale: Scale = WINNERS
    elif "range" in want:
        scale = Numeric(*want["range"], threshold=None)
    else:
        scale = Boolean() if want.get("boolean") else Labels(want.get("verdicts") or want["labels"])
    own = {Numeric: "score", Boolean: "pass"}.get(type(scale))
    names = (own,) if own and re.search(_KEY.replace("NAME", own), reply or "") and "verdict" not in reply else ()
    verdict = read_reply(renamed(reply, *names), scale)
    word = "winner" if want.get("pairwise") else "verdict"
    if verdict.failure:
        return {word: "ERROR", "reason": verdict.failure.kind}
    return {word: verdict.value, "evidence": list(verdict.evidence)}


def provider_reply(given: Mapping[str, Any]) -> Any:
    reply = bodies.read_reply(given["api"], given.get("status", 200), given["body"])
    usage = reply.usage
    tokens = usage and {"input": usage.input_tokens, "output": usage.output_tokens}
    return {"text": reply.text, "json": reply.data, "tokens": tokens}


def retry_decision(given: Mapping[str, Any]) -> Any:
    status, headers, body = given["status"], given.get("headers"), given.get("body")
    if status < 300 and not complaints.is_error(body):
        return {"retry": False, "wait_s": 0.0, "kind": None}
    error = faults.from_status(status, headers, body, now=given.get("now"))
    pause = wait_before(error, 1, Settings().retries, max_wait_s=given.get("max_wait_s", MAX_WAIT_S))
    return {"retry": pause is not None, "wait_s": pause or error.retry_after_s or 0.0, "kind": error.kind}


def retry_after_reply(given: Mapping[str, Any]) -> Any:
    kind = given["error"]
    error = ReplyError(kind, kind) if kind in UNREADABLE else failure(kind)
    return {"same_request_again": wait_before(error, given.get("attempt", 1), Settings().retries) is not None}


def failure(kind: str) -> ProviderError:
    """The error of this kind as it comes out of an answer that earns it."""
    stops = {"truncated": "length", "content_filter": "content_filter", "empty": "stop"}
    codes = {"rate_limited": 429, "overloaded": 529, "server_error": 500, "auth": 401, "not_found": 404}
    codes |= {"bad_request": 400, "context_too_long": 413}
    raised = {"connection": ConnectionResetError("reset"), "timeout": TimeoutError()}
    if kind in raised:
        return faults.from_exception(raised[kind])
    message: dict[str, Any] = {"content": "", **({"refusal": "No."} if kind == "refused" else {})}
    body = {"choices": [{"message": message, "finish_reason": stops.get(kind, "stop")}]}
    with pytest.raises(ProviderError) as caught:
        bodies.read_reply("openai_chat", codes.get(kind, 200), body)
    assert caught.value.kind == kind
    return caught.value


def adapt_request(given: Mapping[str, Any]) -> Any:
    error = given["error"]
    request, lost = adapt.adapt(given["request"], error["status"], error["body"], given["api"])
    return {"request": request, "notes": list(lost)}


def judge_schema(given: Mapping[str, Any]) -> Any:
    if "check_reply" in given:
        kind = schemas.check(given["check_reply"], given["schema"])
        return {"verdict": "ERROR", "reason": kind} if kind else given["check_reply"]
    targets = {"openai_strict": schemas.for_openai, "anthropic": schemas.for_anthropic}
    return targets[given["target"]](given["schema"])


def aggregate(given: Mapping[str, Any]) -> Any:
    rules = {"plurality": "mode", "mean": "mean_std"}
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for vote in given["votes"]:
        answers.setdefault(vote["judge"], []).append(vote)
    jury = llm_jury(
        criteria="Is it right?",
        scale=scale_of(given),
        judges=[JudgeSpec(function=voter(votes), id=judge) for judge, votes in answers.items()],
        aggregator=rules.get(given["rule"], given["rule"]),
        min_successful_judges=given.get("min_successful", 1),
        repetitions=given.get("repetitions", max(map(len, answers.values()))),
    )
    result = jury.judge_sync(input="A question?", output="An answer.")
    return {
        "verdict": None if result.inconclusive else result.value,
        "passed": result.passed,
        "inconclusive": result.inconclusive,
        "n_ok": result.seats_used,
        "n_error": result.failed_seats,
        "n_abstained": sum(v.abstained for v in result.votes),
        "stats": {"mean": result.mean, "std": result.std},
    }


def scale_of(given: Mapping[str, Any]) -> Scale:
    if given["kind"] == "numeric":
        return Numeric(*given.get("range", (0, 10)), threshold=given.get("threshold"))
    values = [v["value"] for v in given["votes"] if v.get("value") is not None]
    if "labels" not in given and (given["kind"] == "boolean" or any(isinstance(v, bool) for v in values)):
        return Boolean()
    own = dict.fromkeys(v for v in values if isinstance(v, str))
    folded = {v.strip().casefold(): v.strip() for v in reversed(own)}  # of two spellings of a label the first
    labels = given.get("labels") or (USUAL if set(folded.values()) <= set(USUAL) else [*folded.values(), "another"])
    return Labels(labels, passing=[x for x in labels if x == "PASS"])


def voter(votes: Sequence[Mapping[str, Any]]) -> Callable[[Any], Any]:
    """A judge that gives these answers in order, then the last one again."""
    left = list(votes)

    def answer(case: Any) -> Any:
        vote = left.pop(0) if len(left) > 1 else left[0]
        if "error" in vote:
            raise CallError("server_error", vote["error"])
        if vote.get("abstained"):
            return {"abstain": True}
        return float(vote["value_text"]) if "value_text" in vote else {"value": vote["value"]}

    return answer


def summary(given: Mapping[str, Any]) -> Any:
    made = summarize(given["verdicts"])
    met = {"threshold_met": made.met(given["threshold"])} if "threshold" in given else {}
    return {**made.to_dict(), **met}


def compared(
    judges: Sequence[Mapping[str, Any]], standing: Sequence[Mapping[str, Any]] = (), **keywords: Any
) -> Comparison:
    """A comparison by judges that reply with these texts in either order; None is a failed call."""

    def seat(number: int, judge: Mapping[str, Any]) -> JudgeSpec:
        def reply(request: Request) -> str | None:
            return renamed(judge["shown_ab" if request.prompt == SHOWN[0] else "shown_ba"])

        name = judge.get("judge", f"judge{number}")
        return JudgeSpec(f"scripted/{name}", provider=ScriptedProvider(reply))

    jury = llm_jury_pairwise(
        prompt="{{response_a.output.response}}",
        judges=[seat(n, judge) for n, judge in enumerate(judges)],
        replacement_judges=[seat(n, judge) for n, judge in enumerate(standing, len(judges))] or None,
        **keywords,
    )
    return jury.compare_sync(question="A question?", response_a=SHOWN[0], response_b=SHOWN[1])


def reconcile(given: Mapping[str, Any]) -> Any:
    result = compared([given])
    vote = result.votes[0]
    return {"winner": result.winner, "flipped": vote.flipped, "error": vote.failed}


def pairwise_panel(given: Mapping[str, Any]) -> Any:
    judges, replaced = list(given["judges"]), given.get("replaced") or []
    standing = [j for j in replaced if isinstance(j, Mapping)]  # the stand-ins, or the names of those they stand in for
    if replaced and not standing:
        judges, standing = judges[: -len(replaced)], judges[-len(replaced) :]
    result = compared(judges, standing, min_successful_judges=given.get("min_successful", 1))
    return {
        "winner": result.winner,
        "n_ok": result.seats_used,
        "n_error": result.failed_seats,
        "n_flipped": result.flips,
    }


def flips(given: Mapping[str, Any]) -> Any:
    bias = position_bias(compared([{"shown_ab": ab, "shown_ba": ba}]) for ab, ba in given["pairs"])
    return {"flips": bias.flips, "both_orders_readable": bias.both_orders_readable, "rate": bias.rate}


def wins(given: Mapping[str, Any]) -> Any:
    rate = win_rate(given["outcomes"], given.get("tie_value", 0.5))
    names = ("win_rate_a", "n_judged", "n_inconclusive", "n_total")
    return {name: getattr(rate, name) for name in names}


def pairwise_run(given: Mapping[str, Any]) -> Any:
    provider = ScriptedProvider([renamed(reply) for reply in given["judge_replies"]])
    jury = llm_jury_pairwise(criteria="Which is right?", judges=[JudgeSpec("scripted/judge", provider=provider)])
    sides = (given[side]["output"] for side in ("response_a", "response_b"))
    result = jury.compare_sync("A question?", *sides)
    return {"winner": result.winner, "judge_calls": len(provider.requests)}


def render_pairwise(given: Mapping[str, Any]) -> Any:
    jury = llm_jury_pairwise(prompt=given["template"], judges=[JudgeSpec("scripted/judge")], swap=False)
    return jury.render(given["question"], given["a"], given["b"])["scripted/judge"]["user"]


OPERATIONS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "parse_verdict": parse_verdict,
    "read_reply": provider_reply,
    "retry_decision": retry_decision,
    "retry_after_reply": retry_after_reply,
    "adapt_request": adapt_request,
    "judge_schema": judge_schema,
    "aggregate": aggregate,
    "summarize": summary,
    "reconcile": reconcile,
    "pairwise_panel": pairwise_panel,
    "position_bias": flips,
    "win_rate": wins,
    "pairwise_run": pairwise_run,
    "render_pairwise": render_pairwise,
}


def not_offered(case: Mapping[str, Any]) -> str | None:
    return None if case["op"] in OPERATIONS else f"not offered yet: {case['op']}"


def here(case: Mapping[str, Any]) -> bool:
    rubric = "criteria" in case["input"].get("want", ())  # test_field_sessions.py
    return case["area"] in AREAS and case["op"] not in ELSEWHERE and not rubric


CASES = [c for c in load("field.json")["cases"] if here(c)]


@pytest.mark.parametrize("case", params(CASES, not_offered))
def test_field(case: dict[str, Any]) -> None:
    if reason := not_offered(case):
        pytest.fail(reason)
    try:
        found = OPERATIONS[case["op"]](case["input"])
    except (ProviderError, DataError) as error:
        found = Failed(error.kind, str(error), getattr(error, "retry", False))
    except ConfigError as error:
        found = Failed("config", str(error))
    assert fits(found, case["expect"]), found
