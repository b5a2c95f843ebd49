"""`@frozen`: a frozen dataclass with slots, made in a third of the time. Imports nothing of the package.

`dataclass(frozen=True)` sets every field through `object.__setattr__`, which looks the field's name up each time; a
judge call makes values of about sixty fields on its way. Here a new value is, until its fields are set, one of a class
with the same slots that is not frozen. The rest is the dataclass: equality, hash, repr, `replace`, pickling,
`__post_init__`, `FrozenInstanceError`.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_set_class: Any = object.__dict__["__class__"].__set__


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
    thawed = {
        "__slots__": cls.__dict__["__slots__"],
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,  # with one of the two frozen, the other would take the long way
    }
    names: dict[str, Any] = {
        "MISSING": MISSING,
        "Frozen": cls,
        "Thawed": type(cls)(cls.__name__, cls.__bases__, thawed),
        "set_class": _set_class,
        "set_field": object.__setattr__,
    }
    parameters, quick, slow = ["self"], list[str](), list[str]()
    for f in fields(cls):
        if f.kw_only:
            raise TypeError(f"{cls.__name__}.{f.name}: keyword-only fields are not supported by @frozen")
        value = f.name
        names[f"default_{f.name}"] = f.default
        if f.default_factory is not MISSING:
            # `dict` of `dict[str, Any]`: to call the latter takes as long as to make the rest of the value.
            names[f"make_{f.name}"] = getattr(f.default_factory, "__origin__", f.default_factory)
            value = f"make_{f.name}() if {f.name} is MISSING else {f.name}" if f.init else f"make_{f.name}()"
        elif not f.init:
            value = f"default_{f.name}"
        needed = f.default is MISSING and f.default_factory is MISSING
        if f.init:
            parameters.append(f.name if needed else f"{f.name}=default_{f.name}")
        quick.append(f"        self.{f.name} = {value}")
        slow.append(f"        set_field(self, {f.name!r}, {value})")
    lines = [
        f"def __init__({', '.join(parameters)}):",
        "    if self.__class__ is Frozen:",
        "        set_class(self, Thawed)",
        *quick,
        "        self.__class__ = Frozen",
        "    else:",  # a subclass has slots of its own
        *(slow or ["        pass"]),
        *(["    self.__post_init__()"] if hasattr(cls, "__post_init__") else []),
    ]
    exec("\n".join(lines), names)
    return names["__init__"]
