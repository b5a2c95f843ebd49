"""Every exception that `jury` raises on purpose. Imports nothing of the package.

    JuryError
    ├── ConfigError (ValueError)      a wrong argument, setting or configuration file: fix it, a retry cannot help
    │   └── TemplateError             a prompt that cannot be compiled, or (strict) names what does not exist
    ├── DataError (ValueError)        an input file or row that cannot be read; `kind`, and file and line where known
    ├── MissingExtra (ImportError)    an optional package is not installed; says what to install
    └── CallError                     one judge could not give a usable answer; becomes an `error` verdict on its vote
        ├── ProviderError             the call itself failed: rate limit, refusal, cut reply, time-out, ...
        └── ReplyError                a reply came, but no verdict can be read from it

`CallError.kind` is one of `PROVIDER_KINDS` or `REPLY_KINDS` (or `exception`, for a judge function that raised). A judge
function may raise `CallError("no_data", "...")` itself to say "I could not judge this": that is recorded on its vote
and never leaves the jury, while any other exception of a lone function does (docs/reference/statuses.md).
"""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROVIDER_KINDS = (
    "truncated",  # cut at the token limit
    "refused",
    "content_filter",
    "empty",
    "context_too_long",
    "rate_limited",
    "overloaded",  # 529, 503 and their like
    "server_error",  # other 5xx
    "auth",  # 401, 403, no key
    "not_found",  # no such model or address
    "bad_request",  # other 4xx
    "schema_refused",  # a 400 that names the schema or the response format: another rung may work
    "connection",
    "timeout",
    "bad_body",  # a 200 that is not the API's shape
    "deadline",  # given up: the time of the vote or of the item was over
    "budget",  # not asked: the call could have cost more than is left of the run's budget
)
REPLY_KINDS = (
    "empty",
    "no_json",
    "bad_json",
    "truncated",
    "missing_field",
    "wrong_type",
    "bad_verdict",
    "out_of_range",
    "ambiguous",
    "refused",
)


class JuryError(Exception):
    """Root of the tree. `judge`, `item` and `prompt` name where it happened, as far as is known."""

    judge: str | None = None
    item: str | None = None
    prompt: str | None = None


class ConfigError(JuryError, ValueError):
    """A wrong argument, setting or configuration file."""


class TemplateError(ConfigError):
    """A prompt template that cannot be used. `kind`: `template_syntax`, `missing_variable` or `unsafe_path`."""

    def __init__(self, message: str, kind: str = "template_syntax", *, prompt: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.prompt = prompt


class DataError(JuryError, ValueError):
    """Input data that cannot be read. `kind` says why, `file` and `line` (from 1) say where."""

    def __init__(self, message: str, kind: str, *, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.file = file
        self.line = line


def unread(error: Exception) -> str:
    """Why a file could not be read, without Python's own words around it."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start})"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return getattr(error, "strerror", None) or str(error)


def install(extra: str) -> str:
    """How an extra gets onto this machine: the command for the package, and the one for who has a checkout."""
    return f'pip install "jury-llm[{extra}]"  (in a checkout: pip install -e ".[{extra}]")'


class MissingExtra(JuryError, ImportError):
    """An optional package is missing; the message holds the command that installs it."""

    @classmethod
    def of(cls, need: str, extra: str) -> MissingExtra:
        """`need` is a sentence's start, such as "the labelling page needs starlette"; `extra` one of pyproject.toml."""
        return cls(f"{need}: {install(extra)}")


class CallError(JuryError):
    """One judge gave no usable answer.

    `kind` is a short stable word, `detail` a sentence. `retry` says whether sending the same request again can help,
    `retry_after_s` how long the provider asked to wait at least, `status` the HTTP status, `usage` the tokens that
    the failed call cost all the same (a `results.Usage`, typed loosely since errors import nothing).
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        retry: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        usage: Any = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.retry = retry
        self.retry_after_s = retry_after_s
        self.status = status
        self.usage = usage
        self.context = dict(context or {})  # e.g. {"param": "temperature"} for a refused parameter


class ProviderError(CallError):
    """The call failed at the provider or on the way to it."""


class ReplyError(CallError):
    """The reply holds no verdict that can be read without guessing."""


def place_of(error: BaseException) -> str:
    """` (judges.py:14)`: the innermost line of the user's own code that it went through, if any."""
    homes = (str(Path(__file__).parent), *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))
    libraries = tuple(home + os.sep for home in homes)
    while True:
        passed = [(f.f_code.co_filename, line) for f, line in traceback.walk_tb(error.__traceback__)]
        own = [(file, line) for file, line in passed if not file.startswith(("<", *libraries))]
        if own or error.__cause__ is None:
            break
        error = error.__cause__
    if not own:
        return ""
    file, line = Path(own[-1][0]), own[-1][1]
    return f" ({file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file.name}:{line})"
