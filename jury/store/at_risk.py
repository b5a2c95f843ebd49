"""`at-risk.json`: how much money a pass may have cost at this very moment, the calls in flight among it.

Written before each call that has a budget, removed when the manifest holds what the pass did cost: where it is found,
the pass was killed, and what the log does not know of may have been charged all the same.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from jury.store.lines import check_no_link, parse, unwritable

FILE = "at-risk.json"
_WIDTH = 48  # always as long, so that one write leaves no half number


class AtRisk:
    """One number in a file of the folder, written in place."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._fd: int | None = None
        self._written = 0.0

    def found(self) -> float | None:
        """The US dollars that a killed pass left here, of it and of those before; None where none was killed."""
        try:
            value = (parse(self.path.read_bytes()) or {}).get("dollars")
        except OSError:
            return None
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

    def note(self, dollars: float) -> None:
        """Raises `DataError` where more than before cannot be written: then nothing may be asked."""
        line = f'{{"dollars":{dollars:.9f}'.ljust(_WIDTH) + "}\n"
        try:
            if self._fd is None:
                check_no_link(self.path)
                self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            os.lseek(self._fd, 0, os.SEEK_SET)
            os.write(self._fd, line.encode())
        except OSError as error:
            if dollars > self._written:
                raise unwritable(self.path, error) from None
            return  # less stays as it is: rather too much than too little
        self._written = dollars

    def clear(self) -> None:
        """The manifest has it all."""
        self.close()
        with suppress(OSError):
            self.path.unlink()

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
