"""Runs that stopped early or went by a cascade: whose votes still say something about the judge. Changes no verdict.

Who is asked last is asked only where the others differ. Such votes settle verdicts, but they are a choice of the hard
items: rates and agreement counted on them would blame the judge for the choice. What may be counted:

    everywhere   judges that were asked about every item: whatever the others said had no part in it
    the lot      items that everybody was asked about whatever anybody said: those that a cascade drew (`check`), and
                 under `stop: 0.98` the first ones, from which it learned when to stop, and those that checked it since
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jury.audit.reading import Audited
from jury.errors import ConfigError
from jury.escalation import Escalation
from jury.stats.table import Category

ENOUGH = 20  # drawn items that numbers about a panel may rest on
ONLY_WHERE = "asked only where the others disagreed: says nothing about the judge"
IN_PART = "asking stopped early, so not every judge was asked about every item"


@dataclass(frozen=True, slots=True)
class Polled:
    """How the items of a run were polled. `late`: judges that were not asked about every item because asking stopped
    early; none in a run that asked everybody. `lot`: positions of the items that all were asked about whatever anybody
    said, empty where there are fewer than `ENOUGH`; `drawn` says how they came to be. `exact`: the verdicts are those
    of the full panel (`stop: decided`).
    """

    late: tuple[str, ...] = ()
    lot: tuple[int, ...] = ()
    exact: bool = True
    drawn: str = "by lot"

    @property
    def early(self) -> bool:
        """Whether some votes are a choice that the other votes made."""
        return bool(self.late)

    @property
    def note(self) -> str:
        """One plain sentence about the panel; empty where everybody was asked."""
        return self._told("numbers about the panel are of")

    @property
    def of_judges(self) -> str:
        """One plain sentence about single judges; empty where everybody was asked."""
        return self._told("what was said then counts on")

    def _told(self, rest: str) -> str:
        if not self.late:
            return ""
        who = ", ".join(self.late)
        was = "was" if len(self.late) == 1 else "were"
        says = f"asking stopped early: {who} {was} asked only where the others disagreed"
        if self.lot:
            return f"{says}, so {rest} the {len(self.lot)} items that all were asked about {self.drawn}"
        return f"{says}, which says nothing about the judge, so numbers that rest on it are left out"

    def fair(self, judge: str, votes: Sequence[Category | None]) -> list[Category | None]:
        """A judge's votes that may be counted; None in place of the others."""
        if judge not in self.late:
            return list(votes)
        drawn = set(self.lot)
        return [vote if at in drawn else None for at, vote in enumerate(votes)]

    def whole(self, audit: Audited) -> Audited | None:
        """The run on the items that may speak of the panel as a whole: all of them, those of the lot, or None."""
        if not self.early:
            return audit
        return replace(audit, judged=tuple(audit.judged[at] for at in self.lot)) if self.lot else None


def polled(audit: Audited) -> Polled:
    """How a run was polled, from what its results say; of a run without early stopping nothing is left out."""
    voters = [{v.judge for v in one.result.votes if not v.replacement} for one in audit.judged]
    if not any(one.result.calls_saved for one in audit.judged):
        return Polled()
    asked = [who for who in voters if who]
    late = tuple(judge for judge in audit.judges if any(judge not in who for who in asked))
    how, stop = _cascade(audit), audit.run.manifest.spec.get("stop")
    full = [at for at, who in enumerate(voters) if who >= set(audit.judges)]
    lot: list[int] = []
    if how is not None:
        lot = [at for at in full if how.drawn(audit.judged[at].item.id)]
    elif isinstance(stop, float):
        begun = next(at for at, one in enumerate(audit.judged) if one.result.calls_saved)
        lot = [at for at in full if at < begun or audit.judged[at].result.checked]
    drawn = "by lot" if how is not None else "before it was known when to stop, or to check that"
    return Polled(late, tuple(lot) if len(lot) >= ENOUGH else (), stop == "decided", drawn)


def _cascade(audit: Audited) -> Escalation | None:
    try:
        return Escalation.of(audit.run.manifest.spec.get("escalate"))
    except (ConfigError, TypeError):
        return None  # of another version: nobody knows what was drawn
