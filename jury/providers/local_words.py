"""Reply schemas for a small model: bounded, so that it cannot write forever; or one word of a few. Pure.

What the model may write is a grammar, so a bound that a larger model keeps by itself has to be in the schema here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jury.errors import ConfigError

STRING, ITEMS = 400, 5  # characters of a text and elements of a list, where the schema gives no bound
REASON, COMPARISON = 60, 80  # characters of the reasons beside a reference, and of those for a pair
SURE = 0.7  # below this share of the probability, one word is an abstention
_ONE_LINE = {
    "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": ", "lenient": True}
}
_CHARACTERS_PER_TOKEN = 2  # at least, in what a model writes
_ENDS = (".", "!", "?", "。", "！", "？")
_TOKEN = 10  # characters; a text that ends so close below its bound had no room for the next word


def for_small_model(schema: Mapping[str, Any]) -> Any:
    """The schema bounded, and without the choice to abstain: a small model takes that way out of every second item."""
    given: Mapping[str, Any] = schema.get("properties") or {}
    if "abstain" not in given:
        return bounded(schema)
    properties = {name: node for name, node in given.items() if name != "abstain"}
    value: Mapping[str, Any] = given.get("value") or {}
    kept = [node for node in value.get("anyOf") or () if node.get("type") != "null"]
    if len(kept) == 1:
        properties["value"] = kept[0]
    required = [name for name in schema.get("required") or () if name != "abstain"]
    return bounded({**schema, "properties": properties, "required": required})


def bounded(schema: Any) -> Any:
    """The schema with a bound on every text and every list that has none."""
    if isinstance(schema, Mapping):
        node = {k: bounded(v) for k, v in cast("Mapping[str, Any]", schema).items()}
        if node.get("type") == "string" and not node.keys() & {"enum", "const", "maxLength", "pattern", "format"}:
            node["maxLength"] = max(STRING, int(node.get("minLength", 0)))
        if node.get("type") == "array" and "maxItems" not in node:
            node["maxItems"] = max(ITEMS, int(node.get("minItems", 0)))
        return node
    if isinstance(schema, list):
        return [bounded(v) for v in cast("list[Any]", schema)]
    return schema


def value_first(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with `value` in front of the other properties: they are written in this order."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if "value" not in properties:
        return dict(schema)
    return {**schema, "properties": {"value": properties["value"], **properties}}


def short_reasons(schema: Mapping[str, Any], bound: int = REASON) -> dict[str, Any]:
    """The schema with a tighter bound on `explanation`. Writing is the slowest thing a small model does."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if "explanation" not in properties:
        return dict(schema)
    return {**schema, "properties": {**properties, "explanation": {**properties["explanation"], "maxLength": bound}}}


def whole_words(text: str, schema: Mapping[str, Any]) -> str:
    """The reply; an explanation that was cut at its bound ends with its last whole word and "…"."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    node: Mapping[str, Any] = properties.get("explanation") or {}
    bound: int = node.get("maxLength", STRING)
    try:
        reply = json.loads(text)
        said = reply["explanation"]
    except (ValueError, TypeError, KeyError):
        return text
    if not isinstance(said, str) or (whole := _whole(said, bound)) == said:
        return text
    return json.dumps({**reply, "explanation": whole}, ensure_ascii=False)


def _whole(said: str, bound: int) -> str:
    if len(said) < bound - _TOKEN or said.endswith(_ENDS):
        return said
    head, _, last = said.rpartition(" ")
    whole = said if len(last) > 2 * _TOKEN else head  # not every script puts blanks between its words
    return whole.rstrip(" ,;:.") + "…"


def longest(schema: Any) -> int:
    """About how many tokens a reply of a bounded schema can take."""
    if not isinstance(schema, Mapping):
        return sum(longest(v) for v in cast("list[Any]", schema)) if isinstance(schema, list) else 0
    node = cast("Mapping[str, Any]", schema)
    size = 16 + int(node.get("maxLength", 0) if isinstance(node.get("maxLength"), int) else 0) // _CHARACTERS_PER_TOKEN
    times = node["maxItems"] if isinstance(node.get("maxItems"), int) else 1
    return size + times * sum(longest(v) for v in node.values())


def choices(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """As `allowed`. Raises `ConfigError` where there are no such words."""
    words = allowed(schema)
    if words is None:
        raise ConfigError("the method 'one_token' of a local judge needs a verdict that is true or false, or a label")
    return words


def allowed(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The words for the values of a schema whose `value` is a boolean or one of a few texts; None for another one."""
    properties: Any = (schema or {}).get("properties") or {}
    value: Any = properties.get("value") or {}
    nodes: list[Any] = [value, *(value.get("anyOf") or ())]
    for node in nodes:
        if node.get("type") == "boolean":
            return {"true": True, "false": False}
        if node.get("enum"):
            return {str(v): v for v in node["enum"] if v is not None}
    return None


