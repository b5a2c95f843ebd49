"""One question to one model: which way the reply is asked for, and what happens when it cannot be read.

The ladder: provider schema -> forced tool -> JSON mode with the schema in the text -> plain text read by the parser ->
one corrective re-ask that shows the judge its own reply and what was wrong. It moves on for a 400 that names the
schema (unpaid) and for a 200 of the wrong shape, and remembers per provider and model, for the life of the process,
what works. A reply of the right shape with a value that is none (out of range, unknown label) goes to the re-ask at
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from jury.calls import call
from jury.errors import CallError, ConfigError
from jury.kept import Kept
from jury.providers.base import Provider, Request, Turn, rungs_of
from jury.redaction import told
from jury.results import Failure, Reply, Rung, Usage, Verdict

# A reply whose form was wrong: asking in another way may help.
_SHAPE = frozenset({"empty", "no_json", "bad_json", "missing_field", "wrong_type"})
_UNTOLD = Usage()  # of an answer that a provider gave and did not count: it was paid for all the same
_NO_VERDICT = Verdict("error")  # until there is one
_MOVES = 1  # paid calls that may go into another rung, beside the first call and the re-asks: three in all by default


@dataclass(slots=True)
class _Known:
    """What is known of a model: the rung to start at, and whether that rung has given a readable reply before."""

    start: int = 0
    proven: bool = False


_memory: Kept[dict[str, _Known]] = Kept(dict)  # by provider, then by model


def forget() -> None:
    """Empty the memory (tests; or after a server was replaced under the same name)."""
    _memory.clear()


@dataclass(slots=True)
class Climb:
    """What came of one question: the verdict, and what it took to get it."""

    verdict: Verdict
    rung: Rung
    reply: Reply | None = None
    usage: Usage | None = None
    calls: int = 0
    retries: int = 0
    reasked: bool = False
    latency_s: float = 0.0
    notes: tuple[str, ...] = ()

    def _count(self, reply: Reply) -> None:
        self.reply = reply
        used = reply.usage
        if used is None and self.rung != "direct":
            used = _UNTOLD
        self.usage = used if self.usage is None else Usage.total((self.usage, used))
        self.retries += reply.retries
        self.latency_s += reply.latency_s
        if reply.notes:
            self.notes += tuple(n for n in reply.notes if n not in self.notes)


async def climb(provider: Provider, request: Request, read: Callable[[str | None, Any], Verdict]) -> Climb:
    """The verdict on a request, which `read(text, data)` finds in a reply.

    Every failure is in it: nothing but cancellation and configuration errors is raised.
    """
    settings = request.settings
    rungs = rungs_of(provider, request.model, settings)
    if not settings.structured_output:
        unstructured: tuple[Rung, ...] = tuple(r for r in rungs if r not in ("schema", "tool"))
        rungs = unstructured or rungs
    known = _known(provider, request.model) if len(rungs) > 1 else _Known()
    index = min(known.start, len(rungs) - 1)
    result = Climb(_NO_VERDICT, rungs[index])
    moves, reasks = _MOVES, 0 if rungs[index] == "direct" else settings.reask
    while True:
        result.rung = rungs[index]
        result.calls += 1
        try:
            reply = await call(provider, request if request.rung == result.rung else replace(request, rung=result.rung))
        except CallError as error:
            result.retries += error.context.get("attempts", 1) - 1
            result.calls -= error.kind == "budget"  # it was never sent
            result.usage = Usage.total((result.usage, error.usage))
            if error.kind == "schema_refused" and index + 1 < len(rungs):
                index += 1
                known.start, known.proven = max(known.start, index), False
                continue
            if error.kind == "empty" and not known.proven and moves and index + 1 < len(rungs):
                moves -= 1  # some servers answer a way of asking that they do not know with nothing
                index += 1
                continue
            result.verdict = Verdict("error", failure=Failure(error.kind, error.detail, error.status))
            return result
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - a provider's own fault: what was paid before it counts all the same
            result.verdict = Verdict("error", failure=Failure("exception", told(error)))
            return result
        result._count(reply)  # pyright: ignore[reportPrivateUsage] - same module
        verdict = result.verdict = read(reply.text, reply.data)
        if verdict.failure is None:
            known.start, known.proven = index, True
            return result
        if verdict.failure.kind in _SHAPE and not known.proven and moves and index + 1 < len(rungs):
            moves -= 1
            index += 1
        elif reasks:
            reasks -= 1
            result.reasked = True
            request = replace(request, turns=(*request.turns, *_correction(reply, verdict.failure)))
        else:
            return result


def _known(provider: Provider, model: str) -> _Known:
    try:
        models = _memory.of(provider)
    except TypeError:  # a provider that cannot be weakly referenced has no memory
        return _Known()
    known = models.get(model)
    if known is None:
        known = models[model] = _Known()
    return known


def _correction(reply: Reply, failure: Failure) -> tuple[Turn, Turn]:
    said = reply.text.strip() or ("(a tool call)" if reply.data is not None else "(an empty reply)")
    return Turn("assistant", said), Turn(
        "user",
        f"That reply cannot be used: {failure.detail}. Answer the same question again with one JSON object of the form "
        "asked for, and nothing before or after it.",
    )
