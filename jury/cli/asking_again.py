"""`jury stability RUN --ask N` and `jury bias RUN --ask N`: the quote, the consent, and the asking."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from jury.audit import Again, ask_again_sync, quote_again
from jury.cli import exits
from jury.cli.consoles import write
from jury.cli.functions import load_function
from jury.cli.options import check_counts
from jury.cli.quoting import dollars, say
from jury.cli.tables import count
from jury.cli.writing import aside
from jury.errors import ConfigError
from jury.pairwise import PairwiseJury
from jury.pointwise import Jury
from jury.runner import Quote, RunSpec
from jury.sessions.judging import SessionJury
from jury.store import Run


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What was asked for. `ask`: how many items; None: nobody is asked."""

    ask: int | None = None
    repetitions: int = 3
    seed: int = 0
    config: str | None = None
    estimate: bool = False
    budget: float | None = None
    yes: bool = False
    json: bool = False


def asked(run: Run, options: AskOptions) -> int | None:
    """Asks again where that was wanted; an exit code where the command ends here. Raises `ConfigError`, `DataError`."""
    check_counts(ask=options.ask, repetitions=options.repetitions)
    if options.ask is None:
        if options.estimate or options.budget is not None or options.config is not None or options.yes:
            raise ConfigError("--estimate, --budget, --config and --yes belong to --ask N: how many items to ask about")
        return None
    plan = Again(options.ask, options.repetitions, options.seed, options.budget)
    jury = _configured(options.config)
    quote = quote_again(run, plan, jury=jury, load=load_function)
    if options.estimate:
        say(quote, options.json)
        return exits.OK
    told = f"{count(quote.calls, 'question')} about {count(quote.items, 'item')}"
    if not consent(quote, told, agreed=options.yes or options.budget is not None):
        return exits.OK
    with aside():
        found = ask_again_sync(run, plan, jury=jury, load=load_function)
    asked_now = f"asked {count(found.asked.live, 'question')} about {count(found.items, 'item')}"
    known = found.asked.recalled + found.asked.cached
    price = "at an unknown price" if found.asked.unpriced else f"for {dollars(found.spent)}"
    lost = f"; {found.asked.failed:,} failed" if found.asked.failed else ""
    short = f"; {found.asked.refused:,} were not asked: the budget is used up" if found.asked.refused else ""
    write(f"{asked_now} {price}; {known:,} were known{lost}{short}\n", sys.stderr)
    return None


def _configured(config: str | None) -> Jury | PairwiseJury | SessionJury | None:
    if config is None:
        return None
    return RunSpec.from_file(config).make_jury(load_function)


def consent(quote: Quote, told: str, *, agreed: bool) -> bool:
    """Whether it may be paid: what was `agreed` to, what costs nothing, and what somebody says yes to.

    Raises `ConfigError` where nobody can be asked.
    """
    if agreed or not quote.calls or quote.most == 0:
        return True
    text = f"{told}, about {dollars(quote.cost)}, at most {dollars(quote.most)}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(f"this asks {text}: confirm it with --yes, or cap it with --budget DOLLARS")
    write(f"{text}. Ask? [y/N] ", sys.stderr)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
