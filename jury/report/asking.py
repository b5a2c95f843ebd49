"""The prompts of an item as judges got them, filled in again from what the run kept, and checked against its digests.

A run keeps templates and texts, and of each request its digest. Where the filled-in prompt has that digest it is exact;
where it has not (an item with tool calls, a session, a template with names of its own), it says so.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from jury.data import DataPoint, ResponsePair
from jury.errors import ConfigError, DataError, JuryError
from jury.formats import ReplyFormat
from jury.judge import Case, Prompt
from jury.keys import KeyMaker
from jury.messages import to_output
from jury.pairwise import WINNERS
from jury.prompts import PromptSpec
from jury.providers.base import Settings
from jury.report.log import Log
from jury.report.parts import Asked
from jury.results import Comparison, Judgment, PanelResult
from jury.rubrics.asking import RubricMethod
from jury.rubrics.rubric import Rubric
from jury.store import Run, StoredItem

_NO_NAMES: Mapping[str, Any] = {}


class Prompts:
    """The prompts of a run, compiled once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._prompts = {digest: _prompt(kept) for digest, kept in run.manifest.prompts.items()}
        self._seats = {str(j.get("id")): j for j in (*run.manifest.judges, *run.manifest.stand_ins)}
        self._makers: dict[tuple[str, str | None], KeyMaker | None] = {}
        spec = run.manifest.spec
        self._variables = cast("Mapping[str, Any]", spec.get("variables") or {})
        self._method = _method(spec) if run.kind == "rubric" else None

    def asked(self, item: StoredItem, result: PanelResult | Comparison, log: Log) -> Iterator[Asked]:
        """Each prompt once, with the judges that got it. Judge functions have none."""
        groups: dict[tuple[str, str, str | None], list[Judgment]] = {}
        for vote in result.votes:
            for judgment in vote.judgments:
                if judgment.prompt:
                    key = (judgment.prompt, judgment.order, judgment.criterion)
                    groups.setdefault(key, []).append(judgment)
        for (digest, order, criterion), judgments in groups.items():
            judges = tuple(dict.fromkeys(j.judge for j in judgments))
            prompt = self._prompts.get(digest)
            if prompt is None:
                continue
            texts = self._filled(item, prompt, order, criterion)
            if texts is None:
                kept = prompt.spec
                yield Asked(digest, judges, order, criterion, kept.system, kept.user, filled=False)
                continue
            exact = all(self._same(j, texts, log.entry(item.id, j).request) for j in judgments)
            yield Asked(digest, judges, order, criterion, *texts, exact=exact)

    def _filled(self, item: StoredItem, prompt: Prompt, order: str, criterion: str | None) -> tuple[str, str] | None:
        """The system and the user text; None where the run does not keep what they need."""
        if self._run.kind == "session":
            return None
        try:
            with _silent():
                return self._case(item, prompt, order, criterion).render(prompt)
        except JuryError:  # a text that is no data for this prompt: the template is shown
            return None

    def _case(self, item: StoredItem, prompt: Prompt, order: str, criterion: str | None) -> Case:
        told = self._run.manifest.criteria
        if self._run.kind == "pairwise":
            pair = ResponsePair(
                item.question, to_output(item.response_a), to_output(item.response_b), item.reference, row=item.row
            )
            return Case.of_pair(pair, "ba" if order == "ba" else "ab", told, self._variables, prompt.wanted)
        point = DataPoint(
            input=[dict(m) for m in item.messages] if item.messages else item.input,
            expected_output=item.expected_output,
            context=item.context,
            row=item.row,
            id=item.id,
        )
        extra = {**self._variables, **self._names(criterion, item.context)}
        return Case.of_output(point, to_output(item.output), told, extra, prompt.wanted)

    def _names(self, criterion: str | None, context: str | None) -> dict[str, Any]:
        """What a rubric adds to the names of a prompt."""
        if self._method is None:
            return {}
        names = next((n for n, how in self._method.rounds(0) if how.criterion == criterion), _NO_NAMES)
        contexts = [text for text in (names.get("context"), context) if text]
        return {**names, **({"context": "\n\n".join(contexts)} if contexts else {})}

    def _same(self, judgment: Judgment, texts: tuple[str, str], request: str) -> bool:
        key = (judgment.judge, judgment.criterion)
        if key not in self._makers:
            self._makers[key] = self._maker(*key)
        maker = self._makers[key]
        return bool(request) and maker is not None and maker.request(*texts) == request

    def _maker(self, judge: str, criterion: str | None) -> KeyMaker | None:
        """The digests of a seat, as they were made when it was asked."""
        seat = self._seats.get(judge)
        if seat is None or not seat.get("model"):
            return None
        try:
            how = self._format(criterion)
            settings = Settings(**cast("Mapping[str, Any]", seat.get("settings") or {}))
        except (ConfigError, DataError, TypeError):
            return None
        return KeyMaker(str(seat["model"]), how.schema, settings, how.na)

    def _format(self, criterion: str | None) -> ReplyFormat:
        if self._method is not None:
            return self._method.format(0, criterion)
        return ReplyFormat.of(WINNERS if self._run.kind == "pairwise" else self._run.scale)


def _prompt(kept: Any) -> Prompt:
    given = cast("Mapping[str, Any]", kept)
    name, user, system, version = (str(given.get(n) or "") for n in ("name", "user", "system", "version"))
    return Prompt(PromptSpec(name, user, system, version))


def _method(spec: Mapping[str, Any]) -> RubricMethod | None:
    try:
        rubric = Rubric.from_dict(cast("Mapping[str, Any]", spec.get("rubric") or {}))
        return RubricMethod(rubric, spec.get("ask", "together"), permute=bool(spec.get("permute")))
    except ConfigError:
        return None


@contextmanager
def _silent() -> Generator[None]:
    """What a template misses was told when it was asked; to fill it in again is no news."""
    logger = logging.getLogger("jury.templates")
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was
