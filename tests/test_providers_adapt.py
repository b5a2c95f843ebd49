"""Parameters that a model refuses: what is renamed, what is dropped and named, what is left to the caller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.providers.adapt import Memory, adapt

BASE = {"model": "m", "messages": [{"role": "user", "content": "p"}], "max_tokens": 512, "temperature": 0, "seed": 7}


def refused(message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (refused("'temperature' does not support 0 here.", "temperature", "unsupported_value"), "temperature"),
        (refused("temperature is not supported with this model", code="unsupported_parameter"), "temperature"),
        (refused("`temperature` may only be set to 1 when thinking is enabled."), "temperature"),
        (refused("`temperature` is deprecated for this model."), "temperature"),
        (refused("Only temperature=1 is supported; other values are not supported"), "temperature"),
        (refused("property 'seed' is unsupported, did you mean 'stop'?"), "seed"),
        (refused("Argument not supported on this model: seed"), "seed"),
        (refused("seed: Extra inputs are not permitted"), "seed"),
        (refused("Unknown parameter: 'seed'.", "seed", "unknown_parameter"), "seed"),
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}]}, "seed"),
        ({"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra"}]}}, "seed"),
        ([{"error": {"message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'}}], "seed"),
        ('{"error": {"message": "seed is not supported"}}', "seed"),
    ],
)  # fmt: skip
def test_an_unsupported_parameter_is_dropped_and_named(error: Any, lost: str) -> None:
    after, notes = adapt(BASE, 400, error)
    assert notes == (lost,)
    assert after == {k: v for k, v in BASE.items() if k != lost}


@pytest.mark.parametrize("status", [400, 422])
def test_a_token_limit_moves_to_its_other_name_and_back(status: int) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    error = refused(said, "max_tokens", "unsupported_parameter")
    after, notes = adapt(BASE, status, error)
    assert (after["max_completion_tokens"], "max_tokens" in after, notes) == (512, False, ())
    back, notes = adapt(after, status, refused("Unrecognized request argument supplied: max_completion_tokens"))
    assert (back, notes) == (BASE, ())


@pytest.mark.parametrize(
    ("api", "error", "name"),
    [
        ("openai_responses", refused("Unsupported parameter: 'max_tokens'.", "max_tokens"), "max_output_tokens"),
        ("openai_chat", refused("'max_tokens' is not supported. Use `max_new_tokens` instead."), "max_new_tokens"),
    ],
)
def test_a_token_limit_takes_the_name_that_the_api_knows_or_recommends(api: str, error: Any, name: str) -> None:
    after, notes = adapt(BASE, 400, error, api)
    assert (after[name], "max_tokens" in after, notes) == (512, False, ())


def test_a_limit_given_under_both_names_keeps_the_other() -> None:
    both = {**BASE, "max_completion_tokens": 9}
    error = refused("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    after, notes = adapt(both, 400, error)
    assert (after["max_completion_tokens"], "max_tokens" in after, notes) == (9, False, ())


def test_a_responses_limit_that_is_refused_is_dropped_and_named() -> None:
    body = {"model": "m", "input": "p", "max_output_tokens": 5}
    error = refused("Unsupported parameter: max_output_tokens", "max_output_tokens")
    assert adapt(body, 400, error, "openai_responses") == ({"model": "m", "input": "p"}, ("max_output_tokens",))
    assert adapt(body, 400, error, "openai_chat")[0] == {"model": "m", "input": "p", "max_tokens": 5}


def test_camel_case_is_the_same_name() -> None:
    body = {**BASE, "presence_penalty": 1}
    assert adapt(body, 400, refused("Argument not supported on this model: presencePenalty"))[1] == (
        "presence_penalty",
    )


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, refused("Expected a value <= 2", "temperature", "decimal_above_max_value")),
        (400, refused("temperature must be between 0 and 1; other values are not allowed")),
        (400, refused("max_tokens is too large: 512. This model supports at most 256 tokens.", "max_tokens")),
        (400, refused("Invalid schema for response_format: not supported", "response_format")),
        (400, refused("'system' is not supported as a role", "messages[0].role", "unsupported_value")),
        (400, refused("This model's maximum context length is 5 tokens", "messages", "context_length_exceeded")),
        (400, refused("top_p is not supported", "top_p", "unsupported_parameter")),
        (401, refused("temperature is not supported", "temperature")),
        (500, refused("temperature is not supported", "temperature")),
        (400, None),
        (400, "temperature"),
    ],
)  # fmt: skip
def test_everything_else_stays_as_it_was(status: int, error: Any) -> None:
    assert adapt(BASE, status, error) == (BASE, ())


def test_the_messages_api_keeps_its_token_limit() -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: not supported"}}
    assert adapt(BASE, 400, error, "anthropic_messages") == (BASE, ())


def test_the_question_and_the_form_of_the_reply_are_never_dropped() -> None:
    body = {**BASE, "response_format": {}, "tools": [], "tool_choice": {}, "output_config": {}, "text": {}, "input": []}
    for name in ("model", "messages", "response_format", "tools", "tool_choice", "output_config", "text", "input"):
        assert adapt(body, 400, refused(f"{name} is not supported", name, "unsupported_parameter")) == (body, ())


@given(st.text(), st.sampled_from([*BASE, "x"]))
def test_no_message_takes_the_question_away(message: str, param: str) -> None:
    after, notes = adapt(BASE, 400, refused(message, param, "unsupported_parameter"))
    assert after["messages"] == BASE["messages"]
    assert after["model"] == "m"
    assert set(notes) <= {"temperature", "seed"}


def test_memory_applies_what_it_learned_to_later_bodies() -> None:
    memory = Memory()
    assert memory.learn(BASE, 400, refused("temperature is not supported", "temperature"), "openai_chat")
    assert memory.learn(BASE, 400, refused("max_tokens is not supported", "max_tokens"), "openai_chat")
    assert not memory.learn(BASE, 400, refused("something else"), "openai_chat")
    body = dict(BASE)
    assert memory.apply(body) == ("temperature", "max_tokens as max_completion_tokens")
    assert body == {"model": "m", "messages": BASE["messages"], "max_completion_tokens": 512, "seed": 7}
    both: dict[str, Any] = {"max_tokens": 512, "max_completion_tokens": 9}
    memory.apply(both)
    assert both == {"max_completion_tokens": 9}
    without: dict[str, Any] = {"model": "m"}
    assert memory.apply(without) == ()
    assert without == {"model": "m"}


def test_a_limit_refused_under_both_names_is_dropped_and_named() -> None:
    memory = Memory()
    body = dict(BASE)
    assert memory.learn(body, 400, refused("max_tokens is not supported", "max_tokens"), "openai_chat")
    memory.apply(body)
    error = refused("max_completion_tokens is not supported", "max_completion_tokens")
    assert memory.learn(body, 400, error, "openai_chat")
    fresh = dict(BASE)
    assert memory.apply(fresh) == ("max_tokens",)
    assert not {"max_tokens", "max_completion_tokens"} & set(fresh)
