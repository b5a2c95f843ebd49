"""What is kept for an object goes with it."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from jury.kept import Kept


class Owner:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def test_each_owner_has_one_value_of_its_own_however_alike_they_are():
    kept = Kept(list)
    one, other = Owner(), Owner()
    kept.of(one).append(1)
    assert kept.of(one) == [1]
    assert kept.of(other) == []


def test_it_goes_with_its_owner():
    kept = Kept(list)
    for _ in range(50):  # addresses are used again
        owner = Owner()
        kept.of(owner).append(1)
        assert kept.of(owner) == [1]
        del owner
        gc.collect()
        assert len(kept) == 0


def test_a_value_that_holds_its_owner_goes_when_that_is_over():
    over: set[int] = set()
    kept = Kept(list, over=lambda owner: id(owner) in over)
    for _ in range(5):
        owner = Owner()
        kept.of(owner).append(owner)
        over.add(id(owner))
    assert len(kept) == 1


def test_an_owner_without_weak_references_is_refused():
    with pytest.raises(TypeError):
        Kept(list).of(())


def test_owners_may_go_while_a_value_is_made_for_another():
    kept = Kept(list)

    class Cycle:
        def __init__(self) -> None:
            self.me = self

    before = gc.get_threshold()
    gc.disable()
    try:
        owners = [Cycle() for _ in range(4000)]
        kept._by_id.update({id(o): (ref(o, lambda r: kept._by_id.clear()), []) for o in owners})
        owners.clear()
        gc.set_threshold(gc.get_count()[0] + 1000, 1000, 1000)  # while it looks through what it has
        gc.enable()
        assert kept.of(Owner()) == []
    finally:
        gc.set_threshold(*before)
        gc.enable()


def test_what_came_to_an_address_meanwhile_stays():
    new = Owner()

    def over(owner: object) -> bool:  # another thread, whose owner got the address of one that went
        kept._by_id[id(owner)] = entry
        return True

    kept = Kept(list, over=over)
    old = Owner()
    kept.of(old)
    entry = (ref(new), ["of another thread"])
    kept.of(new)
    assert kept._by_id[id(old)] is entry
