"""Runs to look at: pointwise, pairwise, rubric, session, hostile, and the facts of a big one, by scripted judges.

They are the same on every machine.

Used by the browser tests, by `docs/pictures/` and by `benchmarks/report.py`; asks no model.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jury import Criterion, JudgeSpec, Rubric, ScriptedProvider, llm_jury, llm_jury_pairwise, session_jury
from jury.providers.base import Request
from jury.report.parts import (
    Answer,
    Asked,
    Head,
    ItemFacts,
    JudgeFacts,
    PanelFacts,
    Quote,
    Rate,
    Report,
    Seat,
    VoteFacts,
)
from jury.results import Reply, Usage
from jury.runner import RunSpec, run_sync
from jury.sessions.recording import record
from jury.store import Label, Run
from jury.transcripts import load_session

QUESTIONS = (
    "Can I return a lamp that I bought nine days ago?",
    "My parcel says delivered, but it is not here. What now?",
    "Do you ship to Iceland, and what does it cost?",
    "The kettle leaks after two years. Is that under warranty?",
    "Can I change the address of order 48213?",
    "How long does a refund take?",
    "Is the oak table in stock in Leeds?",
    "I was charged twice for the same order.",
    "Can I pay by invoice as a school?",
    "The colour of the chair differs from the picture.",
    "How do I cancel my subscription?",
    "Do you price-match other shops?",
)
ANSWERS = (
    "Yes. You may return it within 14 days of delivery, unused and in its box. The refund goes to the card you used.",
    "I am sorry to hear that. Please ask your neighbours first; after 24 hours we open a search with the carrier.",
    "We ship to Iceland for 19.00 EUR. Customs may add import tax on delivery.",
    "Our guarantee covers leaks for three years. Send us a photo of the leak and the receipt: we replace the kettle.",
    "The address can be changed until the parcel leaves the warehouse. Yours has not left yet, so I have changed it.",
    "Refunds take up to five working days once the parcel is back with us.",
)
TAGS = ("returns", "delivery", "shipping", "warranty", "orders", "refunds")
STYLES = {"strict": 0.20, "literal": 0.12, "lenient": 0.04, "careful": 0.10, "brief": 0.16}
CRITERIA = "The answer is right by the shop's policy and leaves the customer knowing what to do next."


def chance(*parts: object) -> float:
    """A number in [0, 1) that only depends on the parts."""
    made = hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(made[:6], "big") / 2**48


def judges(answer: Callable[[str, Request], Any], names: tuple[str, ...], **more: Any) -> list[JudgeSpec]:
    """One seat a name; `answer(name, request)` is what that judge says."""

    def seat(name: str) -> JudgeSpec:
        def reply(request: Request) -> Any:
            said = answer(name, request)
            if said is None or isinstance(said, BaseException | Reply):
                return said
            text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            return Reply(text, model=f"sample-{name}", usage=Usage(1, 420, 60, None, 0.0011), latency_s=0.4)

        return JudgeSpec(f"sample/{name}", id=name, provider=ScriptedProvider(reply, name="sample"), **more)

    return [seat(name) for name in names]


def rows(count: int, *, worse: float = 0.0) -> Iterator[dict[str, Any]]:
    """Questions of a shop's customers with answers; some answers are wrong, and their text says which."""
    for i in range(count):
        question, answer = QUESTIONS[i % len(QUESTIONS)], ANSWERS[i % len(ANSWERS)]
        bad = chance("bad", i) < 0.22 + worse
        if bad and chance("kind", i) < 0.6:
            answer = answer.split(". ")[0] + ". Our policy has no exceptions. You will be billed a fee of 45.00 EUR."
        elif bad:
            answer = "Thank you for your message. For this and everything else please see our website."
        question = f"{question} My order is {48213 + 7 * i}."
        row = {"id": f"case-{i + 1:03}", "input": question, "output": answer, "tags": [TAGS[i % len(TAGS)]]}
        if i % 4 == 0:
            row["expected_output"] = ANSWERS[i % len(ANSWERS)]
        if i % 29 == 17:
            row |= {"output": "", "error": "the shop's assistant did not answer: HTTP 504"}
        yield row


def wrong(text: str) -> bool:
    """Whether an answer of `rows` is one of the wrong ones."""
    return "no exceptions" in text or "see our website" in text


