"""JSON values as plain data and as text for people: `plain`, `data_of`, `pretty`, `show`. No message, no template.

`pretty` is `json.dumps(value, indent=2, ensure_ascii=False)`, written out here since the standard library leaves its C
encoder as soon as an indent is asked for: a short value takes about a fifth of the time.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from json.encoder import encode_basestring
from typing import Any, cast

from jury.errors import DataError

MAX_DEPTH = 200  # deeper data is refused by name instead of ending in a RecursionError
_SCALARS = (str, int, float, bool, type(None))


def plain(value: Any, what: str = "value") -> Any:
    """`value` as dicts, lists, texts, numbers, booleans and None; what is all of these already is returned as it is.

    Dataclasses, objects with a `model_dump` method (pydantic, the SDKs' responses), mappings, sequences, sets and numpy
    values become their data; dates and the like their text. Raises `DataError` naming `what` for bytes, functions,
    objects without data, and data nested deeper than 200.
    """
    return value if _is_plain(value, 0) else _plain(value, what, 0)


def data_of(value: Any) -> Any:
    """`plain` of a value that has data; one that has none as it is, and no prompt shows it."""
    try:
        return plain(value)
    except DataError:
        return value


def too_deep(value: Any) -> bool:
    """Whether dicts and lists of parsed JSON are nested deeper than 200: more than can be walked on any stack."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in inside(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def inside(value: Any) -> Iterable[Any]:
    """The values of a dict, the entries of a list, nothing of anything else."""
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _is_plain(value: Any, depth: int) -> bool:
    if isinstance(value, _SCALARS):
        return True
    if depth >= MAX_DEPTH:
        return False
    if type(value) is dict:
        pairs = cast("dict[Any, Any]", value)
        return all(type(k) is str and _is_plain(v, depth + 1) for k, v in pairs.items())
    if type(value) is list:
        return all(_is_plain(v, depth + 1) for v in cast("list[Any]", value))
    return False


def _plain(value: Any, what: str, depth: int) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if depth >= MAX_DEPTH:
        raise DataError(f"{what[:40]}... is nested deeper than {MAX_DEPTH} levels (or holds itself)", "too_deep")
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)
        return {_key_text(k): _plain(v, f"{what}.{k}", depth + 1) for k, v in pairs.items()}
    if isinstance(value, bytes | bytearray | memoryview):
        kind = type(cast("object", value)).__name__
        raise DataError(f"{what} is {kind}, not text: decode it first", "encoding")
    if isinstance(value, AbstractSet):
        value = sorted(cast("AbstractSet[Any]", value), key=str)  # the same set is the same prompt on every run
    if isinstance(value, Sequence):
        entries = cast("Sequence[Any]", value)
        return [_plain(v, f"{what}[{i}]", depth + 1) for i, v in enumerate(entries)]
    return _plain(_unwrapped(value, what), what, depth + 1)


def _unwrapped(value: Any, what: str) -> Any:
    """The data inside an object that is no JSON value itself."""
    if not isinstance(value, type):
        if dataclasses.is_dataclass(value):
            return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        # pydantic and the SDKs; numpy arrays and scalars, tensors
        for name, how in (("model_dump", {"mode": "json"}), ("tolist", {})):
            give = getattr(value, name, None)
            if callable(give):
                try:
                    return give(**how)
                except (TypeError, ValueError, RuntimeError) as error:
                    raise DataError(f"{what}: {type(value).__name__}.{name} failed: {error}", "wrong_type") from error
        if not callable(value) and type(value).__str__ is not object.__str__:
            return str(value)  # dates, decimals, paths, UUIDs
    raise DataError(f"{what} is of type {type(value).__name__}, which is no JSON value", "wrong_type")


def show(value: Any) -> str:
    """A value in a prompt: texts as they are, None blank, objects and lists as `pretty`, numbers as Python's `str`."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return _written(value, str)
    if isinstance(value, dict | list | tuple):
        return pretty(value)
    data = plain(value)
    return pretty(data) if isinstance(data, dict | list) else show(data)


def pretty(value: Any) -> str:
    """JSON with an indent of two, keys in order, non-ASCII characters readable. Raises `DataError` like `plain`."""
    return _pretty(value, "\n")


def _pretty(value: Any, line: str) -> str:
    """`line` is a line break and the indent of the place where the value stands."""
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is dict:
        inner = _inside(line)
        pairs = [f"{inner}{_key(k)}: {_pretty(v, inner)}" for k, v in cast("dict[Any, Any]", value).items()]
        return "{" + ",".join(pairs) + line + "}" if pairs else "{}"
    if type(value) is list or type(value) is tuple:
        inner = _inside(line)
        entries = [inner + _pretty(v, inner) for v in cast("list[Any]", value)]
        return "[" + ",".join(entries) + line + "]" if entries else "[]"
    if isinstance(value, _SCALARS):
        return _written(value, _dumped)
    return _pretty(plain(value), line)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _written(value: Any, write: Callable[[Any], str]) -> str:
    try:
        return write(value)
    except ValueError:  # Python writes whole numbers of up to 4300 digits
        raise DataError("a whole number has more digits than can be written", "wrong_type") from None


def _inside(line: str) -> str:
    if len(line) > 2 * MAX_DEPTH:
        raise DataError(f"a value is nested deeper than {MAX_DEPTH} levels (or holds itself)", "too_deep")
    return line + "  "


def _key(key: Any) -> str:
    return encode_basestring(key if type(key) is str else _key_text(key))


def _key_text(key: Any) -> str:
    """A key as JSON writes it: true, 1 and null are such texts."""
    if isinstance(key, str):
        return str.__str__(key)
    return json.dumps(key) if isinstance(key, int | float) or key is None else str(key)
