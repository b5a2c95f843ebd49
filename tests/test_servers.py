"""The scripted provider server, seen through the official clients: what it answers is what they read."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import openai
import pytest

from tests.servers import provider_server as ps
from tests.servers.provider_server import ProviderServer

VERDICT = {"explanation": "Paris is right.", "value": True}


def openai_client(server: ProviderServer, **given: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.openai_url, api_key="key-o", max_retries=0, **given)


def anthropic_client(server: ProviderServer) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=server.anthropic_url, api_key="key-a", max_retries=0)


async def chat(server: ProviderServer, **given: Any) -> Any:
    async with openai_client(server, **given) as client:
        return await client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "Judge."}])


async def responses(server: ProviderServer) -> Any:
    async with openai_client(server) as client:
        return await client.responses.create(model="gpt-x", input="Judge.")


async def messages(server: ProviderServer) -> Any:
    async with anthropic_client(server) as client:
        asked: Any = [{"role": "user", "content": "Judge."}]
        return await client.messages.create(model="claude-x", max_tokens=100, messages=asked)


Asked = Callable[[ProviderServer], Awaitable[Any]]


def ask(call: Asked, answer: Any) -> Any:
    with ProviderServer(answer) as server:
        return asyncio.run(call(server))  # type: ignore[arg-type]


def test_chat_reply_has_the_documented_shape() -> None:
    with ProviderServer(ps.chat_reply(VERDICT, usage=(10, 4), cached=3)) as server:
        got = asyncio.run(chat(server))
    assert got.choices[0].message.content == '{"explanation": "Paris is right.", "value": true}'
    assert (got.model, got.choices[0].finish_reason, got.object) == ("gpt-x", "stop", "chat.completion")
    assert (got.usage.prompt_tokens, got.usage.completion_tokens, got.usage.total_tokens) == (10, 4, 14)
    assert got.usage.prompt_tokens_details.cached_tokens == 3
    assert got._request_id == f"req_{0:032x}"
    request = server.requests[0]
    assert (request.method, request.path, request.style) == ("POST", "/v1/chat/completions", "chat")
    assert request.headers["authorization"] == "Bearer key-o"
    assert request.body == {"model": "gpt-x", "messages": [{"role": "user", "content": "Judge."}]}


def test_chat_ways_to_say_nothing() -> None:
    refused = ask(chat, ps.chat_refusal("No.")).choices[0]
    assert (refused.message.refusal, refused.message.content) == ("No.", None)
    assert ask(chat, ps.chat_length_cut()).choices[0].finish_reason == "length"
    assert ask(chat, ps.chat_content_filter()).choices[0].finish_reason == "content_filter"
    assert ask(chat, ps.chat_empty()).choices[0].message.content == ""
    called = ask(chat, ps.chat_tool({"value": True})).choices[0]
    assert called.message.tool_calls[0].function.arguments == '{"value": true}'
    assert called.finish_reason == "tool_calls"


def test_responses_replies() -> None:
    good = ask(responses, ps.responses_reply(VERDICT, usage=(7, 2)))
    assert good.output_text == '{"explanation": "Paris is right.", "value": true}'
    assert (good.status, good.usage.input_tokens, good.usage.total_tokens) == ("completed", 7, 9)
    assert ask(responses, ps.responses_refusal("No.")).output[0].content[0].refusal == "No."
    assert ask(responses, ps.responses_length_cut()).incomplete_details.reason == "max_output_tokens"
    assert ask(responses, ps.responses_content_filter()).incomplete_details.reason == "content_filter"
    assert ask(responses, ps.responses_empty()).output_text == ""
    failed = ask(responses, ps.responses_failed())
    assert (failed.status, failed.error.code) == ("failed", "server_error")


def test_messages_replies() -> None:
    good = ask(messages, ps.messages_reply(VERDICT, usage=(7, 2), cached=5))
    assert good.content[0].text == '{"explanation": "Paris is right.", "value": true}'
    assert (good.stop_reason, good.usage.input_tokens, good.usage.cache_read_input_tokens) == ("end_turn", 7, 5)
    tool = ask(messages, ps.messages_tool({"value": True}, text="I will call it."))
    assert [b.type for b in tool.content] == ["text", "tool_use"]
    assert (tool.content[1].input, tool.stop_reason) == ({"value": True}, "tool_use")
    thought = ask(messages, ps.messages_thinking_then_text(VERDICT))
    assert [b.type for b in thought.content] == ["thinking", "text"]
    assert ask(messages, ps.messages_refusal()).stop_reason == "refusal"
    assert ask(messages, ps.messages_length_cut()).stop_reason == "max_tokens"
    assert ask(messages, ps.messages_empty()).content == []


def test_a_plain_value_is_a_good_reply_of_the_endpoint_that_is_asked() -> None:
    with ProviderServer([VERDICT, VERDICT, "text"]) as server:
        assert asyncio.run(chat(server)).choices[0].message.content.startswith('{"explanation"')
        assert asyncio.run(responses(server)).output_text.startswith('{"explanation"')
        assert asyncio.run(messages(server)).content[0].text == "text"
    assert [r.style for r in server.requests] == ["chat", "responses", "messages"]
    assert (server.count(), server.count("/messages"), server.exhausted) == (3, 1, 0)


ERRORS: list[tuple[Asked, Any, type[Exception], int | None]] = [
    (chat, ps.rate_limited(retry_after=2), openai.RateLimitError, 429),
    (chat, ps.http_error(401), openai.AuthenticationError, 401),
    (chat, ps.http_error(404), openai.NotFoundError, 404),
    (chat, ps.context_too_long(), openai.BadRequestError, 400),
    (chat, ps.azure_content_filter(), openai.BadRequestError, 400),
    (responses, ps.context_too_long(), openai.BadRequestError, 400),
    (chat, ps.http_error(500), openai.InternalServerError, 500),
    (chat, ps.html_page(502), openai.InternalServerError, 502),
    (chat, ps.reset(), openai.APIConnectionError, None),
    (chat, ps.closed(), openai.APIConnectionError, None),
    (chat, ps.not_http(), openai.APIConnectionError, None),
    (messages, ps.rate_limited(retry_after=2), anthropic.RateLimitError, 429),
    (messages, ps.overloaded_529(), anthropic.APIStatusError, 529),
    (messages, ps.http_error(401), anthropic.AuthenticationError, 401),
    (messages, ps.context_too_long(), anthropic.BadRequestError, 400),
    (messages, ps.reset(), anthropic.APIConnectionError, None),
    (messages, ps.http_error(418), anthropic.APIStatusError, 418),
]


@pytest.mark.parametrize(("call", "answer", "expected", "status"), ERRORS)
def test_failures_are_what_the_clients_raise(call: Asked, answer: Any, expected: Any, status: int | None) -> None:
    with pytest.raises(expected) as caught:
        ask(call, answer)
    assert getattr(caught.value, "status_code", None) == status


def test_error_bodies_and_headers_arrive() -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        ask(
            chat,
            ps.http_error(400, message="Unsupported value: 'temperature'", param="temperature", code="unsupported"),
        )
    assert (refused.value.param, refused.value.code) == ("temperature", "unsupported")
    with pytest.raises(anthropic.APIStatusError) as busy:
        ask(messages, ps.overloaded_529(retry_after=7))
    assert busy.value.response.headers["retry-after"] == "7"
    assert busy.value.body["error"] == {"type": "overloaded_error", "message": "Overloaded"}  # type: ignore[index]


@pytest.mark.parametrize("call", [chat, responses, messages])
def test_bodies_that_are_no_reply(call: Asked) -> None:
    with pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError), match="Connection error"):
        ask(call, ps.cut_body())
    with pytest.raises(json.JSONDecodeError):
        ask(call, ps.garbage())
    with pytest.raises(UnicodeDecodeError):
        ask(call, ps.garbage(b"\xff"))
    # The clients hand these out as they came: whoever calls them has to look.
    assert ask(call, ps.html_page()).startswith("<!doctype html>")
    assert ask(call, ps.json_body([1, 2])) == [1, 2]
    assert ask(call, ps.json_body({})).id is None


def test_silence_meets_the_clients_deadline() -> None:
    with ProviderServer(ps.hang()) as server, pytest.raises(openai.APITimeoutError):
        asyncio.run(chat(server, timeout=0.5))
    assert server.count() == 1


def test_a_redirect_is_followed_by_the_client_and_both_requests_are_seen() -> None:
    with ProviderServer(ps.reply("there")) as other, ProviderServer() as server:
        server.script(ps.redirect(f"{other.openai_url}/chat/completions"))
        assert asyncio.run(chat(server)).choices[0].message.content == "there"
        assert (server.count(), other.count()) == (1, 1)


def test_a_list_ends_loudly() -> None:
    with ProviderServer([]) as server:
        with pytest.raises(openai.APIStatusError, match="no answer left"):
            asyncio.run(chat(server))
        assert server.exhausted == 1


def test_a_function_sees_the_request_and_its_error_reaches_the_test() -> None:
    with ProviderServer(lambda request: request.body["model"].upper()) as server:
        assert asyncio.run(chat(server)).choices[0].message.content == "GPT-X"
    server = ProviderServer(lambda request: request.body["nothing"])
    with pytest.raises(KeyError, match="nothing"), server, pytest.raises(openai.APIStatusError):
        asyncio.run(chat(server))


def test_requests_in_flight_and_connections_are_counted() -> None:
    async def run(server: ProviderServer) -> None:
        async with openai_client(server) as client:
            asked: Any = [{"role": "user", "content": "Judge."}]
            calls = [client.chat.completions.create(model="m", messages=asked) for _ in range(5)]
            await asyncio.gather(*calls)
            await client.chat.completions.create(model="m", messages=asked)

    with ProviderServer(ps.reply("late").once_in_flight(5)) as server:
        asyncio.run(run(server))
    assert (server.count(), server.peak_in_flight, server.connections) == (6, 5, 5)


def test_it_listens_on_the_loopback_address_only() -> None:
    with ProviderServer() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/v1/models")
        assert connection.getresponse().status == 200
        connection.close()
        assert server.requests[0].method == "GET"
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", server.port).connect()
