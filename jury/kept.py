"""What is kept for an object as long as that lives, found by identity. Imports nothing of the package.

A `WeakKeyDictionary` makes a reference and compares keys at every look, which a judge call takes at three places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import ref

V = TypeVar("V")


class Kept(Generic[V]):
    """One value for each owner, made by `make` at the first look.

    A value that holds a reference to its owner keeps both; it goes when a value is made for another owner, once `over`
    says of its own that nobody will ask for it again.
    """

    def __init__(self, make: Callable[[], V], over: Callable[[Any], bool] = lambda owner: False) -> None:
        self._make, self._over = make, over
        self._by_id: dict[int, tuple[ref[Any], V]] = {}

    def of(self, owner: Any) -> V:
        """The value of this owner. Raises `TypeError` for one that cannot be weakly referenced."""
        entry = self._by_id.get(id(owner))
        if entry is not None and entry[0]() is owner:
            return entry[1]
        key, kept = id(owner), self._by_id
        for other, entry in kept.copy().items():  # a copy in one step: meanwhile owners may go, and threads may look
            if (living := entry[0]()) is None or self._over(living):
                self._drop(other, entry[0])

        def gone(reference: ref[Any]) -> None:
            self._drop(key, reference)

        made = kept[key] = (ref(owner, gone), self._make())
        return made[1]

    def _drop(self, key: int, reference: ref[Any]) -> None:
        entry = self._by_id.get(key)
        if entry is not None and entry[0] is reference:  # another one may live at the same address by now
            self._by_id.pop(key, None)

    def clear(self) -> None:
        self._by_id.clear()

    def __len__(self) -> int:
        return len(self._by_id)
