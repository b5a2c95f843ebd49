"""What holds for every test: the cache of the person who runs them is not touched."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_shared_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_CACHE", "off")
