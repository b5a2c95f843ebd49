"""One loaded model: questions in, texts out, several at a time. Knows no judge and no verdict.

The runtime computes in its own threads and is called directly, without HTTP. It opens a port all the same: on loopback,
with a random key that nobody is told. Calls run in a few threads, so that the event loop is never held up, and answers
are generated together. Reading is what takes the time, so prompts that begin alike are asked one after the other: the
second has only its own end to be read.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, MissingExtra, ProviderError
from jury.providers.local_model import INSTALL

CONTEXT = 8192  # tokens of all calls in flight together, and so of one call
SLOTS = 4  # calls in flight, at most: each reads what all prompts begin with for itself
_BYTES_PER_TOKEN = 2  # at least, for nearly all texts; the true number is known only to the runtime
# Threads of a team wait for each other by spinning, by default for so long that a busy machine does little else.
_SPIN = ("GOMP_SPINCOUNT", "2000")
_NONE: dict[str, Any] = {}
_ALIKE = 0.5  # of the longer prompt


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote. `finish` is `stop` or `length`; `first` the likeliest first tokens with their log odds."""

    text: str
    finish: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    first: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    body: Mapping[str, Any]
    future: Future[Completion]
    started: Callable[[], None]
    stop: threading.Event
    text: str  # all messages


