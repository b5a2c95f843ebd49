"""The requests of each rung, pinned against the official types; own clients; parameters beside ours."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from jury import PanelSpec, llm_jury
from jury.errors import ConfigError, ProviderError
from jury.providers import bodies
from jury.providers.anthropic import AnthropicProvider
from jury.providers.base import Request, Settings, Turn
from jury.providers.openai import OpenAIProvider
from jury.results import Rung
from jury.scales import Boolean, Numeric, reply_schema

SCHEMA = reply_schema(Numeric(1, 5, 3))
TURNS = (Turn("user", "Judge this."), Turn("assistant", "Hm."), Turn("user", "Again."))


def request(rung: Rung = "schema", system: str = "You are a judge.", model: str = "m", **settings: Any) -> Request:
    return Request(model, system, TURNS, SCHEMA, rung, Settings(max_tokens=512, **settings))


def official(url: str = "https://api.openai.com/v1", **more: Any) -> OpenAIProvider:
    return OpenAIProvider(base_url=url, api_key="k", **more)


ELSEWHERE = "http://127.0.0.1:8000/v1"


def exhausted(value: Any) -> Any:
    """pydantic validates an `Iterable` only as it is read."""
    if isinstance(value, dict):
        return {k: exhausted(v) for k, v in value.items()}
    if isinstance(value, str | bytes | int | float) or value is None:
        return value
    return [exhausted(v) for v in value]


def fits(body: dict[str, Any], official_type: Any) -> None:
    """The body is of the SDK's own type, and holds no key that this type lacks."""
    known = official_type.__required_keys__ | official_type.__optional_keys__
    assert set(body) <= known
    assert official_type.__required_keys__ <= set(body)
    assert exhausted(TypeAdapter(official_type).validate_python(body)) == body


@pytest.mark.parametrize("rung", ["schema", "tool", "json", "text"])
@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://res.openai.azure.com/openai/v1", ELSEWHERE])
def test_chat_bodies_are_of_the_official_type(rung: Rung, url: str) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    call = official(url).call(request(rung, extra={"seed": 7, "reasoning_effort": "low"}))
    assert (call.api, call.path) == ("openai_chat", "/chat/completions")
    fits(call.body, CompletionCreateParamsNonStreaming)


@pytest.mark.parametrize("rung", ["schema", "tool", "json", "text"])
def test_responses_bodies_are_of_the_official_type(rung: Rung) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    call = official(api="responses").call(request(rung, extra={"reasoning": {"effort": "low"}}))
    assert (call.api, call.path) == ("openai_responses", "/responses")
    fits(call.body, ResponseCreateParamsNonStreaming)
    assert call.body["store"] is False


@pytest.mark.parametrize("rung", ["schema", "tool", "text"])
def test_messages_bodies_are_of_the_official_type(rung: Rung) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    call = AnthropicProvider(api_key="k").call(request(rung, extra={"metadata": {"user_id": "u"}}))
    assert (call.api, call.path) == ("anthropic_messages", "/v1/messages")
    fits(call.body, MessageCreateParamsNonStreaming)


def test_the_rungs_of_a_chat() -> None:
    provider = official()
    assert provider.rungs("m") == ("schema", "tool", "json", "text")
    schema = provider.call(request("schema")).body
    assert schema["response_format"]["json_schema"]["strict"] is True
    assert schema["response_format"]["json_schema"]["schema"]["additionalProperties"] is False
    assert "tools" not in schema
    tool = provider.call(request("tool")).body
    assert tool["tool_choice"]["function"]["name"] == tool["tools"][0]["function"]["name"] == "verdict"
    assert "response_format" not in tool
    in_json = provider.call(request("json")).body
    assert in_json["response_format"] == {"type": "json_object"}
    text = provider.call(request("text")).body
    assert not {"response_format", "tools"} & set(text)
    for body in (in_json, text):
        assert body["messages"][0]["role"] == "system"
        assert body["messages"][0]["content"].startswith("You are a judge.\n\n")
        assert '"maximum": 5' in body["messages"][0]["content"]
    assert schema["messages"][0]["content"] == "You are a judge."


