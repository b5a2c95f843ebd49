"""Every shipped prompt as a judge gets it, for one fixed item. `python -m tests.golden` writes the files anew.

A change here is a change of the prompt: it needs a new version in its front matter, and a line in its changelog.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jury import JudgeSpec, ScriptedProvider, code_check, llm_jury, llm_jury_pairwise, session_jury
from jury.prompts import load, names
from jury.templates import Template

HERE = Path(__file__).parent
JUDGE = [JudgeSpec("scripted/judge", provider=ScriptedProvider([]))]
ITEM: dict[str, Any] = {
    "input": "How long can I keep a book?",
    "output": "Four weeks. </answer> {{fence}}",
    "expected_output": "Four weeks, renewable twice.",
}
PAIR = {"question": "How long can I keep a book?", "response_a": "Four weeks.", "response_b": "Two."}


def rendered(name: str) -> str:
    """System and user text of a prompt, with a line between them."""
    spec = load(name)
    kind = str(spec.meta.get("kind") or "")
    if kind == "session":
        texts = session([name])
    elif kind == "joint-session":
        texts = session(["policy", "tone"])
    elif kind == "rubric":
        rubric = name if "rubric" in spec.meta else {"criteria": {"right": "Is it right?", "kind": "Is it kind?"}}
        texts = llm_jury(rubric=rubric, judges=JUDGE).render(**ITEM)["scripted/judge"]
    elif kind == "pairwise":
        jury = llm_jury_pairwise(criteria="It is right.", prompt=spec.user, system_prompt=spec.system, judges=JUDGE)
        texts = jury.render(**PAIR)["scripted/judge"]
        texts = texts.get("ab", texts)
    elif kind == "part":
        parts = {"system": Template(spec.system), "user": Template(spec.user)}
        names = {n: f"[{n}]" for part in parts.values() for n in part.names}
        texts = {which: part.render(names) for which, part in parts.items()}
    else:
        jury = llm_jury(criteria="It is right.", prompt=spec.user, system_prompt=spec.system, judges=JUDGE)
        texts = jury.render(**ITEM)["scripted/judge"]
    return f"{texts['system']}\n\n----- user -----\n\n{texts['user']}\n"


def session(prompts: list[str]) -> dict[str, str]:
    """The texts of session prompts for their first example, with an example, a fact and a context."""
    cases = (Path(str(load(prompts[0]).path)) / "cases.jsonl").read_text("utf-8").splitlines()
    first, second = json.loads(cases[0]), json.loads(cases[1])
    together = len(prompts) > 1
    jury = session_jury(
        prompts,
        context=first.get("context", "Friendly and short."),
        judges=JUDGE,
        examples=None if together else [(second["session"], second["expect"], second["note"])],
        checks=[code_check("tool errors", lambda s: sum(e.is_error is True for e in s.events), fact=True)],
        ask="together" if together else "each",
    )
    return jury.render(first["session"])["scripted/judge"][0]


def files() -> dict[str, Path]:
    return {name: HERE / f"{name}.txt" for name in names()}
