"""The engine around the runtime: order, room, cancelling, errors. The runtime here is a fake module."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jury.errors import ConfigError, MissingExtra, ProviderError
from jury.providers import local_engine
from jury.providers.local_engine import Engine, Queue, Room, alike, read_chunks, tokens_at_most

WAIT_S = 120.0


def chunk(content: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": content} if content else {}, "finish_reason": finish, **more}]}


def streamed(*words: str) -> list[dict[str, Any]]:
    usage = {"prompt_tokens": 9, "completion_tokens": len(words), "prompt_tokens_details": {"cached_tokens": 4}}
    return [*(chunk(w) for w in words), chunk(finish="stop"), {"choices": [], "usage": usage}]


def body(text: str, max_tokens: int = 10) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": max_tokens}


class Server:
    """Plays the runtime: `script(body)` gives the chunks; the callback may end it."""

    def __init__(self, params: Any, script: Any) -> None:
        self.params = params
        self.script = script
        self.bodies: list[dict[str, Any]] = []

    def handle_chat_completions(self, body: dict[str, Any], callback: Any) -> None:
        self.bodies.append(body)
        for piece in self.script(body):
            if callback(piece):
                return


@pytest.fixture
def start(monkeypatch):
    """Starts an engine over a script; closed after the test."""
    engines: list[Engine] = []

    def make(script: Any) -> tuple[Engine, Server]:
        servers: list[Server] = []

        def serve(params: Any) -> Server:
            servers.append(Server(params, script))
            return servers[-1]

        def params() -> Any:
            parts = {n: SimpleNamespace() for n in ("model", "cpuparams", "cpuparams_batch")}
            return SimpleNamespace(**parts)

        runtime = SimpleNamespace(CommonParams=params, Server=serve)
        monkeypatch.setattr(local_engine, "_runtime", lambda: runtime)
        engines.append(Engine(Path("m.gguf"), 2))
        return engines[-1], servers[0]

    yield make
    for engine in engines:
        engine.close(WAIT_S)


def ask(engine: Engine, text: str = "q", stop: threading.Event | None = None, started: Any = lambda: None) -> Any:
    return engine.submit(body(text), started, stop or threading.Event())


def test_an_answer_is_put_together(start):
    engine, server = start(lambda _: streamed("Pa", "ris"))
    done = ask(engine).result(WAIT_S)
    assert (done.text, done.finish) == ("Paris", "stop")
    assert (done.input_tokens, done.output_tokens, done.cached_tokens) == (9, 2, 4)
    assert server.bodies[0]["stream"] is True


def test_the_port_is_on_loopback_behind_a_key(start):
    _, server = start(lambda _: [])
    params = server.params
    assert params.hostnames == ["127.0.0.1"]
    assert len(params.api_keys) == 1
    assert len(params.api_keys[0]) >= 32
    assert params.cpuparams.n_threads == params.cpuparams_batch.n_threads == 2
    assert params.verbosity == 0


def test_a_stop_ends_the_call_at_the_next_token(start):
    stop = threading.Event()
    written: list[int] = []

    def script(_):
        for i in range(100):
            written.append(i)
            if i == 3:
                stop.set()
            yield chunk("x")

    engine, _ = start(script)
    with pytest.raises(ProviderError, match="interrupted"):
        ask(engine, stop=stop).result(WAIT_S)
    assert written == [0, 1, 2, 3]


def test_what_nobody_waits_for_is_not_asked(start):
    engine, server = start(lambda _: streamed("x"))
    stop = threading.Event()
    stop.set()
    job = ask(engine, "gone", stop=stop)
    ask(engine, "here").result(WAIT_S)
    with pytest.raises(CancelledError):
        job.result(WAIT_S)
    assert [b["messages"][0]["content"] for b in server.bodies] == ["here"]


def test_closing_ends_what_runs_and_drops_what_waits(start):
    running, go_on = threading.Event(), threading.Event()

    def script(_):
        running.set()
        while True:
            go_on.wait(0.01)
            yield chunk("x")

    engine, _ = start(script)
    jobs = [ask(engine, f"{i}" * 9) for i in range(len(engine._workers) + 2)]
    assert running.wait(WAIT_S)
    engine.close(WAIT_S)
    assert not any(w.is_alive() for w in engine._workers)
    assert all(j.done() for j in jobs)
    assert all(j.cancelled() for j in jobs[len(engine._workers) :])


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (
            {"code": 400, "message": "request (9030 tokens) ...", "type": "exceed_context_size_error"},
            "context_too_long",
        ),
        ({"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}, "context_too_long"),
        ({"code": 400, "message": "no", "type": "invalid_request_error"}, "bad_request"),
        ({"code": 500, "message": "no"}, "server_error"),
        ("odd", "server_error"),
    ],
)
def test_errors_of_the_runtime_have_kinds(start, error, kind):
    engine, _ = start(lambda _: [{"error": error}])
    with pytest.raises(ProviderError) as caught:
        ask(engine).result(WAIT_S)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("said", "kind"), [("JSON schema error at #: unrecognized type", "schema_refused"), ("no messages", "bad_request")]
)
def test_a_body_that_the_runtime_refuses(start, said, kind):
    def script(_):
        raise ValueError(said)

    engine, _ = start(script)
    with pytest.raises(ProviderError, match=said) as caught:
        ask(engine).result(WAIT_S)
    assert caught.value.kind == kind


def test_the_first_tokens_come_with_their_odds():
    top = [{"token": "true", "logprob": -0.1}, {"token": "false", "logprob": -2.5}]
    first = chunk("true", logprobs={"content": [{"token": "true", "top_logprobs": top}]})
    other = chunk("!", logprobs={"content": [{"token": "!", "top_logprobs": []}]})
    done = read_chunks([chunk(), first, other, chunk(finish="length")])
    assert done.first == (("true", -0.1), ("false", -2.5))
    assert done.finish == "length"


def test_a_long_call_leaves_no_room_for_others():
    room = Room(100)
    inside, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def hold():
        with room.taken(70):
            inside.set()
            leave.wait(WAIT_S)
            order.append("long")

    def later():
        with room.taken(40):
            order.append("short")

    threads = [threading.Thread(target=hold), threading.Thread(target=later)]
    threads[0].start()
    assert inside.wait(WAIT_S)
    with pytest.raises(AssertionError), room.taken(30):
        raise AssertionError("an error gives the room back")
    threads[1].start()
    leave.set()
    for t in threads:
        t.join(WAIT_S)
    assert order == ["long", "short"]
    with room.taken(1000):  # more than there is: it waits until it is alone
        pass


def job(text: str) -> Any:
    return local_engine._Job({}, Future(), lambda: None, threading.Event(), text)


def test_prompts_that_begin_alike_are_for_one_slot_and_go_first_there():
    queue = Queue(2)
    first, other, twin = job("a" * 90 + "1" * 10), job("b" * 100), job("a" * 90 + "2" * 10)
    last, late = job("c" * 100), job("b" * 90 + "3" * 10)
    for j in (first, twin, other, last, late):
        queue.put(j)
    assert queue.take(0) is first
    assert queue.take(1) is other  # the twin is for slot 0
    assert queue.take(0) is twin
    assert queue.take(0) is last
    assert queue.take(1) is late


def test_what_a_slot_no_longer_holds_is_for_any_slot():
    queue = Queue(2)
    first, twin = job("a" * 90 + "1" * 10), job("a" * 90 + "2" * 10)
    queue.put(first)
    assert queue.take(0) is first
    queue.put(job("b" * 100))
    queue.take(0)
    queue.put(twin)
    assert queue.take(1) is twin


def test_each_slot_of_the_runtime_has_a_worker(start):
    engine, server = start(lambda _: streamed("x"))
    ask(engine, "a" * 10).result(WAIT_S)
    ask(engine, "a" * 10).result(WAIT_S)
    assert server.bodies[0]["id_slot"] == server.bodies[1]["id_slot"]
    assert server.bodies[0]["id_slot"] in range(server.params.n_parallel)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("a" * 10, "a" * 10, True), ("a" * 5 + "v" * 5, "a" * 5 + "w" * 5, True), ("a" * 4 + "v" * 6, "a" * 10, False)],
)
def test_alike_is_the_same_first_half(one, other, expected):
    assert alike(one, other) is alike(other, one) is expected


def test_a_short_prompt_is_not_like_a_long_one():
    assert not alike("a" * 10, "a" * 100)


def test_tokens_are_guessed_from_above():
    assert tokens_at_most(body("word " * 100, 50)) == 300


def test_a_file_that_the_runtime_cannot_load(monkeypatch):
    def refuse(params):
        raise RuntimeError("Failed to init server")

    parts = {n: SimpleNamespace() for n in ("model", "cpuparams", "cpuparams_batch")}
    runtime = SimpleNamespace(CommonParams=lambda: SimpleNamespace(**parts), Server=refuse)
    monkeypatch.setattr(local_engine, "_runtime", lambda: runtime)
    with pytest.raises(ConfigError, match=r"cannot load bad\.gguf: Failed to init"):
        Engine(Path("bad.gguf"), 1)


@pytest.mark.parametrize(
    ("raised", "expected", "said"),
    [
        (ModuleNotFoundError("No module named 'xllamacpp'", name="xllamacpp"), MissingExtra, "pip install"),
        (ImportError("GLIBC_2.34 not found"), ConfigError, "GLIBC_2.34 not found"),
        (ModuleNotFoundError("No module named 'json2'", name="json2"), ModuleNotFoundError, "json2"),
    ],
)
def test_a_runtime_that_cannot_be_imported(monkeypatch, raised, expected, said):
    def fail(name):
        raise raised

    monkeypatch.setattr(local_engine, "import_module", fail)
    with pytest.raises(expected, match=said):
        local_engine._runtime()


@pytest.mark.parametrize("given", [None, "7"])
def test_the_environment_is_left_as_it_was(monkeypatch, given):
    name = "GOMP_SPINCOUNT"
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given:
        monkeypatch.setenv(name, given)
    else:
        monkeypatch.delenv(name, raising=False)
    seen: list[str | None] = []
    monkeypatch.setattr(local_engine, "import_module", lambda _: seen.append(os.environ.get(name)))
    local_engine._runtime()
    assert seen == [given or "2000"]
    assert os.environ.get(name) == given


def test_a_closed_engine_may_be_closed_again_and_asks_nothing(start):
    engine, _ = start(lambda _: streamed("x"))
    engine.close(WAIT_S)
    engine.close(WAIT_S)
    assert ask(engine).cancelled()
