"""`@frozen` is `dataclass(frozen=True, slots=True)` in everything but the time it takes."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import aggregation, data, results
from jury.frozen import frozen
from jury.providers import base


def body(make: Any) -> Any:
    @make
    class Base:
        a: int
        b: str = "b"

    @make
    class Point(Base):
        """What it is."""

        c: list[int] = field(default_factory=list)
        d: Any = None
        made: dict[str, int] = field(default_factory=dict, init=False)
        fixed: str = field(default="x", init=False, repr=False)
        seen: int = field(default=0, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "made", {"a": self.a})

    return Point


Own, Usual = body(frozen), body(dataclass(frozen=True, slots=True))
ARGUMENTS = st.tuples(
    st.lists(st.integers(0, 3), max_size=5),
    st.dictionaries(st.sampled_from(["a", "b", "c", "d", "seen", "made", "other"]), st.integers(0, 3)),
)


def outcome(make: Any) -> Any:
    try:
        return make()
    except TypeError as error:
        return str(error).replace("body.<locals>.", "")


@given(ARGUMENTS)
def test_as_the_dataclass(arguments: tuple[list[int], dict[str, int]]) -> None:
    given_, named = arguments
    own, usual = outcome(lambda: Own(*given_, **named)), outcome(lambda: Usual(*given_, **named))
    if isinstance(usual, str):
        assert own == usual
        return
    assert asdict(own) == asdict(usual)
    assert repr(own) == repr(usual)
    assert own == Own(*given_, **named)
    assert own != usual
    assert replace(own, a=9) == Own(9, own.b, own.c, own.d, own.seen)
    assert copy.copy(own) == copy.deepcopy(own) == own


def test_factories_make_a_new_value_each_time() -> None:
    assert Own(1).c is not Own(1).c


def test_nothing_can_be_set_or_added() -> None:
    one = Own(1)
    for name in ("a", "other"):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(one, name, 2)
    with pytest.raises(FrozenInstanceError):
        del one.a
    assert not hasattr(one, "__dict__")


def test_a_subclass_stays_what_it_is():
    class Further(Own):
        pass

    one = Further(1, "x", d=2)
    assert type(one) is Further
    assert (one.a, one.b, one.c, one.d, one.made) == (1, "x", [], 2, {"a": 1})
    with pytest.raises(FrozenInstanceError):
        one.a = 2


def test_hash_and_pickle() -> None:
    usage = results.Usage(1, 2, 3)
    assert hash(usage) == hash(results.Usage(1, 2, 3))
    assert pickle.loads(pickle.dumps(usage)) == usage


def test_help_shows_the_same_parameters() -> None:
    own, usual = inspect.signature(Own).parameters, inspect.signature(Usual).parameters
    assert list(own) == list(usual)
    assert [p.annotation for p in own.values()] == [p.annotation for p in usual.values()]
    assert Own.__init__.__qualname__ == "body.<locals>.Point.__init__"
    assert Own.__doc__ == "What it is."


def test_keyword_only_fields_are_refused() -> None:
    with pytest.raises(TypeError, match="keyword-only"):

        @frozen
        class Wrong:
            a: int = field(kw_only=True)


@pytest.mark.parametrize("module", [aggregation, base, data, results])
def test_what_a_judge_call_makes_is_frozen(module: Any) -> None:
    made = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    values = [cls for cls in made if hasattr(cls, "__dataclass_fields__")]
    assert values
    for cls in values:
        assert cls.__init__.__globals__.get("Frozen") is cls, cls.__name__
