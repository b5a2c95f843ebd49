"""Mustache for prompts: compiled once, rendered in one pass over plain data. Knows no jury and reads no file.

The tags are Mustache's (variables, sections, inverted sections, comments, `{{{x}}}`, `{{&x}}`, changed delimiters), cut
by chevron's own `grab_literal` and `parse_tag`. What is ours:

- nothing is escaped, and a value is never looked at for tags;
- a path reaches keys of objects and elements of lists (`lookup.py`): no attribute, no method, nothing is called;
- a tag without a value stays as it was written, white space included, and is named in a warning; so do partials, and
  the names of whole families (`{{output}}`), which have no text of their own;
- objects and lists print as readable JSON, null as nothing, other values as Python's `str`.

A value counts as false in a section where Python says so: null, false, 0, blank texts, empty lists and objects.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from chevron.tokenizer import ChevronError, grab_literal, parse_tag

from jury.checking import Tag, Unknown, meant_by, unknown_tags
from jury.errors import ConfigError, DataError, TemplateError
from jury.lookup import MISSING, find, finder, parse_path
from jury.names import BARE, Known
from jury.values import show

log = logging.getLogger("jury.templates")

MAX_DEPTH = 100  # of sections
_WINDOW = 512  # chevron copies what it is given to look at: pieces of this size keep a long template linear
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")

Put = Callable[[str], None]
Filler = Callable[[list[Any], Put], None]
Missing = Callable[[Tag, Sequence[Any]], None]
Slot = tuple[str | None, Filler]  # a tag: the top-level name it shows, if that is all it does, and what fills it
Op = str | Slot
Body = tuple[tuple[tuple[str, str | None, Filler], ...], str]  # each tag after its text, and the text after the last


class Template:
    """A compiled template. Raises `TemplateError` for sections that do not match, unclosed tags and bad delimiters.

    `names` are the paths of its variables and sections, each once, in order. A template may be rendered from several
    threads. Each name that has no value is warned about once in the life of the template.
    """

    __slots__ = ("_body", "_reported", "name", "names", "source", "tags")

    def __init__(self, source: str, *, name: str = "prompt") -> None:
        if not isinstance(source, str):
            raise ConfigError(f"{name} must be a text, got {type(source).__name__}")
        self.source = source
        self.name = name
        self._reported: set[str] = set()
        compiler = _Compiler(source, name, self._missing)
        self._body: Body = compiler.compile()
        self.tags: tuple[Tag, ...] = tuple(compiler.tags)
        found = (t.name for t in self.tags if t.path and t.sort in ("variable", "section", "inverted"))
        self.names: tuple[str, ...] = tuple(dict.fromkeys(found))

    def render(self, namespace: Mapping[str, Any]) -> str:
        """The text with every tag filled from plain data. Raises `DataError` for values nested too deeply to print."""
        if not self._body[0]:
            return self._body[1]
        frames: list[Any] = [namespace if type(namespace) is dict else dict(namespace)]
        out: list[str] = []
        _run(self._body, frames, out.append)
        return "".join(out)

    def unknown(self, known: Known) -> list[Unknown]:
        """The tags that no item can fill, the first of each name, in order."""
        return unknown_tags(self.tags, known)

    def warn(self, unknown: Sequence[Unknown]) -> None:
        """One warning that names all of these; rendering then stays silent on them."""
        self._reported.update(u.name for u in unknown)
        names = tuple(u.name for u in unknown)
        text = "%s: nothing can be filled in for %s"
        log.warning(text, self.name, _listed(unknown), extra={"placeholders": names})

    def _missing(self, tag: Tag, frames: Sequence[Any]) -> None:
        if tag.name not in self._reported:
            self._reported.add(tag.name)
            near = meant_by(tag, frames)
            text = "%s: %s on line %d has no value here and stays as it is written%s"
            hint = f"; did you mean {near}?" if near else ""
            log.warning(text, self.name, tag.raw, tag.line, hint, extra={"placeholders": (tag.name,)})

    def __repr__(self) -> str:
        return f"Template({self.name!r}, {len(self.source)} characters)"


def check(template: Template, known: Known, *, strict: bool = False, prompt_name: str | None = None) -> None:
    """Names every placeholder that can never be filled, with the nearest known name, in one warning.

    With `strict`, raises `TemplateError` of kind `missing_variable` instead.
    """
    unknown = template.unknown(known)
    if unknown and strict:
        text = f"{template.name}: nothing can be filled in for {_listed(unknown)}"
        raise TemplateError(text, "missing_variable", prompt=prompt_name or template.name)
    if unknown:
        template.warn(unknown)


def _listed(unknown: Sequence[Unknown]) -> str:
    return ", ".join(map(str, unknown))


# Rendering


def _run(body: Body, frames: list[Any], put: Put) -> None:
    tags, after = body
    top = frames[0]
    for before, name, fill in tags:
        put(before)
        if name is not None and type(text := top.get(name)) is str:  # as most tags and values are
            put(text)
        else:
            fill(frames, put)
    put(after)


def _text(value: Any) -> str | None:
    """The text of a value; None for what is no data: it stays unfilled, and a function is not called."""
    if value is MISSING or callable(value):
        return None
    try:
        return show(value)
    except DataError as error:
        if error.kind == "too_deep":
            raise
        return None


def _true(value: Any) -> bool:
    if type(value) is str:
        return value != ""
    if value is MISSING or callable(value):
        return False
    known = value is None or isinstance(value, str | int | float | list | tuple | Mapping)
    return bool(cast("object", value)) if known else True


def _variable(tag: Tag, missing: Missing) -> Slot:
    raw, get = tag.raw, finder(tag.path, top=tag.scope is None)

    def variable(frames: list[Any], put: Put) -> None:
        value = get(frames)
        if type(value) is str:
            put(value)
        elif value is not None:
            text = _text(value)
            put(raw if text is None else text)
            if text is None:
                missing(tag, frames)

    return (tag.path[0][0] if tag.scope is None and len(tag.path) == 1 else None), variable


def _kept(tag: Tag, missing: Missing) -> Slot:
    """A tag that cannot be filled; the name of a family can where an element of a list has such a key."""

    def kept(frames: list[Any], put: Put) -> None:
        value = find(frames[1:], tag.path) if tag.path and len(frames) > 1 else MISSING
        text = None if isinstance(value, Mapping) else _text(value)
        put(tag.raw if text is None else text)
        if text is None:
            missing(tag, frames)

    return None, kept


def _section(tag: Tag, body: Body) -> Slot:
    get = finder(tag.path, top=tag.scope is None)

    def section(frames: list[Any], put: Put) -> None:
        value = get(frames)
        if type(value) is list or type(value) is tuple:
            for entry in cast("list[Any]", value):
                frames.append(entry)
                _run(body, frames, put)
                frames.pop()
        elif _true(value):
            frames.append(value)
            _run(body, frames, put)
            frames.pop()

    return None, section


def _inverted(tag: Tag, body: Body) -> Slot:
    get = finder(tag.path, top=tag.scope is None)

    def inverted(frames: list[Any], put: Put) -> None:
        if not _true(get(frames)):
            _run(body, frames, put)

    return None, inverted


# Compiling


@dataclass(slots=True)
class _Block:
    """A section while it is open."""

    tag: Tag
    ops: list[Op]


class _Compiler:
    def __init__(self, source: str, name: str, missing: Missing) -> None:
        self.source = source
        self.name = name
        self.missing = missing
        self.tags: list[Tag] = []
        self.left, self.right = "{{", "}}"
        self.open: list[_Block] = []
        self.scopes: list[Tag] = []
        self.ops: list[Op] = []
        self.line = 1

    def compile(self) -> Body:
        source, at = self.source, 0
        while at < len(source):
            literal, found = self._literal(at)
            start = at + len(literal)
            self.line += literal.count("\n")
            if not found:
                self._add(literal)
                break
            sort, key, end = self._tag(start)
            raw = source[start:end]
            at = end
            if sort not in ("variable", "no escape", "partial", "no escape?"):
                literal, at = self._standalone(literal, start, end)
            self._add(literal)
            self._take(sort, key, raw)
            self.line += source.count("\n", start, at)
        if self.open:
            tag = self.open[-1].tag
            raise self._error(f"the section {_short(tag.raw)} opened on line {tag.line} is never closed")
        return _body(self.ops)

    def _literal(self, at: int) -> tuple[str, bool]:
        """The text up to the next tag, and whether there is one."""
        size = _WINDOW
        while True:
            window = self.source[at : at + size]
            literal: str = grab_literal(window, self.left)[0]
            if len(literal) < len(window) or at + size >= len(self.source):
                return literal, len(literal) < len(window)
            size *= 4

    def _tag(self, start: int) -> tuple[str, str, int]:
        """Chevron's sort of the tag, its key, and where it ends."""
        at = start + len(self.left)
        size = _WINDOW
        while True:
            window = self.source[at : at + size]
            last = at + size >= len(self.source)
            try:
                (sort, key), rest = parse_tag(window, self.left, self.right)
            except IndexError:  # nothing between the delimiters
                return "variable", "", at + len(self.right)
            except ChevronError:
                if self.right in window:
                    raise self._error(f"{self._seen(start)} on line {self.line}: delimiters end with '='") from None
                if last:
                    raise self._error(self._unclosed(start)) from None
            else:
                if rest or last:
                    return sort, key, at + len(window) - len(rest)
            size *= 4

    def _standalone(self, literal: str, start: int, end: int) -> tuple[str, int]:
        """A tag that renders nothing and stands alone on its line takes the line with it."""
        cut = literal.rfind("\n") + 1
        at = start - len(literal) + cut
        if literal[cut:].strip(" \t") or (cut == 0 and at > 0 and self.source[at - 1] != "\n"):
            return literal, end
        rest = _LINE_END.match(self.source, end)
        return (literal[:cut], rest.end()) if rest else (literal, end)

    def _take(self, sort: str, key: str, raw: str) -> None:
        match sort:
            case "section" | "inverted section":
                self._open(Tag("section" if sort == "section" else "inverted", key, raw, self.line, self._scope))
            case "end":
                self._close(key, raw)
            case "set delimiter":
                self._delimiters(key, raw)
            case "comment":
                pass
            case "variable" | "no escape" if key:
                tag = Tag("variable", key, raw, self.line, self._scope, parse_path(key))
                scope = self._scope
                whole = scope is None or scope.name in BARE  # then `.` is an object of ours, without a text
                bare = whole if key == "." else key in BARE
                self._keep(tag, _kept if bare else _variable)
            case _:
                self._keep(Tag("partial" if sort == "partial" else "broken", key, raw, self.line, self._scope), _kept)

    def _keep(self, tag: Tag, make: Callable[[Tag, Missing], Slot]) -> None:
        self.tags.append(tag)
        self._add(make(tag, self.missing))

    @property
    def _scope(self) -> Tag | None:
        return self.scopes[-1] if self.scopes else None

    def _open(self, tag: Tag) -> None:
        if not tag.name:
            raise self._error(f"the section {tag.raw} on line {tag.line} has no name")
        if len(self.open) >= MAX_DEPTH:
            raise self._error(f"sections are nested more than {MAX_DEPTH} deep on line {tag.line}")
        tag.path = parse_path(tag.name)
        self.tags.append(tag)
        self.open.append(_Block(tag, self.ops))
        if tag.sort == "section":
            self.scopes.append(tag)
        self.ops = []

    def _close(self, key: str, raw: str) -> None:
        if not self.open:
            told = f"{_short(raw)} on line {self.line} closes a section that is not open"
            raise self._error(told + self._swallowed())
        block = self.open.pop()
        tag = block.tag
        if key != tag.name:
            told = f"{_short(raw)} on line {self.line} closes the section {_short(tag.raw)} of line {tag.line}"
            raise self._error(f"{told}: their names differ{self._swallowed()}")
        make = _section if tag.sort == "section" else _inverted
        body, self.ops = self.ops, block.ops
        if tag.sort == "section":
            self.scopes.pop()
        self._add(make(tag, _body(body)))

    def _delimiters(self, key: str, raw: str) -> None:
        pair = key.split()
        if len(pair) != 2 or "=" in key:
            raise self._error(f"{_short(raw)} on line {self.line}: expected two delimiters, such as {{{{=<% %>=}}}}")
        self.left, self.right = pair

    def _add(self, op: Op) -> None:
        if op:
            self.ops.append(op)

    def _swallowed(self) -> str:
        """A tag with one brace too few reaches to the end of the next one, and takes it along."""
        over = next((tag for tag in reversed(self.tags) if self.left in tag.raw[len(self.left) :]), None)
        first = over.raw.split(self.left)[1].split("\n")[0].rstrip() if over else ""
        return f" (is {_short(self.left + first)} on line {over.line} closed by {self.right}?)" if over else ""

    def _unclosed(self, start: int) -> str:
        hint = f"to write {self.left} itself, change the delimiters first, as in {{{{=<% %>=}}}}"
        return f"the tag {self._seen(start)} on line {self.line} is not closed by {self.right}; {hint}"

    def _seen(self, start: int) -> str:
        return _short(self.source[start : start + 60].split("\n")[0])

    def _error(self, text: str) -> TemplateError:
        return TemplateError(f"{self.name}: {text}", prompt=self.name)


def _body(ops: Sequence[Op]) -> Body:
    tags: list[tuple[str, str | None, Filler]] = []
    text = ""
    for op in ops:
        if isinstance(op, str):
            text += op
        else:
            tags.append((text, *op))
            text = ""
    return tuple(tags), text


def _short(raw: str) -> str:
    return raw if len(raw) <= 60 else f"{raw[:57]}..."
