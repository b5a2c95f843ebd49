"""`jury diff`, `rank`, `gate`, `drift`: reads runs, prints what the auditor found, chooses the exit code."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from jury.audit import (
    Audited,
    audited,
    compare_runs,
    gate_agreement,
    roll_back,
    roll_back_weights,
    tournament,
)
from jury.audit import drift as drifted
from jury.audit import gate as gated
from jury.audit.keeping import keep_gate
from jury.audit.people import left_out
from jury.cli import exits
from jury.cli.audit_words import as_json, covered, p_value, points, said, share, table, told
from jury.cli.auditing import labels_in
from jury.cli.contesting import ContestOptions, held
from jury.cli.functions import is_function
from jury.cli.tables import facts, stdout
from jury.errors import ConfigError, DataError
from jury.keys import function_name
from jury.store import Label, Run, StoredItem
from jury.summary import count
from jury.weighing import is_path, stored_weights

_CODES = {"pass": exits.OK, "fail": exits.BELOW, "undecided": exits.UNDECIDED}
MOST = 20


@dataclass(frozen=True)
class GateOptions:
    """What was asked of `jury gate`."""

    folders: list[str]
    pass_rate: str | None
    error_rate: str | None
    min_coverage: float | None
    by: str | None
    agreement: bool
    margin: float
    rollback: bool
    labels: str | None
    level: float
    json: bool


def gate(asked: GateOptions) -> int:
    """0 pass, 1 fail, 4 undecided."""
    if asked.by not in (None, "tag"):
        raise ConfigError(f"--by takes `tag`, what the data has in a column `tag` or `tags`; got {asked.by!r}")
    if len(asked.folders) != (2 if asked.agreement else 1):
        raise ConfigError("give one RUN; with --agreement two: NEW OLD")
    if asked.agreement:
        return _agreement(asked)
    audit = audited(asked.folders[0])
    found = gated(
        audit,
        pass_rate=asked.pass_rate,
        error_rate=asked.error_rate,
        min_coverage=asked.min_coverage,
        by_tag=asked.by == "tag",
        level=asked.level,
    )
    with suppress(DataError):  # a folder that is only read can be gated all the same; its report shows no gate
        keep_gate(audit, found)
    if asked.json:
        as_json({"outcome": found.outcome, "level": found.level, "checks": found.checks, "coverage": found.coverage})
        return _CODES[found.outcome]
    rows = [
        [
            c.name,
            share(c.estimate),
            str(c.condition),
            c.outcome,
            "-" if c.false_alarm is None else f"{100 * c.false_alarm:.1f}%",
        ]
        for c in found.checks
    ]
    table(f"gate: {found.outcome}", ["", "measured", "wanted", "outcome", "false alarm at the mark"], rows)
    if asked.min_coverage is None:  # else it is in the table
        facts(stdout(), [("coverage", covered(found.coverage))])
    if found.outcome == "undecided":
        told(["Undecided: the interval holds the mark. More items decide it, not another mark."])
    return _CODES[found.outcome]


def _agreement(asked: GateOptions) -> int:
    runs = [Run.open(folder) for folder in asked.folders]
    labels = labels_in(asked.labels) if asked.labels else _labels(*runs)
    new, old = (audited(run, labels) for run in runs)
    found = gate_agreement(new, old, margin=asked.margin, level=asked.level)
    back = _taken_back(new, old) if asked.rollback and found.outcome == "fail" else []
    if asked.json:
        as_json({**{n: getattr(found, n) for n in found.__dataclass_fields__}, "rolled_back": back})
        return _CODES[found.outcome]
    lines = [
        ("gate", found.outcome),
        ("new", f"{share(found.new)} agreement with people on {found.new.n} labelled items"),
        ("old", share(found.old)),
        ("new - old", f"{points(found.difference)}, may lose {100 * found.margin:g}"),
    ]
    if found.left_out:
        lines.append(("labels", left_out(found.left_out)))
    facts(stdout(), lines)
    rows = [[item, said(label), said(was), said(now)] for item, label, was, now in found.flipped[:MOST]]
    table("flipped items, those that got worse first", ["item", "people", "old", "new"], rows)
    told(back)
    return _CODES[found.outcome]


def _labels(new: Run, old: Run) -> list[Label]:
    """The labels of both runs; NEW's where both have some of an item, and OLD's of items that NEW holds alike.

    A label is of an output: of an item whose output is another one it says nothing.
    """
    own = new.labels()
    known = {label.item for label in own}
    texts = {item.id: _texts(item) for item, _ in new.results()}
    alike = {item.id for item, _ in old.results() if texts.get(item.id) == _texts(item)}
    found = [*own, *(label for label in old.labels() if label.item in alike and label.item not in known)]
    if not any(label.status != "undone" for label in found):
        raise ConfigError("no labels in NEW or OLD: pass --labels FILE or run jury label")
    return found


def _texts(item: StoredItem) -> tuple[str, ...]:
    return item.input, item.output, item.response_a, item.response_b


def _taken_back(new: Audited, old: Audited) -> list[str]:
    """Prompts and weights of OLD put back, in sentences; or why they could not be: the gate has failed all the same."""
    first, second = new.run.manifest, old.run.manifest
    lines: list[str] = []
    try:
        lines += [
            f"rolled back: {p.path} holds version {p.restored} of {p.name}, {p.rejected} is in {p.kept}"
            for p in roll_back(first, second)
        ]
        weights = first.spec.get("aggregator")
        if first.rule != second.rule and isinstance(weights, str) and is_path(weights) and not is_function(weights):
            if function_name(stored_weights(weights)) == first.rule:  # or they were put back, or fitted anew, since
                roll_back_weights(weights)
                lines.append(f"rolled back: {weights} holds its earlier weights")
            else:
                lines.append(f"not rolled back: {weights} holds other weights than NEW was judged with")
    except (ConfigError, DataError) as error:
        lines.append(f"not rolled back: {error}")
    return lines or ["nothing to roll back: OLD's prompts and weights are those that are in use"]


def diff(first: str, second: str, anyway: bool, level: float, as_data: bool) -> int:
    """Exit code 0."""
    found = compare_runs(audited(first), audited(second), level=level)
    if found.differs and not anyway:
        raise ConfigError(
            f"the runs were not judged alike ({'; '.join(found.differs)}): their difference is not the system's alone. "
            "Compare them --anyway"
        )
    if as_data:
        names = found.__dataclass_fields__
        as_json({"better": found.better, "rates": found.rates, **{n: getattr(found, n) for n in names}})
        return exits.OK
    counts, compared = found.comparison.counts, found.comparison
    only_a, only_b = found.only
    rate, rates = "win rate of A in" if found.paired else "pass rate of", found.rates
    lines = [
        (f"{rate} RUN_A", share(rates["first"])),
        (f"{rate} RUN_B", share(rates["second"])),
        ("B - A", f"{points(compared.difference)}: {_BETTER[found.better]}"),
        ("McNemar", f"p {p_value(compared.exact_p)} (exact), {p_value(compared.mid_p)} (mid-p)"),
        (
            "passes",
            f"both {counts.both:,}, only B {counts.only_a:,}, only A {counts.only_b:,}, neither {counts.neither:,}",
        ),
        (
            "coverage",
            f"{counts.n:,} of {found.common:,} common items compared; only in A {only_a:,}, in B {only_b:,}",
        ),
    ]
    facts(stdout(), lines)
    rows = [[f.item, said(f.first), said(f.second)] for f in found.changed[:MOST]]
    more = f", the first {MOST} of {len(found.changed)}" if len(found.changed) > MOST else ""
    table(f"flipped items{more}", ["item", "A", "B"], rows)
    told([f"not alike: {word}" for word in found.differs])
    return exits.OK


_BETTER = {"second": "B is better", "first": "A is better", "undecided": "no difference can be seen"}


def rank(folders: list[str], name_a: str, name_b: str, options: ContestOptions) -> int:
    """Exit code 0, or 3 where nothing could be compared."""
    ended = held(folders, options)
    if ended is not None:
        return ended
    found = tournament([audited(f) for f in folders], name_a=name_a, name_b=name_b)
    names = ("targets", "sigma", "cycles", "next_pairs", "games", "left_out", "note")
    if options.json:
        items = found.ranking.items
        gaps = [{"a": a, "b": b, "difference": found.ranking.difference(a, b)} for a in items for b in items if a < b]
        as_json({**{n: getattr(found, n) for n in names}, "differences": gaps})
        return exits.OK if found.games else exits.NO_RESULT
    leaders = {t.group: t.target for t in reversed(found.targets)}
    rows = [
        [
            str(t.group + 1),
            t.target,
            "-" if t.ranks is None else f"{t.ranks[0]}" if t.ranks[0] == t.ranks[1] else f"{t.ranks[0]}-{t.ranks[1]}",
            "-" if t.elo is None else f"{t.elo:+z.0f}",
            "-" if t.target == leaders[t.group] else share(found.ranking.win_probability(t.target, leaders[t.group])),
            str(t.games),
        ]
        for t in found.targets
    ]
    heads = ["group", "target", "rank", "Elo", "chance against the first", "votes"]
    one = len(leaders) == 1  # and so no column for it
    table("ranking", heads[one:], [row[one:] for row in rows])
    table("spread of judges (1 is average)", ["judge", "sigma"], [[j, f"{s:.2f}"] for j, s in found.sigma.items()])
    table("cycles", ["beats", "beats", "beats the first"], [list(c) for c in found.cycles[:MOST]])
    table("undecided, compare next", ["target", "target"], [list(p) for p in found.next_pairs])
    compared = f"{count(found.games, 'vote')} compared, {found.left_out} left out (flips, no verdict)"
    told([compared, *filter(None, [found.note])])
    return exits.OK if found.games else exits.NO_RESULT


def drift(then: str, now: str, system_then: str | None, system_now: str | None, alpha: float, as_data: bool) -> int:
    """0 where nothing drifted, 1 for any drift, 3 where no anchor can tell."""

    def read(folder: str | None) -> Audited | None:
        return None if folder is None else audited(folder)

    found = drifted(audited(then), audited(now), read(system_then), read(system_now), alpha=alpha)
    code = {"none": exits.OK, "unknown": exits.NO_RESULT}.get(found.verdict, exits.BELOW)
    if as_data:
        as_json(found)
        return code
    lines = [
        ("drift", found.verdict),
        ("judge, on anchors", f"{points(found.judge.difference)}, p {p_value(found.p_judge)}"),
        ("system", f"{points(found.system)}, p {p_value(found.p_system)}"),
        ("system less judge", points(found.system_alone)),
        ("anchors", f"{found.judge.counts.n} compared, {found.unmatched} changed or missing"),
        ("false alarms", f"at most {100 * found.alpha:g}% over both tests"),
    ]
    facts(stdout(), lines)
    return code
