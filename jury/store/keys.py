"""`Keys`: which keys a table may hold, in two megabytes, however many there are. Knows no table."""

from __future__ import annotations

from collections.abc import Iterable

_MASK = (1 << 21) - 1  # bytes; three bits for each key


class Keys:
    """Keys of 63 bits, spread evenly. One that was not added is almost always known to be none (of a million: 995 in
    a thousand; of ten million: 4 in ten), one that was added never is.
    """

    def __init__(self) -> None:
        self._bits = bytearray(_MASK + 1)

    def add(self, *several: Iterable[int]) -> None:
        bits = self._bits
        for keys in several:
            for k in keys:
                bits[k >> 3 & _MASK] |= 1 << (k & 7)
                bits[k >> 23 & _MASK] |= 1 << (k >> 20 & 7)
                bits[k >> 42 & _MASK] |= 1 << (k >> 39 & 7)

    def __contains__(self, k: int) -> bool:
        bits = self._bits
        return bool(
            bits[k >> 3 & _MASK] >> (k & 7) & 1
            and bits[k >> 23 & _MASK] >> (k >> 20 & 7) & 1
            and bits[k >> 42 & _MASK] >> (k >> 39 & 7) & 1
        )
