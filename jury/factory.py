"""The factories' keywords, turned into a `Scale`, a `PanelSpec` and a prompt at once. Nothing below sees them.

The words are those of other tools, for people who come from there; `scale=` and `panel=` are taken directly.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from jury import config, prompts
from jury.declared import check_kind, declared_scale
from jury.errors import ConfigError
from jury.judge import JudgeSpec, Prompt
from jury.panel import PanelSpec
from jury.prompts import PromptSpec
from jury.providers.base import Provider, Settings
from jury.scales import Boolean, Labels, Numeric, Scale
from jury.seating import LONGEST_S, distinct, seat_of, seats_from
from jury.values import data_of
from jury.versions import with_system

logger = logging.getLogger("jury.factory")
VERDICT_KINDS = ("categorical", "numeric")
# Keywords that go into the settings of a call, and those that a `PanelSpec` has under the same name.
OF_A_CALL = ("structured_output", "temperature", "max_tokens", "timeout_ms", "retries", "reask")
OF_A_PANEL = (
    "repetitions",
    "assignment",
    "aggregator",
    "weights",
    "tie_break",
    "stop",
    "escalate",
    "vote_deadline_s",
    "item_deadline_s",
    "max_concurrency",
)


def scale_of(
    verdict_kind: str | None,
    labels: Sequence[str] | Mapping[str, str | None] | None,
    passing_labels: Sequence[str] | None,
    score_range: Sequence[float] | None,
    threshold: float | None,
    levels: Sequence[str] | None,
) -> Scale:
    """The scale that these keywords mean. Raises `ConfigError` for what does not fit together."""
    if verdict_kind not in (None, *VERDICT_KINDS):
        raise ConfigError(f"verdict_kind must be one of {list(VERDICT_KINDS)}, got {verdict_kind!r}")
    numeric = verdict_kind == "numeric" or (verdict_kind is None and score_range is not None and labels is None)
    if numeric:
        if labels is not None:
            raise ConfigError("labels do not fit a numeric panel; leave out labels or verdict_kind='numeric'")
        if passing_labels:
            raise ConfigError("passing_labels needs labels; a numeric panel passes by its threshold")
        if levels is not None and not levels:
            raise ConfigError("levels needs 2 to 10 names, got 0")
        low, high = _range((0.0, 1.0) if score_range is None else score_range)
        return Numeric(low, high, 0.5 if threshold is None else threshold, levels or ())
    if levels is not None:
        raise ConfigError("levels name the steps of a score: they need verdict_kind='numeric'")
    for name, given in (("threshold", threshold), ("score_range", score_range)):
        if given is not None:
            logger.warning(
                "%s is of no use here: it belongs to a score (score_range=(low, high), or verdict_kind='numeric')", name
            )
    if labels is None:
        if passing_labels:
            raise ConfigError("passing_labels needs labels")
        return Boolean()
    return Labels(labels, passing_labels or ())


def scale_with(prompt: Any, scale: Scale | None, given: Sequence[Any]) -> Scale:
    """What the caller says of the verdicts; else what the front matter of the prompt declares; else true or false.

    `given` are the arguments of `scale_of`. Passing labels alone are taken from the declared ones. Warns where the
    caller's verdicts are others than those that the prompt declares.
    """
    declared = declared_scale(prompt) if isinstance(prompt, PromptSpec) else None
    kind, labels, passing, score_range, threshold, levels = given
    stated = scale is not None or labels is not None or score_range is not None or kind == "numeric"
    if declared is None or stated:
        made = scale or scale_of(*given)
        if declared is not None and set(made.values) != set(declared.values):
            words = [s.describe() for s in (declared, made)]
            logger.warning("the prompt %s declares %s; the jury is told to ask for %s", prompt.name, *words)
        return made
    names = declared.labels if isinstance(declared, Labels) else None
    checked = scale_of(kind, names, passing, None, threshold, levels)
    if passing and isinstance(declared, Labels) and isinstance(checked, Labels):
        return replace(declared, passing=checked.passing)
    return declared


def _range(given: Any) -> tuple[float, float]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(cast("Sequence[Any]", given)) != 2:
        raise ConfigError(f"score_range must be two numbers, lowest and highest, got {given!r}")
    low, high = cast("Sequence[Any]", given)
    return low, high


def judges_of(judges: Any, model: str | None, client: Any) -> tuple[JudgeSpec, ...]:
    """`judges` or `model` as seats; empty where neither is given. Raises `ConfigError`."""
    if judges is not None and model is not None:
        raise ConfigError("give judges or model, not both: model='x' is short for judges=['x']")
    if model is not None:
        return (_served(seat_of("model", model), client),)
    if judges is None:  # left to the first call, but for those who are to be asked over a client
        return () if client is None else seats_of("judges", config.default_judges(), client)
    specs = seats_of("judges", judges, client)
    if not specs:
        raise ConfigError("judges must not be empty: leave it out to use JURY_JUDGES, JUDGE_MODEL or the configuration")
    return specs


def seats_of(name: str, judges: Any, client: Any = None) -> tuple[JudgeSpec, ...]:
    """A list of judge ids, functions and `JudgeSpec`s as seats."""
    return tuple(_served(seat, client) for seat in seats_from(name, judges)) if judges is not None else ()


def _served(spec: JudgeSpec, client: Any) -> JudgeSpec:
    """The seat, asked over a caller's own client where that is for its model and the seat names no provider."""
    if client is None or not spec.model or spec.provider is not None:
        return spec
    provider = provider_of_client(client, spec.model)
    return replace(spec, provider=provider) if _is_for(client, provider, spec.model) else spec


