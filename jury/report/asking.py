"""The prompts of an item as judges got them (`runner/refill.py`), each once with the judges that got it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import overload

from jury.report.log import Log
from jury.report.parts import Asked
from jury.results import Comparison, PanelResult
from jury.runner.refill import AskedTexts, Refill
from jury.store import Run, StoredItem


class Prompts:
    """The prompts of a run."""

    def __init__(self, run: Run) -> None:
        self._refill = Refill(run)

    def asked(self, item: StoredItem, result: PanelResult | Comparison, log: Log) -> Sequence[Asked]:
        """What judges of this item were asked with. Judge functions have no prompt."""
        return _WhenRead(lambda: tuple(self._asked(item, result, log)))

    def _asked(self, item: StoredItem, result: PanelResult | Comparison, log: Log) -> Iterator[Asked]:
        groups: dict[tuple[str, str | None, str, str], tuple[AskedTexts, dict[str, bool]]] = {}
        with _silent():
            for vote in result.votes:
                for judgment in vote.judgments:
                    texts = self._refill.texts(item, judgment, log.entry(item.id, judgment).request)
                    if texts is not None:
                        key = (judgment.order, judgment.criterion, texts.system, texts.user)
                        _, judges = groups.setdefault(key, (texts, {}))
                        judges[judgment.judge] = judges.get(judgment.judge, True) and texts.exact
        for (order, criterion, system, user), (texts, judges) in groups.items():
            exact = texts.filled and all(judges.values())
            yield Asked(texts.prompt, tuple(judges), order, criterion, system, user, exact, texts.filled)


class _WhenRead(Sequence[Asked]):
    """Made whenever it is read, and not kept: the prompts of all items together may be far more than memory holds."""

    def __init__(self, make: Callable[[], tuple[Asked, ...]]) -> None:
        self._make = make

    @overload
    def __getitem__(self, index: int) -> Asked: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Asked, ...]: ...
    def __getitem__(self, index: int | slice) -> Asked | tuple[Asked, ...]:
        return self._make()[index]

    def __iter__(self) -> Iterator[Asked]:
        return iter(self._make())

    def __len__(self) -> int:
        return len(self._make())


@contextmanager
def _silent() -> Generator[None]:
    """What a template misses was told when it was asked; to fill it in again is no news."""
    logger = logging.getLogger("jury.templates")
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was
