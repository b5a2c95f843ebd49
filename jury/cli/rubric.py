"""`jury rubric`: every answer of a file scored on a rubric; on a terminal a table, else one JSON object a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from jury.cli import closing, exits, keeping
from jury.cli.asked import Asked, read_text
from jury.cli.items import Items
from jury.cli.judging import ready
from jury.cli.options import as_typed, check_counts, milliseconds
from jury.cli.paying import capped, left_out, quoted
from jury.cli.progress import Progress
from jury.cli.session import judges
from jury.cli.writing import aside
from jury.datasets import parse_map, rows, to_item
from jury.errors import ConfigError
from jury.pointwise import Jury, llm_jury
from jury.results import PanelResult
from jury.rubrics.library import load_rubric, prompt_of
from jury.rubrics.rubric import Rubric
from jury.rubrics.seeds import FORMATS, seed_report
from jury.runner import RunSpec, run_sync
from jury.runner.outlook import for_money


def rubric(given: Mapping[str, Any]) -> int:
    """Runs `jury rubric`; returns the exit code. Raises `ConfigError` or `DataError`."""
    shape = given["format"]
    if shape is not None and shape not in FORMATS:
        raise ConfigError(f"--format is {' or '.join(FORMATS)}, got {shape!r}")
    check_counts(limit=given["limit"])
    unpaid = 0
    lines = given["json"] or shape is not None or not closing.seen()
    with Progress("answers") as progress:
        reference = None if given["reference"] is None else read_text(given["reference"])
        made = load_rubric(given["rubric"], task=given["task"], reference=reference)
        with as_typed():
            jury = llm_jury(
                rubric=made,
                prompt=prompt_of(given["rubric"]),
                judges=judges(given["judges"] or ()) or None,
                ask=given["ask"],
                permute=given["permute"],
                repetitions=given["repetitions"],
                temperature=given["temperature"],
                max_tokens=given["max_tokens"],
                timeout_ms=milliseconds(given["timeout"]),
            )
        if given["estimate"]:
            return quoted(_spec(jury, given), given["output"], given["json"])
        ready(jury.panel)
        results = enumerate(_results(jury, given), 1) if given["output"] is None else _kept(jury, given, progress)
        out, tally = sys.stdout, closing.tally_of(jury)
        with aside():
            for number, result in results:
                unpaid += result.reason == "budget"
                tally.add(number, result)
                if lines:
                    made_line = result.to_dict() if given["json"] else report(made, result, shape)
                    out.write(json.dumps(made_line, ensure_ascii=False) + "\n")
        progress.note(left_out(unpaid))
    if not given["json"]:
        closing.tell(tally, given["output"], "rubric", table=not lines)
    code, why = exits.of_outcomes(tally.outcomes, given["fail_under"])
    progress.note(why)
    return code


def _results(jury: Jury, given: Mapping[str, Any]) -> Iterator[PanelResult]:
    budget = capped(jury, given["budget"])
    found = rows(given["file"], mapping=parse_map(given["map"] or ()))
    items = [to_item(row) for row in islice(found, given["limit"])]
    return (for_money(result, budget) for result in jury.judge_many_sync(items))


def _kept(jury: Jury, given: Mapping[str, Any], progress: Progress) -> Iterator[tuple[int, PanelResult]]:
    """The results on these answers in the run folder, once all that is missing there was asked; it may hold others."""
    asked = Asked(file=given["file"], map=given["map"] or (), limit=given["limit"])
    ids = Items(asked, to_item, lambda item: item[0].id).ids()
    with aside():
        done = run_sync(_spec(jury, given), given["output"], force=given["force"])
    if done.fault is not None:
        raise done.fault
    for change in done.changes:
        progress.changed(change)
    found = keeping.kept(Path(given["output"]), ids, done.totals["n_total"])
    return ((number, result) for number, result in found if isinstance(result, PanelResult))


def _spec(jury: Jury, given: Mapping[str, Any]) -> RunSpec:
    mapping = parse_map(given["map"] or ())
    return RunSpec(given["file"], jury, map=mapping, limit=given["limit"], budget=given["budget"])


def report(rubric: Rubric, result: PanelResult, shape: str | None) -> dict[str, Any]:
    """One answer's scores; in a seed's shape on request."""
    head = {"id": result.item_id} if result.item_id else {}
    if shape is not None:
        return {**head, **seed_report(rubric, result, shape)}
    plain = seed_report(replace(rubric, shape="rubric"), result, "rubric")
    status = {"status": result.status, "contested": result.contested}
    error = {"error": result.error} if result.error else {}
    return {
        **head,
        **plain,
        **status,
        **error,
        **({"contradictions": dict(result.contradictions)} if result.contradictions else {}),
    }
