"""Targets: one item in, one output out; what goes wrong is the target's error, and nothing gives the answer away."""

from __future__ import annotations

import asyncio
import json
import math

import pytest

from jury import ConfigError, DataPoint, ProviderError, Reply, ScriptedProvider, Usage
from jury.data import Output, Reasoning, TargetError, Text, ToolCall
from jury.providers import bodies
from jury.store.outputs import StoredOutput, output_from_dict, output_to_dict
from jury.targets import Target, TargetSpec
from tests.servers.answers import Answer, chat_reply
from tests.servers.provider_server import ProviderServer, chat_refusal, http_error, rate_limited

POINT = DataPoint(
    input=[{"role": "system", "content": "Be short."}, {"role": "user", "content": "2+2?"}],
    expected_output="4",
    system_instructions="You count.",
    id="a",
    row={"topic": "sums", "lang": "en"},
    context="Numbers.",
)


def made(target, point=POINT):
    async def once():
        return await target.ask(target.question(point))

    return asyncio.run(once())


def of(function):
    return Target(TargetSpec(function=function))


def test_a_function_gets_what_it_names():
    def answer(input, messages, system_instructions, context, row, data):
        assert data.expected_output is None  # the target does not see what it is compared with
        return f"{input[1]['content']} {messages[0]['role']} {system_instructions} {context} {row['topic']}"

    assert made(of(answer)).output.text == "2+2? system You count. Numbers. sums"
    assert made(of(lambda question: question.upper()), DataPoint("hi", id="a")).output.text == "HI"
    with pytest.raises(ConfigError, match="nothing to pass for parameter 'expected_output'"):
        of(lambda context, expected_output: "4")


def test_an_async_function_and_its_cost():
    async def answer(input):
        return "four", {"input_tokens": 10, "cost": 0.25}

    found = made(of(answer))
    assert (found.output.text, found.usage.cost, found.usage.input_tokens) == ("four", 0.25, 10)
    assert made(of(lambda x: ("a", "b"))).output.value == ["a", "b"]  # a pair that is no usage is an answer


@pytest.mark.parametrize("cost", [-1, math.nan, math.inf, "0.02", True])
def test_an_output_whose_cost_is_none_is_kept(cost, caplog):
    found = made(of(lambda x: ("four", {"cost": cost, "input_tokens": 10})))
    assert (found.output.text, found.output.target_error) == ("four", None)
    assert found.usage == Usage(1, 10, cost=None)
    found = made(of(lambda x: ("four", Usage(2, 10, -3, cost=cost))))
    assert (found.output.text, found.usage) == ("four", Usage(2, 10, None))
    assert f"reports cost {cost!r}, which is no amount" in caplog.text


def test_an_output_is_kept_whose_cost_cannot_even_be_written_out():
    found = made(of(lambda x: ("four", {"cost": 10**5000})))
    assert (found.output.text, found.output.target_error, found.usage) == ("four", None, Usage(1))


def ended(error):
    return TargetError(f"RuntimeError: the target raised {error}", "exception")


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: 1 / 0, TargetError("ZeroDivisionError: division by zero", "exception")),
        (lambda x: None, TargetError("the function returned nothing", "empty")),
        (
            lambda x: exec("raise SystemExit(3)"),
            TargetError("RuntimeError: the target raised SystemExit: 3", "exception"),
        ),
        (
            lambda x: exec("raise KeyboardInterrupt"),
            TargetError("RuntimeError: the target raised KeyboardInterrupt", "exception"),
        ),
        (lambda x: {"error": "down"}, TargetError("down")),
    ],
)
def test_what_goes_wrong_in_a_function_is_the_targets_error(function, error):
    assert made(of(function)).output.target_error == error


def test_a_function_that_hangs_ends():
    async def slow(x):
        await asyncio.Event().wait()

    spec = TargetSpec.of({"function": slow, "timeout": 0.01})
    assert made(Target(spec)).output.target_error == TargetError("no output within 0.01 s", "timeout")


def test_a_model_gets_instructions_and_messages():
    provider = ScriptedProvider([Reply("four", model="m-2", usage=Usage(1, 5, 1, cost=0.1))])
    found = made(Target(TargetSpec(model="scripted/m", provider=provider)))
    assert (found.output.text, found.output.model, found.usage.cost) == ("four", "m-2", 0.1)
    request = provider.requests[0]
    assert request.system == "You count.\n\nBe short."
    assert [(t.role, t.text) for t in request.turns] == [("user", "2+2?")]
    assert request.settings.temperature is None


