"""How options are read: one that takes a single value is given once, and errors name what was typed.

Loads typer with the commands that use it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from typer.core import TyperCommand

from jury.errors import ConfigError

# The factories' keywords whose options are called otherwise.
_OTHER = {
    "max_concurrency": "--concurrency",
    "passing_labels": "--passing",
    "replacement_judges": "--stand-ins",
    "score_range": "--range",
    "system_prompt": "--system",
    "variables": "--var",
}
_SAME = (
    *("aggregator", "ask", "assignment", "criteria", "judges", "labels", "long", "max_tokens", "min_successful_judges"),
    *("na", "repetitions", "session_tokens", "stop", "temperature", "threshold"),
)
_TYPED = {**_OTHER, **{word: f"--{word.replace('_', '-')}" for word in _SAME}}
# A word of the language means the option where the sentence begins with it; one of ours does everywhere.
_KEYWORD = re.compile(rf"^(?:{'|'.join(_TYPED)})\b|\b(?:{'|'.join(w for w in _TYPED if '_' in w)})\b")


@contextmanager
def as_typed() -> Generator[None]:
    """`max_concurrency must be ...` becomes `--concurrency must be ...`: for juries made of options alone."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        named = _KEYWORD.sub(lambda found: _TYPED[found[0]], text)
        if named == text:
            raise
        raise ConfigError(named) from None


def check_counts(**given: int | None) -> None:
    """Raises `ConfigError` for an option, by its name, that is no whole number from 1."""
    for name, count in given.items():
        if count is not None and count < 1:
            raise ConfigError(f"--{name.replace('_', '-')} must be a whole number from 1, got {count}")


def check_values(given: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for options of many commands: where a budget is no amount, or a share or a level is none."""
    budget = given.get("budget")
    if budget is not None and not 0 <= budget < float("inf"):
        raise ConfigError(f"--budget must be an amount of US dollars from 0, got {budget:g}")
    for name in ("fail_under", "min_coverage"):
        share = given.get(name)
        if share is not None and not 0 <= share <= 1:
            hint = f" (did you mean {share / 100:g}?)" if 2 <= share <= 100 else ""
            raise ConfigError(f"--{name.replace('_', '-')} is a share from 0 to 1, got {share:g}{hint}")
    for name in ("level", "alpha"):
        level = given.get(name)
        if level is not None and not 0 < level < 1:
            raise ConfigError(f"--{name} lies between 0 and 1, got {level:g}")


def milliseconds(timeout: float | None) -> float | None:
    """`--timeout`, which is in seconds, as the factories take it. Raises `ConfigError`."""
    from jury.seating import LONGEST_S  # for `--help` too much to load

    if timeout is not None and not 0 < timeout <= LONGEST_S:
        raise ConfigError(f"--timeout must be above 0 and at most {LONGEST_S:,} seconds, got {timeout:g}")
    return None if timeout is None else timeout * 1000


class Command(TyperCommand):
    """A command that refuses a second value where it would take one and lose the other in silence, and such as are no
    budget, share or level."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        given_as: Counter[Any] = Counter(p for p in order if p.param_type_name == "option")
        for option, times in given_as.items():
            if times > 1 and not option.multiple and not (option.is_flag and not option.secondary_opts):
                ctx.fail(f"{'/'.join(option.opts)} takes one value, and is given {times} times.")
        check_values(ctx.params)
        return rest
