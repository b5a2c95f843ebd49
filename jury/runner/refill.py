"""The prompt of a recorded judgment again: the stored template filled in with the stored texts, checked by its digest.

A run folder keeps each prompt once and the digest of every request, not the texts that were sent: they are made again
here. Calls nobody. Where the folder kept less than the judge saw (tool calls of an output, instructions of the target),
the digest differs and `exact` is false. What prompts showed of sessions is kept by value (`store/shown.py`); folders of
older versions have none of it, and their templates stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from jury.data import DataPoint, Output, ResponsePair
from jury.errors import JuryError
from jury.formats import ReplyFormat
from jury.judge import Case, Prompt
from jury.keys import KeyMaker
from jury.pairwise import WINNERS
from jury.prompts import PromptSpec
from jury.providers.base import Settings
from jury.results import Judgment
from jury.rubrics.asking import RubricMethod
from jury.rubrics.rubric import Rubric
from jury.runner.replay_sessions import SessionReplay
from jury.sessions.criteria import LegacyPrompt
from jury.sessions.legacy import is_legacy
from jury.store import Run, StoredItem, scale_from_dict
from jury.store.shown import ShownFile
from jury.values import show


@dataclass(frozen=True, slots=True)
class AskedTexts:
    """What a judge was asked with. `exact`: byte for byte, by the digest. `filled` false: the bare template.

    `prompt`: its digest in `RunManifest.prompts`, with `name` and `version`.
    """

    system: str
    user: str
    prompt: str
    name: str = ""
    version: str = ""
    filled: bool = True
    exact: bool = False


class Refill:
    """The prompts of a run, each compiled once. Ask it item by item: an item's texts are filled in once too."""

    def __init__(self, run: Run) -> None:
        manifest = self._manifest = run.manifest
        self._sessions = SessionReplay(manifest, None) if manifest.kind == "session" else None
        self._shown = ShownFile(run.folder)
        self._seats = {str(s.get("id")): s for s in (*manifest.judges, *manifest.stand_ins)}
        self._prompts = {digest: _prompt(p, manifest.kind) for digest, p in manifest.prompts.items()}
        self._makers: dict[tuple[str, str | None, int], KeyMaker] = {}
        self._method: RubricMethod | None = None
        self._item: StoredItem | None = None
        self._filled: dict[tuple[str, str, str | None, int], tuple[str, str]] = {}

    def texts(self, item: StoredItem, judgment: Judgment, request: str = "") -> AskedTexts | None:
        """The texts of one judgment; None where no prompt is known (a judge function, a removed prompt).

        `request` is the digest that `StoredJudgment` holds.
        """
        seat = self._seats.get(judgment.judge, {})
        if not seat.get("model"):  # a function
            return None
        digest = judgment.prompt or str(seat.get("prompt") or "")
        prompt = self._prompts.get(digest)
        if prompt is None:
            return None
        spec = prompt.spec
        about = (digest, spec.name, spec.version)
        bare = AskedTexts(spec.system, spec.user, *about, filled=False)
        if self._sessions is not None:
            return self._of_session(item, judgment, request, prompt) or bare
        if item is not self._item:
            self._item, self._filled = item, {}
        try:
            number = self._number(judgment)
            key = (digest, judgment.order, judgment.criterion, number)
            if key not in self._filled:
                self._filled[key] = self._case(item, judgment, number, prompt).render(prompt)
            filled = self._filled[key]
            exact = bool(request) and self._maker(seat, judgment, number).request(*filled) == request
        except (JuryError, KeyError, StopIteration, TypeError, ValueError):  # another version's spec
            return bare
        return AskedTexts(*filled, *about, exact=exact)

    def _of_session(self, item: StoredItem, judgment: Judgment, request: str, prompt: Prompt) -> AskedTexts | None:
        """The texts whose digest is that of the request: of several parts of a long session, the right one."""
        about = (prompt.digest, prompt.spec.name, prompt.spec.version)
        last = None
        for names in self._shown.names(item.id, judgment.criterion or "", prompt.digest):
            try:
                filled = prompt.system.render(names), prompt.user.render(names)
                exact = self._maker(self._seats[judgment.judge], judgment, 0).request(*filled) == request
            except (JuryError, KeyError, TypeError, ValueError):  # another version's spec
                continue
            last = last or AskedTexts(*filled, *about)
            if exact:
                return replace(last, system=filled[0], user=filled[1], exact=True)
        return last

    def _number(self, judgment: Judgment) -> int:
        """Which order of the criteria was asked in, where a rubric permutes them."""
        spec = self._manifest.spec
        if self._manifest.kind != "rubric" or not spec.get("permute"):
            return 0
        place = list(self._seats).index(judgment.judge)
        return place * int(spec.get("repetitions") or 1) + judgment.repetition

    def _case(self, item: StoredItem, judgment: Judgment, number: int, prompt: Prompt) -> Case:
        """The item as the judge saw it, as far as the folder knows it."""
        manifest = self._manifest
        variables = dict(cast("Mapping[str, Any]", manifest.spec.get("variables") or {}))
        if manifest.kind == "pairwise":
            a, b = Output(item.response_a), Output(item.response_b)
            pair = ResponsePair(item.question, a, b, item.reference, item.id, item.row, item.number)
            order = "ba" if judgment.order == "ba" else "ab"
            return Case.of_pair(pair, order, manifest.criteria, variables, prompt.wanted)
        point = DataPoint(
            input=[dict(m) for m in item.messages] or item.input,
            expected_output=item.expected_output,
            id=item.id,
            row=item.row,
            context=item.context,
            number=item.number,
        )
        names = self._names(judgment, number)
        contexts = [c for c in (variables.get("context"), names.get("context"), point.context) if c]
        extra = {**variables, **names, **({"context": "\n\n".join(map(show, contexts))} if names and contexts else {})}
        return Case.of_output(point, Output(item.output), manifest.criteria, extra, prompt.wanted)

    def _names(self, judgment: Judgment, number: int) -> Mapping[str, Any]:
        """What a rubric adds to the names of its prompt."""
        if self._manifest.kind == "pointwise":
            return {}
        return next(n for n, how in self._rubric().rounds(number) if how.criterion == judgment.criterion)

    def _rubric(self) -> RubricMethod:
        if self._method is None:
            spec = self._manifest.spec
            rubric = Rubric.from_dict(cast("Mapping[str, Any]", spec["rubric"]))
            ask, permute = str(spec.get("ask") or "together"), bool(spec.get("permute"))
            self._method = RubricMethod(rubric, ask, permute=permute, aggregator=spec.get("aggregator"))
        return self._method

    def _maker(self, seat: Mapping[str, Any], judgment: Judgment, number: int) -> KeyMaker:
        """The digests of a seat, as `Seat.question` makes them."""
        key = (judgment.judge, judgment.criterion, number)
        if key not in self._makers:
            provider, _, model = str(seat["model"]).partition("/")
            settings = Settings(**cast("dict[str, Any]", seat.get("settings") or {}))
            how = self._format(judgment, number)
            self._makers[key] = KeyMaker(f"{provider.strip()}/{model.strip()}", how.schema, settings, how.na)
        return self._makers[key]

    def _format(self, judgment: Judgment, number: int) -> ReplyFormat:
        """How the judge was to answer."""
        if self._manifest.kind == "rubric":
            return next(how for _, how in self._rubric().rounds(number) if how.criterion == judgment.criterion)
        if self._sessions is not None:
            how = self._sessions.format(judgment.criterion)
            if how is None:
                raise KeyError(judgment.criterion)
            return how
        scale = WINNERS if self._manifest.kind == "pairwise" else scale_from_dict(self._manifest.scale)
        return ReplyFormat.of(scale, self._seats[judgment.judge].get("fields"))


def _prompt(stored: Any, kind: str) -> Prompt:
    spec = PromptSpec.of_kept(cast("Mapping[str, Any]", stored))
    return LegacyPrompt(spec) if kind == "session" and is_legacy(spec.user) else Prompt(spec)