def test_a_models_templates():
    provider = ScriptedProvider([Reply("four")])
    spec = TargetSpec(model="scripted/m", provider=provider, system="In {{row.lang}}.", prompt="Q: {{log.input}}")
    made(Target(spec))
    assert (provider.requests[0].system, provider.requests[0].prompt) == ("In en.", "Q: 2+2?")


@pytest.mark.parametrize("name", ["output.response", "input.expected_output", "log.reference", "criteria"])
def test_a_template_cannot_name_what_the_output_is_judged_by(name):
    with pytest.raises(ConfigError, match=name):
        Target(TargetSpec(model="openai/x", prompt=f"{{{{{name}}}}}"))


def test_a_failed_call_is_the_targets_error_and_what_it_cost_counts():
    failure = ProviderError("truncated", "cut", usage=Usage(1, 5, 9, cost=0.5))
    found = made(Target(TargetSpec(model="scripted/m", provider=ScriptedProvider([failure]))))
    assert found.output.target_error == TargetError("cut", "truncated")
    assert found.usage.cost == 0.5


def test_an_openai_compatible_address():
    with ProviderServer(chat_reply("four")) as server:
        target = Target(TargetSpec.of({"model": "bot", "url": server.openai_url, "name": "mine"}))
        found = made(target)
        sent = server.requests[0].body
    assert (found.output.text, found.usage.input_tokens) == ("four", 120)
    assert sent["model"] == "bot"
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]


@pytest.mark.parametrize("said", [None, "I look it up."])
def test_calls_of_tools_are_calls_and_no_text(said):
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"city": "Oslo"}'}}
    other = {"id": "c2", "type": "function", "function": {"name": "find", "arguments": '{"city": "Bergen"}'}}
    answer = chat_reply(said, finish_reason="tool_calls", message={"tool_calls": [call, other]})
    with ProviderServer(answer) as server:
        found = made(Target(TargetSpec.of({"model": "bot", "url": server.openai_url}))).output
    assert (found.text, found.target_error) == (said or "", None)
    assert [(c.name, c.arguments, c.id) for c in found.tool_calls] == [
        ("find", '{"city": "Oslo"}', "c1"),
        ("find", '{"city": "Bergen"}', "c2"),
    ]
    assert output_from_dict(json.loads(json.dumps(output_to_dict(found)))) == found


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("openai_responses", {"output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Wait."}]},
            {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"city": "Oslo"}'},
        ]}),
        ("anthropic_messages", {"content": [
            {"type": "text", "text": "Wait."},
            {"type": "tool_use", "id": "c1", "name": "find", "input": {"city": "Oslo"}},
        ]}),
    ],
)  # fmt: skip
def test_calls_of_tools_in_the_other_apis(api, body):
    one = ScriptedProvider([bodies.read_reply(api, 200, body)], name="any")
    found = made(Target(TargetSpec(model="any/m", provider=one))).output
    (call,) = found.tool_calls
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    assert (found.text, call.name, arguments) == ("Wait.", "find", {"city": "Oslo"})


def test_a_refusal_is_an_answer():
    with ProviderServer(chat_refusal("I will not.")) as server:
        found = made(Target(TargetSpec.of({"model": "bot", "url": server.openai_url})))
    assert (found.output.text, found.output.target_error) == ("I will not.", None)


def json_server(*bodies):
    answers = iter(bodies)

    def answer(request):
        body = next(answers)
        return body if isinstance(body, Answer) else Answer(json.dumps(body).encode())

    return ProviderServer(answer)


def url_of(server):
    return server.openai_url.removesuffix("/v1") + "/v1/chat/completions"


@pytest.mark.parametrize(
    ("reply", "path", "text"),
    [
        ("four", None, "four"),
        ({"output": "four", "took": 3}, None, "four"),
        ({"reply": [{"text": "four"}]}, "reply[0].text", "four"),
        ({"reply": {"n": 4}}, "reply.n", "4"),
    ],
)
def test_an_address_that_gives_json(reply, path, text):
    with json_server(reply) as server:
        found = made(Target(TargetSpec(url=url_of(server), output=path)))
        sent = server.requests[0].body
    assert found.output.text == text
    assert sent == {
        "input": "2+2?",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "2+2?"}],
        "system_instructions": "You count.",
        "context": "Numbers.",
    }


