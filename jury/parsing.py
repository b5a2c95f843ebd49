"""Reply text -> `Verdict`, in a documented order of readings, never a guess. No provider, no prompt, no vote here.

The readings, first that applies:

1. `data`, the input of a forced tool, where a provider has one.
2. The whole text as one JSON object (byte order mark, zero-width marks and outer white space apart). It is read before
   anything is stripped: a `<think>` inside one of its strings is text.
3. The objects on the top level of the text, whatever stands around them: prose, a fence, prose braces. What a closed
   think block holds is no part of the reply; a lone closing tag ends one that began in the prompt.

One clear object counts. Everything else is a `ReplyError` with its kind:

    empty          nothing there, or nothing after the thinking
    no_json        no object at all: a verdict in prose, a bare word, a quoted text
    bad_json       an object that is not JSON: single quotes, trailing commas, comments, NaN, nested too deeply
    truncated      an object or a think block that never ends
    ambiguous      objects that disagree, or a key that occurs twice in one object or in the value of its verdict
    wrong_type     a list, or a value of another type than asked for
    missing_field  an object without the key of the verdict (a key in other letter case is another key)
    bad_verdict, out_of_range    a text that is not on the list, a number off the scale (`scales.py`)

Objects inside an object are its data: never a second reply, never the verdict. Line breaks inside a JSON text are taken
as they are, the most common defect of all. An example object that the judge copies from its instructions and leaves
without an answer of its own cannot be told from an answer; the raw reply is kept on the judgment for that reason.

The time is linear in the length of the reply, hostile ones included. A clean object may have any length; a text of more
than 400,000 characters is not searched for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jury.errors import ReplyError
from jury.results import Failure, Verdict
from jury.scales import Scale
from jury.values import MAX_DEPTH, too_deep

_OUTER = " \t\r\n\f\v\u00a0\ufeff\u200b\u200c\u200d\u2060"
_LONGEST_PROSE = 400_000  # characters; a hundred thousand tokens, far beyond any limit of a reply
_MAX_INT_DIGITS = 300  # a longer one is off every scale, and Python refuses to read it beyond 4300
_NAME = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning)"
# What reasoning models put around their thinking: tags, brackets, and the channels of the harmony format.
_TAG = re.compile(
    rf"(?:<|◁|\[(?=/?think\]))(?P<close>/?)(?P<name>{_NAME})\b(?P<rest>[^<>\[\]◁▷\n]{{0,200}})[>\]▷]"
    r"|<\|(?P<edge>begin|end)_of_thought\|>"
    r"|<\|channel\|>\s*(?P<channel>\w+)[^<]{0,200}<\|message\|>",
    re.IGNORECASE,
)
_OPENING = re.compile(rf"\{{|{_TAG.pattern}", re.IGNORECASE)
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?P<closed>"?)|[{}]', re.DOTALL)
# A brace that begins an object, well written or not, rather than one of prose.
_OBJECT = re.compile(r"""\{\s*(?:"[^"{}]*"\s*:|'[^'{}]*'\s*:|[\w$]+\s*:|//|/\*|#|"[^"]*\Z|\Z)""")
_FENCE_END = re.compile(r"(?:```|~~~)\s*\Z")
_CUT = re.compile(r'[\w.+\-\\"]{0,12}\s*\Z')  # what is left of a JSON token at the end of a text


class _Doubled(dict[str, Any]):
    """An object in which a key occurs twice. JSON readers keep the last one in silence."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else _Doubled(made)


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else float(digits)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_int=_int, parse_constant=_constant, strict=False)


def find_object(text: str | None, keys: Sequence[str] = ("value", "abstain")) -> dict[str, Any]:
    """The one clear JSON object of a reply.

    `keys` name the fields that make a verdict: objects without any of them are passed over where another has one, and
    two objects that differ in one of them disagree. Where no object has one, the object is returned as it is.
    Raises `ReplyError` (empty, no_json, bad_json, truncated, ambiguous, wrong_type).
    """
    text = (text or "").strip(_OUTER)
    if not text:
        raise ReplyError("empty", "the reply is empty")
    try:
        data, end = _decoder.raw_decode(text)
    except ValueError:
        return _pick(_objects(_searchable(text), keys), keys)
    except RecursionError:
        raise ReplyError("bad_json", "the JSON is nested too deeply") from None
    if end == len(text):
        if type(data) is dict and text.find("{", 1) < 0 and text.find("[") < 0:  # nothing inside it to look through
            return cast("dict[str, Any]", data)
        _check_depth(text, data)
        if isinstance(data, dict):
            return _pick([cast("dict[str, Any]", data)], keys)
        _refuse_other(data, keys)
    return _pick(_objects(_searchable(text), keys), keys)


def _check_depth(text: str, data: Any) -> None:
    """What can be parsed may still be deeper than what reads, compares and stores it can go."""
    if text.count("{") + text.count("[") > MAX_DEPTH and too_deep(data):
        raise ReplyError("bad_json", "the JSON is nested too deeply")


def given_object(text: str | None, data: Any, keys: Sequence[str] = ("value", "abstain")) -> Mapping[str, Any]:
    """The object of a reply: `data` of a forced tool if there is any, else the one in `text`. Raises `ReplyError`."""
    if data is None or isinstance(data, str):
        return find_object(text if data is None else data, keys)
    if not isinstance(data, Mapping):
        raise ReplyError("wrong_type", f"expected an object, got {type(data).__name__}")
    if too_deep(data):
        raise ReplyError("bad_json", "the JSON is nested too deeply")
    return cast("Mapping[str, Any]", data)


def _searchable(text: str) -> str:
    """The text, if it is short enough to be searched for an object; a reply is, and a flood must not hold the loop."""
    if len(text) > _LONGEST_PROSE:
        raise ReplyError("bad_json", f"{len(text)} characters that are not one JSON object: too long to search")
    return text


def read_reply(text: str | None, scale: Scale, data: Any = None, *, key: str = "value") -> Verdict:
    """The verdict of one reply: `data` of a forced tool if there is any, else `text`.

    Never raises `ReplyError`: what cannot be read is a verdict of status `error` with its `Failure`. `key` names the
    field of the verdict for prompts that ask for another one (`verdict`, `winner`).
    """
    try:
        found = given_object(text, data, (key, "abstain"))
    except ReplyError as error:
        return Verdict("error", failure=Failure(error.kind, error.detail))
    return read_fields(found, scale, key=key)


def read_fields(found: Mapping[str, Any], scale: Scale, *, key: str = "value") -> Verdict:
    """The verdict that an object holds: `explanation`, `abstain`, `evidence` and the value under `key`.

    A missing explanation costs nothing. `abstain: true` is an abstention with or without a value. Never raises
    `ReplyError`. Further keys are kept in `fields`.
    """
    explanation, evidence, fields = _beside(found, key)
    try:
        abstain = found.get("abstain")
        if abstain is not None and abstain is not False and abstains(abstain):  # few replies get further
            return Verdict("abstained", None, explanation, None, evidence, fields)
        if key not in found:
            raise ReplyError("missing_field", f'the object has no key "{key}"')
        value = scale.read(found[key])
    except ReplyError as error:
        return Verdict("error", None, explanation, Failure(error.kind, error.detail), evidence, fields)
    status = "not_applicable" if scale.na is not None and value == scale.na else "scored"
    return Verdict(status, value, explanation, None, evidence, fields)


def abstains(flag: Any) -> bool:
    """What `abstain` says: true or false, or one of these as a text; null is false. Raises `ReplyError`."""
    if flag is None or isinstance(flag, bool):
        return bool(flag)
    if isinstance(flag, str) and flag.strip().casefold() in ("true", "false"):
        return flag.strip().casefold() == "true"
    raise ReplyError("wrong_type", f"abstain must be true or false, got {flag!r:.80}")


def _beside(found: Mapping[str, Any], key: str) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """What an object holds beside the verdict: explanation, evidence, further fields."""
    explanation = _text(found.get("explanation"))
    evidence: tuple[str, ...] = ()
    fields: dict[str, Any] = {}
    for name, item in found.items():
        if name == key or name in ("explanation", "abstain"):
            continue
        if name == "evidence":
            items = cast("list[Any]", item) if isinstance(item, list) else [item]
            evidence = tuple(_text(i) for i in items if i is not None)
        else:
            fields[_text(name)] = _clean(item)
    return explanation, evidence, fields


def _text(value: Any) -> str:
    """A text as it is, a list of texts by lines, anything else as JSON; half a surrogate pair cannot be stored: `?`."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(_text(item) for item in cast("list[Any]", value))
    return _text(json.dumps(value, ensure_ascii=False, default=str))


def _clean(value: Any) -> Any:
    """Half surrogate pairs replaced all the way down, numbers beyond a float as texts: it is stored as strict JSON."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(k): _clean(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_clean(v) for v in cast("list[Any]", value)]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def _pick(objects: Sequence[dict[str, Any]], keys: Sequence[str]) -> dict[str, Any]:
    """The object that holds the verdict, if they agree; of agreeing ones the one that says most."""
    telling = [o for o in objects if any(k in o for k in keys)] if len(objects) > 1 else objects
    best = telling[0] if telling else objects[0]
    for other in telling[1:]:
        if not all(_same(best, other, k) for k in keys):
            raise ReplyError("ambiguous", "the reply holds several objects, and they disagree")
        if len(other) > len(best):
            best = other
    if any(isinstance(o, _Doubled) or any(_doubled(o.get(k)) for k in keys) for o in telling):
        raise ReplyError("ambiguous", "a key occurs twice in the object")
    return best


def _doubled(value: Any) -> bool:
    """Whether a key occurs twice in an object that is a verdict's value, such as a criterion of a rubric."""
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, _Doubled):
            return True
        if isinstance(top, dict):
            stack += cast("dict[str, Any]", top).values()
        elif isinstance(top, list):
            stack += cast("list[Any]", top)
    return False


