"""`@frozen`: a frozen dataclass with slots, made in half the time. Imports nothing of the package.

`dataclass(frozen=True)` sets every field through `object.__setattr__`, which looks the field's name up each time; a
judge call makes values of about sixty fields on its way. Here `__init__` calls each slot's own setter. The rest is the
dataclass: equality, hash, repr, `replace`, pickling, `__post_init__`, `FrozenInstanceError`.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """The class as `dataclass(frozen=True, slots=True)` makes it, but for how `__init__` sets the fields."""
    made: Any = dataclass(frozen=True, slots=True)(cls)
    usual = made.__init__
    init = _init(made)
    init.__qualname__, init.__annotations__ = usual.__qualname__, usual.__annotations__
    made.__init__ = init
    return made


def _init(cls: Any) -> Any:
    """`__init__` as source text, which is how `dataclasses` makes its own."""
    names: dict[str, Any] = {"MISSING": MISSING}
    parameters, lines = ["self"], list[str]()
    for f in fields(cls):
        if f.kw_only:
            raise TypeError(f"{cls.__name__}.{f.name}: keyword-only fields are not supported by @frozen")
        value = f.name
        names[f"set_{f.name}"] = getattr(cls, f.name).__set__
        names[f"default_{f.name}"] = f.default
        if f.default_factory is not MISSING:
            names[f"make_{f.name}"] = f.default_factory
            value = f"make_{f.name}() if {f.name} is MISSING else {f.name}" if f.init else f"make_{f.name}()"
        elif not f.init:
            value = f"default_{f.name}"
        needed = f.default is MISSING and f.default_factory is MISSING
        if f.init:
            parameters.append(f.name if needed else f"{f.name}=default_{f.name}")
        lines.append(f"    set_{f.name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines), names)
    return names["__init__"]
