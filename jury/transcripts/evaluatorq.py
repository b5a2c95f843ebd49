"""evaluatorq: JSON of data point results, `{dataPoint, jobResults}`, one session a job.

Traps: the input is `dataPoint.inputs.messages`, or any object that stands for one user message; call and result are one
item, whose `id` is the item's and not the call's; the error of a target is an object that stands beside the output.
"""

from __future__ import annotations

import json
from typing import Any

from jury.transcripts.chat import add_values
from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.reading import Document, shown
from jury.transcripts.responses import add_item
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, first, objects, words


def matches(document: Document) -> bool:
    return any(first(body, "dataPoint", "data_point") is not None for body in document.bodies)


def read(document: Document) -> list[Draft]:
    drafts: list[Draft] = []
    for line, body in document.objects("a data point result"):
        point = as_object(first(body, "dataPoint", "data_point"))
        if point is None:
            raise document.error(f'expected a data point result with "dataPoint", read {shown(body)}', line=line)
        jobs = objects(first(body, "jobResults", "job_results"))
        for job in jobs or [EMPTY]:
            draft = _job(document, line, point, job)
            draft.error = target_error(body.get("error")) or draft.error
            drafts.append(draft)
    return drafts


def _job(document: Document, line: int | None, point: Object, job: Object) -> Draft:
    draft = Draft(id=text_id(point.get("id")), expected_output=first(point, "expectedOutput", "expected_output"))
    _input(document, line, draft, point.get("inputs"))
    name = first(job, "jobName", "job_name")
    draft.metadata = {"job": name} if name else {}
    output = job.get("output")
    body = as_object(output)
    if body is not None and isinstance(body.get("output"), list):
        draft.model = words(body.get("model"))
        draft.error = target_error(body.get("error"))
        for item in as_list(body["output"]):
            piece = as_object(item)
            if piece is None or not add_item(draft, piece):
                raise document.error(f"expected an output item, read {shown(item)}", line=line)
    elif output is not None:
        draft.say("assistant", _shown(output))
    draft.error = draft.error or target_error(job.get("error"))
    return draft


def _input(document: Document, line: int | None, draft: Draft, inputs: Any) -> None:
    given = as_object(inputs) or EMPTY
    if isinstance(given.get("messages"), list):
        add_values(document, draft, as_list(given["messages"]), line, flag=None)
    elif isinstance(given.get("input"), str):
        draft.say("user", given["input"])
    elif inputs is not None:
        draft.say("user", _shown(inputs))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
