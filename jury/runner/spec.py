"""`RunSpec`: what to judge, with whom and how, from a YAML file or from keywords. Asks nobody, opens no data.

    data: answers.jsonl                  # beside this file; - is standard input
    map: {input: question, output: reply.text}
    criteria: The answer is right and names its source.
    judges:
      - openai/gpt-5-mini
      - {model: anthropic/claude-haiku-4-5, weight: 2, temperature: 0.3}
    labels: [PASS, FAIL, NA]
    passing: [PASS]
    na: NA
    concurrency: 64

Every other key is a keyword of `llm_jury`, `llm_jury_pairwise` or `session_jury` (docs/reference/run-config.md lists
them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from jury import prompts
from jury.cache import shown
from jury.config import read_yaml
from jury.datasets import STDIN
from jury.errors import ConfigError
from jury.judge import JudgeSpec
from jury.limits import Limits
from jury.pairwise import PairwiseJury, llm_jury_pairwise
from jury.pointwise import Jury, llm_jury
from jury.prompts import PromptSpec
from jury.providers.base import Settings
from jury.redaction import keyless
from jury.runner.escalating import with_labels
from jury.runner.session_words import beside, placed, session_words
from jury.runner.target_words import check_words, made_targets
from jury.scales import Labels, Numeric
from jury.sessions.checks import CodeCheck, code_check
from jury.sessions.judging import SessionJury
from jury.sessions.making import session_jury
from jury.targets import Target
from jury.targets.spec import described

_MOST = 10**12  # of rows, of calls at once: beyond it a number is a slip
KINDS = ("pointwise", "pairwise", "session")
_SCALE = ("labels", "passing", "na", "range", "threshold", "levels")
_RUBRIC = ("rubric", "ask", "permute")
_SHARED = (
    "criteria", "prompt", "system_prompt", "judges", "stand_ins", "repetitions", "min_successful_judges", "assignment",
    "aggregator", "weights", "tie_break", "stop", "escalate", "vote_deadline", "item_deadline",
    "structured_output", "temperature", "max_tokens", "timeout", "retries", "reask",
    "variables", "strict_template", "strict_panel",
)  # fmt: skip
_DATA = (".csv", ".tsv", ".jsonl", ".gz", ".parquet")  # what is no configuration
_OF_TEXTS = ("criteria", "prompt", "system_prompt")  # of a jury for answers, not for sessions
_SESSION = ("criteria", "context", "options", "examples", "checks", "ask", "long", "session_tokens")
AnyJury = Jury | PairwiseJury | SessionJury
_ANY = frozenset((*_SCALE, *_RUBRIC, *_SHARED, *_SESSION, "swap", "map", "encoding", "delimiter", "format"))
_RENAMED = {
    "stand_ins": "replacement_judges",
    "timeout": "timeout_ms",
    "vote_deadline": "vote_deadline_s",
    "item_deadline": "item_deadline_s",
}
_SEAT = frozenset({f.name for f in fields(JudgeSpec)} - {"settings", "provider"})
Loader = Callable[[str], Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run as data.

    `data`: a path, a pattern, a list of them, `-`, a data frame, or an iterable of mappings. `target`: what makes the
    outputs (of a run of sessions: the sessions), where the data does not hold them (`TargetSpec.of` says as what it may
    be given); `targets`: those of a pairwise run, under `a` and `b` or one of these. `jury`: keywords of the
    jury under the names of the YAML file, or a ready `Jury`, `PairwiseJury` or `SessionJury`. `format`: of sessions,
    where their shape does not tell. `concurrency`: calls in flight of one provider at most. `cache`: the shared one
    (`cache.py`), one at this path or address, or none (False). `budget`: US dollars that the folder may cost, all
    passes together. `limits`: by provider, the fields of `limits.Limits`. Raises `ConfigError`.
    """

    data: Any = None
    jury: Any = field(default_factory=dict[str, Any])
    kind: str = "pointwise"
    target: Any = None
    targets: Any = None
    name: str | None = None
    map: Mapping[str, str] = field(default_factory=dict[str, str])
    limit: int | None = None
    encoding: str | None = None
    delimiter: str | None = None
    format: str | None = None
    concurrency: int = 64
    cache: bool | str = True
    budget: float | None = None
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def __post_init__(self) -> None:
        if isinstance(self.data, Path):
            object.__setattr__(self, "data", str(self.data))
        if isinstance(self.jury, AnyJury):
            kinds: dict[type, str] = {Jury: "pointwise", PairwiseJury: "pairwise", SessionJury: "session"}
            object.__setattr__(self, "kind", kinds[type(self.jury)])
        if self.kind not in KINDS:
            raise ConfigError(f"kind must be one of {list(KINDS)}, got {self.kind!r}")
        check_words(self.kind, self.target, self.targets)
        _check_fields(self)

    @classmethod
    def from_file(cls, path: str | Path, **over: Any) -> RunSpec:
        """The run of a YAML file; `over` stands above what it says. Paths in it are relative to it."""
        file = Path(path)
        if file.suffix.lower() in _DATA and file.is_file():
            raise ConfigError(
                f"{file} is data: a run takes the configuration that names it; `jury judge` takes it as it is"
            )
        given: Any = read_yaml(file)
        if not isinstance(given, dict):
            held = "nothing: it is empty" if given is None else type(given).__name__
            raise ConfigError(f"{file} must hold a mapping, got {held}")
        try:
            return cls.from_mapping({**placed(given, file.parent), **over}, file.parent)
        except ConfigError as error:
            raise ConfigError(f"{file}: {error}") from None

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], base: str | Path = ".") -> RunSpec:
        """Flat keys as in the YAML file. Raises `ConfigError` naming an unknown key and the nearest known one."""
        own = [f.name for f in fields(cls) if f.name != "jury"]
        if given.get("kind") == "rubric":  # as the manifest calls it: answers, by several criteria
            if given.get("rubric") is None:
                raise ConfigError("kind rubric needs a rubric: a file, a shipped name or a mapping")
            given = {**given, "kind": "pointwise"}
        known = _known_keys(own, given)
        for key in given:
            if key not in known:
                near = get_close_matches(str(key), known, 3)
                hint = f": did you mean {' or '.join(near)}?" if near else ""
                other = "" if key not in _ANY else f" in a run of kind {given.get('kind') or 'pointwise'}"
                raise ConfigError(f"unknown key {key!r}{other}{hint} (all keys: docs/reference/run-config.md)")
        kept = {k: v for k, v in given.items() if v is not None}
        jury = {k: v for k, v in kept.items() if k not in own}
        spec = {k: v for k, v in kept.items() if k in own}
        cascade: Any = jury.get("escalate")
        if isinstance(cascade, Mapping) and isinstance(labelled := cast("dict[str, Any]", cascade).get("labels"), str):
            jury["escalate"] = {**cascade, "labels": str(Path(base) / labelled)}
        for name in ("judges", "stand_ins"):
            if isinstance(jury.get(name), list):
                jury[name] = [_with_texts(judge, Path(base)) for judge in jury[name]]
        if given.get("kind") == "session":
            jury = session_words(jury, Path(base))
            spec["data"] = beside(spec.get("data"), Path(base))
            return cls(**spec, jury=jury)
        for name in ("prompt", "system_prompt"):
            if name in jury:
                jury[name] = _text(name, jury[name], Path(base))
        rubric = jury.get("rubric")
        if isinstance(rubric, str) and (Path(base) / rubric).exists():
            jury["rubric"] = str(Path(base) / rubric)
        data = spec.get("data")
        if isinstance(data, list):
            spec["data"] = [str(Path(base) / d) if isinstance(d, str) else d for d in cast("list[Any]", data)]
        if isinstance(data, str) and data != STDIN:
            spec["data"] = str(Path(base) / data)
        return cls(**spec, jury=jury)

    def limits_of(self, provider: str) -> Limits:
        """What a provider may be asked. Raises `ConfigError`."""
        given = self.limits.get(provider, {})
        try:
            return Limits(**{"concurrency": self.concurrency, **given})
        except TypeError:
            known = ", ".join(f.name for f in fields(Limits))
            raise ConfigError(f"limits.{provider}: known are {known}, got {', '.join(given)}") from None

    def with_changes(self, **changes: Any) -> RunSpec:
        """The same run with other values for some of its own fields."""
        return replace(self, **changes)

    def make_jury(self, load: Loader | None = None) -> AnyJury:
        """The jury of this run; `load` turns `module:function` into a function. Raises `ConfigError`."""
        if isinstance(self.jury, AnyJury):
            return self.jury
        given = dict(cast("Mapping[str, Any]", self.jury))
        options: dict[str, Any] = {_RENAMED.get(k, k): v for k, v in given.items() if k in _SHARED or k == "swap"}
        for name in ("judges", "replacement_judges"):
            if name in options:
                options[name] = [_seat(j, load) for j in _listed(name, options[name])]
        if isinstance(rule := options.get("aggregator"), str) and _is_function(rule):
            options["aggregator"] = _function(rule, load, "aggregator")
        if "timeout_ms" in options:
            options["timeout_ms"] = _number("timeout", options["timeout_ms"]) * 1000
        if "weights" in options and not isinstance(options["weights"], Mapping | list):
            raise ConfigError("weights must be a mapping by judge or a list of numbers")
        if "escalate" in options:
            options["escalate"] = with_labels(options["escalate"])
        options["max_concurrency"] = 10_000  # a run limits the calls of each provider instead
        if self.kind == "pairwise":
            return llm_jury_pairwise(**options)
        if self.kind == "session":
            options |= {k: v for k, v in given.items() if k in _SESSION}
            options["checks"] = [_check(c, load) for c in _listed("checks", options.get("checks", ()))]
            return session_jury(**options)
        options |= {k: v for k, v in given.items() if k in _RUBRIC}
        return llm_jury(**options, **_scale({k: v for k, v in given.items() if k in _SCALE}))

    def make_targets(self, load: Loader | None = None) -> dict[str, Target]:
        """What makes the outputs, by side of a pair; none where the data holds them. Raises `ConfigError`."""
        return made_targets(self.kind, self.target, self.targets, self.format, load)

    def to_dict(self) -> dict[str, Any]:
        """As the manifest keeps it: what is no JSON value is its text."""
        made: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "jury"}
        if not isinstance(self.data, str):
            made["data"] = None
        made |= {"target": described(self.target), "targets": described(self.targets)}
        made["cache"] = shown(self.cache)
        if not isinstance(self.jury, AnyJury):
            made.update({k: _plain(v) for k, v in cast("Mapping[str, Any]", self.jury).items()})
        made.update({k: keyless(made[k]) for k in ("judges", "stand_ins", "target", "targets") if k in made})
        return {k: v for k, v in made.items() if v not in (None, {})}