def test_the_turns_are_sent_in_order_and_a_blank_system_text_is_not() -> None:
    said = [{"role": t.role, "content": t.text} for t in TURNS]
    assert official().call(request(system="")).body["messages"] == said
    responses = official(api="responses").call(request(system="")).body
    assert responses["input"] == said
    assert "instructions" not in responses
    anthropic = AnthropicProvider(api_key="k").call(request(system="")).body
    assert anthropic["messages"] == said
    assert "system" not in anthropic


def test_the_token_limit_has_the_name_that_the_host_knows() -> None:
    assert official().call(request()).body["max_completion_tokens"] == 512
    assert official(ELSEWHERE).call(request()).body["max_tokens"] == 512
    assert official("https://openai.com.evil.example/v1").call(request()).body["max_tokens"] == 512
    own = official().call(request(extra={"max_completion_tokens": 9})).body
    assert own["max_completion_tokens"] == 9
    assert "max_tokens" not in own


def test_bounds_and_strict_functions_go_to_openai_only() -> None:
    def value(provider: OpenAIProvider, model: str = "m") -> Any:
        form = provider.call(request(model=model)).body["response_format"]["json_schema"]["schema"]
        return form["properties"]["value"]["anyOf"][0]

    assert value(official())["maximum"] == 5
    assert "maximum" not in value(official(), "ft:gpt-4o-mini:me")
    assert "maximum" not in value(official(ELSEWHERE))
    assert official().call(request("tool")).body["tools"][0]["function"]["strict"] is True
    assert "strict" not in official(ELSEWHERE).call(request("tool")).body["tools"][0]["function"]


def test_a_temperature_of_none_is_left_to_the_provider() -> None:
    for provider in (official(), official(api="responses"), AnthropicProvider(api_key="k", base_url=ELSEWHERE)):
        assert provider.call(request()).body["temperature"] == 0.0
        assert "temperature" not in provider.call(request(temperature=None)).body


def test_anthropic_itself_gets_no_temperature_and_the_result_says_so() -> None:
    for provider in (AnthropicProvider(api_key="k"), AnthropicProvider(client=Posts(None))):
        call = provider.call(request())
        assert "temperature" not in call.body
        assert call.lost == ("temperature",)
        assert provider.call(request(temperature=None)).lost == ()
        forced = provider.call(request(extra={"temperature": 1}))
        assert (forced.body["temperature"], forced.lost) == (1, ())


def test_extra_goes_into_the_body_and_wins() -> None:
    body = official().call(request(extra={"temperature": 0.7, "seed": 1})).body
    assert (body["temperature"], body["seed"]) == (0.7, 1)
    united = AnthropicProvider(api_key="k").call(request(extra={"output_config": {"effort": "low"}})).body
    assert united["output_config"]["effort"] == "low"
    assert united["output_config"]["format"]["type"] == "json_schema"
    united = official(api="responses").call(request(extra={"text": {"verbosity": "low"}})).body
    assert set(united["text"]) == {"verbosity", "format"}


def test_extra_may_choose_the_api_of_a_seat() -> None:
    call = official().call(request(extra={"api": "responses"}))
    assert call.path == "/responses"
    assert "api" not in call.body
    assert official(api="responses").call(request(extra={"api": "chat"})).path == "/chat/completions"
    with pytest.raises(ConfigError, match="extra"):
        official().call(request(extra={"api": "soap"}))


def test_thinking_goes_without_a_temperature_and_without_a_forced_tool() -> None:
    provider = AnthropicProvider(api_key="k", base_url=ELSEWHERE)
    thinks = {"thinking": {"type": "adaptive"}}
    call = provider.call(request(extra=thinks))
    assert "temperature" not in call.body
    assert call.lost == ("temperature",)
    assert provider.call(request(temperature=None, extra=thinks)).lost == ()
    assert provider.rungs("m") == ("schema", "tool", "text")
    assert provider.rungs("m", Settings(extra=thinks)) == ("schema", "text")
    assert provider.rungs("m", Settings(extra={"thinking": {"type": "disabled"}})) == ("schema", "tool", "text")
    with pytest.raises(ProviderError) as caught:
        provider.call(request("tool", extra=thinks))
    assert caught.value.kind == "schema_refused"  # the ladder moves on without a call


