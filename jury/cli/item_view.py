"""`jury show RUN ITEM`: what was judged, the verdict, and who voted what and why. Judged texts move no cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from textwrap import indent
from typing import Any, cast

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from jury.brief import voted
from jury.cli import exits, tables
from jury.cli.prompt_view import asked_of, print_asked
from jury.cli.writing import print_json
from jury.errors import DataError
from jury.report.quoting import Texts
from jury.results import Comparison, CriterionResult, EvidenceCheck, Judgment, PairVote, PanelResult, Verdict, Vote
from jury.store import Run, StoredItem
from jury.store.records import standing
from jury.store.run import result_of
from jury.wording import marked, value_word

_LINES, _LETTERS = 12, 1_000  # of a text that is not asked for in full
_TURNS = 12  # of a transcript
_WRAPPED = 100_000  # letters of a whole text that are wrapped at words; a longer one is the terminal's to wrap
_CANDIDATES = 20_000  # ids that are compared with a wrong one
_FIELDS = (
    ("question", "question"),
    ("context", "context"),
    ("reference", "reference"),
    ("expected_output", "expected"),
    ("output", "output"),
    ("response_a", "response A"),
    ("response_b", "response B"),
)
_FOUND = {(True, False): "found", (True, True): "nearly found", (False, False): "not found"}
_SWAPPED = {"A": "B", "B": "A"}


def show_item(run: Run, wanted: str, *, full: bool, prompt: bool, as_json: bool) -> int:
    """Prints one item; returns the exit code. Raises `DataError` with near ids for one that is not there."""
    stored, line = find(run, wanted)
    item = StoredItem.from_dict(stored)
    result = result_of(run.kind, line) if line is not None else None
    asked = asked_of(run, item, result) if prompt or result is None else []
    labels = [label for label in standing(run.labels()) if label.item == item.id]
    if as_json:
        made: dict[str, Any] = {"item": item.to_dict(), "result": result.to_dict() if result else None}
        made["labels"] = [label.to_dict() for label in labels]
        print_json({**made, "judgments": [one.to_dict() for one in asked]} if prompt else made)
        return exits.OK
    view = _View(run, tables.stdout(), full)
    view.head(item)
    view.texts(item)
    view.verdict(result, [f"{one.labeller or 'somebody'}: {_labelled(asdict(one))}" for one in labels])
    if result is not None:
        view.votes(result)
    if prompt:
        print_asked(view.console, asked, kept=bool(run.manifest.prompts))
    return exits.OK


def find(run: Run, wanted: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The item with this id, else with this number (from 1), and its last result. Raises `DataError`."""
    digits = wanted.removeprefix("#")
    number = int(digits) - 1 if digits.isascii() and digits.isdigit() and len(digits) < 19 else None
    by_number: tuple[dict[str, Any], dict[str, Any] | None] | None = None
    ids: list[str] = []
    count = 0
    for item, line in run.lines():
        count += 1
        if item.get("id") == wanted:
            return item, line
        if number is not None and item.get("number") == number:
            by_number = item, line
        if len(ids) < _CANDIDATES:
            ids.append(str(item.get("id")))
    if by_number is not None:
        return by_number
    name = repr(tables.shorten(wanted, 80))
    raise DataError(f"{run.folder} has no item {name}{_near(wanted[:80], ids)}; {_told(count)}", "not_found")


def _near(wanted: str, ids: Sequence[str]) -> str:
    near = [i for i in ids if wanted and wanted.casefold() in i.casefold()][:3]
    near = near or get_close_matches(wanted, ids, n=3)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def _told(count: int) -> str:
    return f"it holds {tables.count(count, 'item')}, found by id or by number from 1" if count else "it is empty"


def _labelled(label: Mapping[str, Any]) -> str:
    values = cast("Mapping[str, Any]", label["values"])
    said = ", ".join(f"{k} {value_word(v)}" for k, v in values.items() if v is not None)
    said = said or ("no verdict" if label["value"] is None else value_word(label["value"]))
    return f"{said} ({label['note']})" if label["note"] else said


