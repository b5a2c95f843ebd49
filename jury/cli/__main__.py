"""The entry of the `jury` command: text encoding, errors as one line, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves by `SystemExit`; `exits.py` lists the codes."""
    given = [_argument(a) for a in (sys.argv[1:] if arguments is None else arguments)]
    _speak_utf8()
    if given == ["--version"]:
        from jury import __version__

        print(f"jury {__version__}")
        raise SystemExit(0)
    from jury.cli.app import make
    from jury.errors import JuryError

    try:
        make(given)(given, prog_name="jury")
    except JuryError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None


def _argument(text: str) -> str:
    """An argument as UTF-8, also where the locale made the bytes unreadable."""
    if text.isascii():
        return text
    return os.fsencode(text).decode("utf-8", errors="replace")


def _speak_utf8() -> None:
    """Texts of judges hold any character; an ASCII locale must not end a run that was paid for."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    main()
