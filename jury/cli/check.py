"""`jury check`: names in the prompt, judges and keys, the data file; with `--call` one test call to each judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from jury import config, names, prompts, sync
from jury.checking import Tag
from jury.cli import exits
from jury.cli.asked import ANYONE, Asked, pairs_of, pairwise, pointwise
from jury.cli.items import Items, comes_once, pair_fields, row_at
from jury.cli.judging import missing_key
from jury.cli.progress import Progress
from jury.cli.render import is_pair
from jury.cli.tables import facts, money, shorten, stdout, word
from jury.cli.writing import aside, print_json
from jury.datasets import FIELDS, Row, find, to_item
from jury.declared import kind_of
from jury.errors import ConfigError, MissingExtra
from jury.pairwise import PairwiseJury
from jury.pointwise import Jury
from jury.providers import endpoints, prices
from jury.providers.scripted import ScriptedFiles
from jury.summary import count

QUESTION, ANSWER, WRONG = "What is two plus two?", "4", "5"
CRITERIA = "The answer is right."


def check(asked: Asked) -> int:
    """Prints what was found; returns 2 where something must be set right, 3 where a test call failed."""
    asked.check()
    if asked.file and comes_once(asked.file):
        raise ConfigError("check reads a file, not a pipe")
    if Path(asked.file).suffix.casefold() in (".yaml", ".yml"):
        from jury.cli.checking_run import check_run

        return check_run(asked)
    data = _data(asked) if asked.file else {}
    pair = bool(data.get("pairs")) or (not data and asked.prompt is not None and is_of_pairs(asked.prompt))
    with Progress("calls") as progress:
        named = replace(asked, criteria=asked.criteria or CRITERIA) if asked.prompt is None else asked
        jury = pairwise(named, anyone=True) if pair else pointwise(named, anyone=True)
        judges = [{"judge": s.name, "problem": problem(s)} for s in jury.panel.seats]
        if asked.call:
            progress.say(f"one call to each of {count(len(judges), 'judge')}")
            call(jury, judges, pair)
    if [j["judge"] for j in judges] == [ANYONE]:
        judges[0]["problem"] = "no judges: --judges, JURY_JUDGES, JUDGE_MODEL or jury.yaml"
    prompt = _prompt(asked, jury, data)
    return told({"prompt": prompt, "judges": judges, "data": data, "configuration": settings()}, asked.json)


def is_of_pairs(prompt: str) -> bool:
    """Does the prompt compare two responses?"""
    return kind_of(prompts.load(prompt)) == "pairwise"


def told(found: dict[str, Any], as_json: bool) -> int:
    """Prints what was found; returns the exit code."""
    if as_json:
        print_json(found)
    else:
        _print(found)
    if any(j.get("error") for j in found["judges"]):
        return exits.NO_RESULT
    wrong = found["prompt"]["unknown"] or found["configuration"]["problems"]
    return exits.USAGE if wrong or any(j["problem"] for j in found["judges"]) else exits.OK


def problem(seat: Any) -> str | None:
    """Why a seat cannot be asked, or None. Raises `ConfigError` for a provider that nobody knows."""
    try:
        if seat.function is None and isinstance(seat.provider, ScriptedFiles):
            seat.provider.script(seat.model)
        return None if seat.function else missing_key(seat)
    except MissingExtra as error:
        return str(error)


def settings() -> dict[str, Any]:
    """The configuration file: all of its prices and providers, also those that no judge here needs."""
    file = config.load().path
    return {"file": str(file) if file else None, "problems": [*endpoints.problems(), *prices.problems()]}


def _prompt(asked: Asked, jury: Jury | PairwiseJury, data: dict[str, Any]) -> dict[str, Any]:
    rubric = {"rubric": ""} if isinstance(jury, Jury) and jury.method else {}
    kind: names.Kind = jury.kind
    known = names.known(kind, {**(pairs_of(asked.variables) or {}), **rubric})
    columns: Counter[str] = data.pop("filled", Counter[str]())
    if data:  # then it is known what a row has
        known = names.Known({**known.keys, "row": names.Known(dict.fromkeys(columns, names.OPEN))})
    templates = [t for prompt in jury.panel.prompts[:1] for t in (prompt.user, prompt.system)]
    gaps = _gaps([tag for t in templates for tag in t.tags], columns, data.get("rows") or 0)
    return {
        "prompt": asked.prompt or f"{kind} (shipped)",
        "names": list(dict.fromkeys(name for t in templates for name in t.names)),
        "unknown": [str(u) for t in templates for u in t.unknown(known)],
        "gaps": gaps,
    }


def _gaps(tags: Sequence[Tag], columns: Counter[str], rows: int) -> dict[str, int]:
    """Columns that the prompt shows and some rows lack: how many. Where a section looks first, all is well."""
    plain = [t for t in tags if t.sort == "variable" and t.scope is None and t.name.startswith("row.")]
    keys = dict.fromkeys(t.path[1][0] or "" for t in plain)
    return {f"row.{key}": rows - columns[key] for key in keys if 0 < columns[key] < rows}


def _data(asked: Asked) -> dict[str, Any]:
    row = row_at(asked, 1)
    pairs = is_pair(row)
    fields = {field: found.column for field in FIELDS if (found := find(row, field)) is not None}
    reader = pair_fields if pairs else to_item
    filled: Counter[str] = Counter()

    def read(row: Row) -> Any:
        item: Any = reader(row)
        filled.update(list(item["row"] if pairs else item[0].row))
        return item

    total = Items(asked, read, lambda _: None).count()
    found = {"file": asked.file, "rows": total, "pairs": pairs, "fields": fields, "columns": list(row.values)}
    return {**found, "filled": filled}


def call(jury: Any, judges: list[dict[str, Any]], pair: bool) -> None:
    jury.panel.lone = False  # an exception of the only judge function is its answer here
    if pair:
        work = jury.compare(QUESTION, ANSWER, WRONG, reference=ANSWER)
    else:
        work = jury.judge(input=QUESTION, output=ANSWER, expected_output=ANSWER)
    with aside():
        votes = sync.run(work).votes
    for judge, vote in zip(judges, votes, strict=False):
        took = sum(j.latency_s for j in vote.judgments)
        judge |= {"error": vote.error, "value": vote.value, "seconds": round(took, 3)}
        if pair:
            judge["flip_kind"] = vote.flip_kind
        judge["cost"] = vote.usage.cost if vote.usage else None
        judge["paid"] = money(vote.usage, sum(j.calls for j in vote.judgments))


def _answer(judge: dict[str, Any]) -> str:
    """What came of the test call to a judge."""
    if judge.get("flip_kind"):
        return f"changed sides with the order ({judge['flip_kind']})"
    return "abstained" if judge["value"] is None else f"answered {judge['value']}"


def _print(found: dict[str, Any]) -> None:
    prompt, data = found["prompt"], found["data"]
    known = len(prompt["names"]) - len(prompt["unknown"])
    run = found.get("run")
    lines: list[tuple[str, str | Text]] = (
        [("run", f"{run['file']}: {run['kind']}, into {run['folder']}")] if run else []
    )
    if prompt["prompt"]:
        lines.append(("prompt", f"{prompt['prompt']}: {count(known, 'known name')}" if known else prompt["prompt"]))
    lines += [("", word(f"cannot be filled: {unknown}", "fail")) for unknown in prompt["unknown"]]
    for name, n in prompt.get("gaps", {}).items():
        lines.append(
            ("", word(f"no value in {count(n, 'row')}: {{{{{name}}}}} stays as written there", "inconclusive"))
        )
    width = max((len(judge["judge"]) for judge in found["judges"]), default=0)
    for i, judge in enumerate(found["judges"]):
        if judge.get("error"):
            told = word(f"failed: {shorten(judge['error'], 200)}", "fail")
        elif judge["problem"]:
            told = word(judge["problem"], "fail")
        elif "seconds" in judge:
            told = word(f"{_answer(judge)} in {judge['seconds']:.2f} s, {judge['paid']}", "pass")
        else:
            told = word("ready", "pass")
        lines.append(("judges" if i == 0 else "", Text.assemble(judge["judge"].ljust(width + 2), told)))
    file, wrong = found["configuration"]["file"], found["configuration"]["problems"]
    if file:
        lines.append(("settings", file if wrong else f"{file}: as it should be"))
        lines += [("", word(why, "fail")) for why in wrong]
    if data:
        unit = "sessions" if run and run["kind"] == "session" else "pairs" if data["pairs"] else "rows"
        fields = ", ".join(f if f == column else f"{f} = {column}" for f, column in data["fields"].items())
        lines.append(("data", f"{data['file']}: {data['rows']} {unit}"))
        lines += [("", fields)] if fields else []
        if data["columns"]:
            lines.append(("", "as {{row.NAME}}: " + ", ".join(data["columns"])))
    facts(stdout(), lines)
