"""`jury label`: opens the page, and prints what the labels say when it is closed. Computes nothing."""

from __future__ import annotations

import getpass
import sys
from dataclasses import dataclass
from typing import cast

from jury.cli import exits
from jury.cli.audit_words import as_json, share, table, told
from jury.cli.consoles import write
from jury.cli.tables import stdout, visible
from jury.errors import ConfigError
from jury.label import Desk, Findings, Plan, findings, serve
from jury.label.sampling import Sampling
from jury.label.serving import check_extra
from jury.label.words import as_data, number, sayings
from jury.store import Run
from jury.summary import count

ENDS = 'It ends with "Finish and close" on the page, or Ctrl-C; labels are kept.'


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """The options of the command, as they were given."""

    name: str | None
    sampling: str
    n: int | None
    seed: int
    precision: float
    show_verdict: bool
    port: int = 0
    browser: bool = True
    as_data: bool = False


def label(folder: str, asked: LabelOptions) -> int:
    """Exit code 0 once the page was closed or interrupted; a wrong folder or option raises."""
    if not 0 < asked.precision < 0.5:
        raise ConfigError(f"--precision is a half-width between 0 and 0.5, got {asked.precision:g}")
    check_extra()
    plan = Plan(
        asked.name if asked.name is not None else _login(),
        cast("Sampling", asked.sampling),
        asked.n,
        asked.seed,
        asked.precision,
        asked.show_verdict,
    )
    desk = Desk(Run.open(folder), plan)
    start = desk.next()
    words = (
        f"{visible(desk.run.manifest.name)}: {start['target']} of {count(start['items'], 'item')} "
        f"for {visible(plan.labeller)}"
    )
    _say(f"{words}, {start['done']} labelled so far. Labels: {desk.run.folder / 'labels.jsonl'}")
    serve(
        desk,
        port=asked.port,
        browser=asked.browser,
        told=lambda address: _say(f"{address}\nOnly this computer can open it. {ENDS}"),
    )
    found = findings(desk)
    if asked.as_data:
        desk.reveal(one.item for one in found.differences)
        as_json(as_data(found))
    else:
        _print(found)
    return exits.OK


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user, as in some containers
        raise ConfigError("say who labels: --as NAME") from None


def _say(text: str) -> None:
    """To stderr: stdout is for what the labels say."""
    write(f"{text}\n", sys.stderr)
    sys.stderr.flush()


def _print(found: Findings) -> None:
    stdout().print()
    told(sayings(found))
    if not found.labels:
        return
    head = ["", "agreement", found.measure, "items"]
    rows = [[visible(r.name), share(r.agreement), number(r.beyond), str(r.agreement.n)] for r in found.rows]
    if found.measure == "alpha":
        head, rows = [head[0], *head[2:]], [[r[0], *r[2:]] for r in rows]
    table(f"labels of {visible(found.labeller)} beside", head, rows)
    by_criterion = [
        [visible(key), visible(r.name), share(r.agreement)] for key, against in found.criteria.items() for r in against
    ]
    table("by criterion", ["criterion", "", "the same"], by_criterion)
    people = [[visible(r.name), share(r.agreement), number(r.beyond), str(r.agreement.n)] for r in found.people]
    table("other people", ["", "agreement", found.measure, "items"], people)
    if found.everyone.value is not None:
        told([f"all labellers: alpha {number(found.everyone)}"])
    stdout().print()
    for command, why in found.commands:
        told([visible(command), f"    {why}"])