class _View:
    """The parts of the page, from top to bottom."""

    def __init__(self, run: Run, console: Console, full: bool) -> None:
        self.console = console
        self._full = full
        self._criteria = run.manifest.criteria
        seats = (*run.manifest.judges, *run.manifest.stand_ins)
        self._texts = Texts({})
        self._models = {str(seat.get("id")): str(seat.get("model") or "") for seat in seats}

    def head(self, item: StoredItem) -> None:
        told = f"{item.id} · number {item.number + 1}" + "".join(f" · {tag}" for tag in item.tags)
        self._facts([("item", Text(tables.visible(told), style="bold"))])
        if item.trace_id:
            self._facts([("trace", tables.visible(item.trace_id))])
        if self._criteria and self._full:
            self._section("criteria", self._criteria)

    def texts(self, item: StoredItem) -> None:
        """What was judged, beside what it was judged by."""
        self._texts = Texts.of(item)
        if item.messages:
            self._section("transcript" if len(item.messages) > 1 else "input", self._turns(item.messages))
        elif item.input:
            self._section("input", item.input)
        for name, title in _FIELDS:
            text = getattr(item, name)
            if text:
                self._section(title, text)
        if item.error:
            self._section("error of the target", item.error)

    def verdict(self, result: PanelResult | Comparison | None, labels: Sequence[str]) -> None:
        self.console.print()
        if result is None:
            self._facts([("verdict", "none yet"), *(("label", tables.visible(text)) for text in labels)])
            return
        said = tables.verdict_text(result)
        used = voted(result)
        agreement = f", agreement {tables.percent(result.agreement, 1)}" if result.agreement is not None else ""
        lines: list[tuple[str, str | Text]] = [("verdict", Text.assemble(said, f"  {used}{agreement}"))]
        if result.explanation:
            lines.append(("why", tables.visible(result.explanation)))
        if result.confidence is not None:
            lines.append(("confidence", f"{result.confidence:.2f} (from {result.confidence_source})"))
        if isinstance(result, PanelResult):
            lines += _panel_facts(result)
        if result.calls or result.usage:
            lines.append(("cost", tables.money(result.usage, result.calls, free=self._free(result))))
        lines += [("note" if i == 0 else "", tables.visible(note)) for i, note in enumerate(result.notes)]
        lines += [("label" if i == 0 else "", tables.visible(text)) for i, text in enumerate(labels)]
        self._facts(lines)
        if isinstance(result, PanelResult) and len(result.criteria) > 1:  # of a single one all is said
            self.console.print()
            for criterion in result.criteria:
                self._criterion(criterion)

    def _free(self, result: PanelResult | Comparison) -> bool:
        """Did functions alone vote? What reports no cost then has none."""
        return bool(result.votes) and all(self._models.get(vote.judge) == "" for vote in result.votes)

    def votes(self, result: PanelResult | Comparison) -> None:
        for vote in result.votes:
            self.console.print()
            title = Text.assemble((tables.visible(vote.judge), "bold"), "  ", tables.vote_text(vote))
            beside = [*_standing(vote), *_costs(vote.judgments, self._models.get(vote.judge, ""))]
            title.append("  " + " · ".join(beside), style="dim")
            self._print(title)
            self._said(vote.explanation)
            if vote.error:
                self._print(tables.word(tables.visible(vote.error), "error"), 2)
            if isinstance(vote, PairVote):
                self._orders(vote)
            else:
                self._repetitions(vote)
                self._evidence(vote)

    def _criterion(self, one: CriterionResult) -> None:
        kind = "error" if one.reason == "errors" else "inconclusive" if one.status == "inconclusive" else None
        passed = {True: "pass", False: "fail", None: kind}[one.passed]
        value = tables.word(marked(one.value, one.passed), passed or str(one.value).lower())
        marks = [w for w, on in (("found by code", one.code), ("on a part of the session", one.partial)) if on]
        line = Text.assemble((tables.visible(one.key), "bold"), "  ", value)
        line.append("".join(f"  {m}" for m in marks), style="dim")
        self._print(line)
        self._said(one.explanation)

    def _orders(self, vote: PairVote) -> None:
        """What the judge said in each order, in terms of the responses."""
        for judgment in vote.judgments:
            verdict = judgment.verdict
            slot = str(verdict.value) if verdict.decided else _undecided(verdict)
            swapped = judgment.order == "ba"
            said = _SWAPPED.get(slot, slot) if swapped else slot
            self._print(Text(f"with {'B' if swapped else 'A'} shown first: {said}", style="dim"), 2)
            if verdict.explanation and verdict.explanation != vote.explanation:
                self._said(verdict.explanation, 4)
            self._quotes(verdict.evidence, None, 4)

    def _repetitions(self, vote: Vote) -> None:
        plain = [j for j in vote.judgments if j.criterion is None]
        if len(plain) > 1:
            said = [value_word(j.verdict.value) if j.verdict.decided else _undecided(j.verdict)
                    for j in plain]  # fmt: skip
            self._print(Text(f"asked {tables.count(len(plain), 'time')}: {', '.join(said)}", style="dim"), 2)

    def _evidence(self, vote: Vote) -> None:
        verdict, check = vote.verdict, vote.evidence_check
        self._quotes(verdict.evidence if not verdict.parts else (), check, 2)  # of parts they stand below
        for name, value in verdict.fields.items():
            if value not in (None, "", [], {}):
                self._print(Text(f"{name}: {self._short(_plain(value))}"), 2)
        for key, part in verdict.parts.items():
            value = value_word(part.value) if part.decided else _undecided(part)
            self._print(Text.assemble((key, "bold"), f"  {value}"), 2)
            self._said(part.explanation, 4)
            self._quotes(part.evidence, check, 4)
        if check is not None:
            counts = f"{tables.count(check.quotes_found, 'quote')} found, {check.quotes_missing} not found"
            references = check.references_valid + check.references_invalid
            more = f"; {check.references_valid} of {tables.count(references, 'reference')} valid" if references else ""
            self._print(Text(f"evidence: {counts}{more}", style="dim"), 2)

    def _quotes(self, quotes: Iterable[str], check: EvidenceCheck | None, indent: int) -> None:
        for text in quotes:
            quote = self._texts.quote(text, "", check)
            found = "quote" if quote.found is None else _FOUND[quote.found, quote.near]
            self._print(Text(f"{found}: “{self._short(text)}”", style="red" if quote.found is False else ""), indent)
            if quote.near:
                self._print(Text(f"the text says: “{self._short(' … '.join(quote.words))}”", style="dim"), indent + 2)

    def _turns(self, messages: Sequence[Mapping[str, Any]]) -> str:
        turns = [_turn(m, self._short) for m in messages]
        if self._full or len(turns) <= _TURNS:
            return "\n".join(turns)
        half = _TURNS // 2
        left = len(turns) - 2 * half
        return "\n".join([*turns[:half], f"… {left} more messages (--full)", *turns[-half:]])

    def _short(self, text: str) -> str:
        return tables.visible(text) if self._full else tables.shorten(text, 300)

    def _said(self, text: str, indent: int = 2) -> None:
        if text:
            self._print(Text(tables.visible(text)), indent)

    def _section(self, title: str, text: str) -> None:
        self.console.print()
        self._print(Text(title, style="dim"))
        shown, left = text, 0
        if not self._full and title != "transcript":
            shown = "\n".join(text[:_LETTERS].split("\n")[:_LINES]).rstrip()
            left = len(text.rstrip()) - len(shown)
        if len(shown) > _WRAPPED:
            self.console.file.write(indent(tables.visible(shown), "  ") + "\n")
        else:
            self._print(Text(tables.visible(shown)), 2)
        if left > 0:
            self._print(Text(f"… {tables.count(left, 'more character')} (--full)", style="dim"), 2)

    def _facts(self, lines: Sequence[tuple[str, str | Text]]) -> None:
        tables.facts(self.console, lines)

    def _print(self, text: Text, indent: int = 0) -> None:
        tables.show(self.console, Padding(text, (0, 0, 0, indent)) if indent else text)


