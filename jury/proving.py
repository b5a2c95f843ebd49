"""Prompts put to the test: what is wrong with the text of one, and how its panel does on the prompt's own examples."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from jury import namespace
from jury.declared import declared_scale, kind_of
from jury.errors import ConfigError, DataError, TemplateError, unread
from jury.further import declared_fields
from jury.prompts import UNVERSIONED, PromptSpec
from jury.results import Comparison, PanelResult
from jury.rubrics.library import rubric_in
from jury.sessions.criteria import known_names
from jury.sessions.legacy import LegacyTemplate, is_legacy
from jury.sessions.reply import ReplySpec
from jury.stats import Estimate, wilson
from jury.tasks import together
from jury.templates import Template
from jury.tryouts import Example, Tryout, as_asked, read_example, word

CASES = "cases.jsonl"
TIMES = 5
_JUDGED = ("session", "output", "input", "log", "context", "question", "response_a", "response_b", "transcript")
_ANSWERS = (
    "session.",
    "output.",
    "response_a.",
    "response_b.",
)  # fenced in any prompt; the rest where agents are judged
_SHOWN = re.compile(r"\{\{\{?&?\s*([\w.\[\]-]+)\s*\}?\}\}")


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One example, asked several times. `verdicts` counts what came; `wrong` is the share that is not as expected."""

    id: str
    expect: str
    verdicts: Mapping[str, int]
    wrong: Estimate

    @property
    def is_wrong(self) -> bool:
        return bool(self.wrong.value)

    @property
    def is_unstable(self) -> bool:
        return len(self.verdicts) > 1


@dataclass(frozen=True, slots=True)
class PromptReport:
    """A prompt on its own examples: the share of examples with a wrong verdict, and with more than one verdict."""

    name: str
    version: str
    digest: str
    times: int
    cases: tuple[CaseReport, ...]
    wrong: Estimate
    unstable: Estimate
    cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def problems(spec: PromptSpec) -> list[str]:
    """What is wrong with a prompt as a text, in sentences; empty where nothing is. Calls nobody."""
    if is_legacy(spec.user):
        return _legacy_problems(spec)
    found: list[str] = []
    meta = spec.meta
    if spec.version == UNVERSIONED:
        found.append("it has no version: write `version` into its front matter")
    elif spec.version not in {str(v) for v in cast("Mapping[str, Any]", meta.get("changelog") or {})}:
        found.append(f"its changelog says nothing of version {spec.version}")
    try:
        found += _names(spec)
        if meta.get("kind") == "session":
            ReplySpec.from_meta(meta, spec.name)
        elif kind_of(spec) == "rubric":
            found += (
                ["its fields are not asked back: a reply about a rubric holds its criteria"]
                if meta.get("fields")
                else []
            )
        elif kind_of(spec) in ("pointwise", "pairwise"):
            declared_fields(meta, spec.name)
            if kind_of(spec) == "pointwise":
                declared_scale(spec)
        rubric = rubric_in(spec)
        found += list(rubric.warnings) if rubric else []
    except (ConfigError, TemplateError) as error:
        found.append(str(error))
    return found


def _legacy_problems(spec: PromptSpec) -> list[str]:
    try:
        LegacyTemplate(spec.user, name=spec.name)
    except TemplateError as error:
        return [str(error)]
    return ["it is a {transcript} template: it runs, and `jury prompts new --from` makes a versioned prompt of it"]


def _names(spec: PromptSpec) -> list[str]:
    kind = kind_of(spec)
    if kind == "part":  # added to another prompt, whose names are not those of the documentation
        return []
    pairwise = any(name.startswith("response_") for name in Template(spec.user, name=spec.name).names)
    known = namespace.known("pairwise") if pairwise else namespace.known("pointwise", {"rubric": ""})
    if kind in ("session", "joint-session"):
        known = known_names(spec)
    found: list[str] = []
    for text in (spec.user, spec.system):
        found += [f"nothing can be filled in for {u}" for u in Template(text, name=spec.name).unknown(known)]
    open_slots = [s for s in unfenced(spec.user) if kind in ("session", "rubric") or s.startswith(_ANSWERS)]
    if open_slots:
        shown = ", ".join(f"{{{{{name}}}}}" for name in open_slots)
        found.append(
            f"judged text without a fence: {shown}; write it between <{{{{fence}}}} name> and </{{{{fence}}}}>"
        )
    return found


def unfenced(text: str) -> list[str]:
    """The slots of judged text that do not stand between `<{{fence}} ...>` and `</{{fence}}>`."""
    found: list[str] = []
    for match in _SHOWN.finditer(text):
        before = text[: match.start()]
        inside = before.count("<{{fence}}") > before.count("</{{fence}}>")
        name = match[1]
        if name.split(".")[0].split("[")[0] in _JUDGED and not inside and name != "session.cut":
            found.append(name)
    return list(dict.fromkeys(found))


def cases_of(spec: PromptSpec) -> list[dict[str, Any]]:
    """A prompt's own examples: `cases.jsonl` in its folder. Raises `DataError` naming a broken line."""
    file = Path(str(spec.path)) / CASES
    return read_cases(file) if file.is_file() else []


def read_cases(path: str | Path, *, expect: bool = True) -> list[dict[str, Any]]:
    """The examples in a file, each an object, with an `expect` unless it may lack it. Raises `DataError`."""
    file = Path(path)
    try:
        lines = file.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {unread(error)}", "encoding", file=str(file)) from None
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{file}, line {number}: not JSON: {error}", "bad_json", file=str(file), line=number
            ) from None
        if not isinstance(case, dict) or (expect and "expect" not in case):
            text = f"{file}, line {number}: an example is an object{' with `expect`' if expect else ''}"
            raise DataError(text, "not_object", file=str(file), line=number)
        found.append(cast("dict[str, Any]", case))
    return found


async def prove(
    spec: PromptSpec, judges: Sequence[Any] | None = None, *, times: int = TIMES, criteria: str | None = None
) -> PromptReport:
    """The prompt's own examples through the panel, `times` times each.

    `criteria`: of a prompt about one answer or a pair, for examples that bring none. Raises `ConfigError` where the
    prompt has no examples, `DataError` for broken ones.
    """
    if times < 1:
        raise ConfigError(f"--repetitions must be a whole number from 1, got {times}")
    cases = cases_of(spec)
    if not cases:
        raise ConfigError(f"{spec.name} has no examples: put one passing and one failing into {CASES} beside its text")
    tryout = Tryout(spec, judges, criteria)
    examples = [read_example(spec, case) for case in cases]
    results = await together([tryout.ask(one) for one in examples for _ in range(times)])
    by_case = [results[n * times : (n + 1) * times] for n in range(len(cases))]
    reports = tuple(_case(n, one, found) for n, (one, found) in enumerate(zip(examples, by_case, strict=True), 1))
    costs = [r.cost for r in results]
    return PromptReport(
        spec.name,
        spec.version,
        as_asked(spec).digest,
        times,
        reports,
        wilson(sum(r.is_wrong for r in reports), len(reports)),
        wilson(sum(r.is_unstable for r in reports), len(reports)),
        None if None in costs else sum(c for c in costs if c is not None),
    )


def _case(number: int, example: Example, results: Sequence[PanelResult | Comparison]) -> CaseReport:
    words = Counter(word(r) for r in results)
    wrong = sum(n for said, n in words.items() if said != example.expect)
    name = example.id if example.id is not None else str(number)
    return CaseReport(name, example.expect, dict(words.most_common()), wilson(wrong, len(results)))