def test_an_own_body_and_what_it_cost(monkeypatch):
    monkeypatch.setenv("BOT_KEY", "secret-of-the-bot")
    body = {"q": "{{log.input}}", "lang": "{{row.lang}}", "history": "{{input.all_messages}}", "k": [1, "{{context}}"]}
    with json_server({"output": "four", "usage": {"prompt_tokens": 7, "cost": 0.02}}) as server:
        spec = TargetSpec.of({"url": url_of(server), "body": body, "key_env": "BOT_KEY"})
        found = made(Target(spec))
        request = server.requests[0]
    assert (found.usage.input_tokens, found.usage.cost) == (7, 0.02)
    assert request.body["q"] == "2+2?"
    assert request.body["history"][1] == {"role": "user", "content": "2+2?"}
    assert (request.body["lang"], request.body["k"]) == ("en", [1, "Numbers."])
    assert request.headers["authorization"] == "Bearer secret-of-the-bot"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"error": "no memory"}, "server_error"),
        ({"text": "four"}, "bad_body"),
        (Answer(b'{"output": "fou'), "bad_body"),  # cut: no text to be judged
        (Answer(b"four"), "bad_body"),
        (http_error(404), "not_found"),
        (Answer(b""), "empty"),
    ],
)
def test_an_address_that_fails(answer, kind):
    with json_server(*[answer] * 3) as server:
        found = made(Target(TargetSpec.of({"url": url_of(server), "output": "output", "retries": 0})))
    assert found.output.target_error is not None
    assert found.output.target_error.kind == kind


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("body", ['{"output": "vi\u00e9r"}', "vi\u00e9r"])
def test_what_an_address_says_is_read_right_or_not_at_all(encoding, body):
    with json_server(Answer(body.encode(encoding))) as server:
        found = made(Target(TargetSpec.of({"url": url_of(server), "retries": 0}))).output
    known = encoding.startswith("utf-8") or (encoding == "utf-16" and body.startswith("{"))
    assert (found.text, found.target_error and found.target_error.kind) == (
        ("viér", None) if known else ("", "bad_body")
    )


def test_an_address_that_is_busy_is_asked_again(monkeypatch):
    monkeypatch.setattr("jury.calls.BACKOFF_S", 0.01)
    with json_server(rate_limited(retry_after=0.01), {"output": "four"}) as server:
        found = made(Target(TargetSpec(url=url_of(server))))
    assert (found.output.text, found.retries) == ("four", 1)


def test_the_key_is_of_the_target_and_what_it_is_asked():
    def one(x):
        return "a"

    def two(x):
        return "b"

    other = DataPoint("3+3?", id="b")
    assert of(one).question(POINT).key == of(one).question(POINT).key
    assert len({of(f).question(p).key for f in (one, two) for p in (POINT, other)}) == 4
    models = [TargetSpec(model=m, system=s) for m in ("openai/a", "openai/b") for s in (None, "Be kind.")]
    assert len({Target(m).question(POINT).key for m in models}) == 4


def test_a_row_with_names_of_several_types_has_a_key_too():
    def answer(row):
        return str(row["marks"])

    target = of(answer)
    keys = {target.question(DataPoint("q", row={"marks": {1: "a", "b": mark}})).key for mark in "xyx"}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "give a function, a model, or a url"),
        ({"model": "openai/x", "function": len}, "give a function, a model, or a url"),
        ({"modle": "x"}, "did you mean model"),
        ({"model": "openai/x", "api_key": "sk"}, "key_env"),
        ({"url": "ftp://x"}, "http://"),
        ({"url": "http://u:p@x"}, "must not hold a password"),
        ({"url": "http://x", "prompt": "p"}, "prompt is for a model"),
        ({"model": "openai/x", "body": {}}, "body is for a url without a model"),
        ({"model": "openai/x", "timeout": 0}, "timeout must be"),
        ({"model": "openai/x", "max_tokens": 0}, "max_tokens must be"),
        ("app.py:answer", "pass the function itself"),
        (7, "must be a function, a model or a mapping"),
    ],
)
def test_wrong_targets_are_told_at_once(given, says):
    with pytest.raises(ConfigError, match=says):
        TargetSpec.of(given)


@pytest.mark.parametrize(
    "output",
    [
        Output("a text"),
        Output(error=TargetError("down", "timeout", 504)),
        Output("", value={"a": [1, None]}),
        Output("told apart", items=(Text("other"),)),
        Output(items=(Reasoning("hm"), ToolCall("f", {"x": 1}, "r", "c1", True), Text("done")), model="m"),
    ],
)
def test_a_stored_output_comes_back_equal(output):
    again = output_from_dict(json.loads(json.dumps(output_to_dict(output))))
    assert again == output
    stored = StoredOutput("k", "a", output, Usage(1, 2, 3, cost=0.5), at="t", source="same")
    assert StoredOutput.from_dict(json.loads(json.dumps(stored.to_dict()))) == stored
