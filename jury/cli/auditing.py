"""`jury calibrate`, `stability`, `bias`, `worth`: reads a run, prints what the auditor found. Computes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jury.audit import (
    SAMPLED,
    Audited,
    Polled,
    Stability,
    Worth,
    audited,
    keep,
    keep_labels,
    leanings,
    of_criterion,
    polled,
    read_labels,
    spent,
)
from jury.audit import calibrate as calibrated
from jury.audit import stability as measured
from jury.audit import worth as valued
from jury.audit.against import AgainstPeople
from jury.audit.calibrating import Calibration
from jury.audit.people import drawn, left_out, of_sample
from jury.cli import exits
from jury.cli.asking_again import AskOptions, asked
from jury.cli.audit_words import (
    UNKNOWN,
    as_json,
    cell,
    covered,
    number,
    p_value,
    points,
    reasons,
    said,
    share,
    short_why,
    table,
    told,
)
from jury.cli.calling import called
from jury.cli.consoles import write
from jury.cli.progress import Progress
from jury.cli.rates import quoted
from jury.cli.tables import facts, stdout
from jury.errors import ConfigError
from jury.stats import Estimate
from jury.store import Label, Run
from jury.wording import count, dollars

_ASK = "How were the labelled items drawn"
MOST = 20  # items listed


@dataclass(frozen=True, slots=True)
class CalibrateOptions:
    """What was asked of `jury calibrate`."""

    folder: str
    sampled: str | None = None
    labels: str | None = None
    keep_labels: bool = False
    criterion: str | None = None
    test: bool = False
    exclude: Sequence[str] = ()
    json: bool = False


def labels_in(file: str) -> list[Label]:
    """The labels of a file; what is odd in it is a warning."""
    with Progress("labels"):
        return read_labels(file)


def calibrate(options: CalibrateOptions) -> int:
    """Exit code 0; a wrong word or file raises."""
    run = Run.open(options.folder)
    labels, test, as_data = options.labels, options.test, options.json
    if options.keep_labels and labels is None:
        raise ConfigError("--keep-labels belongs to --labels FILE")
    if options.criterion and test:
        raise ConfigError("--test is for the verdict as a whole: a criterion is held against the development labels")
    own = labels_in(labels) if labels else run.labels()
    if not any(label.status != "undone" for label in own):
        raise ConfigError("no labels: jury label RUN, or --labels FILE")
    how = options.sampled or drawn(own) or _asked()
    given = [replace(label, sampling=label.sampling or how) for label in own] if labels else own
    if options.keep_labels:
        write(f"{count(keep_labels(run, given), 'label is', 'labels are')} new in {run.folder}\n", sys.stderr)
        given = run.labels()
    kept = of_sample(given, how)
    audit = of_criterion(run, options.criterion, kept) if options.criterion else audited(run, kept)
    if not audit.labelled():
        raise ConfigError(_unusable(audit, given, kept, how))
    found = calibrated(audit, sampled=how, part="test" if test else "development", exclude=options.exclude)
    before = spent(run, found.version) if test else []
    if not options.criterion:  # what is kept holds for the verdict as a whole
        keep(run, found)
    if as_data:
        as_json({**{name: getattr(found, name) for name in _SHOWN}, "weights": found.weights.to_dict(),
                 "spent_before": before, "left_out": len(given) - len(kept), "strays": audit.stray_items})  # fmt: skip
        return exits.OK
    _say(found, before, "win rate A" if audit.paired else "pass rate")
    if len(kept) < len(given):
        told([left_out(len(given) - len(kept))])
    if not options.criterion:
        facts(stdout(), list(_after(options.folder, found)))
    return exits.OK


def _after(folder: str, found: Calibration) -> Iterator[tuple[str, str]]:
    """What to try next with a calibration that is kept."""
    yield "next", f"{called()} report {quoted(folder)}   the rate people would give, beside the panel's"
    if found.weights.source != "none":
        yield "", f"aggregator: {folder}   in a configuration: votes count by these weights"


_SHOWN = (
    "sampled", "part", "version", "n_labels", "n_used", "excluded", "rows", "raw_rate", "coverage", "corrected_rate",
    "disagreements", "brier", "confidence_error", "people", "notes",
)  # fmt: skip


def _unusable(audit: Audited, given: Sequence[Label], kept: Sequence[Label], how: str) -> str:
    """Why labels that are there cannot be used."""
    if len(kept) < len(given) and not kept:
        return f"no labels drawn {how}: all that there are ({len(given)}) are on items drawn in another way"
    if audit.strays:
        names = ", ".join(map(repr, audit.stray_items[:3]))
        return f"no labels of items that the run has a verdict on: {audit.strays} are of others, such as {names}"
    return "no labels that say pass or fail: they give no verdict, or people tie: jury label RUN, or --labels FILE"


def _asked() -> str:
    """How the labels were drawn: asked where somebody can answer; never guessed."""
    words = ", ".join(SAMPLED)
    if sys.stdin.isatty() and sys.stdout.isatty():
        return input(f"{_ASK} ({words})? ").strip()
    raise ConfigError(f"{_ASK}? Say it with --sampled: {words}")


def _say(found: Calibration, before: list[str], rate: str) -> None:
    console = stdout()
    lines = [
        ("labels", f"{found.n_labels}, drawn {found.sampled}; {found.n_used} in the {found.part} part"),
        (rate, cell(share, found.raw_rate)),
        ("coverage", covered(found.coverage)),
        ("people's", cell(share, found.corrected_rate) if found.corrected_rate.value is not None
                     else f"{UNKNOWN}: {short_why(found.corrected_rate)}"),
        ("confidence", f"Brier {number(found.brier, 3)}, ECE {number(found.confidence_error, 3)}"
                       if found.brier.value is not None else f"{UNKNOWN}: {short_why(found.brier)}"),
        ("version", found.version),
    ]  # fmt: skip
    if found.people.reason != "too_few_raters":
        lines.insert(1, ("people agree", f"alpha {number(found.people)} among themselves"))
    facts(console, lines)
    table("against people", ["", *_AGAINST], [_against(r) for r in found.rows])
    told([_MEANS, *reasons((r.name, *c) for r in found.rows for c in zip(_AGAINST, _numbers(r), strict=True))])
    cells = [[str(a), str(b), str(n)] for (a, b), n in sorted(found.rows[0].table.cells.items(), key=str)]
    table("panel by people's label", ["people", "panel", "items"], cells)
    weights = found.weights
    rows = [[j, f"{w:.2f}"] for j, w in sorted(weights.weights.items(), key=lambda pair: -pair[1])]
    table(f"weights: {weights.method}, confidence from {weights.source}", ["judge", "weight"], rows[:MOST])
    listed = [[d.item, said(d.people), said(d.panel), d.why_people, d.why_panel] for d in found.disagreements[:MOST]]
    more = f", the first {MOST} of {len(found.disagreements)}" if len(found.disagreements) > MOST else ""
    table(f"disagreements{more}", ["item", "people", "panel", "people's reason", "panel's reason"], listed)
    notes = [*found.notes, *([weights.note] if weights.note else [])]
    if found.part == "test":
        notes.append(
            f"test labels were looked at with this version before, on {before[0]}: this number is no longer fresh"
            if before
            else "test labels are now spent for this version: change nothing because of them"
        )
    told(notes)


_AGAINST = ("agreement", "TPR", "TNR", "kappa", "AC1")
_MEANS = (
    "agreement: share of equal verdicts. TPR, TNR: share of people's passes and of people's fails that it finds too. "
    "kappa, AC1: agreement beyond chance, 1 is perfect."
)


def _numbers(row: AgainstPeople) -> tuple[Estimate, ...]:
    found = row.accuracy
    return row.agreement, found.tpr, found.tnr, found.kappa, row.ac1


def _against(row: AgainstPeople) -> list[str]:
    agreement, tpr, tnr, kappa, ac1 = _numbers(row)
    return [row.name, *(cell(share, e) for e in (agreement, tpr, tnr)), *(cell(number, e) for e in (kappa, ac1))]


def stability(folder: str, options: AskOptions) -> int:
    """Exit code 0, or 3 where no question was asked twice."""
    run = Run.open(folder)
    ended = asked(run, options)
    if ended is not None:
        return ended
    audit = audited(Run.open(folder))
    found = measured(audit)
    if options.json:
        as_json(found)
    else:
        seen = polled(audit)
        rows = [
            [
                j.judge,
                cell(share, j.retest.flip_rate),
                cell(number, j.retest.disagreement),
                "-" if (moved := j.swapped.change_rate if j.swapped else j.reordered) is None else cell(share, moved),
                "-" if j.beyond.value is None else points(j.beyond),
                f"{j.retest.usable}",
            ]
            for j in found.judges
        ]
        head = ["judge", "flips when asked again", "disagreement", "flips when swapped", "beyond noise", "questions"]
        table(f"stability: {count(found.items, 'item')}, {count(found.repetitions, 'repetition')}", head, rows)
        unstable = [[i, f"{100 * d:.0f}%"] for i, d in found.unstable]
        table("most unstable items", ["item", "chance that two answers differ"], unstable)
        if found.reason:
            told([found.reason])
        else:
            why = [(j.judge, *c) for j in found.judges
                   for c in zip(head[1:3], (j.retest.flip_rate, j.retest.disagreement), strict=True)]  # fmt: skip
            told(["", _ASKED_TWICE, *reasons(why), *_in_part(seen, found)])
    return exits.NO_RESULT if found.reason else exits.OK


_ASKED_TWICE = (
    "flips: share of questions with more than one answer. disagreement: chance that two answers to one question "
    "differ, mean over questions; of an item, mean over its judges."
)


def _in_part(seen: Polled, found: Stability) -> list[str]:
    """Of whom only some items can tell, because asking had stopped early."""
    return [
        f"{j.judge}: only the {j.retest.usable} of {count(found.items, 'item')} on which it was asked, since the "
        "others disagreed there; nobody was asked again where they had not been asked"
        for j in found.judges
        if j.judge in seen.late
    ]


def bias(folder: str, options: AskOptions) -> int:
    """Exit code 0."""
    run = Run.open(folder)
    if options.ask is not None and run.kind != "pairwise":
        raise ConfigError("single answers have no order: length and family are read from the votes, nothing is asked")
    ended = asked(run, options)
    if ended is not None:
        return ended
    audit = audited(Run.open(folder))
    found = leanings(audit)
    if options.json:
        as_json(found)
        return exits.OK
    rows = [
        [
            x.judge,
            "-" if x.position is None else cell(points, x.position.lean),
            p_value(x.p_position),
            cell(number if audit.paired else points, x.length),
            p_value(x.p_length),
            cell(points, x.own_family),
            p_value(x.p_family),
        ]
        for x in found
    ]
    head = ["judge", "first slot - second", "p", "length", "p", "own family", "p"]
    table("leanings (p corrected over the judges)", head, rows)
    told([*filter(None, [polled(audit).of_judges])])
    told(reasons((x.judge, *c) for x in found for c in (("length", x.length), ("own family", x.own_family))))
    told(["Longer answers may be better and a family may be good: a leaning is a reason to look, no proof."])
    return exits.OK


def _worth_lines(found: Worth) -> Iterator[tuple[str, str]]:
    truth = "the plurality" if found.by_votes else "labels"
    yield "panel", f"{count(found.judges, 'judge')}, {count(found.items, 'item')}"
    yield "independent votes", cell(number, found.independent.votes)
    yield "error correlation", cell(number, found.independent.correlation)
    yield "alpha", cell(number, found.alpha)
    agrees = f"{cell(share, found.best_agreement)} agreement with {truth}, held-out half"
    yield "best judge", UNKNOWN if found.best is None else f"{found.best}: {agrees}"
    if found.against_best is not None:
        yield "panel - best judge", cell(points, found.against_best.difference)
    if found.cheapest is not None:
        price = f", {dollars(found.cheapest.price)} an item" if found.cheapest.price else ""
        yield "cheapest that do", f"{', '.join(found.cheapest.judges)}: {cell(share, found.cheapest.same)}{price}"
    yield "price", _price(found)
    more = cell(share, found.one_more)
    yield "one more vote", more if more == UNKNOWN else f"could change {more} of the items"
    people = found.annotators
    if people.passes is not None:
        told_by = f"wins against {share(people.winning_rate)} of {count(len(people.people), 'person', 'people')}"
        yield "stand-in for people", f"{told_by}, advantage {share(people.advantage)}"


def _price(found: Worth) -> str:
    if found.price is None:
        return "unknown"
    return f"{dollars(found.price)} for each decided item" if found.price else "free"


def worth(folder: str, labels: str | None, as_data: bool) -> int:
    """Exit code 0."""
    audit = audited(folder, labels_in(labels) if labels else None)
    found = valued(audit)
    if as_data:
        independent = {"votes": found.independent.votes, "correlation": found.independent.correlation}
        names = ("judges", "items", "alpha", "by_votes", "best", "best_agreement", "against_best", "cheapest",
                 "one_more", "price", "annotators", "saying")  # fmt: skip
        as_json({**{name: getattr(found, name) for name in names}, "independent": independent})
        return exits.OK
    told([*found.saying, ""])
    facts(stdout(), list(_worth_lines(found)))
    one = found.independent
    numbers = (one.votes, one.correlation, found.alpha, found.best_agreement, found.one_more)
    lines = ("independent votes", "error correlation", "alpha", "best judge", "one more vote")
    told(reasons(("", *c) for c in zip(lines, numbers, strict=True)))
    pairs = [[audit.judges[a], audit.judges[b], f"{v:.2f}" if v is not None else UNKNOWN]
             for (a, b), v in found.independent.pairs.items()]  # fmt: skip
    table("correlation of errors", ["judge", "judge", "correlation"], pairs[:MOST])
    return exits.OK
