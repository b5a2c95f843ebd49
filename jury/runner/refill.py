"""The prompt of a recorded judgment again: the stored template filled in with the stored texts, checked by its digest.

A run folder keeps each prompt once and the digest of every request, not the texts that were sent: they are made again
here. Calls nobody. Where the folder kept less than the judge saw (tool calls of an output, instructions of the target),
the digest differs and `exact` is false. Sessions are kept as chats, so their templates stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from jury.data import DataPoint, Output, ResponsePair
from jury.errors import JuryError
from jury.formats import ReplyFormat
from jury.judge import Case
from jury.keys import KeyMaker
from jury.pairwise import WINNERS
from jury.providers.base import Settings
from jury.results import Judgment
from jury.rubrics.asking import RubricMethod
from jury.rubrics.rubric import Rubric
from jury.store import RunManifest, StoredItem, scale_from_dict
from jury.templates import Template


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


def asked_texts(manifest: RunManifest, item: StoredItem, judgment: Judgment, request: str = "") -> AskedTexts | None:
    """The texts of one judgment; None where no prompt is known (a judge function, a removed prompt).

    `request` is the digest that `StoredJudgment` holds.
    """
    seat = _seat(manifest, judgment.judge)
    if not seat.get("model"):  # a function
        return None
    digest = judgment.prompt or str(seat.get("prompt") or "")
    stored = cast("Mapping[str, Any] | None", manifest.prompts.get(digest))
    if stored is None:
        return None
    system, user = str(stored.get("system") or ""), str(stored.get("user") or "")
    about = (digest, str(stored.get("name") or ""), str(stored.get("version") or ""))
    try:
        case, how = _case(manifest, item, judgment, _wanted(system, user))
        filled = (Template(system).render(case.namespace), Template(user).render(case.namespace))
    except (JuryError, KeyError, StopIteration, TypeError, ValueError):  # another version's spec; sessions
        return AskedTexts(system, user, *about, filled=False)
    return AskedTexts(*filled, *about, exact=_request(seat, how, filled) == request)


def _seat(manifest: RunManifest, judge: str) -> Mapping[str, Any]:
    none: Mapping[str, Any] = {}
    return next((s for s in (*manifest.judges, *manifest.stand_ins) if s.get("id") == judge), none)


def _wanted(*templates: str) -> frozenset[str]:
    return frozenset(name for text in templates for name in Template(text).names)


def _case(
    manifest: RunManifest, item: StoredItem, judgment: Judgment, wanted: frozenset[str]
) -> tuple[Case, ReplyFormat]:
    """The item as the judge saw it, as far as the folder knows it, and how it was to answer."""
    variables = dict(cast("Mapping[str, Any]", manifest.spec.get("variables") or {}))
    if manifest.kind == "pairwise":
        a, b = Output(item.response_a), Output(item.response_b)
        pair = ResponsePair(item.question, a, b, item.reference, item.id, item.row, item.number)
        order = "ba" if judgment.order == "ba" else "ab"
        return Case.of_pair(pair, order, manifest.criteria, variables, wanted), ReplyFormat.of(WINNERS)
    point = DataPoint(
        input=[dict(m) for m in item.messages] or item.input,
        expected_output=item.expected_output,
        id=item.id,
        row=item.row,
        context=item.context,
        number=item.number,
    )
    how, names = _format(manifest, judgment)
    contexts = [c for c in (variables.get("context"), names.get("context"), point.context) if c]
    extra = {**variables, **names, **({"context": "\n\n".join(contexts)} if names and contexts else {})}
    return Case.of_output(point, Output(item.output), manifest.criteria, extra, wanted), how


def _format(manifest: RunManifest, judgment: Judgment) -> tuple[ReplyFormat, Mapping[str, Any]]:
    """How the judge was to answer, and the names that a rubric adds to its prompt. KeyError for sessions."""
    if manifest.kind == "pointwise":
        return ReplyFormat.of(scale_from_dict(manifest.scale)), {}
    spec = manifest.spec
    rubric = Rubric.from_dict(cast("Mapping[str, Any]", spec["rubric"]))
    ask, permute = str(spec.get("ask") or "together"), bool(spec.get("permute"))
    method = RubricMethod(rubric, ask, permute=permute, aggregator=spec.get("aggregator"))
    places = [str(s.get("id")) for s in (*manifest.judges, *manifest.stand_ins)]
    number = places.index(judgment.judge) * int(spec.get("repetitions") or 1) + judgment.repetition if permute else 0
    names, how = next((n, h) for n, h in method.rounds(number) if h.criterion == judgment.criterion)
    return how, names


def _request(seat: Mapping[str, Any], how: ReplyFormat, texts: tuple[str, str]) -> str:
    """The digest of what was sent, as `Seat.question` makes it."""
    provider, _, model = str(seat["model"]).partition("/")
    settings = Settings(**cast("dict[str, Any]", seat.get("settings") or {}))
    return KeyMaker(f"{provider.strip()}/{model.strip()}", how.schema, settings, how.na).request(*texts)