def _is_for(client: Any, provider: Provider, model: str) -> bool:
    """Whether a client can be meant for a model: one to a vendor's own address is not for another vendor's models.

    A gateway may be: it serves models of many vendors under one API.
    """
    from jury.providers import endpoints

    vendor = endpoints.KNOWN.get(model.partition("/")[0]) if "/" in model else None
    if vendor is None or provider is client:
        return True
    if provider.name == "anthropic":
        return vendor.api == "anthropic"
    host, openai = (
        urlsplit(str(url)).hostname for url in (getattr(client, "base_url", ""), endpoints.KNOWN["openai"].base_url)
    )
    return host != openai or urlsplit(vendor.base_url).hostname == host


def provider_of_client(client: Any, model: str) -> Provider:
    """A provider around a caller's own client (`AsyncOpenAI`, `AsyncAnthropic`), or the provider itself.

    What `model` says of the API (`openai-responses/...`) holds over any client.
    """
    if isinstance(client, type):
        raise ConfigError(f"client must be made before it is passed: {client.__name__}(...), not the class")
    if isinstance(client, Provider):
        return client
    family = type(client).__module__.partition(".")[0]
    if family == "anthropic":
        from jury.providers.anthropic import AnthropicProvider

        return AnthropicProvider(client=client)
    if family == "openai" or hasattr(client, "chat"):
        from jury.providers import endpoints
        from jury.providers.openai import OpenAIProvider

        api = endpoints.api_of(model.partition("/")[0])
        return OpenAIProvider(client=client, api=api if api == "responses" else None)
    raise ConfigError(f"client must be an AsyncOpenAI, an AsyncAnthropic or a Provider, got {type(client).__name__}")


def seated(words: Mapping[str, Any]) -> PanelSpec:
    """The panel that the keywords of a factory mean; `words` is all it was given (its `locals()`)."""
    client = words["client"]
    if client is not None and words["panel"] is not None:
        raise ConfigError("panel= already says who is asked and how; leave out client (a JudgeSpec has a provider)")
    return panel_of(
        words["panel"],
        {name: words[name] for name in OF_A_CALL},
        judges=judges_of(words["judges"], words["model"], client),
        stand_ins=seats_of("replacement_judges", words["replacement_judges"], client),
        quorum=words["min_successful_judges"],
        strict=words["strict_panel"],
        **{name: words.get(name) for name in OF_A_PANEL},
    )


def panel_of(panel: PanelSpec | None, settings: Mapping[str, Any], **given: Any) -> PanelSpec:
    """The panel of these keywords; those that are None keep their default. `panel=` is taken as it is."""
    chosen = {k: v for k, v in given.items() if v is not None and not (k in ("judges", "stand_ins") and v == ())}
    if panel is not None:
        if not isinstance(cast("Any", panel), PanelSpec):
            raise ConfigError(f"panel must be a PanelSpec, got {panel!r}")
        if chosen or any(v is not None for v in settings.values()):
            names = sorted([*chosen, *(k for k, v in settings.items() if v is not None)])
            raise ConfigError(f"panel= already says everything about the panel; leave out {', '.join(names)}")
        return panel
    if isinstance(rule := chosen.get("aggregator"), str):
        chosen["aggregator"] = _weighed(rule)
    weights = chosen.get("weights")
    if weights is not None and not isinstance(weights, Mapping):
        chosen["weights"] = _weights(weights, chosen.get("judges", ()))
    return PanelSpec(**chosen, settings=_settings(settings))