def _pointwise_answer(name: str, request: Request) -> Any:
    prompt = request.prompt
    bad = wrong(prompt)
    luck = chance(name, request.repetition, prompt[-900:])
    if luck < 0.008:
        return None
    if luck < 0.016:
        return "I would say it is mostly fine."
    if 0.016 < luck < 0.03:
        return {"evidence": [], "explanation": "The policy is not shown, so this cannot be told.", "abstain": True}
    good = not bad if luck > STYLES.get(name, 0.1) else bad
    if not good:
        if "no exceptions" in prompt:
            quote = "Our policy has no exceptions."
            reason = "It refuses what the policy grants and adds a fee that the policy does not know."
        elif bad:
            quote = "For this and everything else please see our website."
            reason = "It sends the customer away without an answer to the question."
        else:
            quote, reason = "as our terms in section 12 plainly say", "It leaves open what has to be done next."
        return {"evidence": [quote], "explanation": reason, "value": False}
    return {"evidence": [], "explanation": "It is right and names the next step.", "value": True}


def pointwise(folder: Path, count: int = 60, *, names: tuple[str, ...] = tuple(STYLES)[:3], worse: float = 0.0) -> Path:
    """Yes or no by three judges, each asked twice."""
    jury = llm_jury(criteria=CRITERIA, judges=judges(_pointwise_answer, names), repetitions=2, retries=0, reask=0)
    run_sync(RunSpec(list(rows(count, worse=worse)), jury, cache=False), folder)
    return folder


def eight(folder: Path) -> Path:
    """The pointwise run with as many judges as a panel is likely to have, some with long names."""
    makers = (
        "openai/gpt-5-mini",
        "anthropic/claude-haiku-4-5",
        "gemini/gemini-2.5-flash",
        "a_function_of_ours_by_its_name",
    )
    return pointwise(folder, 40, names=(*STYLES, *makers)[-8:])


def labelled(folder: Path, count: int = 60) -> Path:
    """The pointwise run with labels by a person on two thirds of it."""
    pointwise(folder, count)
    run = Run.open(folder)
    for item in run.items():
        if item.number % 3 and not item.error:
            right = not wrong(item.output)
            value = right if chance("person", item.id) > 0.05 else not right
            run.add_label(Label(item.id, "ida", value, sampling="random"))
    return folder


def pairwise(folder: Path, count: int = 36) -> Path:
    """Which of two answers is better, in both orders; one judge likes what comes first."""

    def data() -> Iterator[dict[str, Any]]:
        for i in range(count):
            better, worse = ANSWERS[i % 6], f"{QUESTIONS[i % 12].rstrip('.?')}? Anything else is on our website."
            sides = (("plain", "patient"), ("patient", "brisk"), ("plain", "brisk"))[i % 3]
            if chance("shown", i) < 0.5:
                sides = sides[::-1]
            likely = "patient" if "patient" in sides else "brisk"
            first = (sides[0] == likely) == (chance("side", i) < 0.75)
            yield {
                "id": f"pair-{i + 1:02}",
                "model_a": sides[0],
                "model_b": sides[1],
                "question": f"{QUESTIONS[i % 12]} My order is {48213 + 7 * i}.",
                "response_a": better if first else worse,
                "response_b": worse if first else better,
                "tags": [TAGS[i % 6]],
            }

    def answer(name: str, request: Request) -> Any:
        prompt = request.prompt
        weak = prompt.rfind("Anything else is on our website")
        strong = max(prompt.rfind(text.split(". ")[-1][:25]) for text in ANSWERS)
        luck = chance(name, prompt[-700:])
        best = "A" if strong < weak else "B"
        if name == "first" and luck < 0.35:
            best = "A"
        elif luck > 0.97:
            best = "tie"
        return {"explanation": f"Answer {best} says what to do next." if best != "tie" else "Alike.", "value": best}

    jury = llm_jury_pairwise(criteria="More helpful.", judges=judges(answer, ("steady", "first", "brief")), retries=0)
    run_sync(RunSpec(list(data()), jury, cache=False), folder)
    return folder


