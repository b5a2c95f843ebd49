"""What stdout shows at the end of a run: the verdict table, who voted what, the rates with their coverage, the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from jury.brief import verdict_word, vote_word, why_word
from jury.cli.consoles import Careful
from jury.cli.tally import Kept, Several, Tally
from jury.results import Comparison, PairVote, PanelResult, Usage, Vote
from jury.summary import Summary, WinRate, beside, outcome
from jury.wording import bracket, count, counted, dollars, flips, percent, reason, reasons, shorten, visible

NARROWEST = 20  # columns for the reasons; below, they stand under the table
WIDEST = 110  # columns; wider lines are hard to read
FEWEST = 20  # columns; where there are fewer, lines break
NOT_ASKED = "·"
MOST_COLUMNS = 5  # judges with a column of their own; the votes of more are counted
STYLES = {
    "pass": "green",
    "fail": "red",
    "na": "cyan",
    "inconclusive": "yellow",
    "error": "magenta",
    "not judged": "dim",
    "abstained": "dim",
    "flip": "yellow",
    "A": "green",
    "B": "blue",
    "tie": "cyan",
}


def stdout() -> Console:
    """The console for results; plain text of at most 80 columns where stdout is no terminal."""
    console = Careful()
    console.width = max(FEWEST, min(console.width or 80, WIDEST))  # 0: nobody knows
    return console


def word(text: str, kind: str | None = None) -> Text:
    """A word in the colour of its kind."""
    return Text(text, style=STYLES.get(kind if kind is not None else text, ""))


def verdict_table(tally: Tally, console: Console) -> None:
    """The rows that a tally shows, and which they are of how many."""
    rows, only_odd = tally.shown
    if not rows:
        return
    rows_table(rows, tally.judges, console)
    if tally.n > len(rows):
        which = "without a winner" if isinstance(rows[0].result, Comparison) else "that did not pass"
        several = f"the first {len(rows)} of {tally.odd} rows" if tally.odd > len(rows) else count(len(rows), "row")
        console.print(
            Text(f"{several} {which}, of {tally.n}" if only_odd else f"the first {len(rows)} of {tally.n}", "dim")
        )
    console.print()


def rows_table(rows: Sequence[Kept], judges: Sequence[str], console: Console) -> None:
    """One line a row: the verdict, each judge's vote under the judge's number, and why."""
    names = any(not _is_number(k) for k in rows)
    if 1 < len(judges) <= MOST_COLUMNS:
        for i, judge in enumerate(judges, 1):
            label = "judges " if i == 1 else "       "
            console.print(Text.assemble((label, "dim"), (f"{i} ", "bold"), judge), overflow="ellipsis", no_wrap=True)
    gap = (0, 1, 0, 0)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=gap, show_edge=False, expand=True, header_style="bold")
    table.add_column("row", justify="right", no_wrap=True)
    if names:
        table.add_column("item", no_wrap=True, overflow="ellipsis", max_width=16)
    table.add_column("verdict", no_wrap=True)
    columns = judges if 1 < len(judges) <= MOST_COLUMNS else ()
    for i in range(len(columns)):
        table.add_column(str(i + 1), no_wrap=True)
    if len(judges) > MOST_COLUMNS:
        table.add_column("votes", max_width=24)
    cells = [_cells(k, judges, names) for k in rows]
    room = console.width - sum(_width(c, [row[i] for row in cells]) + 2 for i, c in enumerate(table.columns))
    if narrow := room < NARROWEST:  # a word to a line is read by nobody
        table.expand = False
    else:
        table.add_column("why", ratio=1)
    for kept, row in zip(rows, cells, strict=True):
        table.add_row(*row, *(() if narrow else (_two_lines(_why(kept.result), room),)))
    show(console, table)
    if narrow:
        _reasons(rows, console)


def _reasons(rows: Sequence[Kept], console: Console) -> None:
    """Why, row by row, where there is no room for it beside the votes."""
    told = [(str(kept.number), why) for kept in rows if (why := _why(kept.result))]
    if not told:
        return
    widest = max(len("row"), *(len(number) for number, _ in told))
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("row", justify="right", no_wrap=True)
    table.add_column("why")
    for number, why in told:
        table.add_row(Text(number, style="dim"), _two_lines(why, max(1, console.width - widest - 2)))
    console.print()
    show(console, table)


def _width(column: Column, cells: Sequence[Text]) -> int:
    """The columns of a terminal that a column of the table takes up; a wide letter takes two."""
    widest = max(len(str(column.header)), *(cell.cell_len for cell in cells))
    return widest if column.max_width is None else min(widest, column.max_width)


def _two_lines(text: str, room: int) -> Text:
    """As much of a text as two lines hold, less what the ends of lines lose, as words do not break."""
    length = 2 * room - min(8, room // 2)
    shown = shorten(text, length)
    while cell_len(shown) > length:  # wide letters
        shown = shorten(shown, min(len(shown) - 1, length * len(shown) // cell_len(shown)))
    return Text(shown)


def _is_number(kept: Kept) -> bool:
    return kept.result.item_id in (None, f"#{kept.number}", str(kept.number))


def _cells(kept: Kept, judges: Sequence[str], names: bool) -> list[Text]:
    result = kept.result
    cells = [Text(str(kept.number), style="dim")]
    if names:
        cells.append(Text(visible(result.item_id or "")))
    cells.append(verdict_text(result))
    votes = {v.judge: v for v in result.votes}
    marks = [vote_text(votes.get(judge)) for judge in judges]
    if len(judges) > MOST_COLUMNS:
        counts = Counter(mark.plain for mark in marks if mark.plain != NOT_ASKED)
        return [*cells, Text(", ".join(f"{n} {text}" for text, n in counts.most_common()))]
    return [*cells, *(marks if len(judges) > 1 else ())]


def verdict_text(result: PanelResult | Comparison) -> Text:
    """The verdict in a word or two."""
    said = verdict_word(result)
    return word(said, said if said in STYLES or isinstance(result, Comparison) else outcome(result))


def vote_text(vote: Vote | PairVote | None) -> Text:
    """A vote in a word; `*` marks a stand-in."""
    if vote is None:
        return Text(NOT_ASKED, style="dim")
    said = vote_word(vote)
    return word(said, {"none": "abstained"}.get(said.removesuffix("*"), said.removesuffix("*")))


def _why(result: PanelResult | Comparison) -> str:
    if result.explanation:
        told = result.explanation.removeprefix("No verdict: ").removeprefix("Not judged: ")
        return told.replace(": No verdict: ", ": ")  # of a criterion
    if result.reason:
        return reason(result.reason)
    if isinstance(result, Comparison) or result.passed:
        return ""
    return next((why_word(vote) for vote in result.votes if vote.value == result.value), "")


def so_far(judged: int, total: int | None) -> str:
    """How far a run came that did not come to its end."""
    if total is None:
        return f"{judged:,} judged, not finished; the same command goes on"
    return f"{judged:,} of {total:,} judged; the same command goes on"


def empty(n: int) -> str:
    """How many outputs hold nothing."""
    return f"{count(n, 'empty output')}, judged like any other"


def interval(good: float, rated: int) -> str:
    """` [74.7, 88.3]`: the 95% interval (Wilson) of a share, in per cent."""
    from jury.stats.intervals import wilson

    found = wilson(good, rated)
    return f" {bracket(found.low or 0, found.high or 0)}"


def money(usage: Usage | None, calls: int, *, free: bool = False, unpriced: Collection[str] = ()) -> str:
    """What was paid; unknown is unknown. `free`: functions alone were asked, and what reports no cost has none.

    `unpriced`: the judges for which it is not known.
    """
    cost = usage.cost if usage else 0.0 if free else None
    whose = f" of {', '.join(map(visible, unpriced))}" if unpriced else ""
    unknown = f"unknown (no price or no token count{whose})" if usage else "not reported"
    price = unknown if cost is None else dollars(cost)
    tokens = ""
    if usage and usage.input_tokens is not None and usage.output_tokens is not None:
        tokens = f", {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    return f"{price}  ({count(calls, 'call')}{tokens})"


def show(console: Console, shown: RenderableType) -> None:
    """Prints a table, a text or their like, in pipes and files without the blanks that fill up its lines."""
    if console.is_terminal:
        console.print(shown)
        return
    with console.capture() as caught:
        console.print(shown)
    console.file.write("".join(line.rstrip() + "\n" for line in caught.get().splitlines()))


def told(console: Console, text: str, *, style: str = "", whole: bool = False) -> None:
    """A sentence, wrapped at words; `whole`: on one line however long, so that it can be copied."""
    console.print(Text(text, style=style), soft_wrap=whole)


def facts(console: Console, lines: Sequence[tuple[str, str | Text]]) -> None:
    """`name   value` lines, aligned."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in lines:
        grid.add_row(name, value if isinstance(value, Text) else Text(value))
    show(console, grid)


