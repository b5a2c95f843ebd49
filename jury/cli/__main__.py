"""The entry of the `jury` command: text encoding, errors as one line, and the exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves by `SystemExit`; `exits.py` lists the codes."""
    given = [_argument(a) for a in (sys.argv[1:] if arguments is None else arguments)]
    _speak_utf8()
    from jury.errors import JuryError

    try:
        if given == ["--version"]:
            from jury import __version__

            print(f"jury {__version__}")
            raise SystemExit(0)
        from jury.cli import front

        if front.asks_for_it(given):
            raise SystemExit(front.show(given))
        from jury.cli.app import make, renamed

        with _terminated_as_interrupted():
            make(given)(renamed(given), prog_name="jury")
    except JuryError as error:
        from jury.wording import visible

        print(f"error: {visible(str(error))}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # `| head` has read enough; typer says 1: a bad rate here
            raise SystemExit(141) from None
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):  # typer says nothing
            print("interrupted", file=sys.stderr)
        _flush()
        raise
    except OSError as error:  # nearly all files name themselves as JuryErrors: what is left is standard output
        from jury.wording import visible

        where = "standard output" if error.filename is None else visible(str(error.filename))
        print(f"error: {where}: {error.strerror or error}", file=sys.stderr)
        if error.filename is None:
            _leave_stdout()
        raise SystemExit(2) from None


@contextlib.contextmanager
def _terminated_as_interrupted() -> Generator[None]:
    """SIGTERM, as of `timeout` or of a CI, ends a command as Ctrl-C does: with what was judged till then."""

    def interrupt(*_: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of a script's background jobs
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: whoever called minds it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _flush() -> None:
    """What stdout still holds, while there is somebody to tell that it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _leave_stdout()
        if isinstance(error, BrokenPipeError):
            raise SystemExit(141) from None
        print(f"error: standard output: {error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None
    except (AttributeError, ValueError):  # there is none, or it was closed
        pass


def _leave_stdout() -> None:
    """The interpreter would try once more at its end, and print a traceback."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _argument(text: str) -> str:
    """An argument as UTF-8, also where the locale made the bytes unreadable."""
    if text.isascii():
        return text
    return os.fsencode(text).decode("utf-8", errors="replace")


def _speak_utf8() -> None:
    """Texts of judges hold any character; an ASCII locale must not end a run that was paid for. Nor must a stream that
    was closed (`>&-`): what would go there goes nowhere, and no file takes its place.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it stays for the whole process
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    main()
