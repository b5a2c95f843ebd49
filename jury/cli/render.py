"""`jury render`: the exact texts that each seat gets for one row. Calls nobody and needs no key."""

from __future__ import annotations

import sys

from jury.cli.asked import Asked, pairwise, pointwise
from jury.cli.items import pair_fields, row_at
from jury.cli.progress import Progress
from jury.cli.tables import stdout, visible
from jury.cli.writing import print_json
from jury.datasets import Row, find, to_item


def render(asked: Asked) -> int:
    """Prints the texts; rows that hold two responses are rendered for `compare`. Raises `ConfigError`, `DataError`."""
    asked.check()
    row = row_at(asked, asked.row)
    with Progress("rows"):  # shows warnings
        texts, errors = _texts(asked, row)
    if asked.json:
        print_json({"row": row.number, "line": row.line, "errors": errors, "judges": texts})
        return 0
    console = stdout()
    for error in errors:
        console.print(f"not judged: the target errored ({error})", style="yellow")
    for part, text, judges in _grouped(texts):
        console.rule(f"{part} · {', '.join(judges)}", align="left", style="dim")
        # As it is, without wrapping and colours; on a terminal without what would act on it.
        sys.stdout.write((visible(text) if console.is_terminal else text) + "\n")
    return 0


def is_pair(row: Row) -> bool:
    """Does the row hold two responses?"""
    return find(row, "response_a") is not None and find(row, "response_b") is not None


def _texts(asked: Asked, row: Row) -> tuple[dict[str, dict[str, str]], list[str]]:
    if is_pair(row):
        fields = pair_fields(row)
        outputs = [fields["response_a"], fields["response_b"]]
        texts = pairwise(asked, anyone=True).render(**fields)
    else:
        point, output = to_item(row)
        outputs = [output]
        texts = pointwise(asked, anyone=True).render(point, output)
    return texts, [str(o.target_error) for o in outputs if o.target_error is not None]


def _grouped(texts: dict[str, dict[str, str]]) -> list[tuple[str, str, list[str]]]:
    """(part, text, judges who get it): what several judges read is printed once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for judge, parts in texts.items():
        for part, text in parts.items():
            if text:
                groups.setdefault((part.replace("_", " "), text), []).append(judge)
    return [(part, text, judges) for (part, text), judges in groups.items()]
