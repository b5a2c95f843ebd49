"""Providers over real HTTP against the scripted server: every failure on both transports; keys, clients, loops."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jury import calls
from jury.errors import ConfigError, MissingExtra, ProviderError
from jury.providers import registry
from jury.providers.anthropic import AnthropicProvider
from jury.providers.base import Request, Settings, Turn
from jury.providers.openai import OpenAIProvider
from jury.results import Reply, Rung
from jury.scales import Boolean, reply_schema
from tests.servers import provider_server as server
from tests.servers.provider_server import Answer, ProviderServer, http_error, reply

VERDICT = {"explanation": "Right.", "abstain": False, "value": True}
SCHEMA = reply_schema(Boolean())
KEY = "key-0123456789-not-to-be-seen"
APIS = ("openai", "openai-responses", "anthropic")
STYLES = {"openai": "chat", "openai-responses": "responses", "anthropic": "messages"}


@pytest.fixture(params=["default", "aiohttp"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "aiohttp":
        pytest.importorskip("aiohttp")
    monkeypatch.setenv("JURY_TRANSPORT", request.param)
    return request.param


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    for name in ("JURY_CONFIG", "ANTHROPIC_AUTH_TOKEN", "OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    registry.reset()
    yield
    registry.reset()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server that the environment names as everyone's base URL."""
    servers: list[ProviderServer] = []

    def start(script: Any = None) -> ProviderServer:
        made = ProviderServer(reply(VERDICT) if script is None else script).__enter__()
        servers.append(made)
        monkeypatch.setenv("OPENAI_BASE_URL", made.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", made.anthropic_url)
        return made

    yield start
    for made in servers:
        made.__exit__(None, None, None)


def request(rung: Rung = "schema", model: str = "m", timeout_s: float = 60.0, **settings: Any) -> Request:
    return Request(
        model, "Be fair.", (Turn("user", "Judge."),), SCHEMA, rung, Settings(timeout_s=timeout_s, **settings)
    )


def complete(name: str, **given: Any) -> Reply:
    return asyncio.run(registry.provider(name).complete(request(**given)))


def failure(name: str, **given: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        complete(name, **given)
    return caught.value


def key_in(headers: dict[str, str]) -> str:
    """The key of a request; where it stands differs between versions of the SDK."""
    return headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ")


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("name", APIS)
def test_a_reply_comes_with_its_tokens_and_its_cost(serve: Any, name: str) -> None:
    made = serve(reply(VERDICT, usage=(1000, 100)))
    model = "claude-haiku-4-5" if name == "anthropic" else "gpt-5-mini"
    answer = complete(name, model=model)
    assert json.loads(answer.text) == VERDICT
    assert answer.model == model
    assert answer.usage is not None
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 1000, 100)
    # 1,000 x 1.00 + 100 x 5.00, and 1,000 x 0.25 + 100 x 2.00, in millionths of a dollar
    assert answer.usage.cost == pytest.approx(0.0015 if name == "anthropic" else 0.00045)
    [seen] = made.requests
    assert seen.style == STYLES[name]
    assert key_in(seen.headers) == KEY
    assert seen.headers["content-type"] == "application/json"


@pytest.mark.parametrize("name", APIS)
def test_a_model_without_a_price_has_tokens_and_no_cost(serve: Any, name: str) -> None:
    serve()
    usage = complete(name, model="unheard-of").usage
    assert usage is not None
    assert usage.input_tokens == 120
    assert usage.cost is None


@pytest.mark.parametrize("name", APIS)
def test_no_usage_in_the_body_is_unknown(serve: Any, name: str) -> None:
    serve(reply(VERDICT, usage=None))
    assert complete(name).usage is None


def test_a_forced_tool_is_read(serve: Any) -> None:
    serve(
        [
            server.chat_tool(VERDICT),
            server.messages_tool(VERDICT, text="Here."),
            server.messages_thinking_then_text(VERDICT),
        ]
    )
    assert complete("openai", rung="tool").data == VERDICT
    assert complete("anthropic", rung="tool").data == VERDICT
    assert json.loads(complete("anthropic").text) == VERDICT


def styled(**by_style: Callable[[], Answer]) -> Callable[[str], Answer]:
    return lambda name: by_style[STYLES[name]]()


def every(answer: Callable[[], Answer]) -> Callable[[str], Answer]:
    return lambda name: answer()


FAILURES: dict[str, tuple[Callable[[str], Answer], str, bool]] = {
    "refusal": (
        styled(chat=server.chat_refusal, responses=server.responses_refusal, messages=server.messages_refusal),
        "refused",
        False,
    ),
    "filter": (
        styled(
            chat=server.chat_content_filter,
            responses=server.responses_content_filter,
            messages=server.azure_content_filter,
        ),
        "content_filter",
        False,
    ),
    "filtered prompt": (every(server.azure_content_filter), "content_filter", False),
    "cut": (
        styled(chat=server.chat_length_cut, responses=server.responses_length_cut, messages=server.messages_length_cut),
        "truncated",
        False,
    ),
    "empty": (
        styled(chat=server.chat_empty, responses=server.responses_empty, messages=server.messages_empty),
        "empty",
        False,
    ),
    "too long": (every(server.context_too_long), "context_too_long", False),
    "400": (every(lambda: http_error(400)), "bad_request", False),
    "401": (every(lambda: http_error(401)), "auth", False),
    "403": (every(lambda: http_error(403)), "auth", False),
    "404": (every(lambda: http_error(404)), "not_found", False),
    "429": (every(server.rate_limited), "rate_limited", True),
    "no quota": (every(lambda: http_error(429, {"error": {"code": "insufficient_quota"}})), "rate_limited", False),
    "500": (every(lambda: http_error(500)), "server_error", True),
    "503 without a body": (every(lambda: Answer(b"", 503)), "overloaded", True),
    "529": (every(server.overloaded_529), "overloaded", True),
    "error inside a 200": (
        every(lambda: server.json_body({"type": "error", "error": {"type": "overloaded_error", "message": "Later."}})),
        "overloaded",
        True,
    ),
    "reset": (every(server.reset), "connection", True),
    "closed": (every(server.closed), "connection", True),
    "cut body": (every(server.cut_body), "connection", True),
    "no HTTP": (every(server.not_http), "connection", True),
    "silence": (every(lambda: server.hang(30)), "timeout", False),
    "garbage": (every(server.garbage), "bad_body", True),
    "no UTF-8": (every(lambda: server.garbage(b"\xff\xfe{}")), "bad_body", True),
    "HTML": (every(server.html_page), "bad_body", True),
    "HTML error": (every(lambda: server.html_page(502)), "server_error", True),
    "another shape": (every(lambda: server.json_body({"hello": "world"})), "bad_body", False),
    "redirect": (every(lambda: server.redirect("http://127.0.0.1:9/v1")), "not_found", False),
    "schema": (every(lambda: http_error(400, message="Invalid schema for response_format")), "schema_refused", False),
}


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("case", FAILURES)
def test_every_failure_has_its_kind(serve: Any, case: str, name: str) -> None:
    answer, kind, retry = FAILURES[case]
    made = serve(answer(name))
    error = failure(name, timeout_s=1.0 if case == "silence" else 60.0)
    assert (error.kind, error.retry) == (kind, retry)
    assert made.count() == 1  # the SDK's own retries are off
    assert KEY not in str(error)
    assert error.detail.strip()


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("name", APIS)
def test_nobody_listening_is_a_lost_connection(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    error = failure(name)
    assert (error.kind, error.retry) == ("connection", True)


@pytest.mark.parametrize("name", APIS)
def test_a_refused_or_cut_reply_carries_what_it_cost(serve: Any, name: str) -> None:
    serve(FAILURES["cut"][0](name))
    usage = failure(name, model="claude-haiku-4-5" if name == "anthropic" else "gpt-5-mini").usage
    assert (usage.input_tokens, usage.output_tokens) == (120, 30)
    assert usage.cost > 0


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("name", APIS)
def test_the_wait_that_a_provider_asks_for_is_kept(serve: Any, name: str) -> None:
    serve([server.rate_limited(7), http_error(503, headers={"retry-after-ms": "1500"})])
    assert failure(name).retry_after_s == 7.0
    assert failure(name).retry_after_s == 1.5


def test_calls_waits_as_asked_and_gets_through(serve: Any) -> None:
    made = serve([server.rate_limited(3), server.overloaded_529(), reply(VERDICT)])
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    answer = asyncio.run(calls.call(registry.provider("openai"), request(), sleep=sleep))
    assert answer.retries == 2
    assert slept[0] >= 3
    assert made.count() == 3


def test_calls_ends_a_silent_call_at_its_deadline(serve: Any) -> None:
    serve(server.hang(30))
    with pytest.raises(ProviderError) as caught:
        asyncio.run(calls.call(registry.provider("openai"), request(timeout_s=0.2)))
    assert caught.value.kind == "timeout"


def refusing(body: dict[str, Any]) -> Answer | None:
    """What a reasoning model refuses."""
    if "max_tokens" in body:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return http_error(400, message=said, param="max_tokens", code="unsupported_parameter")
    if "temperature" in body:
        said = "Unsupported value: 'temperature' does not support 0 with this model."
        return http_error(400, message=said, param="temperature", code="unsupported_value")
    return None


ADAPTED = ("temperature", "max_tokens as max_completion_tokens")


def test_refused_parameters_are_adapted_once_and_named_in_every_reply(serve: Any) -> None:
    made = serve(lambda seen: refusing(seen.body) or reply(VERDICT))
    provider = registry.provider("openai")

    async def three() -> list[Reply]:
        return [await provider.complete(request()) for _ in range(3)]

    answers = asyncio.run(three())
    assert [a.notes for a in answers] == [ADAPTED] * 3
    assert made.count() == 5  # two unpaid refusals, then three replies
    assert made.bodies[-1]["max_completion_tokens"] == 4096
    other = asyncio.run(provider.complete(request(model="other")))
    assert other.notes == ADAPTED
    assert made.count() == 8  # what one model refuses says nothing of another


def test_many_calls_at_once_may_meet_the_same_refusal(serve: Any) -> None:
    serve(lambda seen: refusing(seen.body) or reply(VERDICT))
    provider = registry.provider("openai")

    async def many() -> list[Reply]:
        return await asyncio.gather(*(provider.complete(request()) for _ in range(20)))

    assert {a.notes for a in asyncio.run(many())} == {ADAPTED}


def test_a_server_that_refuses_everything_is_not_asked_for_ever(serve: Any) -> None:
    def script(seen: Any) -> Answer:
        name = next(
            (n for n in ("max_tokens", "max_completion_tokens", "temperature", "seed", "top_p") if n in seen.body), ""
        )
        return http_error(400, message=f"'{name}' is not supported", param=name, code="unsupported_parameter")

    made = serve(script)
    assert failure("openai", extra={"seed": 1, "top_p": 1.0, "user": "u"}).kind == "bad_request"
    assert made.count() == 5


def test_a_refused_temperature_of_anthropic_is_adapted_too(serve: Any) -> None:
    def script(seen: Any) -> Any:
        if "temperature" in seen.body:
            return http_error(400, message="temperature: Extra inputs are not permitted")
        return reply(VERDICT)

    serve(script)
    assert complete("anthropic", extra={"temperature": 0}).notes == ("temperature",)


# Keys and headers


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_never_carries_the_key_away(serve: Any, name: str, status: int) -> None:
    with ProviderServer(reply(VERDICT)) as other:
        serve(server.redirect(other.url + "/v1/elsewhere", status))
        assert failure(name).kind == "not_found"
        assert other.count() == 0


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_an_own_client_is_not_redirected_either(serve: Any, name: str) -> None:
    import anthropic
    import openai

    with ProviderServer(reply(VERDICT)) as other:
        made = serve(server.redirect(other.url + "/v1/elsewhere"))

        async def call() -> None:
            if name == "openai":
                async with openai.AsyncOpenAI(base_url=made.openai_url, api_key=KEY) as client:
                    await OpenAIProvider(client=client).complete(request())
            else:
                async with anthropic.AsyncAnthropic(base_url=made.anthropic_url, api_key=KEY) as own:
                    await AnthropicProvider(client=own).complete(request())

        with pytest.raises(ProviderError, match="redirected"):
            asyncio.run(call())
        assert other.count() == 0


@pytest.mark.parametrize("api", ["chat", "anthropic"])
def test_no_secret_of_a_vendor_reaches_another_server(serve: Any, monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    made = serve()
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "admin-of-openai")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-anthropic")
    custom = "X-Gateway-Secret: hidden-header\nAuthorization: Bearer hidden-header"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", custom)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", custom)
    monkeypatch.setenv("JURY_PROVIDER_MINE_URL", made.openai_url if api == "chat" else made.anthropic_url)
    monkeypatch.setenv("JURY_PROVIDER_MINE_API", api)
    complete("mine")
    monkeypatch.setenv("JURY_PROVIDER_MINE_KEY", "key-for-mine")
    complete("mine")
    first, second = (json.dumps(r.headers) for r in made.requests)
    for text in (first, second):
        for secret in (KEY, "of-openai", "of-anthropic", "hidden-header"):
            assert secret not in text
    assert key_in(made.requests[1].headers) == "key-for-mine"


def test_the_vendors_own_settings_stay_with_the_vendor(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = serve()
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    complete("openai")
    assert made.requests[0].headers["openai-organization"] == "org-of-openai"


def test_a_token_serves_where_anthropics_key_is_missing(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = serve()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-anthropic")
    complete("anthropic")
    assert made.requests[0].headers["authorization"] == "Bearer token-of-anthropic"


@pytest.mark.parametrize(("name", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
def test_a_missing_key_is_told_before_anything_is_sent(
    serve: Any, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    made = serve()
    monkeypatch.delenv(variable)
    error = failure(name)
    assert (error.kind, error.retry) == ("auth", False)
    assert variable in error.detail
    assert made.count() == 0


@pytest.mark.parametrize("name", APIS)
def test_a_key_that_a_server_echoes_is_hidden(serve: Any, name: str) -> None:
    serve(http_error(401, message=f"Incorrect API key provided: {KEY}"))
    error = failure(name)
    assert KEY not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_a_price_that_is_none_is_told_before_anything_is_paid(serve: Any, tmp_path: Path) -> None:
    made = serve()
    (tmp_path / "jury.yaml").write_text("prices:\n  openai/m: {input: much, output: 1}\n")
    with pytest.raises(ConfigError, match="prices"):
        complete("openai")
    assert made.count() == 0


def test_json_packed_into_json_is_a_bad_body(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"choices": [{"message": {"content": "{}"}}], "usage": {"prompt_tokens": 1, "cost": 1}}
    made = serve(server.json_body(json.dumps(body)))
    monkeypatch.setenv("JURY_PROVIDER_OPENROUTER_URL", made.openai_url)
    assert failure("openrouter").kind == "bad_body"


@pytest.mark.parametrize("cost", [-1, 1e300, float("inf"), float("nan"), "0.1", True])
def test_a_cost_of_openrouter_that_is_none_is_unknown(serve: Any, monkeypatch: pytest.MonkeyPatch, cost: Any) -> None:
    body = {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": cost},
    }
    made = serve(server.json_body(body))
    monkeypatch.setenv("JURY_PROVIDER_OPENROUTER_URL", made.openai_url)
    usage = complete("openrouter").usage
    assert usage is not None
    assert usage.cost is None


def test_openrouters_own_cost_is_taken(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.00042},
    }
    made = serve(server.json_body(body))
    monkeypatch.setenv("JURY_PROVIDER_OPENROUTER_URL", made.openai_url)
    usage = complete("openrouter").usage
    assert usage is not None
    assert usage.cost == 0.00042


# Clients and loops


def test_without_aiohttp_the_default_transport_serves(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import openai

    def missing(**given: Any) -> Any:
        raise RuntimeError("the aiohttp extra is not installed")

    made = serve()
    monkeypatch.setattr(openai, "DefaultAioHttpClient", missing, raising=False)
    monkeypatch.delenv("JURY_TRANSPORT", raising=False)
    complete("openai")
    assert made.count() == 1
    monkeypatch.setenv("JURY_TRANSPORT", "aiohttp")
    with pytest.raises(MissingExtra, match=r"jury-llm\[aiohttp\]"):
        complete("openai")


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("name", APIS)
def test_one_client_and_its_connections_serve_a_whole_loop(serve: Any, name: str) -> None:
    made = serve()
    provider = registry.provider(name)

    async def rounds() -> None:
        for _ in range(3):
            await asyncio.gather(*(provider.complete(request()) for _ in range(8)))

    asyncio.run(rounds())
    assert made.count() == 24
    assert made.connections <= 8


@pytest.mark.slow
@pytest.mark.usefixtures("transport")
def test_256_calls_can_be_in_flight_and_keep_their_connections(serve: Any) -> None:
    made = serve(reply(VERDICT).once_in_flight(256))
    provider = registry.provider("openai")

    async def rounds() -> None:
        for _ in range(2):
            await asyncio.gather(*(provider.complete(request(timeout_s=120)) for _ in range(256)))
            made.script(reply(VERDICT))

    asyncio.run(rounds())
    assert made.peak_in_flight == 256  # no hidden ceiling
    assert made.connections <= 256


@pytest.mark.usefixtures("transport")
def test_each_loop_has_its_own_client_that_closes_with_it(serve: Any) -> None:
    serve()
    provider = registry.provider("openai")
    held = provider._clients._held  # type: ignore[attr-defined]

    async def one() -> Any:
        await provider.complete(request())
        [(client, _)] = held.values()
        return client._shares[0].client

    first = asyncio.run(one())
    assert held == {}
    assert first.is_closed()
    second = asyncio.run(one())
    assert second is not first


@pytest.mark.usefixtures("transport")
def test_two_loops_in_two_threads_do_not_share_a_client(serve: Any) -> None:
    serve()
    provider = registry.provider("openai")
    answers: list[Reply] = []
    threads = [
        threading.Thread(target=lambda: answers.append(asyncio.run(provider.complete(request())))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4


def test_a_client_can_be_closed_and_is_made_again(serve: Any) -> None:
    serve()
    provider: Any = registry.provider("openai")

    async def twice() -> None:
        await provider.complete(request())
        await provider.close()
        assert provider._clients._held == {}
        await provider.complete(request())
        await provider.close()
        await provider.close()

    asyncio.run(twice())


def test_clients_of_loops_in_other_threads_are_closed_at_exit(serve: Any) -> None:
    serve()
    provider: Any = registry.provider("openai")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(provider.complete(request()), loop).result(120)
    [(client, _)] = provider._clients._held.values()
    provider._clients.close_elsewhere()
    assert client._shares[0].client.is_closed()
    loop.call_soon_threadsafe(loop.stop)
    thread.join(120)
    loop.close()


def test_a_cancelled_call_leaves_the_client_usable(serve: Any) -> None:
    made = serve([server.hang(30), reply(VERDICT)])
    provider = registry.provider("openai")

    async def cancel_then_ask() -> Reply:
        task = asyncio.create_task(provider.complete(request()))
        while not made.count():  # noqa: ASYNC110 - the server runs in another thread
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await provider.complete(request())

    assert json.loads(asyncio.run(cancel_then_ask()).text) == VERDICT
