"""What was asked for on the command line, and the jury that it means: options become the factories' keywords."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jury.cli.functions import is_function, load_function
from jury.cli.options import as_typed, check_counts, milliseconds
from jury.errors import ConfigError
from jury.judge import JudgeSpec
from jury.pairwise import PairwiseJury, llm_jury_pairwise
from jury.pointwise import Jury, llm_jury
from jury.scales import Labels, Numeric

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"\s*{_NUMBER}\s*(?:\.\.|[-:,]|\s)\s*{_NUMBER}\s*")
_PATHS = {"file", "other", "prompt", "system", "output"}
ANYONE = "(any judge)"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of one command, as they were given; each command has some of them."""

    file: str = ""
    other: str | None = None
    criteria: str | None = None
    judges: Sequence[str] = ()
    prompt: str | None = None
    system: str | None = None
    variables: Sequence[str] = ()
    labels: Sequence[str] = ()
    passing: Sequence[str] = ()
    na: str | None = None
    range: str | None = None
    threshold: float | None = None
    repetitions: int | None = None
    min_successful_judges: int | None = None
    stand_ins: Sequence[str] = ()
    assignment: str | None = None
    aggregator: str | None = None
    stop: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    concurrency: int | None = None
    swap: bool = True
    strict: bool = False
    map: Sequence[str] = ()
    limit: int | None = None
    encoding: str | None = None
    delimiter: str | None = None
    estimate: bool = False
    budget: float | None = None
    output: str | None = None
    overwrite: bool = False
    force: bool = False
    json: bool = False
    fail_under: float | None = None
    min_coverage: float | None = None
    show: int = 20
    row: int = 1
    call: bool = False

    def check(self) -> None:
        """What belongs to the command line alone. Raises `ConfigError`."""
        check_counts(limit=self.limit, row=self.row)
        milliseconds(self.timeout)
        if self.show < 0:
            raise ConfigError(f"--show must be a whole number from 0, got {self.show}")
        if self.output is not None and not self.output.strip():
            raise ConfigError("-o needs the name of a folder, got an empty one (. is the working directory)")


def asked(options: Mapping[str, Any]) -> Asked:
    """A command's options; a list that was not given is empty."""
    given = {k: v for k, v in options.items() if v is not None}
    for name in _PATHS & given.keys():  # in an ASCII locale the names of files stand for their bytes
        given[name] = os.fsdecode(given[name].encode("utf-8", "surrogateescape"))
    return Asked(**given)


def pointwise(asked: Asked, *, anyone: bool = False) -> Jury:
    """The jury of `judge`. With `anyone` an unnamed panel is one nameless seat, so that nothing has to be set up."""
    with as_typed():
        return llm_jury(
            criteria=asked.criteria,
            **prompt_words(asked),
            strict_template=asked.strict,
            variables=pairs_of(asked.variables),
            **_scale(asked),
            **_panel(asked, anyone),
        )


def _scale(asked: Asked) -> dict[str, Any]:
    labels, passing, scores = listed(asked.labels), listed(asked.passing), score_range(asked.range)
    if asked.na is not None:
        if not labels:
            raise ConfigError("--na needs --labels: it is one of them")
        if scores or asked.threshold is not None:
            raise ConfigError("--na belongs to --labels; a score has none (leave out --range and --threshold)")
        return {"scale": Labels(labels, passing, asked.na)}
    if scores and asked.threshold is None and not (labels or passing):
        return {"scale": Numeric(*scores, threshold=None)}
    return {
        "labels": labels or None,
        "passing_labels": passing or None,
        "score_range": scores,
        "threshold": asked.threshold,
        "verdict_kind": "numeric" if asked.threshold is not None and not labels else None,
    }


def pairwise(asked: Asked, *, anyone: bool = False) -> PairwiseJury:
    """The jury of `compare`."""
    with as_typed():
        return llm_jury_pairwise(
            criteria=asked.criteria,
            **prompt_words(asked),
            swap=asked.swap,
            strict_template=asked.strict,
            variables=pairs_of(asked.variables),
            **_panel(asked, anyone),
        )


def nobody() -> JudgeSpec:
    """A seat for texts that are shown and sent to nobody."""
    return JudgeSpec("scripted/nobody", id=ANYONE)


def _panel(asked: Asked, anybody: bool) -> dict[str, Any]:
    judges: list[Any] = seats(asked.judges) or default_seats()
    if not judges and anybody:
        judges = [nobody()]
    return {
        "judges": judges or None,
        "replacement_judges": seats(asked.stand_ins) or None,
        "repetitions": asked.repetitions,
        "min_successful_judges": asked.min_successful_judges,
        "assignment": asked.assignment,
        "aggregator": load_function(rule) if (rule := asked.aggregator) and is_function(rule) else rule,
        "stop": asked.stop,
        "temperature": asked.temperature,
        "max_tokens": asked.max_tokens,
        "timeout_ms": milliseconds(asked.timeout),
        "max_concurrency": asked.concurrency,
    }


def default_seats() -> list[Any]:
    """The judges of the environment or the configuration file, functions among them; empty where nobody is named.

    Raises `ConfigError` for a file or a function that cannot be read.
    """
    from jury.config import named_judges

    return seats(named_judges())


def seats(judges: Sequence[str]) -> list[Any]:
    """Judge ids stay texts; `module:function` and `file.py:function` become the function."""
    return [load_function(j) if is_function(j) else j for j in listed(judges)]


def prompt_words(asked: Asked) -> dict[str, Any]:
    """`prompt` with its name and version, and `system_prompt`; None where the shipped one stands."""
    from jury import prompts

    return {
        "prompt": None if asked.prompt is None else prompts.load(asked.prompt),
        "system_prompt": None if asked.system is None else read_text(asked.system),
    }


def read_text(path: str) -> str:
    """A text file in UTF-8, whatever the locale. Raises `ConfigError`."""
    try:
        return Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None


def listed(texts: Sequence[str]) -> list[str]:
    """`["a,b", "c"]` -> `["a", "b", "c"]`."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def pairs_of(texts: Sequence[str]) -> dict[str, str] | None:
    """`["NAME=value"]` as a mapping. Raises `ConfigError`."""
    made: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"--var is written NAME=VALUE, got {text!r}")
        made[name.strip()] = value
    return made or None


def score_range(text: str | None) -> tuple[float, float] | None:
    """`1-5`, `0..1`, `-1:1` or `0,10` as two numbers. Raises `ConfigError`."""
    if text is None:
        return None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ConfigError(f"--range is written LOW-HIGH, such as 1-5 or -1..1, got {text!r}")
    return float(found[1]), float(found[2])
