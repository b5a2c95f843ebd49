"""The seam to the world: `Request` in, `Reply` out, `ProviderError` otherwise; and the registry of providers by name.

A provider sends one request, once: no retries, no deadline, no parsing of verdicts (`calls.py`, `judge.py` and
`parsing.py` do that). It says which rungs of the ladder it can climb: `schema` (the API enforces a JSON schema), `tool`
(a forced tool whose input is the reply), `json` (JSON mode, the schema in the text), `text`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

from jury.frozen import frozen
from jury.results import Reply, Rung

TIMEOUT_S = 90.0


@frozen
class Settings:
    """How a judge is called. Defaults and their reasons: docs/reference/defaults.md.

    `temperature` None leaves it to the provider. `timeout_s` is the deadline of one call (a local
    model has longer where nobody sets one). `retries`: how often a failed
    transport is tried again. `reask`: corrective re-asks after an unreadable reply. `extra` goes into the request body.
    """

    temperature: float | None = 0.0
    max_tokens: int = 4096
    timeout_s: float = TIMEOUT_S
    retries: int = 2
    reask: int = 1
    structured_output: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@frozen
class Turn:
    """One message of a request after the system text: `user` or `assistant`."""

    role: str
    text: str


@frozen
class Request:
    """All that shapes one reply. `turns` is the prompt; in a re-ask also the judge's own reply and what was wrong.

    `schema` is the full reply schema; a provider sends what its API can take of it. `rung` says how to ask for it.
    """

    model: str
    system: str
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any] | None = None
    rung: Rung = "schema"
    settings: Settings = Settings()
    judge: str = ""
    repetition: int = 0

    @property
    def prompt(self) -> str:
        """The first user message: the rendered prompt."""
        return self.turns[0].text if self.turns else ""


@runtime_checkable
class Provider(Protocol):
    """One method. `name` is what stands before the slash of a judge id.

    A second one, `rungs(model, settings)`, says which rungs it can climb, best first; without it its text is parsed.
    """

    @property
    def name(self) -> str: ...

    async def complete(self, request: Request) -> Reply:
        """One call. Raises `ProviderError`; never retries, never guesses."""
        ...


def rungs_of(provider: Provider, model: str, settings: Settings | None = None) -> tuple[Rung, ...]:
    """The rungs a provider can climb for a model with these settings, best first."""
    said: Callable[[str, Settings | None], tuple[Rung, ...]] | None = getattr(provider, "rungs", None)
    return ("text",) if said is None else said(model, settings)


@runtime_checkable
class Preparing(Protocol):
    """What a provider may do besides: look at the item first (`local` answers the question before it grades an answer).

    `judge.py` calls `prepare` once a judgment, before the ladder and outside any deadline, and asks what it returns.
    A provider whose attribute `keeps_deadline` is true applies `settings.timeout_s` itself, from a call's turn on.
    """

    async def prepare(self, request: Request, case: Any) -> Request:
        """The request to ask. `case` is the `judge.Case` of the item. Raises what `complete` raises."""
        ...
