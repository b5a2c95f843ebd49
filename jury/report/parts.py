"""What a report knows, as frozen values: `Report` and its parts. Computes nothing, reads nothing, knows no format.

    Report
      head         Head            what the run is, its rate with interval and coverage, spend, what the panel was worth
      panel        PanelFacts      agreement of judges, `JudgeFacts` for each, and sentences that say what it means
      items        ItemFacts...    verdict, flags, texts, `VoteFacts` with `Quote`s and `Answer`s, `Asked` prompts
      findings     Finding...      failed items grouped by criterion, rule and alike reasons, the largest first
      sample       item ids        passing items drawn at random, to be read: failures alone mislead
      criteria     CriterionFacts  verdicts, scores and violations by criterion (rubrics and sessions)
      pairs        PairFacts       win rates, flips and the ranking (pairwise)
      difference   Difference      against another run of the same items

`to_dict` gives plain JSON values under the names of the fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, cast

FLAGS = ("failed", "split", "contested", "unstable", "for_people", "na", "error", "not_judged", "evidence_missing")
"""What an item can be filtered by: it failed; judges voted differently; the two ways to decide a rubric differ; a judge
contradicted itself when asked again or in the other order; a cascade left it to people; not applicable; no verdict for
want of usable replies (or the target errored), or of money or time; a quote that is not in the judged text."""


class _Plain:
    """Values that dump to JSON under their fields' names."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; undefined is null."""
        return cast("dict[str, Any]", _plain(self))


