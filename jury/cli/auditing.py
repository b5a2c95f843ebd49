"""`jury calibrate`, `stability`, `bias`, `worth`: reads a run, prints what the auditor found. Computes nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from jury.audit import SAMPLED, audited, keep, keep_labels, leanings, of_criterion, read_labels, spent
from jury.audit import calibrate as calibrated
from jury.audit import stability as measured
from jury.audit import worth as valued
from jury.audit.calibrating import AgainstPeople, Calibration
from jury.audit.people import drawn, of_sample
from jury.cli import exits
from jury.cli.asking_again import AskOptions, asked
from jury.cli.audit_words import as_json, number, p_value, points, share, table, told
from jury.cli.tables import facts, stdout
from jury.errors import ConfigError
from jury.store import Run

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


def calibrate(options: CalibrateOptions) -> int:
    """Exit code 0; a wrong word or file raises."""
    run = Run.open(options.folder)
    labels, test, as_data = options.labels, options.test, options.json
    if options.keep_labels and labels is None:
        raise ConfigError("--keep-labels belongs to --labels FILE")
    if options.criterion and test:
        raise ConfigError("--test is for the verdict as a whole: a criterion is held against the development labels")
    own = read_labels(labels) if labels else run.labels()
    how = options.sampled or drawn(own) or _asked()
    given = read_labels(labels, sampling=how) if labels else own
    if options.keep_labels:
        sys.stderr.write(f"{keep_labels(run, given):,} labels are new in {run.folder}\n")
        given = run.labels()
    kept = of_sample(given, how)
    audit = of_criterion(run, options.criterion, kept) if options.criterion else audited(run, kept)
    found = calibrated(audit, sampled=how, part="test" if test else "development", exclude=options.exclude)
    before = spent(run, found.version) if test else []
    if not options.criterion:  # what is kept holds for the verdict as a whole
        keep(run, found)
    if as_data:
        as_json({**{name: getattr(found, name) for name in _SHOWN}, "weights": found.weights.to_dict(),
                 "spent_before": before, "left_out": len(given) - len(kept)})  # fmt: skip
        return exits.OK
    _say(found, before)
    if len(kept) < len(given):
        told([f"{len(given) - len(kept)} labels on items that were not drawn at random were left out"])
    return exits.OK


_SHOWN = (
    "sampled", "part", "version", "n_labels", "n_used", "excluded", "rows", "raw_rate", "corrected_rate",
    "disagreements", "brier", "confidence_error", "people", "notes",
)  # fmt: skip


def _asked() -> str:
    """How the labels were drawn: asked where somebody can answer; never guessed."""
    words = ", ".join(SAMPLED)
    if sys.stdin.isatty() and sys.stdout.isatty():
        return input(f"{_ASK} ({words})? ").strip()
    raise ConfigError(f"{_ASK}? Say it with --sampled: {words}")


def _say(found: Calibration, before: list[str]) -> None:
    console = stdout()
    lines = [
        ("labels", f"{found.n_labels}, drawn {found.sampled}; {found.n_used} in the {found.part} part"),
        ("pass rate", share(found.raw_rate)),
        ("people's", share(found.corrected_rate)),
        ("confidence", f"Brier {number(found.brier, 3)}, ECE {number(found.confidence_error, 3)}"
                       if found.part == "test" else found.brier.why),
        ("version", found.version),
    ]  # fmt: skip
    if found.people.reason != "too_few_raters":
        lines.insert(1, ("people agree", f"alpha {number(found.people)} among themselves"))
    facts(console, lines)
    table("against people", ["", "agreement", "TPR", "TNR", "kappa", "AC1"], [_against(r) for r in found.rows])
    cells = [[str(a), str(b), str(n)] for (a, b), n in sorted(found.rows[0].table.cells.items(), key=str)]
    table("panel by people's label", ["people", "panel", "items"], cells)
    weights = found.weights
    rows = [[j, f"{w:.2f}"] for j, w in sorted(weights.weights.items(), key=lambda pair: -pair[1])]
    table(f"weights: {weights.method}, confidence from {weights.source}", ["judge", "weight"], rows[:MOST])
    listed = [[d.item, str(d.people), str(d.panel), d.why_people, d.why_panel] for d in found.disagreements[:MOST]]
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


def _against(row: AgainstPeople) -> list[str]:
    found = row.accuracy
    return [
        row.name, share(row.agreement), share(found.tpr), share(found.tnr), number(found.kappa), number(row.ac1),
    ]  # fmt: skip


def stability(folder: str, options: AskOptions) -> int:
    """Exit code 0, or 3 where no question was asked twice."""
    run = Run.open(folder)
    ended = asked(run, options)
    if ended is not None:
        return ended
    found = measured(audited(Run.open(folder)))
    if options.json:
        as_json(found)
    else:
        rows = [
            [
                j.judge,
                share(j.retest.flip_rate),
                number(j.retest.disagreement),
                "-" if j.swapped is None else share(j.swapped.change_rate),
                "-" if j.beyond.value is None else points(j.beyond),
                f"{j.retest.usable}",
            ]
            for j in found.judges
        ]
        head = ["judge", "flips when asked again", "disagreement", "flips when swapped", "beyond noise", "questions"]
        table(f"stability: {found.items} items, {found.repetitions} repetitions", head, rows)
        table("most unstable items", ["item", "disagreement"], [[i, f"{d:.2f}"] for i, d in found.unstable])
        told([found.reason] if found.reason else [])
    return exits.NO_RESULT if found.reason else exits.OK


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
            "-" if x.position is None else points(x.position.lean),
            p_value(x.p_position),
            number(x.length) if audit.paired else points(x.length),
            p_value(x.p_length),
            points(x.own_family),
            p_value(x.p_family),
        ]
        for x in found
    ]
    head = ["judge", "first slot - second", "p", "length", "p", "own family", "p"]
    table("leanings (p corrected over the judges)", head, rows)
    told(["Longer answers may be better and a family may be good: a leaning is a reason to look, no proof."])
    return exits.OK


def worth(folder: str, labels: str | None, as_data: bool) -> int:
    """Exit code 0."""
    audit = audited(folder, read_labels(labels) if labels else None)
    found = valued(audit)
    if as_data:
        independent = {"votes": found.independent.votes, "correlation": found.independent.correlation}
        names = ("judges", "items", "alpha", "by_votes", "best", "best_agreement", "against_best", "cheapest",
                 "one_more", "price", "annotators", "saying")  # fmt: skip
        as_json({**{name: getattr(found, name) for name in names}, "independent": independent})
        return exits.OK
    told([*found.saying, ""])
    truth = "the plurality" if found.by_votes else "labels"
    lines = [
        ("panel", f"{found.judges} judges, {found.items} items"),
        ("independent votes", number(found.independent.votes)),
        ("error correlation", number(found.independent.correlation)),
        ("alpha", number(found.alpha)),
        ("best judge", f"{found.best or '-'}: {share(found.best_agreement)} agreement with {truth}, held-out half"),
    ]
    if found.against_best is not None:
        lines.append(("panel - best judge", points(found.against_best.difference)))
    if found.cheapest is not None:
        price = "" if found.cheapest.price is None else f", ${found.cheapest.price:.4f} an item"
        lines.append(("cheapest that do", f"{', '.join(found.cheapest.judges)}: {share(found.cheapest.same)}{price}"))
    lines.append(("price", "unknown" if found.price is None else f"${found.price:.4f} for each decided item"))
    lines.append(("one more vote", f"could change {share(found.one_more)} of the items"))
    people = found.annotators
    if people.passes is not None:
        told_by = f"wins against {share(people.winning_rate)} of {len(people.people)} people"
        lines.append(("stand-in for people", f"{told_by}, advantage {share(people.advantage)}"))
    facts(stdout(), lines)
    pairs = [[audit.judges[a], audit.judges[b], f"{v:.2f}" if v is not None else "undefined"]
             for (a, b), v in found.independent.pairs.items()]  # fmt: skip
    table("correlation of errors", ["judge", "judge", "correlation"], pairs[:MOST])
    return exits.OK