def _same(one: Mapping[str, Any], other: Mapping[str, Any], key: str) -> bool:
    """A key that is not there says as much as null or false there."""
    if key not in one or key not in other:
        return all(o.get(key) is None or o[key] is False for o in (one, other))
    return _folded(one[key]) == _folded(other[key])


def _folded(value: Any) -> Any:
    """To compare by: letter case and outer spaces of a text do not count, and true is not 1."""
    if isinstance(value, str):
        return value.strip().casefold()
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return [_folded(v) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {k: _folded(v) for k, v in cast("dict[str, Any]", value).items()}
    return value


def _refuse_other(data: Any, keys: Sequence[str]) -> None:
    """The whole reply is JSON, but no object."""
    if not isinstance(data, list):
        raise ReplyError("no_json", "the reply is a bare value, not a JSON object")
    inner = [cast("dict[str, Any]", o) for o in cast("list[Any]", data) if isinstance(o, dict)]
    if inner:
        _pick(inner, keys)  # ambiguous, where they disagree
    raise ReplyError("wrong_type", "the reply is a list, not a JSON object")


def _objects(text: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The objects on the top level of a text, think blocks left out. At least one, or `ReplyError`."""
    found: list[dict[str, Any]] = []
    broken = listed = False
    pos = answer = 0
    budget = 2 * len(text) + 100_000  # characters that may be scanned in vain
    while (opening := _OPENING.search(text, pos)) is not None:
        start, pos = opening.start(), opening.end()
        if opening.group() != "{":
            if _opens(opening):
                answer = pos = _after_thinking(text, opening)
            elif _closes(opening):
                found, broken, listed, answer = [], False, False, pos
            continue
        end = _closing(text, start)
        if end is None:
            budget -= len(text) - start
            if _OBJECT.match(text, start):
                raise _unfinished(text[start:])
            if budget < 0:
                raise ReplyError("bad_json", "the reply is full of open braces")
            continue
        made = _decode(text[start:end])
        if not isinstance(made, str):
            found.append(made)
            listed = listed or _in_list(text, start, end)
        elif _names(text, start, end, keys):
            raise ReplyError("bad_json", f"the object is not valid JSON: {made}")
        else:
            broken = broken or _OBJECT.match(text, start) is not None
        pos = end
    if not found:
        raise _nothing(text[answer:], broken)
    if listed:
        _refuse_other(found, keys)
    return found


def _nothing(rest: str, broken: bool) -> ReplyError:
    if not rest.strip(_OUTER):
        return ReplyError("empty", "nothing follows the thinking")
    if broken:
        return ReplyError("bad_json", "the object is not valid JSON")
    return ReplyError("no_json", "the reply holds no JSON object")


def _opens(tag: re.Match[str]) -> bool:
    if tag["name"]:
        return not tag["close"] and not tag["rest"].rstrip().endswith("/")
    return (tag["edge"] or "").lower() == "begin" or (tag["channel"] or "final").lower() != "final"


def _closes(tag: re.Match[str]) -> bool:
    if tag["name"]:
        return bool(tag["close"])
    return (tag["edge"] or "").lower() == "end" or (tag["channel"] or "").lower() == "final"


def _after_thinking(text: str, opening: re.Match[str]) -> int:
    """Where the block ends that `opening` begins; blocks of the same name inside are counted."""
    name, depth = (opening["name"] or "").lower(), 1
    for tag in _TAG.finditer(text, opening.end()):
        if (tag["name"] or "").lower() != name:
            continue
        if tag["channel"]:  # channels follow each other, they do not nest
            depth = 0 if _closes(tag) else depth
        else:
            depth += _opens(tag) - _closes(tag)
        if depth == 0:
            return tag.end()
    raise ReplyError("truncated", "the thinking never ends, so no verdict was given")


def _closing(text: str, start: int) -> int | None:
    """The position after the brace that closes the one at `start`; braces inside JSON strings do not count."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        mark = token.group()
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return token.end()
        elif not token["closed"]:
            return None
    return None


def _decode(text: str) -> dict[str, Any] | str:
    """The object, or what is wrong with it."""
    try:
        made = _decoder.decode(text)
    except RecursionError:
        raise ReplyError("bad_json", "the JSON is nested too deeply") from None
    except ValueError as error:
        return str(error)
    _check_depth(text, made)
    return cast("dict[str, Any]", made)


def _unfinished(rest: str) -> ReplyError:
    """Cut off, or never closed because of an earlier defect?"""
    rest = _FENCE_END.sub("", rest)
    try:
        _decoder.decode(rest)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string") or _CUT.match(rest, error.pos):
            return ReplyError("truncated", "the JSON object is cut off")
        return ReplyError("bad_json", f"the object is not valid JSON: {error}")
    except (ValueError, RecursionError):
        pass
    return ReplyError("bad_json", "the object is not valid JSON")


def _in_list(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 200) : start].rstrip()[-1:], text[end : end + 200].lstrip()[:1]
    return before == "[" and after in ("]", ",")


def _names(text: str, start: int, end: int, keys: Sequence[str]) -> bool:
    """Does a span that is no JSON speak of a verdict all the same? Then nothing beside it can be called clear."""
    words = "|".join(re.escape(k) for k in keys)
    pattern = rf"(?<!\w)(?:{words})\W?\s*[:=]|[\"'“](?:{words})[\"'”]"
    return re.compile(pattern, re.IGNORECASE).search(text, start, end) is not None
