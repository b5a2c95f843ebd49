"""The keywords of a rubric jury, turned into a method, a panel and a prompt. Nothing below sees them."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from jury.declared import check_kind
from jury.errors import ConfigError
from jury.judge import Prompt
from jury.panel import PanelSpec
from jury.prompts import PromptSpec
from jury.rubrics.asking import RubricMethod
from jury.rubrics.library import load_rubric, prompt_for, prompt_of
from jury.versions import with_system

log = logging.getLogger("jury.rubrics.making")


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


def rubric_prompt(
    method: RubricMethod, source: Any, prompt: str | PromptSpec | None, system_prompt: str | None
) -> Prompt:
    """The prompt of a rubric jury: the caller's own, else the one that the rubric comes from (`source`), else the
    shipped one for its shape of reply. A prompt that asks for all criteria in a shape of its own cannot ask about
    `each`: the shipped one does."""
    shipped = prompt_for(method.rubric, method.ask)
    prompt = prompt_of(source) if prompt is None else prompt
    if isinstance(prompt, PromptSpec) and method.ask == "each" and method.rubric.shape != "plain":
        if prompt.digest != prompt_for(method.rubric, "together").digest:
            log.warning(
                "%s asks for all criteria at once: each is asked about by the prompt %s", prompt.name, shipped.name
            )
        prompt = None
    if prompt is None:
        return Prompt(with_system(shipped, system_prompt))
    if isinstance(prompt, PromptSpec):
        check_kind(prompt, "rubric", "pointwise")
        given = with_system(prompt, system_prompt, shipped.system)
    else:
        given = PromptSpec("own", prompt, shipped.system if system_prompt is None else system_prompt)
    made = Prompt(given)
    if not made.wanted & {"rubric", "criteria"}:
        raise ConfigError("the prompt has no {{rubric}}: no judge would see the criteria")
    return made
