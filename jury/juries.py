"""What the pointwise and the pairwise jury share: a name, a checked prompt, and a panel made when it is needed.

Neither how an item is asked about nor what the votes mean is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from jury import namespace, templates
from jury.aggregation import Rule
from jury.judge import Prompt
from jury.keys import function_name
from jury.panel import Panel, PanelSpec
from jury.scales import Scale


@dataclass(frozen=True, slots=True)
class Terms:
    """What every jury is made from."""

    name: str
    criteria: str
    prompt: Prompt
    scale: Scale
    panel: PanelSpec
    variables: Mapping[str, Any]
    strict_template: bool


class BaseJury:
    """A panel with a prompt and a scale. Prompts and rule are checked when it is made, seats once they are known."""

    kind: ClassVar[Literal["pointwise", "pairwise"]]

    def __init__(self, terms: Terms) -> None:
        self.name = terms.name
        self.criteria = terms.criteria
        self.scale = terms.scale
        self.spec = terms.panel
        self.variables = dict(terms.variables)
        self._prompt = terms.prompt
        self._strict = terms.strict_template
        self._panel: Panel | None = None
        Rule.of(self.spec.aggregator, self.scale, self.spec.tie_break)
        self._check(self._prompt)
        if self.spec.judges:
            self._panel = self._make()

    @property
    def panel(self) -> Panel:
        """The seats, made at the first call where they come from the environment. Raises `ConfigError`."""
        if self._panel is None:
            self._panel = self._make()
        return self._panel

    def _seated(self) -> Panel:
        return Panel(self.spec, self.scale, self._prompt, self.kind)

    def _own_names(self) -> Mapping[str, Any]:
        """Names that templates may use beside the namespace and the caller's variables."""
        return {}

    def _make(self) -> Panel:
        panel = self._seated()
        panel.check_opinions()
        if getattr(self.spec.aggregator, "holds_for", None):
            self._hold(panel)
        for prompt in panel.prompts[1:]:
            self._check(prompt)
        return panel

    def _hold(self, panel: Panel) -> None:
        """Weights that were fitted on other judges, prompts or criteria are refused."""
        from jury.weighing import Fitted, check_weights  # loaded by whoever made the weights

        if isinstance(self.spec.aggregator, Fitted):
            seats = [
                {
                    "id": seat.name,
                    "model": seat.spec.model,
                    "prompt": seat.prompt.spec.digest,
                    "function": function_name(seat.function.function) if seat.function else None,
                }
                for seat in panel.seats
            ]
            check_weights(self.spec.aggregator, self.criteria, seats)

    def _check(self, prompt: Prompt) -> None:
        known = namespace.known(self.kind, {**self.variables, **self._own_names()})
        for template in (prompt.user, prompt.system):
            templates.check(template, known, strict=self._strict, prompt_name=prompt.spec.name)