def test_a_request_without_a_schema_asks_for_plain_text() -> None:
    plain = Request("m", "s", TURNS, None, "schema")
    assert not {"response_format", "tools"} & set(official().call(plain).body)
    assert not {"output_config", "tools"} & set(AnthropicProvider(api_key="k").call(plain).body)


def test_a_schema_is_prepared_once_for_all_calls() -> None:
    provider = official()
    first, second = (provider.call(request()).body["response_format"]["json_schema"]["schema"] for _ in range(2))
    assert first is second
    other = Request("m", "", TURNS, reply_schema(Boolean()))
    assert provider.call(other).body["response_format"]["json_schema"]["schema"] is not first


GOOD = {"choices": [{"message": {"content": '{"value": 3}'}, "finish_reason": "stop"}], "model": "m-1"}
GOOD_MESSAGE = {"content": [{"type": "text", "text": '{"value": 3}'}], "stop_reason": "end_turn", "model": "m-1"}


class Posts:
    """A caller's client as the SDKs make them."""

    api_key = "key-of-the-caller"
    base_url = "https://api.openai.com/v1/"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.seen: list[Any] = []

    async def post(self, path: str, *, cast_to: type, body: Any, options: Any) -> Any:
        self.seen.append((path, cast_to, body, options))
        return json.dumps(self.answer).encode()


class Creates:
    """A caller's client with nothing but the typed methods: the reply may be a mapping or a model."""

    def __init__(self, answer: Any) -> None:
        self.chat = self.completions = self.messages = self.responses = self
        self.answer = answer
        self.seen: list[Any] = []

    async def create(self, **body: Any) -> Any:
        self.seen.append(body)
        return self.answer


class Typed:
    def model_dump(self) -> Any:
        return GOOD


def complete(provider: Any, **settings: Any) -> Any:
    return asyncio.run(provider.complete(request(**settings)))


@pytest.mark.parametrize(("kind", "answer"), [(OpenAIProvider, GOOD), (AnthropicProvider, GOOD_MESSAGE)])
def test_an_own_client_is_used_through_its_post(kind: Any, answer: Any) -> None:
    client = Posts(answer)
    reply = complete(kind(client=client), timeout_s=12.5)
    assert (reply.text, reply.model) == ('{"value": 3}', "m-1")
    [(path, cast_to, body, options)] = client.seen
    assert path in ("/chat/completions", "/v1/messages")
    assert cast_to is bytes
    assert body["model"] == "m"
    assert options == {"max_retries": 0, "timeout": 12.5, "follow_redirects": False}


@pytest.mark.parametrize(
    ("kind", "answer"), [(OpenAIProvider, GOOD), (OpenAIProvider, Typed()), (AnthropicProvider, GOOD_MESSAGE)]
)
def test_an_own_client_without_post_is_used_through_create(kind: Any, answer: Any) -> None:
    client = Creates(answer)
    assert complete(kind(client=client)).text == '{"value": 3}'
    assert client.seen[0]["model"] == "m"


def test_an_own_client_can_use_responses() -> None:
    answer = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "x"}]}]}
    assert complete(OpenAIProvider(client=Creates(answer), api="responses")).text == "x"


