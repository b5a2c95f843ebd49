"""The ladder: which rung is asked, when it moves on, what it remembers, how often it pays."""

from __future__ import annotations

import asyncio

import pytest

from jury import (
    ConfigError,
    Failure,
    JudgeSpec,
    ProviderError,
    Reply,
    ReplyError,
    Request,
    ScriptedProvider,
    Settings,
    Turn,
    Usage,
    Verdict,
    llm_jury,
)
from jury.ladder import climb, forget
from jury.parsing import read_reply
from jury.scales import Boolean, Numeric

GOOD = '{"explanation": "e", "value": true}'
RUNGS = ("schema", "tool", "json", "text")


@pytest.fixture(autouse=True)
def _fresh_memory():
    forget()
    yield
    forget()


def ask(provider, scale=None, **settings):
    request = Request("m", "s", (Turn("user", "p"),), settings=Settings(**settings))
    scale = scale or Boolean()
    return asyncio.run(climb(provider, request, lambda text, data: read_reply(text, scale, data)))


def rungs_of(provider):
    return [r.rung for r in provider.requests]


def test_a_readable_reply_ends_it():
    provider = ScriptedProvider([GOOD], rungs=RUNGS)
    result = ask(provider)
    assert (result.verdict.value, result.rung, result.calls, result.reasked) == (True, "schema", 1, False)


def test_a_400_that_names_the_schema_moves_on_and_is_remembered():
    refused = ProviderError("schema_refused", "response_format is not supported", status=400)
    provider = ScriptedProvider([refused, refused, GOOD, GOOD], rungs=RUNGS)
    first, second = ask(provider), ask(provider)
    assert rungs_of(provider) == ["schema", "tool", "json", "json"]
    assert (first.rung, second.rung, second.calls) == ("json", "json", 1)


def test_a_200_of_the_wrong_shape_moves_on_and_is_remembered():
    provider = ScriptedProvider(["It is right, I think.", GOOD, GOOD], rungs=RUNGS)
    assert ask(provider).verdict.value is True
    ask(provider)
    assert rungs_of(provider) == ["schema", "tool", "tool"]


def test_at_most_three_paid_calls_make_one_judgment():
    provider = ScriptedProvider(["prose"] * 9, rungs=RUNGS)
    result = ask(provider)
    assert rungs_of(provider) == ["schema", "tool", "tool"]
    assert (result.calls, result.reasked, result.verdict.failure.kind) == (3, True, "no_json")
    provider = ScriptedProvider(["prose"] * 9, rungs=RUNGS)
    assert ask(provider, reask=0).calls == 2


def test_a_proven_rung_is_not_left_for_one_bad_reply():
    provider = ScriptedProvider([GOOD, "prose", GOOD, GOOD], rungs=RUNGS)
    ask(provider)
    result = ask(provider)
    assert (result.reasked, result.rung) == (True, "schema")
    assert rungs_of(provider) == ["schema", "schema", "schema"]


def test_the_re_ask_shows_the_reply_and_what_was_wrong():
    bad = '{"explanation": "e", "value": 7}'
    provider = ScriptedProvider([bad, '{"explanation": "e", "value": 0.7}'], rungs=RUNGS)
    result = ask(provider, Numeric())
    assert (result.verdict.value, result.reasked, rungs_of(provider)) == (0.7, True, ["schema", "schema"])
    turns = provider.requests[1].turns
    assert [t.role for t in turns] == ["user", "assistant", "user"]
    assert turns[1].text == bad
    assert "7 lies outside 0 to 1" in turns[2].text


def test_direct_providers_bypass_the_ladder():
    provider = ScriptedProvider(["prose", GOOD])
    result = ask(provider)
    assert (result.rung, result.calls, result.verdict.status) == ("direct", 1, "error")


def test_without_structured_output_it_starts_in_json_mode():
    provider = ScriptedProvider([GOOD], rungs=RUNGS)
    ask(provider, structured_output=False)
    assert rungs_of(provider) == ["json"]


def test_other_provider_errors_end_it_with_their_kind():
    provider = ScriptedProvider([ProviderError("context_too_long", "too long", status=400)], rungs=RUNGS)
    result = ask(provider)
    assert (result.verdict.failure.kind, result.verdict.failure.status, result.calls) == ("context_too_long", 400, 1)


def test_every_call_is_paid_for_in_the_books():
    usage = Usage(1, 100, 10, cost=0.5)
    cut = ProviderError("truncated", "cut at the token limit", usage=usage)
    provider = ScriptedProvider([Reply("prose", usage=usage), cut], rungs=RUNGS)
    result = ask(provider)
    assert result.usage == Usage(2, 200, 20, cost=1.0)
    assert result.verdict.failure.kind == "truncated"


def test_an_answer_without_a_count_of_tokens_is_paid_for_all_the_same():
    counted = Reply(GOOD, usage=Usage(1, 10, 5, cost=0.01))
    assert ask(ScriptedProvider([Reply(GOOD)], rungs=RUNGS)).usage == Usage()
    assert ask(ScriptedProvider([Reply("no"), counted], rungs=RUNGS)).usage == Usage(1, 10, 5)
    assert ask(ScriptedProvider([Reply(GOOD)])).usage is None  # a script costs nothing


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (ValueError("odd"), Failure("exception", "ValueError: odd")),
        (ReplyError("no_json", "not a word"), Failure("no_json", "not a word")),
    ],
)
def test_what_was_paid_before_a_provider_broke_counts(fault, failure):
    provider = ScriptedProvider([Reply("prose", usage=Usage(1, 10, 5, cost=0.5)), fault], rungs=RUNGS)
    found = ask(provider)
    assert found.verdict == Verdict("error", failure=failure)
    assert (found.rung, found.calls, found.usage) == ("tool", 2, Usage(1, 10, 5, cost=0.5))


def test_models_are_remembered_apart():
    provider = ScriptedProvider(lambda request: "prose" if request.rung == "schema" else GOOD, rungs=RUNGS)
    request = Request("other", "s", (Turn("user", "p"),))
    ask(provider)
    asyncio.run(climb(provider, request, lambda text, data: read_reply(text, Boolean())))
    assert rungs_of(provider) == ["schema", "tool", "schema", "tool"]


def test_an_empty_reply_moves_on_where_the_rung_is_not_proven():
    empty = ProviderError("empty", "no text", usage=Usage(1, 5, 0))
    provider = ScriptedProvider([empty, GOOD, empty], rungs=RUNGS)
    first, second = ask(provider), ask(provider)
    assert rungs_of(provider) == ["schema", "tool", "tool"]
    assert (first.verdict.value, first.calls, first.usage.calls) == (True, 2, 1)
    assert second.verdict.failure.kind == "empty"


def test_a_provider_of_one_method_is_read_from_its_text():
    class Plain:
        name = "plain"

        async def complete(self, request):
            asked.append(request.rung)
            return Reply(GOOD, model=request.model)

    asked: list[str] = []
    jury = llm_jury(criteria="c", judges=[JudgeSpec("plain/m", provider=Plain())])
    result = jury.judge_sync(output="o")
    assert (result.value, asked, result.votes[0].judgments[0].rung) == (True, ["text"], "text")


def test_a_provider_without_a_name_or_a_method_is_an_error_before_any_call():
    class Nameless:
        async def complete(self, request):
            raise AssertionError

    class Idle:
        name = "idle"

    for provider, says in ((Nameless(), "no `name`"), (Idle(), "no `complete`")):
        with pytest.raises(ConfigError, match=says):
            JudgeSpec("x/m", provider=provider)
