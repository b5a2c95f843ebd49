"""Compressed bytes -> bytes, told by how they begin: gzip, and zstd where a package for it is there. Knows no text."""

from __future__ import annotations

import gzip
import importlib
import io
from typing import TYPE_CHECKING, Any, cast

from jury.errors import MissingExtra

if TYPE_CHECKING:
    from typing_extensions import Buffer  # of the standard library from Python 3.12 on

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_CHUNK = 65536


def unpacked(raw: io.BufferedReader) -> io.BufferedReader:
    """The bytes inside. One that is cut off raises `EOFError` at its end, a damaged one `OSError` or `zlib.error`."""
    head = raw.peek(4)
    if head.startswith(_GZIP):
        return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=raw, mode="rb")))
    if head.startswith(_ZSTD):
        return io.BufferedReader(_Zstd(raw), _CHUNK)
    return raw


class _Zstd(io.RawIOBase):
    """One zstd frame after the other. The packages' own readers take a cut-off file for a shorter one."""

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw
        self._new, self._fault = _decompressor()
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        while not self._ready:
            packed = self._next()
            if not packed:
                return 0
            try:
                self._ready = self._frame.decompress(packed)
            except self._fault as error:
                raise OSError(f"damaged zstd data: {error}") from None
        taken = self._ready[: len(view)]
        view[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)

    def _next(self) -> bytes:
        """The next packed bytes, with a frame to put them into; empty at the end."""
        ended = self._frame is None or self._frame.eof
        left = self._frame.unused_data if ended and self._frame is not None else b""
        packed = left or self._raw.read(_CHUNK)
        if not packed and not ended:
            raise EOFError("the zstd data end in the middle")
        if ended:
            self._frame = self._new()
        return packed


def _decompressor() -> tuple[Any, type[Exception]]:
    """What makes a decompressor for one frame, and what it raises: of the standard library, else of `zstandard`."""
    for name in ("compression.zstd", "zstandard"):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue
        if name == "zstandard":
            return module.ZstdDecompressor().decompressobj, module.ZstdError
        return module.ZstdDecompressor, module.ZstdError
    raise MissingExtra("reading .zst files needs the package zstandard: pip install zstandard")
