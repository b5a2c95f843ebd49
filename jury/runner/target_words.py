"""`target` and `targets` of a run: which kind of run takes which, and the targets made of them. Asks nobody.

target: bot.py:answer                                     # pointwise: makes the output; session: makes the session
targets: {a: openai/gpt-5-mini, b: new_bot.py:answer}     # pairwise: both sides, or one where the data holds the other
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jury.errors import ConfigError
from jury.targets import Reading, Target, TargetSpec
from jury.targets.sessions import session_reading
from jury.targets.spec import Loader

SIDES = ("a", "b")
ALONE = ""  # the side of the only target of a run that is not pairwise


def check_words(kind: str, target: Any, targets: Any) -> None:
    """Raises `ConfigError` where a run of this kind takes no such word."""
    if target is not None and kind == "pairwise":
        raise ConfigError(
            "target: a pair has two sides: write targets: {a: ..., b: ...}, or one of them where the data holds the "
            "other (response_a, response_b)"
        )
    if targets is None:
        return
    if kind != "pairwise":
        raise ConfigError(f"targets: two sides are for kind pairwise; a {kind} run takes one target: ...")
    given: dict[Any, Any] = dict(cast("Mapping[Any, Any]", targets)) if isinstance(targets, Mapping) else {}
    if not given or any(side not in SIDES or one is None for side, one in given.items()):
        such = "{a: openai/gpt-5-mini, b: bot.py:answer}"
        raise ConfigError(f"targets must be a mapping such as {such}, got {targets!r}")


def made_targets(
    kind: str, target: Any, targets: Mapping[str, Any] | None, format: str | None, load: Loader | None
) -> dict[str, Target]:
    """The targets by side (`ALONE` where there is one); none where the data holds it all. Raises `ConfigError`."""
    if target is not None:
        spec = TargetSpec.of(target, load)
        return {ALONE: Target(spec, session_reading(spec, format) if kind == "session" else Reading())}
    made: dict[str, Target] = {}
    for side in (s for s in SIDES if s in (targets or {})):
        try:
            made[side] = Target(TargetSpec.of(cast("Mapping[str, Any]", targets)[side], load))
        except ConfigError as error:
            raise ConfigError(f"targets, side {side}: {str(error).removeprefix('target: ')}") from None
    if len({one.identity for one in made.values()}) == len(made):
        return made
    if len({one.spec.label for one in made.values()}) < len(made):
        raise ConfigError(
            "targets: a and b are the same, and would give the same outputs; to compare a target with itself, give "
            "each side a name of its own"
        )
    return {side: Target(one.spec, Reading(name=f" called {one.spec.label}")) for side, one in made.items()}