def one_word_grammar(words: Sequence[str]) -> str:
    """A grammar that allows one of these words and nothing else."""
    return "root ::= " + " | ".join(json.dumps(w, ensure_ascii=False) for w in words)


def object_grammar(schema: Mapping[str, Any]) -> str:
    """A grammar for the objects of a schema, on one line: free blanks are a quarter of what a small model writes."""
    return f"%llguidance {{}}\nstart: %json {json.dumps({**schema, **_ONE_LINE})}"


def openings(schema: Mapping[str, Any]) -> dict[str, Any]:
    """How a reply begins that is one sentence instead of an object, and the value that each opening stands for.

    Only where the value stands first and is true or false, or A, B or tie: empty for any other schema. Half of what is
    written were the keys of the object, and a pair is told apart better in a sentence.
    """
    given: Mapping[str, Any] = for_small_model(schema).get("properties") or {}
    words: Mapping[str, Any] = (list(given) == ["value", "explanation"] and allowed(schema)) or {}
    if words.keys() == {"true", "false"}:
        return {"True. ": True, "False. ": False}
    if words.keys() == {"A", "B", "tie"}:
        return {
            "Response A is better because ": "A",
            "Response B is better because ": "B",
            "Neither response is better because ": "tie",
        }
    return {}


def sentence_grammar(schema: Mapping[str, Any]) -> str:
    """A grammar for a reply in one sentence: an opening, and as much as the schema allows for the reasons."""
    bound: int = schema["properties"]["explanation"]["maxLength"]
    begun = " | ".join(json.dumps(opening) for opening in openings(schema))
    return f"%llguidance {{}}\nstart: OPENING REASON\nOPENING: {begun}\nREASON: /[^\\s][^\\n]{{0,{bound - 1}}}/"


def object_of(sentence: str, schema: Mapping[str, Any]) -> str:
    """What such a sentence says, as the object that the schema describes. A sentence without an opening stays."""
    for opening, value in openings(schema).items():
        if sentence.startswith(opening):
            reason = _whole(sentence.removeprefix(opening).strip(), schema["properties"]["explanation"]["maxLength"])
            said = reason if isinstance(value, bool) else opening + reason
            return json.dumps({"value": value, "explanation": said}, ensure_ascii=False)
    return sentence


def verdict_of(
    text: str, first: Sequence[tuple[str, float]], words: Mapping[str, Any], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The reply object for a one-word answer: the likeliest word and its share of the probability.

    `first` are the likeliest first tokens before the grammar took hold. A token that begins several words counts for
    none of them; where none can be told apart, the word that was written counts, without a probability. A share below
    `SURE` is an abstention.
    """
    odds = dict.fromkeys(words, 0.0)
    for token, logprob in first:
        begun = token.strip().casefold()
        fitting = [w for w in words if begun and w.casefold().startswith(begun)]
        if len(fitting) == 1:
            odds[fitting[0]] += math.exp(logprob)
    total = sum(odds.values())
    best = max(odds, key=lambda w: odds[w]) if total else text.strip()
    share = odds[best] / total if total else None
    said = f"One word, no reasons: {best}" + (f", with {share:.0%} of the probability." if share is not None else ".")
    reply: dict[str, Any] = {"explanation": said, "value": words.get(best, best)}
    if share is not None and share < SURE and "abstain" in schema.get("properties", {}):
        reply |= {"abstain": True, "value": None}
    return reply
