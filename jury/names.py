"""Which names a prompt template may use, and what may stand at each: `known`, without any values. Imports only errors.

The two tables of the documentation, as data. `namespace.py` fills the names; `templates.check` looks them up here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from jury.errors import ConfigError

Kind = Literal["pointwise", "pairwise"]
FAMILIES = ("input", "output", "log")
SIDES = ("response_a", "response_b")
# Objects without a text of their own: a tag of this name stays as it is.
BARE = frozenset({*FAMILIES, *SIDES, *(f"{side}.{family}" for side in SIDES for family in FAMILIES)})
ANY_TEXT = ("text", "content", "value")  # of whatever object it stands in
# What people call a field, and the fields they may mean by it: the first that exists, beside the name or further out.
_MEANT = (
    (
        "answer completion final_answer generation model_output out output output_text prediction reply response "
        "result",
        ("response", "output.response", "output", "content"),
    ),
    (
        "input input_text instruction prompt query question request task user user_input user_message user_query",
        ("question", "input", "log.input"),
    ),
    (
        "answer correct_answer desired_output expected expected_answer expected_output expected_response gold "
        "gold_answer golden ground_truth groundtruth ideal label output reference reference_answer reference_output "
        "solution target",
        ("reference", "expected_output", "input.expected_output"),
    ),
    ("criterion guidelines instructions metric requirements rubric", ("criteria",)),
    ("instructions system system_message system_prompt", ("system_instructions", "input.system_instructions")),
    (
        "chat chat_history conversation dialog dialogue history message messages steps trace transcript turns",
        ("all_messages", "messages", "log.messages"),
    ),
    (
        "calls function_calls functions tool tool_calls tool_use tools tools_used",
        ("tools_called", "tool_calls", "output.tools_called"),
    ),
    ("args input kwargs params parameters", ("arguments",)),
    ("err errors exception failure", ("error", "output.error")),
    (" ".join(ANY_TEXT), ("response", "content", "output.response", "output")),
)
# Names of ours that an item may lack. A section over one says "if there is any", so it is never a typing error.
OPTIONAL = frozenset({"context", "reference", "row", "rubric", "session"})


@dataclass(frozen=True, slots=True)
class Known:
    """What may stand at a place: an object with these `keys`, a list of `item`s, anything (`open`), or a text."""

    keys: Mapping[str, Known] = field(default_factory=dict[str, "Known"])
    item: Known | None = None
    open: bool = False

    @classmethod
    def of(cls, value: Any, depth: int = 0) -> Known:
        """The map of given data; a list may hold anything."""
        if value is None or depth > 20:
            return OPEN
        if isinstance(value, Mapping):
            pairs = cast("Mapping[Any, Any]", value)
            return cls({str(k): cls.of(v, depth + 1) for k, v in pairs.items()})
        return cls(item=OPEN) if isinstance(value, list | tuple) else TEXT

    def paths(self, prefix: str = "") -> Iterator[str]:
        """Every path that a tag can print, elements of lists apart."""
        for key, below in self.keys.items():
            path = f"{prefix}{key}"
            if path not in BARE:
                yield path
            yield from below.paths(f"{path}.")


TEXT = Known()
OPEN = Known(open=True)


def _object(*texts: str, **others: Known) -> Known:
    return Known({**dict.fromkeys(texts, TEXT), **others})


_CALLS = Known(item=_object("id", "type", function=_object("name", arguments=OPEN)))
_CHAT = Known(item=_object("role", "content", "tool_call_id", tool_calls=_CALLS))
_TOOLS = Known(item=_object("name", "id", arguments=OPEN, result=OPEN))
_TURNS = Known(item=_object("role", "content", "type", "is_error", tool_calls=_CALLS, result=OPEN))
_FAMILY_MAP = {
    "input": _object("expected_output", "system_instructions", all_messages=_CHAT),
    "output": _object("response", "error", tools_called=_TOOLS, messages=_TURNS),
    "log": _object("input", "output", "reference", "expected_output", messages=_CHAT),
}
_MAPS: dict[Kind, Known] = {
    "pointwise": _object("criteria", "fence", "context", row=OPEN, **_FAMILY_MAP),
    "pairwise": _object(
        "question", "criteria", "reference", "fence", row=OPEN, **dict.fromkeys(SIDES, Known(_FAMILY_MAP))
    ),
}


def meant(name: str) -> Iterator[str]:
    """The fields for which a name is a usual word, the likeliest first: of `ground_truth` they begin with `reference`.

    What ends in `_a` or `_b` is of that side of a pair; a field that only a side has is suggested of the first.
    """
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().replace("-", "_")
    side = next((s for s in SIDES if word.endswith(s[-2:])), None)
    for words, fields in _MEANT:
        if side and word[:-2] in words.split():
            yield from (f"{side}.{field}" for field in fields)
        elif word in words.split():
            yield from (path for field in fields for path in (field, f"{SIDES[0]}.{field}"))


def known(kind: Kind, extra: Iterable[str] | Mapping[str, Any] = ()) -> Known:
    """The names of a jury's prompts, and those that the caller adds: by name alone, or with their values.

    Raises `ConfigError` where an added name is one of the documented ones, which includes the names of whole families.
    """
    ours = _MAPS[kind].keys
    if isinstance(extra, Mapping):
        added = {n: Known.of(v) for n, v in cast("Mapping[str, Any]", extra).items()}
    else:
        added = dict.fromkeys(extra, OPEN)
    taken = sorted(name for name in added if (name in ours and name != "context") or name in BARE)
    if taken:
        raise ConfigError(f"variables: {', '.join(taken)}: a documented name of {kind} prompts cannot be replaced")
    return Known({**ours, **added})