RUBRIC = Rubric(
    [
        Criterion("correctness", "Is what the answer claims true?", scale="1-5", anchors={5: "all right", 1: "wrong"}),
        Criterion("tone", "Is it polite throughout?", scale="0/1", gate=1),
        Criterion("next_step", "Does it say what to do next?", scale="1-5"),
        Criterion("source", "Does it name the paragraph it relies on?", scale="0/1", na=True),
    ],
    pass_rule="correctness >= 4 and next_step >= 3",
    name="support",
    task="a support assistant",
)


def rubric(folder: Path, count: int = 40) -> Path:
    """Four criteria by three judges."""

    def answer(name: str, request: Request) -> Any:
        prompt = request.prompt
        bad = wrong(prompt)
        said = "Our policy has no exceptions." if "no exceptions" in prompt else "please see our website"

        def one(key: str, low: int, high: int) -> dict[str, Any]:
            luck = chance(name if chance(name, key, prompt[-600:]) < 0.3 else "all", key, prompt[-600:])
            top = high - (2 if bad and high == 5 else int(bad and key == "tone" and luck < 0.5))
            score = max(low, top - int(luck * 2.2)) if high == 5 else max(low, top - int(luck < 0.1))
            quote = [said] if bad else []
            return {"evidence": quote, "reasoning": f"{key.replace('_', ' ')}: {score} of {high}.", "score": score}

        made: dict[str, Any] = {"correctness": one("correctness", 1, 5), "tone": one("tone", 0, 1)}
        made["next_step"] = one("next_step", 1, 5)
        made["source"] = {"evidence": [], "reasoning": "No policy is quoted.", "score": "NA"}
        return made

    jury = llm_jury(rubric=RUBRIC, judges=judges(answer, tuple(STYLES)[:3]), retries=0, reask=0)
    run_sync(RunSpec(list(rows(count)), jury, cache=False), folder)
    return folder


RULES = "1. Waive a fee only up to 5 EUR.\n2. Never ask for a password.\n3. Say which step comes next."


def _session(i: int) -> list[dict[str, Any]]:
    amount = 9 if chance("fee", i) < 0.4 else 4
    call = {"id": "c1", "type": "function", "function": {"name": "waive_fee", "arguments": f'{{"amount": {amount}}}'}}
    result = "Error: the ledger is closed" if chance("down", i) < 0.2 else '{"fee": 0}'
    told = "Done, the fee is gone. You need not do anything." if chance("next", i) < 0.7 else "Done."
    return [
        {"role": "user", "content": f"There is a late fee of {amount} EUR on my card. Can you drop it?"},
        {"role": "assistant", "content": "I am looking it up.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": result},
        {"role": "assistant", "content": told},
    ]


def session(folder: Path, count: int = 24) -> Path:
    """Agent sessions against a policy and their task."""

    def answer(name: str, request: Request) -> Any:
        prompt = request.prompt[request.prompt.find('{"i": 1') :]
        luck = chance(name, prompt)
        if "violations" in (request.schema or {}).get("properties", {}):
            found = []
            if "fee of 9" in prompt and luck < 0.9:
                found.append({"rule": 1, "event": "event 2"})
            if '"Done."' in prompt and luck < 0.8:
                found.append({"rule": 3, "event": "event 4"})
            return {"evidence": ["event 2"], "violations": found, "verdict": "FAIL" if found else "PASS"}
        failed = "ledger is closed" in prompt
        return {"evidence": ["Done, the fee is gone."], "verdict": "FAIL" if failed and luck < 0.9 else "PASS"}

    jury = session_jury(
        ["policy", "task-completion"], context={"policy": RULES}, judges=judges(answer, ("strict", "literal"))
    )
    given = []
    for i in range(count):
        text = "\n".join(json.dumps(message) for message in _session(i))
        given.append(load_session(text))

    async def all_of_them() -> None:
        named = [replace(one, id=f"session-{i + 1:02}") for i, one in enumerate(given)]
        async for _ in record(jury, named, folder):
            pass

    asyncio.run(all_of_them())
    return folder


HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<!--<script>",
    "\u202egnp.exe\u202c looks like a picture",
    "שלום עולם, this mixes directions: مرحبا (123)",
    "half \ud835 pair and \udc81 byte",
    "nul \x00 bell \x07 escape \x1b[31mred\x1b[0m",
    '" onmouseover="window.hacked=1" x="',
    "javascript:window.hacked=1",
    "]]></style><style>*{display:none}</style>",
    '=HYPERLINK("http://example.invalid","x")',
    "&lt;b&gt; &amp;nbsp; {{constructor}} ${7*7} \\u003cscript\\u003e",
)