def summary_lines(summary: Summary, tally: Tally) -> list[tuple[str, str | Text]]:
    """The pointwise run in numbers, each rate with its coverage."""
    lines: list[tuple[str, str | Text]] = []
    rated = summary.n_pass + summary.n_fail
    if rated:
        rate = percent(summary.n_pass, rated) + interval(summary.n_pass, rated)
        rates = [("pass", summary.n_pass), ("fail", summary.n_fail)]
        lines.append(("pass rate", Text(f"{rate}  {counted(rates)}", style="bold")))
    elif not summary.n_unrated:
        lines.append(("pass rate", Text("undefined  nothing passed or failed", style="bold")))
    if {v.casefold() for v in tally.values} - {"pass", "fail"}:
        lines.append(("verdicts", ", ".join(f"{n} {name}" for name, n in tally.values.most_common(12))))
    if tally.numbers:
        lines.append(("mean", f"{tally.total / tally.numbers:.3g}"))
    usable = rated + summary.n_na + summary.n_unrated
    lines.append(("coverage", _coverage(usable, tally)))
    longest = max(map(cell_len, tally.criteria), default=0)
    for i, (key, found) in enumerate(tally.criteria.items()):
        lines.append(("" if i else "criteria", key + " " * (longest - cell_len(key) + 2) + _criterion(found)))
    return lines + _common(tally)


