"""Inspect: the JSON form of an evaluation log, one session a sample.

Traps: `content` is text or parts with reasoning among them; a call names its tool under `function` and has an arguments
object; a failed tool has `error {type, message}` on its message; long texts may be kept apart as `attachment://`; the
sample's `target` is the expected output. Packed `.eval` files must be converted first.
"""

from __future__ import annotations

from typing import Any, cast

from jury.transcripts.chat import add_values
from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.reading import Document, shown
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, words

_ATTACHED = "attachment://"


def matches(document: Document) -> bool:
    return any(_samples(body) is not None for body in document.bodies)


def _samples(body: Object) -> list[Any] | None:
    """The samples of a log; a sample on its own counts as a log of one."""
    if isinstance(body.get("samples"), list):
        return as_list(body["samples"])
    if isinstance(body.get("messages"), list) and "target" in body and "epoch" in body:
        return [body]
    return [] if "eval" in body and "status" in body else None


def read(document: Document) -> list[Draft]:
    drafts: list[Draft] = []
    for line, body in document.objects("an Inspect log"):
        samples = _samples(body)
        if samples is None:
            raise document.error(f'expected an Inspect log with "samples", read {shown(body)}', line=line)
        for sample in samples:
            given = as_object(sample)
            if given is None or not isinstance(given.get("messages"), list):
                raise document.error(f'expected a sample with "messages", read {shown(sample)}', line=line)
            drafts.append(_sample(document, line, given))
            drafts[-1].at(given.get("started_at") or (as_object(body.get("eval")) or EMPTY).get("created"))
    return drafts


def _sample(document: Document, line: int | None, sample: Object) -> Draft:
    draft = Draft(
        id=text_id(sample.get("id")),
        expected_output=_target(sample.get("target")),
        error=target_error(sample.get("error")),
        model=words((as_object(sample.get("output")) or EMPTY).get("model")),
        metadata={"epoch": sample["epoch"]} if sample.get("epoch") is not None else {},
    )
    limit = as_object(sample.get("limit"))
    if limit is not None:
        draft.note(f"the sample ended at a limit ({limit.get('type') or 'unknown'})")
    attached = as_object(sample.get("attachments"))
    messages = sample["messages"]
    add_values(document, draft, as_list(_attach(messages, attached) if attached else messages), line, flag=False)
    return draft


def _target(target: Any) -> Any:
    """Null, an empty text and an empty list are no expectation; a list of one is its element."""
    items = as_list(target)
    if target == "" or target == []:
        return None
    return items[0] if len(items) == 1 else target


def _attach(value: Any, attached: Object) -> Any:
    """Texts kept apart put back where they are named."""
    if isinstance(value, str):
        return attached.get(value.removeprefix(_ATTACHED), value) if value.startswith(_ATTACHED) else value
    if isinstance(value, list):
        return [_attach(item, attached) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _attach(item, attached) for key, item in cast("dict[str, Any]", value).items()}
    return value