@pytest.mark.parametrize(
    ("judge", "path"),
    [
        ("openai/m", "/chat/completions"),
        ("openai-responses/m", "/responses"),
        ("mine/m", "/responses"),
        ("unheard-of/m", "/chat/completions"),
    ],
)
def test_the_id_of_a_judge_says_which_api_it_is_asked_over(
    judge: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURY_PROVIDER_MINE_API", "responses")
    client = Posts({})
    client.chat = client  # type: ignore[attr-defined] - by which a client that is not the SDK's own is known
    llm_jury(criteria="c", judges=[judge], client=client, retries=0).judge_sync(input="q", output="a")
    assert client.seen[0][0] == path
    assert client.seen[0][2]["model"] == "m"


@pytest.mark.parametrize(
    ("sdk", "base_url", "served"),
    [
        ("openai", None, ["openai/a", "openai-responses/b", "our-own/d", "e"]),
        ("openai", "http://127.0.0.1:9/v1", ["openai/a", "openai-responses/b", "anthropic/c", "our-own/d", "e"]),
        ("anthropic", None, ["anthropic/c", "our-own/d", "e"]),
        ("anthropic", "http://127.0.0.1:9", ["anthropic/c", "our-own/d", "e"]),
    ],
)
def test_a_vendors_client_is_not_used_for_another_vendors_judges(
    sdk: str, base_url: str | None, served: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import anthropic
    import openai

    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    client = {"openai": openai.AsyncOpenAI, "anthropic": anthropic.AsyncAnthropic}[sdk](api_key="k", base_url=base_url)
    judges = ["openai/a", "openai-responses/b", "anthropic/c", "our-own/d", "e"]
    spec = llm_jury(criteria="c", judges=judges, client=client).spec
    assert [j.model for j in spec.judges if j.provider is not None] == served
    asyncio.run(client.close())


def test_a_client_is_used_for_the_judges_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_JUDGES", "openai/m, openai/n")
    client = Posts({})
    client.chat = client  # type: ignore[attr-defined]
    llm_jury(criteria="c", client=client, retries=0).judge_sync(input="q", output="a")
    assert [body["model"] for _, _, body, _ in client.seen] == ["m", "n"]
    with pytest.raises(ConfigError, match="leave out client"):
        llm_jury(criteria="c", client=client, panel=PanelSpec(judges=["openai/m"]))


def test_a_clients_class_is_no_client() -> None:
    with pytest.raises(ConfigError, match="Posts"):
        llm_jury(criteria="c", judges=["openai/m"], client=Posts)


def test_a_clients_strange_reply_is_a_bad_body() -> None:
    with pytest.raises(ProviderError) as caught:
        complete(OpenAIProvider(client=Creates(object())))
    assert caught.value.kind == "bad_body"


def test_blocking_clients_are_refused_when_the_provider_is_made() -> None:
    import anthropic
    import openai

    with openai.OpenAI(api_key="k") as client, pytest.raises(ConfigError, match="pass an AsyncOpenAI"):
        OpenAIProvider(client=client)
    with anthropic.Anthropic(api_key="k") as client, pytest.raises(ConfigError, match="pass an AsyncAnthropic"):
        AnthropicProvider(client=client)


class Blocks:
    def __init__(self) -> None:
        self.chat = self.completions = self

    def create(self, **body: Any) -> Any:
        return GOOD


def test_a_blocking_create_is_told() -> None:
    with pytest.raises(ConfigError, match="not asynchronous"):
        complete(OpenAIProvider(client=Blocks()))


def test_a_client_with_nothing_to_call_is_told() -> None:
    with pytest.raises(ConfigError, match="neither"):
        complete(OpenAIProvider(client=object()))


def test_the_official_asynchronous_clients_are_taken() -> None:
    import anthropic
    import openai

    async def both() -> None:
        async with openai.AsyncOpenAI(api_key="k") as client:
            assert OpenAIProvider(client=client).call(request()).body["max_completion_tokens"] == 512
        async with openai.AsyncOpenAI(api_key="k", base_url=ELSEWHERE) as client:
            assert OpenAIProvider(client=client).call(request()).body["max_tokens"] == 512
        async with anthropic.AsyncAnthropic(api_key="k") as client:
            assert AnthropicProvider(client=client).call(request()).path == "/v1/messages"

    asyncio.run(both())


def test_reply_shapes_of_the_official_types_are_read() -> None:
    """What the SDK's own models dump is what `bodies` reads."""
    from openai.types.chat import ChatCompletion

    made = ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        }
    )
    reply = bodies.read_reply("openai_chat", 200, made.model_dump())
    assert reply.text == "x"
    assert reply.usage is not None
    assert reply.usage.output_tokens == 2