def _criterion(found: Several) -> str:
    """`75%  6 passed, 2 failed`; `mean 3.4  8 scored`."""
    counts = [("scored" if word == "unrated" else word, n) for word, n in found.outcomes.most_common()]
    passed, rated = found.outcomes["pass"], found.outcomes["pass"] + found.outcomes["fail"]
    rate = [percent(passed, rated)] if rated else []
    mean = [f"mean {found.total / found.numbers:.3g}"] if found.numbers else []
    return "  ".join((*rate, *mean, counted(counts)))


def comparison_lines(rate: WinRate, tally: Tally) -> list[tuple[str, str | Text]]:
    """The pairwise run in numbers."""
    lines: list[tuple[str, str | Text]] = []
    if rate.win_rate_a is not None:
        share = percent(2 * rate.n_a + rate.n_tie, 2 * rate.n_judged)
        share += interval(rate.n_a + rate.n_tie // 2, rate.n_judged)
        counts = counted([("a", rate.n_a), ("b", rate.n_b), ("tie", rate.n_tie)])
        lines.append(("win rate A", Text(f"{share}  {counts} (a tie counts half)", style="bold")))
        lines.append(("winner", winner(rate.n_a + rate.n_tie // 2, rate.n_judged)))
    else:
        lines.append(("win rate A", Text("undefined  no pair was decided", style="bold")))
    lines.append(("coverage", _coverage(rate.n_judged, tally)))
    if tally.both_orders:
        changed = sum(tally.flips.values())
        kinds = flips(tally.flips)
        votes = count(tally.both_orders, "vote")
        told = f"{percent(changed, tally.both_orders)}  {changed:,} of {votes} changed with the order"
        lines.append(("flips", told + (f" ({kinds})" if kinds else "")))
        if changed and len(tally.twice) > 1:
            each = [f"{visible(j)} {n:,} of {tally.twice[j]:,}" for j, n in tally.turned.most_common()]
            lines.append(("", f"by judge: {', '.join(each)}"))
    return lines + _common(tally)


def winner(wins_a: float, judged: int) -> str:
    """Which side the pairs prefer, as far as the interval of the win rate tells."""
    from jury.stats.intervals import wilson

    found = wilson(wins_a, judged)
    if (found.low or 0) > 0.5:
        return "A: the whole interval is above 50%"
    if (found.high or 0) < 0.5:
        return "B: the whole interval is below 50%"
    return "open: the interval holds 50%"


def _coverage(usable: int, tally: Tally) -> str:
    """`90%  9 of 10: 1 error`."""
    counts = {word.replace(" ", "_"): n for word, n in tally.outcomes.items() if word != "unrated"}
    others = beside(counts, tally.reasons)
    return f"{percent(usable, tally.n)}  {usable:,} of {tally.n:,}" + (f": {others}" if others else "")


def _common(tally: Tally) -> list[tuple[str, str | Text]]:
    lines: list[tuple[str, str | Text]] = []
    if tally.several:
        told = f"{percent(tally.unanimous, tally.several)}  unanimous on {tally.unanimous:,} of {tally.several:,}"
        lines.append(("agreement", told))
    if tally.reasons:
        lines.append(("undecided", reasons(tally.reasons)))
    by_number = sorted(tally.errors.items(), key=lambda one: -one[1][0])
    for i, ((judge, kind), (n, detail)) in enumerate(by_number):
        lines.append(("errors" if i == 0 else "", word(f"{n} {kind} by {judge}: {shorten(detail, 160)}", "error")))
    if tally.empty:
        lines.append(("note", empty(tally.empty)))
    if tally.calls:
        saved = f", {count(tally.saved, 'call')} saved" if tally.saved else ""
        lines.append(("cost", money(tally.usage, tally.calls, free=tally.free, unpriced=tally.unpriced) + saved))
    return lines
