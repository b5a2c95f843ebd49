"""An item as the page shows it: texts in blocks, long ones cut, and nothing of what the judges said of it.

Ids of the row, tags and the row itself stay here: they may name the models behind two answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jury.label.questions import mapping
from jury.store import RunManifest, StoredItem

HEAD = 6_000  # characters of a text before "show all"
SMALL = 400  # of the later ones, once an item has sent `PLENTY`
PLENTY = 120_000


@dataclass(frozen=True, slots=True)
class Block:
    """One text. `role`: `context` (what was asked), `judged` (what is to be labelled), `aside` (reference, context),
    or the speaker of a turn."""

    title: str
    role: str
    text: str


def blocks(kind: str, item: StoredItem, shown: str | None) -> list[Block]:
    """The texts of an item in reading order; `shown` puts the answers of a pair into their order."""
    if kind == "pairwise":
        pair = (item.response_a, item.response_b) if shown == "ab" else (item.response_b, item.response_a)
        made = [Block("Question", "context", item.question), Block("Reference", "aside", item.reference)]
        made = [b for b in made if b.text]
        return [*made, *(Block(f"Answer {n}", "judged", text) for n, text in enumerate(pair, 1))]
    turns = list(_turns(item.messages))
    if kind == "session":
        aside = [Block("Context", "aside", item.context)] if item.context else []
        return [*aside, *(turns or [Block("Session", "judged", item.output)])]
    asked = turns or [Block("Input", "context", item.input)]
    aside = [Block("Context", "aside", item.context or ""), Block("Reference", "aside", item.expected_output)]
    return [*(b for b in (*asked, *aside) if b.text), Block("Answer", "judged", item.output)]


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for message in messages:
        role = str(message.get("role") or "")
        name = str(message.get("name") or "")
        text = _text(message.get("content"))
        if text or not message.get("tool_calls"):
            title = f"Result of {name}" if role == "tool" and name else _SPEAKERS.get(role, role)
            yield Block(title, role if role in _SPEAKERS else "system", text)
        for call in cast("Sequence[Any]", message.get("tool_calls") or ()):
            given = mapping(call)
            part = mapping(given.get("function")) or given
            yield Block(f"Calls {part.get('name') or 'a tool'}", "call", _text(part.get("arguments")))


_SPEAKERS = {
    "system": "System",
    "developer": "System",
    "user": "User",
    "assistant": "Assistant",
    "tool": "Tool result",
}


def _text(content: Any) -> str:
    """A text as it is; of content parts the texts; anything else as JSON."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, Sequence):
        parts = [cast("Mapping[str, Any]", p) for p in cast("Sequence[Any]", content) if isinstance(p, Mapping)]
        if parts and all(isinstance(p.get("text"), str) for p in parts):
            return "\n".join(str(p["text"]) for p in parts)
    return json.dumps(content, ensure_ascii=False, indent=2, default=str)


def cut(found: Sequence[Block]) -> list[dict[str, Any]]:
    """The blocks for the page; `length` is that of the whole text where only its start is sent."""
    made: list[dict[str, Any]] = []
    sent = 0
    for block in found:
        most = HEAD if sent < PLENTY else SMALL
        text = block.text if len(block.text) <= most * 1.2 else block.text[:most]
        sent += len(text)
        one: dict[str, Any] = {"title": block.title, "role": block.role, "text": text}
        if len(text) < len(block.text):
            one["length"] = len(block.text)
        made.append(one)
    return made


def materials(manifest: RunManifest, reference: str) -> list[dict[str, str]]:
    """What is to be judged against: a rubric's reference, the policy of a session's criterion."""
    made = [{"name": "Reference", "text": reference}] if reference else []
    if manifest.kind == "session":
        for key, criterion in mapping(manifest.spec.get("criteria")).items():
            text = _text(mapping(criterion).get("context"))
            if text:
                made.append({"name": key.replace("_", " "), "text": text})
    return made


def instructions(manifest: RunManifest) -> list[dict[str, str]]:
    """What the judges of the run were told, each prompt once: people and judges should answer the same question."""
    used = {str(seat.get("prompt")) for seat in manifest.judges}
    if manifest.kind == "session":
        used |= {str(mapping(one).get("prompt")) for one in mapping(manifest.spec.get("criteria")).values()}
    made: list[dict[str, str]] = []
    for digest, prompt in manifest.prompts.items():
        if digest in used:
            told = mapping(prompt)
            texts = [str(told.get(part) or "") for part in ("system", "user")]
            made.append({"name": str(told.get("name") or ""), "text": "\n\n".join(t for t in texts if t)})
    return made