def _panel_facts(result: PanelResult) -> list[tuple[str, str | Text]]:
    lines: list[tuple[str, str | Text]] = []
    if result.mean is not None and not isinstance(result.value, bool | str):
        spread = f", standard deviation {result.std:.3g}" if result.std is not None else ""
        lines.append(("mean", f"{result.mean:.3g}{spread}"))
    if result.contested:
        lines.append(("contested", "a vote on each judge's own verdict would decide otherwise"))
    for judge, text in result.contradictions.items():
        lines.append(("contradiction", f"{judge}: {tables.visible(text)}"))
    return lines


def _standing(vote: Vote | PairVote) -> list[str]:
    made = ["a stand-in"] if vote.replacement else []
    return [*made, f"weight {vote.weight:g}"] if vote.weight != 1 else made


def _costs(judgments: Sequence[Judgment], model: str) -> list[str]:
    """Money, calls and time of a vote, and who answered where it was another than the `model` that was asked."""
    if not judgments:
        return []
    models = dict.fromkeys(j.model for j in judgments if j.model and not model.endswith(j.model))
    usages = [j.usage for j in judgments if j.usage is not None]
    made = [f"answered by {', '.join(models)}"] if models else []
    if usages:
        costs = [u.cost for u in usages]
        made.append("cost unknown" if None in costs else tables.dollars(sum(c for c in costs if c is not None)))
    calls, retries = sum(j.calls for j in judgments), sum(j.retries for j in judgments)
    if calls != 1 or retries:
        made.append(tables.count(calls, "call") + (f", {retries} of them retries" if retries else ""))
    made.append(f"{sum(j.latency_s for j in judgments):.2f} s")
    return made


def _undecided(verdict: Verdict) -> str:
    if verdict.failure is not None:
        return f"error ({tables.visible(str(verdict.failure))})"
    return "abstained" if verdict.status == "abstained" else verdict.status


def _at(part: Mapping[str, Any]) -> str:
    """The number by which judges name an event of a session."""
    return f"{part['event']} " if part.get("event") else ""


def _turn(message: Mapping[str, Any], short: Any) -> str:
    """One message of a chat: who said what, and what was called."""
    role = _at(message) + str(message.get("role") or "?")
    content = message.get("content")
    parts = [f"{role}: {short(_plain(content))}"] if content not in (None, "", []) else []
    for call in cast("list[Mapping[str, Any]]", message.get("tool_calls") or []):
        named = cast("Mapping[str, Any]", call.get("function") or call)
        role = (_at(call) or _at(message)) + str(message.get("role") or "?")
        parts.append(f"{role} calls {named.get('name')}({short(_plain(named.get('arguments') or ''))})")
    return "\n".join(parts) or f"{role}: (nothing)"


def _plain(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