class Engine:
    """Loads a GGUF file (seconds; call it in a thread). Raises `MissingExtra` or `ConfigError`."""

    def __init__(self, path: Path, threads: int) -> None:
        slots = min(SLOTS, max(2, threads))  # two processors gain nothing by more
        self._server = _load(path, threads, slots)
        self._queue = Queue(slots)
        self._room = Room(CONTEXT)
        self._closing = threading.Event()
        self._workers = [
            threading.Thread(target=self._work, args=(slot,), name=f"jury-local-{slot}", daemon=True)
            for slot in range(slots)
        ]
        for worker in self._workers:
            worker.start()
        atexit.register(self.close)  # the runtime must not be in a call when the process tears it down

    def submit(self, body: Mapping[str, Any], started: Callable[[], None], stop: threading.Event) -> Future[Completion]:
        """Queues one question (the body of a chat completion). `started` is called in a worker when its turn comes;
        setting `stop` ends it at the next token. The future may hold a `ProviderError`.
        """
        text = "\0".join(m["content"] for m in body["messages"])
        job = _Job(body, Future(), started, stop, text)
        self._queue.put(job)
        return job.future

    def close(self, patience_s: float = 10.0) -> None:
        """Ends what runs, drops what waits."""
        atexit.unregister(self.close)
        self._closing.set()
        self._queue.close()
        for worker in self._workers:
            worker.join(patience_s)

    def _work(self, slot: int) -> None:
        while (job := self._queue.take(slot)) is not None:
            self._do(job, slot)

    def _do(self, job: _Job, slot: int) -> None:
        if job.stop.is_set() or not job.future.set_running_or_notify_cancel():
            job.future.cancel()
            return
        try:
            with self._room.taken(tokens_at_most(job.body)):
                job.started()
                job.future.set_result(self._answer(job, slot))
        except BaseException as error:  # noqa: BLE001 - a future carries whatever was raised to who waits for it
            job.future.set_exception(error)

    def _answer(self, job: _Job, slot: int) -> Completion:
        chunks: list[dict[str, Any]] = []

        def take(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            return job.stop.is_set() or self._closing.is_set()

        body = {**job.body, "id_slot": slot, "stream": True, "stream_options": {"include_usage": True}}
        try:
            self._server.handle_chat_completions(body, take)
        except ValueError as error:  # what the runtime says of a body it cannot use
            kind = "schema_refused" if "schema" in str(error).casefold() else "bad_request"
            raise ProviderError(kind, f"the local runtime: {error}") from None
        return read_chunks(chunks)


class Queue:
    """Jobs in the order they came, but for one rule: a job that begins like what a slot reads, or read last, is for
    that slot, and goes first there. What was read for it is still held, and nobody reads it twice.
    """

    def __init__(self, slots: int) -> None:
        self._waiting: list[_Job] = []
        self._read: list[str | None] = [None] * slots
        self._changed = threading.Condition()
        self._closed = False

    def put(self, job: _Job) -> None:
        with self._changed:
            if self._closed:
                job.future.cancel()
                return
            self._waiting.append(job)
            self._changed.notify_all()

    def take(self, slot: int) -> _Job | None:
        """The next job for a slot, when there is one; None once the queue is closed."""
        with self._changed:
            while not self._closed:
                job = self._for(slot)
                if job is not None:
                    self._waiting.remove(job)
                    self._read[slot] = job.text
                    self._changed.notify_all()  # what begins like the text read before is for any slot now
                    return job
                self._changed.wait()
            return None

    def _for(self, slot: int) -> _Job | None:
        own = self._read[slot]
        if own is not None and (job := next((j for j in self._waiting if alike(j.text, own)), None)):
            return job
        held = [text for text in self._read if text is not None]
        return next((j for j in self._waiting if not any(alike(j.text, text) for text in held)), None)

    def close(self) -> None:
        """Drops what waits; nobody gets a job any more."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.future.cancel()
            self._waiting.clear()
            self._changed.notify_all()


def alike(one: str, other: str) -> bool:
    """Whether two prompts begin with the same half."""
    n = int(_ALIKE * max(len(one), len(other)))
    return one[:n] == other[:n]


class Room:
    """A number of tokens that calls share. Who asks first is served first: a long one is not passed by forever."""

    def __init__(self, tokens: int) -> None:
        self._size = self._free = tokens
        self._changed = threading.Condition()
        self._turn = threading.Lock()

    @contextmanager
    def taken(self, tokens: int) -> Generator[None]:
        """Waits for that many free tokens and holds them. Too many for the whole room: waits until it is alone."""
        tokens = min(tokens, self._size)
        with self._turn, self._changed:
            self._changed.wait_for(lambda: self._free >= tokens)
            self._free -= tokens
        try:
            yield
        finally:
            with self._changed:
                self._free += tokens
                self._changed.notify_all()


def tokens_at_most(body: Mapping[str, Any]) -> int:
    """An upper guess of the tokens that a call needs: its texts, and as much as it may write."""
    size = sum(len(m["content"].encode("utf-8", "replace")) for m in body["messages"])
    return size // _BYTES_PER_TOKEN + int(body.get("max_tokens", 0))


def read_chunks(chunks: list[Any]) -> Completion:
    """The pieces of a streamed chat completion as one. Raises `ProviderError` for an error among them, or for none."""
    text: list[str] = []
    finish, first = "", tuple[tuple[str, float], ...]()
    usage: Any = {}
    for chunk in chunks:
        if "error" in chunk:
            raise _failed(chunk["error"])
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():
            text.append(choice["delta"].get("content") or "")
            finish = choice.get("finish_reason") or finish
            tokens: Any = (choice.get("logprobs") or _NONE).get("content") or ()
            if tokens and not first:
                first = tuple((t["token"], float(t["logprob"])) for t in tokens[0].get("top_logprobs") or ())
    if not finish:
        raise ProviderError("server_error", "the local model was interrupted")
    details: Any = usage.get("prompt_tokens_details") or {}
    return Completion(
        text="".join(text),
        finish=finish,
        input_tokens=int(usage.get("prompt_tokens", 0)),
        output_tokens=int(usage.get("completion_tokens", 0)),
        cached_tokens=int(details.get("cached_tokens", 0)),
        first=first,
    )


def _failed(error: Any) -> ProviderError:
    said = cast("dict[str, Any]", error) if isinstance(error, dict) else _NONE
    message = str(said.get("message", "unknown error"))
    if said.get("type") == "exceed_context_size_error" or "context size" in message.casefold():
        return ProviderError("context_too_long", f"the local model reads {CONTEXT} tokens: {message}")
    kind = "bad_request" if said.get("code") == 400 else "server_error"
    return ProviderError(kind, f"the local runtime: {message}")


def _load(path: Path, threads: int, slots: int) -> Any:
    runtime = _runtime()
    params = runtime.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT
    params.n_parallel = slots
    params.kv_unified = True  # one call may use the whole context, where the others leave room
    params.cache_ram_mib = 0  # by default the runtime keeps old prompts in up to 8 GB of memory
    params.n_gpu_layers = 0
    params.warmup = False
    params.verbosity = 0
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [secrets.token_urlsafe(32)]
    params.cors_origins = "http://127.0.0.1"
    params.n_threads_http = 1
    params.ui = False
    params.endpoint_slots = False
    try:
        return runtime.Server(params)
    except RuntimeError as error:
        raise ConfigError(f"the local runtime cannot load {path}: {error}") from None


def _runtime() -> Any:
    """The runtime's module. Its thread library reads the environment once, when it is loaded."""
    name, value = _SPIN
    given = {n: os.environ.get(n) for n in (name, "OMP_WAIT_POLICY")}
    if not any(given.values()):
        os.environ[name] = value
    try:
        runtime = import_module("xllamacpp")
    except ModuleNotFoundError as error:
        if error.name != "xllamacpp":
            raise
        raise MissingExtra(f"the local model's runtime is not installed: {INSTALL}") from None
    except ImportError as error:
        raise ConfigError(f"the local model's runtime does not load on this system: {error}") from None
    finally:
        if not any(given.values()):
            os.environ.pop(name, None)
    return runtime
