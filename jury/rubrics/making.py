"""The keywords of a rubric jury, turned into a method, a panel and a prompt. Nothing below sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jury.errors import ConfigError
from jury.judge import Prompt
from jury.panel import PanelSpec
from jury.prompts import PromptSpec
from jury.rubrics.asking import RubricMethod
from jury.rubrics.library import load_rubric, prompt_for


def method_of(rubric: Any, ask: str | None, permute: bool | None, panel: PanelSpec) -> tuple[RubricMethod, PanelSpec]:
    """How the rubric is asked about; and the panel without its rule for single values, which has become its part."""
    if panel.stop is not None:
        raise ConfigError("stop= does not go with a rubric: every criterion has a vote of its own")
    method = RubricMethod(
        load_rubric(rubric),
        ask or "together",
        permute=bool(permute),
        aggregator=panel.aggregator,
        tie_break=panel.tie_break,
    )
    return method, replace(panel, aggregator=None, tie_break=None)


def rubric_prompt(method: RubricMethod, prompt: str | PromptSpec | None, system_prompt: str | None) -> Prompt:
    """The prompt of a rubric jury: the shipped one for its shape of reply, or the caller's own."""
    shipped = prompt_for(method.rubric, method.ask)
    system = shipped.system if system_prompt is None else system_prompt
    if prompt is None:
        return Prompt(replace(shipped, system=system))
    if isinstance(prompt, PromptSpec):
        given = replace(prompt, system=system if system_prompt is not None else prompt.system or system)
    else:
        given = PromptSpec("own", prompt, system)
    made = Prompt(given)
    if not made.wanted & {"rubric", "criteria"}:
        raise ConfigError("the prompt has no {{rubric}}: no judge would see the criteria")
    return made