def hostile(folder: Path, *, huge: int = 1_000_000) -> Path:
    """Every judged text, id, tag, reason and quote tries to be more than text; one item has a megabyte."""

    def answer(name: str, request: Request) -> Any:
        mark = next((h for h in reversed(HOSTILE) if h[:12] in request.prompt), HOSTILE[0])
        luck = chance(name, request.prompt[-200:])
        return {"evidence": [mark, "<b>not there</b>"], "explanation": f"{mark} <i>why</i>", "value": luck < 0.5}

    data = [
        {"id": f"{text} {i}", "input": text, "output": f"{text}\n{text}", "tags": [text]}
        for i, text in enumerate(HOSTILE)
    ]
    long = "word <b>bold</b> " * (huge // 17)
    data.append({"id": "huge", "input": "A long one", "output": long, "tags": ["huge"]})
    data.append({"id": "one line", "input": "x" * 50_000, "output": "y" * 50_000})
    seats = judges(answer, ("<script>window.hacked=1</script>", "\u202eevil"))
    jury = llm_jury(criteria=f"Hostile {HOSTILE[0]}", judges=seats, retries=0, reask=0)
    run_sync(RunSpec(data, jury, cache=False), folder)
    return folder


def big(count: int = 10_000, judges: int = 5) -> Report:
    """What a report knows of a run of this size, without the run: texts of usual length, no two items alike."""
    names = [f"judge-{n + 1}" for n in range(judges)]
    items = tuple(_big_item(i, row, names) for i, row in enumerate(rows(count)))
    outcomes = Counter(item.outcome for item in items)
    rate = Rate(outcomes["pass"] / count, n=count, hits=outcomes["pass"], text=f"{100 * outcomes['pass'] / count:.1f}%")
    head = Head(
        name="big",
        kind="pointwise",
        criteria=CRITERIA,
        rule="mode",
        seats=tuple(Seat(name, model=f"sample/{name}") for name in names),
        finished=True,
        rate=rate,
        coverage=Rate(1.0, n=count, hits=count, text="100%"),
        outcomes=dict(outcomes),
        answered=count,
        total=count,
        calls=count * judges,
    )
    return Report(head, PanelFacts(tuple(JudgeFacts(name, votes=count) for name in names)), items)


def _big_item(i: int, row: dict[str, Any], names: list[str]) -> ItemFacts:
    bad = wrong(row["output"])
    votes: list[VoteFacts] = []
    for name in names:
        good = (not bad) if chance(name, i) > 0.08 else bad
        done = "is answered by the policy and the next step is named" if good else "is refused without a reason"
        why = f"Order {i} {done}."
        reply = json.dumps({"explanation": why, "value": good})
        votes.append(
            VoteFacts(
                name,
                value=good,
                passed=good,
                word="pass" if good else "fail",
                explanation=f"{why} The tone is calm, the answer keeps to what was asked and promises nothing else.",
                quotes=() if good else (Quote("Our policy has no exceptions.", bad, field="output" if bad else ""),),
                answers=(Answer(reply, status="scored", value=good, model=f"sample/{name}", latency_s=0.4),),
            )
        )
    passed = sum(bool(v.passed) for v in votes) * 2 > len(votes)
    split = len({v.passed for v in votes}) > 1
    prompt = f"Criteria: {CRITERIA}\n\nQuestion: {row['input']}\n\nAnswer: {row['output']}\n\nReply with JSON."
    return ItemFacts(
        id=f"item-{i:05}",
        number=i,
        outcome="pass" if passed else "fail",
        word="pass" if passed else "fail",
        status="decided",
        value=passed,
        passed=passed,
        agreement=max(sum(v.passed is p for v in votes) for p in (True, False)) / len(votes),
        flags=(() if passed else ("failed",)) + (("split",) if split else ()),
        tags=tuple(row["tags"]),
        texts={"input": row["input"], "output": f"{row['output']} This is about order {i}, which was sent on time."},
        votes=tuple(votes),
        asked=(Asked("0" * 16, tuple(names), system="You judge answers of a shop.", user=prompt, exact=True),),
        calls=len(votes),
    )
