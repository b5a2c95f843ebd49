"""Two versions of a prompt held against each other, wherever they are: shipped, in a file, or kept in a run folder."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jury.errors import ConfigError
from jury.prompts import PromptSpec, load
from jury.store import Run, RunManifest
from jury.store.manifest import FILE
from jury.tryouts import as_asked


@dataclass(frozen=True, slots=True)
class Compared:
    """One prompt in two versions; None on the side that has none of this name. `diff` is empty where they are alike."""

    a: PromptSpec | None
    b: PromptSpec | None
    diff: tuple[str, ...]


def kept_prompts(manifest: RunManifest) -> list[PromptSpec]:
    """The prompts that a run folder keeps whole, with the texts that were sent; those of earlier passes too."""
    return [PromptSpec.of_kept(cast("Mapping[str, object]", prompt)) for prompt in manifest.prompts.values()]


def prompts_at(place: str) -> tuple[list[PromptSpec], bool]:
    """The prompts at a place as they are sent, and whether that is a run folder.

    A place is a shipped name, the path of a prompt, or a run folder: of several versions of a prompt there the one that
    its seats had last. Raises `ConfigError` or `DataError`.
    """
    if not (Path(place) / FILE).is_file():
        return [as_asked(load(place))], False
    manifest = Run.open(place).manifest
    now = {str(seat.get("prompt")) for seat in (*manifest.judges, *manifest.stand_ins)}
    found: dict[str, PromptSpec] = {}
    for spec in sorted(kept_prompts(manifest), key=lambda spec: spec.digest in now):  # stable: the later one stays
        found[spec.name] = spec
    if not found:
        raise ConfigError(f"{place} holds no prompt: its judges are functions or checks")
    return list(found.values()), True


def compare_prompts(first: str, second: str) -> tuple[Compared, ...]:
    """The prompts at two places, paired by name; one prompt each is paired as it is. Raises `ConfigError`."""
    (a, a_is_run), (b, b_is_run) = prompts_at(first), prompts_at(second)
    labels = (f"{first}: " if a_is_run else "", f"{second}: " if b_is_run else "")
    if len(a) == len(b) == 1:
        return (_compared(a[0], b[0], labels),)
    if not (a_is_run and b_is_run):
        run, many, one = (first, a, b[0]) if a_is_run else (second, b, a[0])
        same = [spec for spec in many if spec.name == one.name]
        if not same:
            held = ", ".join(spec.name for spec in many)
            raise ConfigError(f"{run} holds no prompt named {one.name!r}; it holds {held}")
        pair = (same[0], one) if a_is_run else (one, same[0])
        return (_compared(*pair, labels),)
    names = list(dict.fromkeys(spec.name for spec in (*a, *b)))
    sides = [{spec.name: spec for spec in side} for side in (a, b)]
    return tuple(_compared(sides[0].get(name), sides[1].get(name), labels) for name in names)


def _compared(a: PromptSpec | None, b: PromptSpec | None, labels: tuple[str, str]) -> Compared:
    known = [spec for spec in (a, b) if spec is not None]
    whole = all(spec.meta for spec in known)  # a text in a call and an old run folder have no front matter to compare
    title_a, title_b = (
        f"{label}{spec.name} {spec.version} ({spec.digest})" if spec else f"{label}no prompt {known[0].name}"
        for label, spec in zip(labels, (a, b), strict=True)
    )
    lines_a, lines_b = (_lines(spec, whole) if spec else list[str]() for spec in (a, b))
    return Compared(a, b, tuple(difflib.unified_diff(lines_a, lines_b, title_a, title_b, lineterm="")))


def _lines(spec: PromptSpec, whole: bool) -> list[str]:
    import yaml

    front = (
        yaml.safe_dump(dict(spec.meta), sort_keys=False, allow_unicode=True, width=100).splitlines() if whole else []
    )
    return [*front, "--- system ---", *spec.system.splitlines(), "--- user ---", *spec.user.splitlines()]
