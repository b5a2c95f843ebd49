"""What a small model is asked: short prompts instead of the shipped ones, and the question before an answer to it.

A model of 1.5 billion parameters loses its way in the shipped prompts: asked about 20 easy answers, half of them wrong,
it called every one true. In the short ones every text is quoted as JSON, and behind a judged one stands a short mark
that it does not hold (right on 35 of 35; with marks on both sides 34, and far less sure).

Beside a reference, or its own answer in the place of one, the verdict comes first and one short sentence follows: right
on 60 of 60, where asking for what both answers say gave 57, and a comparison of them 44. Of a pair, the reply is one
sentence that begins with the better response: of 18 pairs 14 right, 4 undecided; a list of replies to choose from made
it answer "neither". The responses come before the question which is better: behind it, the model followed the slot in 9
of 10. Beside a context it answers from that first, in a few words, and grades against both: right on 75 of 84, with
half of the words that its reasons took before, which came first and were right on 67.

(Items written here, half of them seen while choosing.) The short prompts stand in for the shipped ones only: what a
caller wrote is asked as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from jury import prompts
from jury.data import DataPoint, ResponsePair
from jury.messages import text_of, to_messages
from jury.providers.base import Request, Turn
from jury.providers.local_words import COMPARISON, allowed, short_reasons, value_first
from jury.templates import Template
from jury.values import show

LONGEST_QUESTION = 2000  # characters; a longer one is a task, and what a sentence could say of it is no reference
ANSWER_TOKENS = 80
_LETTERS = "bcdfghjkmnpqrstvwxz"  # of marks; without vowels they are no words
_CONTEXT_COLUMNS = ("context", "contexts", "documents", "retrieved_context", "retrieved_contexts")


@dataclass(frozen=True, slots=True)
class Plan:
    """How an item is to be asked about. `short` names the prompt that stands in, None keeps the caller's.

    `known`: the prompt shows what a right answer looks like, or nothing of that kind is needed.
    """

    request: Request
    short: str | None
    values: dict[str, str]
    question: str = ""
    context: str = ""
    known: bool = True

    def verdict_first(self, values: dict[str, str]) -> bool:
        """Beside a reference the model's first word is its best; its reasons talk it out of a right verdict."""
        return self.short == "local-pointwise" and bool(values["reference"])

    def asked(self, own: str = "") -> Request:
        """The request to send, the model's own answer in the place of a reference where it has given one."""
        request = self.request
        if self.short is not None:
            values = {**self.values, "reference": _quoted(own)} if own else self.values
            turns = (Turn("user", _render(self.short, values)), *request.turns[1:])
            schema = request.schema or {}
            if self.verdict_first(values):
                schema = value_first(short_reasons(schema))
            elif self.short == "local-pairwise":  # beside a context the reasons are the model's thinking: not cut
                schema = value_first(short_reasons(schema, COMPARISON))
            return replace(request, system="", turns=turns, schema=schema)
        if own and request.turns:
            text = f"{_render('local-comparison', {'own_answer': own})}\n{request.prompt}"
            return replace(request, turns=(Turn("user", text), *request.turns[1:]))
        return request


def plan(request: Request, case: Any, *, one_word: bool) -> Plan:
    """What to ask for a `judge.Case`."""
    item = getattr(case, "item", None)
    if isinstance(item, ResponsePair):
        short = "local-pairwise" if _default(request, "pairwise", {"A", "B", "tie"}) else None
        return Plan(request, short, _pair(case) if short else {})
    if not isinstance(item, DataPoint):
        return Plan(request, None, {})
    short = "local-verdict" if one_word else "local-pointwise"
    if not _default(request, "pointwise", {"true", "false"}):
        short = None
    question, context, reference = _question(item), _context(item), show(item.expected_output).strip()
    values = {
        "criteria": case.criteria,
        "context": context and _quoted(context),
        "question": _quoted(question),
        "reference": reference and _quoted(reference),
        "answer": _quoted(case.output),
    }
    seen = (
        short is None and bool(context) and context in request.prompt
    )  # what a caller wrote may not ask for an answer
    return Plan(request, short, values, question, context, known=bool(reference) or seen)


def question_body(question: str, context: str) -> dict[str, Any]:
    """The chat completion that asks the question itself."""
    spec = prompts.shipped("local-own-answer")
    names = {"question": question, "context": context and _quoted(context)}
    system, text = (Template(part).render(names) for part in (spec.system, spec.user))
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return {"messages": messages, "max_tokens": ANSWER_TOKENS, "temperature": 0.0}


def _default(request: Request, kind: str, words: set[str]) -> bool:
    """Whether the request is the shipped prompt of a kind, with the verdicts that the short prompt speaks of."""
    spec = prompts.shipped(kind)
    opening = spec.user.partition("{{")[0]
    if request.system != spec.system or not request.prompt.startswith(opening):
        return False
    return (allowed(request.schema) or {}).keys() == words


def _pair(case: Any) -> dict[str, str]:
    sides = {"first": _quoted(case.response_a), "second": _quoted(case.response_b)}
    reference = case.reference and _quoted(case.reference)
    return {"criteria": case.criteria, "question": _quoted(case.question), "reference": reference, **sides}


def _question(item: DataPoint) -> str:
    said = [(m.role, text_of(m.content)) for m in to_messages(item) if m.role != "system"]
    if len(said) == 1:
        return said[0][1].strip()
    return "\n".join(f"{role}: {text}" for role, text in said).strip()


def _context(item: DataPoint) -> str:
    given = (item.context, *(item.row.get(column) for column in _CONTEXT_COLUMNS))
    return next((show(value) for value in given if value), "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _mark(text: str) -> str:
    """Letters that the text does not hold, derived from it. As few as can be: each costs a small model time."""
    digest, length = sha256(text.encode("utf-8", "surrogatepass")).digest(), 2
    while (mark := "".join(_LETTERS[b % len(_LETTERS)] for b in digest[:length])) in text:
        digest, length = sha256(digest).digest(), length + 1
    return mark


def _render(name: str, values: dict[str, str]) -> str:
    spec = prompts.shipped(name)
    fence = _mark("\0".join(sorted(values.values())))  # the same for both orders of a pair
    return Template(spec.user, name=f"prompt {name}").render({**values, "fence": fence})
