"""What is kept for an object goes with it."""

from __future__ import annotations

import gc

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