@dataclass(frozen=True, slots=True)
class Rate(_Plain):
    """A number with its interval and how it is written: `text` is what people see (`n/a` where undefined, `why` says
    why). `hits` of `n` where it is a share of counts. `low` and `high` may be None.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    hits: float | None = None
    level: float = 0.95
    text: str = "n/a"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Seat(_Plain):
    """A judge as the run was configured. `prompt` is a digest of `Report.prompts`."""

    id: str
    model: str = ""
    family: str = ""
    prompt: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    weight: float = 1.0
    stand_in: bool = False


@dataclass(frozen=True, slots=True)
class Head(_Plain):
    """The run on one page.

    `rate_name` is `pass rate`, or `win rate of A` for pairs; `outcomes` counts items by `ItemFacts.outcome`; `answered`
    of `total` items have a usable verdict (`coverage`). `corrected`: the rate people would give, None without a
    calibration that holds (`corrected_why`). `gate`: what `jury gate` found last, None where it was not run; its
    outcome is `expired` where the run has changed since. `worth`: sentences. `cost` in US dollars, None where a price
    is unknown. `mean` of verdicts that are numbers. `rule`: over the votes, or a rubric's own pass rule. `targets` are
    what made the outputs, by side of pairs (`a`, `b`), else under `target`; none where the data held them.
    """

    name: str
    kind: str
    criteria: str = ""
    rule: str = ""
    scale: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seats: tuple[Seat, ...] = ()
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    created: str = ""
    finished: bool = False
    jury_version: str = ""
    folder: str = ""
    rate_name: str = "pass rate"
    rate: Rate = field(default_factory=lambda: Rate(None))
    coverage: Rate = field(default_factory=lambda: Rate(None))
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    mean: Rate | None = None
    answered: int = 0
    total: int = 0
    corrected: Rate | None = None
    corrected_why: str = ""
    gate: Mapping[str, Any] | None = None
    cost: float | None = None
    cost_text: str = ""
    calls: int = 0
    calls_saved: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    labels: int = 0
    worth: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeFacts(_Plain):
    """One judge over the run. `rate` of its own verdicts (pairs: A's win rate without ties), `with_panel`: share of
    its votes that are the panel's verdict. `flips`: share of pairs it judged differently in the other order; `lean`:
    first slot minus second. `retest`: share of questions it answered differently when asked again. Undefined numbers
    say why. `failures` counts votes by kind of error.
    """

    id: str
    votes: int = 0
    rate: Rate = field(default_factory=lambda: Rate(None))
    with_panel: Rate = field(default_factory=lambda: Rate(None))
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    abstained: int = 0
    failures: Mapping[str, int] = field(default_factory=dict[str, int])
    flips: Rate | None = None
    flip_kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    lean: Rate | None = None
    retest: Rate | None = None
    quotes_found: int = 0
    quotes_missing: int = 0
    contradictions: int = 0
    cost: float | None = None
    stand_in: bool = False


@dataclass(frozen=True, slots=True)
class PanelFacts(_Plain):
    """`agreement[i][j]` is the share of common items on which judges i and j vote alike (None: none in common, or i is
    j), `common[i][j]` how many those are. `alpha` is Krippendorff's, `effective` the number of independent votes.
    `sentences` by `agreement`, `rates`, `effective`, `failures`, `position`, `stability`: one each, where there is
    something to say.
    """

    judges: tuple[JudgeFacts, ...] = ()
    agreement: tuple[tuple[float | None, ...], ...] = ()
    common: tuple[tuple[int, ...], ...] = ()
    alpha: Rate = field(default_factory=lambda: Rate(None))
    effective: Rate = field(default_factory=lambda: Rate(None))
    sentences: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Quote(_Plain):
    """A piece of evidence. `found`: it is there; None where it was not looked for. `criterion` where there are several.
    `field`: the text of the item that holds it (white space and case apart), empty where none does. `near`: with small
    edits only; `words` are what stands there, part by part, where that differs from the quote.
    """

    text: str
    found: bool | None = None
    criterion: str = ""
    field: str = ""
    near: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer(_Plain):
    """One raw reply of a judge. `prompt` is the digest of the prompt's texts, `source` `cache`, `same` or `batch`."""

    reply: str | None = None
    order: str = "none"
    repetition: int = 0
    criterion: str | None = None
    status: str = ""
    value: Any = None
    failure: str = ""
    prompt: str = ""
    rung: str = ""
    model: str = ""
    calls: int = 0
    retries: int = 0
    latency_s: float = 0.0
    source: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class PartFacts(_Plain):
    """A verdict on one criterion: of the panel (with `agreement`), or of one judge."""

    key: str
    status: str = ""
    value: Any = None
    passed: bool | None = None
    explanation: str = ""
    agreement: float | None = None
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class VoteFacts(_Plain):
    """A judge's vote. `status`: `scored`, `not_applicable`, `abstained`, `error` or `flip`. `word` is what to show."""

    judge: str
    status: str = "scored"
    value: Any = None
    passed: bool | None = None
    word: str = ""
    explanation: str = ""
    failure: str = ""
    failure_kind: str = ""
    flip_kind: str = ""
    quotes: tuple[Quote, ...] = ()
    parts: tuple[PartFacts, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    answers: tuple[Answer, ...] = ()
    cost: float | None = None
    weight: float = 1.0
    stand_in: bool = False


@dataclass(frozen=True, slots=True)
class Asked(_Plain):
    """A prompt as judges got it. `exact`: its digest is that of what was sent; else it was filled in again from what
    the run kept, or (`filled` false) is the template. `prompt` is the digest in `Report.prompts`.
    """

    prompt: str
    judges: tuple[str, ...] = ()
    order: str = "none"
    criterion: str | None = None
    system: str = ""
    user: str = ""
    exact: bool = False
    filled: bool = True


@dataclass(frozen=True, slots=True)
class ItemFacts(_Plain):
    """One item. `outcome`: `pass`, `fail`, `na`, `inconclusive`, `error`, `not_judged`, `unrated`; of pairs `A`, `B`,
    `tie`, `inconclusive`, `error`, `not_judged`. `word` is what to show. `texts` by name, in the order to show them;
    `messages` the chat or session, each with role and content. `people`: labels by labeller.
    """

    id: str
    number: int
    outcome: str
    word: str = ""
    status: str = ""
    value: Any = None
    passed: bool | None = None
    reason: str = ""
    explanation: str = ""
    agreement: float | None = None
    flags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    messages: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    votes: tuple[VoteFacts, ...] = ()
    parts: tuple[PartFacts, ...] = ()
    asked: Sequence[Asked] = ()
    people: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cost: float | None = None
    calls: int = 0
    trace_id: str = ""
    notes: tuple[str, ...] = ()
    row: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Finding(_Plain):
    """Failed items that seem to fail for one reason. `criterion` and `rule` where known, `words` what their reasons
    share. `examples`: ids to open, the most typical first, each with its reason. `trend`: (run, count, items) of
    earlier runs, oldest first, this one last. `first`: what to look at first.
    """

    title: str
    count: int
    items: tuple[str, ...]
    criterion: str = ""
    rule: str = ""
    words: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    trend: tuple[tuple[str, int, int], ...] = ()
    first: str = ""


@dataclass(frozen=True, slots=True)
class CriterionFacts(_Plain):
    """One criterion over all items. `scores`: items by score. `entries`: by list field how many there were, `by_key`:
    items by field and rule (or step), `words`: the most frequent entries. `judges`: pass rate (or mean) by judge.
    """

    key: str
    question: str = ""
    items: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict[str, int])
    rate: Rate = field(default_factory=lambda: Rate(None))
    mean: Rate | None = None
    scores: Mapping[str, int] = field(default_factory=dict[str, int])
    entries: Mapping[str, int] = field(default_factory=dict[str, int])
    by_key: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    words: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    judges: Mapping[str, Rate] = field(default_factory=dict[str, Rate])


@dataclass(frozen=True, slots=True)
class Target(_Plain):
    """A candidate in a ranking. `against_first`: chance to win against the first of its `group`; None for that one.
    `ranks`: best and worst rank the intervals allow.
    """

    name: str
    group: int = 1
    elo: float | None = None
    ranks: tuple[int, int] | None = None
    games: int = 0
    against_first: Rate | None = None


@dataclass(frozen=True, slots=True)
class PairFacts(_Plain):
    """Pairs: A's win rate (a tie is half), counts by winner, flips by kind among votes in both orders; `ranking` where
    the rows name what is compared, `next_pairs` what to compare next.
    """

    win_rate: Rate
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    flips: Rate = field(default_factory=lambda: Rate(None))
    flip_kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    ranking: tuple[Target, ...] = ()
    next_pairs: tuple[tuple[str, str], ...] = ()
    cycles: tuple[tuple[str, str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Changed(_Plain):
    """An item whose verdict differs: in the other run, and in this one."""

    item: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Difference(_Plain):
    """This run against another one on the items that both hold. `fixed` failed there and pass here, `broken` the other
    way round, `changed` is everything that differs. `rate` is this pass rate minus the other's. `differs` names what
    else is not the same: then the difference is not the system's alone.
    """

    other: str
    other_rate: Rate
    rate: Rate
    p: float | None = None
    sentence: str = ""
    common: int = 0
    only_here: int = 0
    only_there: int = 0
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report(_Plain):
    """Everything a report shows of a run. `prompts`: name, version, system and user texts by digest."""

    head: Head
    panel: PanelFacts = field(default_factory=PanelFacts)
    items: tuple[ItemFacts, ...] = ()
    findings: tuple[Finding, ...] = ()
    sample: tuple[str, ...] = ()
    criteria: tuple[CriterionFacts, ...] = ()
    pairs: PairFacts | None = None
    difference: Difference | None = None
    prompts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()


_ATOMS = frozenset((type(None), str, int, float, bool))


def _plain(value: Any) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _ATOMS:
        return value
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v) for v in cast("Sequence[Any]", value)]
    return value if isinstance(value, str | int | float) else str(value)