def _check_fields(spec: RunSpec) -> None:
    """The types of a run's own fields, as far as nobody below checks them. Raises `ConfigError`."""
    for name in ("limit", "concurrency"):
        value = getattr(spec, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST):
            large = isinstance(value, int) and value > _MOST
            raise ConfigError(
                f"{name} must be a whole number from 1, got {f'more than {_MOST:,}' if large else repr(value)}"
            )
    for name in ("name", "encoding", "delimiter", "format"):
        text: Any = getattr(spec, name)
        if text is not None and not (isinstance(text, str) and text):
            raise ConfigError(f"{name} must be a text, got {text!r}")
    name = spec.name
    if name is not None and (
        not name.strip() or not name.isprintable() or not Path(name).parts or {"/", "\\", ".."} & {*Path(name).parts}
    ):
        raise ConfigError(f"name must be that of a folder under runs/, got {spec.name!r}")
    columns: Any = spec.map
    if not isinstance(columns, Mapping) or not all(isinstance(v, str) for v in cast("Any", columns).values()):
        raise ConfigError(f"map must be a mapping from fields to columns, such as {{input: question}}, got {columns!r}")
    limits: Any = spec.limits
    if not isinstance(limits, Mapping) or not all(isinstance(v, Mapping) for v in cast("Any", limits).values()):
        raise ConfigError(
            f"limits must be a mapping by provider, such as {{openai: {{concurrency: 8}}}}, got {limits!r}"
        )
    cache: Any = spec.cache
    if not isinstance(cache, bool) and not (isinstance(cache, str | Path) and str(cache)):
        raise ConfigError(f"cache must be true, false, a path or an address, got {cache!r}")