def _weighed(rule: str) -> Any:
    """A rule's name as it is; a path as the weights that `jury calibrate` left there."""
    if "/" not in rule and rule.isidentifier() and not Path(rule).is_dir():
        return rule
    from jury.weighing import is_path, stored_weights  # numpy, on this path only

    return stored_weights(rule) if is_path(rule) else rule


def _weights(given: Any, judges: Sequence[JudgeSpec]) -> dict[str, float]:
    given = given.tolist() if callable(getattr(given, "tolist", None)) else given  # an array of numpy
    values = list(cast("Sequence[Any]", given)) if isinstance(given, Sequence) else []
    if len(values) != len(judges):
        raise ConfigError(f"weights must be a mapping by judge, or one number for each of the {len(judges)} judges")
    seats = distinct(judges)  # names of their own, also where two functions are called alike
    kept: list[JudgeSpec] = []
    made: dict[str, float] = {}
    for judge, weight in zip(judges, values, strict=True):
        if judge not in kept:
            kept.append(judge)
        name = seats[kept.index(judge)].name
        if made.setdefault(name, weight) != weight:
            raise ConfigError(f"weights: {name} is given twice, with different weights")
    return made


def _settings(given: Mapping[str, Any]) -> Settings:
    chosen = {k: v for k, v in given.items() if v is not None}
    timeout = chosen.pop("timeout_ms", None)
    if timeout is not None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_S * 1000:
            raise ConfigError(f"timeout_ms must be above 0 and at most {LONGEST_S * 1000:,}, got {timeout!r}")
        chosen["timeout_s"] = timeout / 1000
    return Settings(**chosen)


def prompt_of(kind: str, criteria: str | None, prompt: str | PromptSpec | None, system_prompt: str | None) -> Prompt:
    """The compiled prompt of a jury. Warns where criteria are given that the prompt never shows.

    A `PromptSpec` (`prompts.load`) keeps its name and version, which a text in the call has not. Raises `ConfigError`
    for one of another kind.
    """
    _text("criteria", criteria)
    _text("prompt", prompt.user if isinstance(prompt, PromptSpec) else prompt)
    _text("system_prompt", system_prompt, blank=True)
    shipped = prompts.shipped(kind)
    system = shipped.system if system_prompt is None else system_prompt
    if prompt is None:
        return Prompt(with_system(shipped, system_prompt))
    if isinstance(prompt, PromptSpec):
        check_kind(prompt, kind)
        compiled = Prompt(with_system(prompt, system_prompt, system))
    else:
        compiled = Prompt(PromptSpec("own", prompt, system))
    if criteria and "criteria" not in compiled.wanted:
        logger.warning("criteria are given, but the prompt has no {{criteria}}: no judge will see them")
    return compiled


def _text(name: str, value: Any, *, blank: bool = False) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a text, got {type(value).__name__}")
    if not blank and not value.strip():
        raise ConfigError(f"{name} must not be blank")
    if name == "criteria":
        warn_of_braces("criteria hold", value)


def warn_of_braces(what: str, text: str) -> None:
    """A caller who writes a tag into a value expects it to be filled."""
    if "{{" in text:
        logger.warning("%s '{{': a value is never expanded, judges will read the braces as they are", what)


def check_words(name: Any, **switches: Any) -> None:
    """What only the jury itself uses: its name is a text that says something, a switch is True or False."""
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"name must be a text that is not blank, got {name!r}")
    for word, value in switches.items():
        if not isinstance(value, bool):
            raise ConfigError(f"{word} must be True or False, got {value!r}")


def variables_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """A user's own template names. That none of them is a documented one is checked with the prompts (`names.py`)."""
    if given is not None and not isinstance(cast("Any", given), Mapping):
        raise ConfigError(f"variables must be a mapping from names to values, got {type(given).__name__}")
    variables = dict(given or {})
    for name in variables:
        if not isinstance(cast("Any", name), str) or not name.strip():
            raise ConfigError(f"variables: names must be texts, got {name!r}")
    return {name: data_of(value) for name, value in variables.items()}
