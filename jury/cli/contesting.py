"""`jury rank RUN --answers FILE`: the quote, the consent, and the rounds; the ranking is printed by its own command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jury.audit import Pool, hold_contest_sync, next_pairs, pool
from jury.audit.contest import rows_of
from jury.cli import exits
from jury.cli.asked import listed
from jury.cli.asking_again import consent
from jury.cli.consoles import write
from jury.cli.functions import load_function
from jury.cli.options import check_counts
from jury.cli.progress import Progress
from jury.cli.quoting import say
from jury.cli.running import seated
from jury.cli.writing import aside
from jury.datasets import parse_map, rows
from jury.errors import ConfigError
from jury.pairwise import PairwiseJury
from jury.runner import Quote, RunReport, RunSpec
from jury.runner.entries import entries
from jury.runner.estimate import quoted
from jury.wording import count, dollars

_SAMPLE = 100  # pairs that a quote looks at


@dataclass(frozen=True, slots=True)
class ContestOptions:
    """What was asked for. `answers`: the files of answers; without any nobody is asked."""

    answers: Sequence[str] = ()
    comparisons: int = 100
    config: str | None = None
    judges: Sequence[str] = ()
    criteria: str | None = None
    map: Sequence[str] = ()
    seed: int = 0
    estimate: bool = False
    budget: float | None = None
    yes: bool = False
    json: bool = False


def held(folders: Sequence[str], options: ContestOptions) -> int | None:
    """Holds the contest where answers were given; an exit code where the command ends here.

    Raises `ConfigError`, `DataError`.
    """
    check_counts(comparisons=options.comparisons)
    if not options.answers:
        if options.config or options.judges or options.criteria or options.estimate or options.yes:
            raise ConfigError("--config, --judges, --criteria, --estimate and --yes belong to --answers FILE")
        return None
    if len(folders) != 1:
        raise ConfigError(f"a contest is kept in one run folder, got {len(folders)}")
    folder = Path(folders[0])
    columns = {"id": "", **parse_map(options.map)}  # ids may be the questions': a pair has one of its own
    given = pool(rows(list(options.answers), mapping=columns))
    spec = _spec(options)
    quote = _quote(given, spec, folder, options)
    if options.estimate:
        say(quote, options.json)
        return exits.OK
    told = f"{count(quote.items, 'comparison')} of {len(given.targets)} targets, {count(quote.calls, 'question')}"
    if not consent(quote, told, agreed=options.yes or options.budget is not None):
        return exits.OK
    with Progress("comparisons") as progress, aside():

        def heard(done: int, of: int) -> None:
            progress.reach(min(done, of))

        progress.start(options.comparisons)
        report = hold_contest_sync(
            given,
            spec,
            folder,
            comparisons=options.comparisons,
            seed=options.seed,
            load=load_function,
            on_round=heard,
        )
    if report.fault is not None:
        raise report.fault
    for change in report.changes:
        write(f"changed since the last time: {change}\n", sys.stderr)
    write(f"{count(report.totals['n_total'], 'comparison')} in {folder}, {_cost(report)}\n", sys.stderr)
    if report.totals["reasons"].get("budget"):
        sys.stderr.write("the budget is used up: the ranking is of what was compared\n")
    return None


def _spec(options: ContestOptions) -> RunSpec:
    over = {"judges": listed(options.judges), "criteria": options.criteria, "budget": options.budget}
    changes = {name: value for name, value in over.items() if value not in (None, [])}
    if options.config is not None:
        return seated(RunSpec.from_file(options.config, **{"kind": "pairwise", **changes}))
    return seated(RunSpec.from_mapping({"kind": "pairwise", **changes}))


def _quote(given: Pool, spec: RunSpec, folder: Path, options: ContestOptions) -> Quote:
    """From the pairs of one round: which ones will meet in the others is not known before."""
    done = rows_of(folder)
    left = max(0, options.comparisons - len(done))
    some = next_pairs(given, done, (), seed=options.seed)[: min(_SAMPLE, left)]
    jury = spec.make_jury(load_function)
    if not isinstance(jury, PairwiseJury):
        raise ConfigError("a contest compares: give a pairwise run (kind: pairwise)")
    if not some:
        return Quote(left, 0)
    sample = list(entries(spec.with_changes(data=some, map={}, limit=None, targets=None)))
    return quoted(jury, sample, left, folder, cache=spec.cache)


def _cost(report: RunReport) -> str:
    unknown = report.totals["cost"] is None
    spent = "cost unknown (a price is missing)" if unknown else dollars(report.spent)
    return f"{spent} in all, {count(report.totals['calls'], 'call')}"