def _known_keys(own: Sequence[str], given: Mapping[str, Any]) -> list[str]:
    """The keys of a run of this kind."""
    kind = given.get("kind")
    if kind == "session":
        rows = () if given.get("target") is not None else ("map", "encoding", "delimiter")  # of tables
        return [*(n for n in own if n not in rows), *_SESSION, *(n for n in _SHARED if n not in _OF_TEXTS)]
    own = [n for n in own if n != "format"]
    return [*own, *_SHARED, *(("swap",) if kind == "pairwise" else (*_SCALE, *_RUBRIC))]


def _check(given: Any, load: Loader | None) -> CodeCheck:
    """A check of the file: `module:function`, or a mapping with `function`, and perhaps `name` and `fact`."""
    if isinstance(given, CodeCheck):
        return given
    about = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {"function": given}
    function, name = about.get("function"), about.get("name")
    if not isinstance(function, str) or not _is_function(function) or about.keys() - {"function", "name", "fact"}:
        raise ConfigError(
            f"checks: {given!r} is no check; write module:function, or {{function: ..., name: ..., fact: true}}"
        )
    return code_check(
        str(name or function.rpartition(":")[2]), _function(function, load), fact=about.get("fact") is True
    )


def _text(name: str, given: Any, base: Path) -> str | PromptSpec:
    """A prompt: its text if it has a line break or a tag, else a file beside the configuration or a shipped name."""
    if not isinstance(given, str) or not given.strip():
        raise ConfigError(f"{name} must be a text, a file or the name of a shipped prompt, got {given!r}")
    if "\n" in given.strip() or "{{" in given or (name == "system_prompt" and not (base / given).is_file()):
        return given
    spec = prompts.load(base / given) if (base / given).exists() else prompts.load(given)
    return spec.user if name == "system_prompt" else spec


def _with_texts(judge: Any, base: Path) -> Any:
    """A judge of the file with its own prompts read."""
    if not isinstance(judge, Mapping):
        return judge
    seat = dict(cast("Mapping[str, Any]", judge))
    own = {name: _text(name, seat[name], base) for name in ("prompt", "system_prompt") if seat.get(name) is not None}
    return {**seat, **own}


def _listed(name: str, given: Any) -> list[Any]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    if not isinstance(given, Sequence):
        raise ConfigError(f"{name} must be a list, got {given!r}")
    return list(cast("Sequence[Any]", given))


def _seat(given: Any, load: Loader | None) -> Any:
    """A judge of the file: an id, `module:function`, or a mapping with its seat's fields and settings."""
    if isinstance(given, str):
        return _function(given, load) if _is_function(given) else given
    if not isinstance(given, Mapping):
        return given
    fields_of = cast("Mapping[str, Any]", given)
    settings = {k: v for k, v in fields_of.items() if k not in _SEAT}
    unknown = [k for k in settings if k not in {f.name for f in fields(Settings)}]
    if unknown:
        hint = "; a key stands in the environment, never in a file" if any("key" in str(k) for k in unknown) else ""
        whose = next((str(fields_of[k]) for k in ("id", "model", "function") if fields_of.get(k)), "a judge")
        raise ConfigError(f"judges: unknown {unknown} of {whose}{hint}")
    seat: dict[str, Any] = {k: v for k, v in fields_of.items() if k in _SEAT}
    if isinstance(seat.get("function"), str):
        seat["function"] = _function(seat["function"], load)
    return JudgeSpec(**seat, settings=settings or None)


def _is_function(judge: str) -> bool:
    home, colon, name = judge.rpartition(":")
    return (
        bool(colon)
        and name.isidentifier()
        and "/" not in home.removesuffix(".py").rpartition("/")[2]
        and (home.endswith(".py") or "/" not in home)
    )


def _function(given: str, load: Loader | None, what: str = "judges") -> Callable[..., Any]:
    if load is None:
        raise ConfigError(f"{what}: {given!r} names a function; pass the function itself")
    return load(given)


def _scale(given: Mapping[str, Any]) -> dict[str, Any]:
    numbers = given.get("range")
    if numbers is not None:
        if not isinstance(numbers, list | tuple) or len(cast("Sequence[Any]", numbers)) != 2:
            raise ConfigError(f"range must be two numbers, such as [1, 5], got {numbers!r}")
        if "na" in given or "labels" in given:
            raise ConfigError("range is for scores, labels and na are for labels: give one of them")
        low, high = cast("Sequence[Any]", numbers)
        return {"scale": Numeric(low, high, given.get("threshold"), given.get("levels", ()))}
    if "labels" in given:
        return {"scale": Labels(given["labels"], given.get("passing", ()), given.get("na"))}
    rest = {"passing": "passing_labels", "threshold": "threshold", "levels": "levels"}
    if "na" in given:
        raise ConfigError("na needs labels")
    return {rest[k]: v for k, v in given.items()}


def _number(name: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise ConfigError(f"{name} must be a number of seconds, got {given!r}")
    return float(given)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in cast("Sequence[Any]", value)]
    if isinstance(value, JudgeSpec):
        return value.name
    if isinstance(value, PromptSpec):
        return value.path or value.name
    return value if value is None or isinstance(value, str | int | float) else str(value)
