"""Session templates in Python's format style: `{transcript}`, `{context}`, literal braces doubled. Run as they are.

Only these two names, plain: what `str.format` would do beyond (attributes, indexes, conversions, positions) is refused
with the place. Values are put in once and never read again, so braces in a session are data. `LegacyTemplate` has the
same `names` and `render` as `templates.Template`, which is for `{{...}}` prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

from jury.errors import TemplateError

NAMES = ("transcript", "context")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_TAG = re.compile(r"\{\{\s*[#^/&!>=]?\s*[A-Za-z_][\w.\[\]-]*\s*\}\}")
_DOUBLING = "write a literal brace twice, {{ and }}"


def is_legacy(source: str) -> bool:
    """Is this a template in the format style? It has a bare `{transcript}` or `{context}`, and no `{{name}}` tag."""
    bare = any(re.search(rf"(?<!\{{)(?:\{{\{{)*\{{{name}\}}", source) for name in NAMES)
    return bare and _TAG.search(source) is None


class LegacyTemplate:
    """A template, compiled. `names` are those it uses, in order.

    Raises `TemplateError` at once: template_syntax, unsafe_path, or missing_variable for a name that does not exist.
    """

    def __init__(self, source: str, *, name: str = "template") -> None:
        self.source, self.name = source, name
        self._parts = list(self._compiled())
        self.names: tuple[str, ...] = tuple(dict.fromkeys(text for text, is_name in self._parts if is_name))

    def render(self, namespace: Mapping[str, Any]) -> str:
        """The text with its names filled in. Raises `TemplateError` (missing_variable) for one that is not given.

        A context that is None was not given; an empty one was.
        """
        for name in self.names:
            if namespace.get(name) is None:
                raise TemplateError(
                    f"{self.name}: the template needs {{{name}}}, and none was given",
                    "missing_variable",
                    prompt=self.name,
                )
        return "".join(str(namespace[text]) if is_name else text for text, is_name in self._parts)

    def mustache(self) -> str:
        """The same prompt for `templates.Template`: to start a versioned prompt from.

        Raises `TemplateError` where a literal text would be read as a tag.
        """
        tags = {"transcript": "{{session.transcript}}", "context": "{{context}}"}
        made = "".join(tags[text] if is_name else text for text, is_name in self._parts)
        if any("{{" in text or text.endswith("{") for text, is_name in self._parts if not is_name):
            raise TemplateError(f"{self.name}: a literal {{{{ would be read as a tag", prompt=self.name)
        return made

    def _compiled(self) -> list[tuple[str, bool]]:
        """(literal text, False) and (name, True), in order."""
        source, parts, literal, at = self.source, list[tuple[str, bool]](), list[str](), 0
        while at < len(source):
            sign = source[at]
            if sign in "{}" and source.startswith(sign * 2, at):
                literal.append(sign)
                at += 2
            elif sign == "{":
                end = source.find("}", at)
                if end < 0:
                    self._fail(f"this brace is never closed; {_DOUBLING}", at)
                parts += [("".join(literal), False), (self._field(source[at + 1 : end], at), True)]
                literal, at = [], end + 1
            elif sign == "}":
                self._fail(f"a single closing brace; {_DOUBLING}", at)
            else:
                stop = min((p for p in (source.find("{", at), source.find("}", at)) if p >= 0), default=len(source))
                literal.append(source[at:stop])
                at = stop
        return [*parts, ("".join(literal), False)]

    def _field(self, field: str, at: int) -> str:
        if field in NAMES:
            return field
        root = re.split(r"[.\[!:]", field, maxsplit=1)[0]
        rest = field[len(root) : len(root) + 1]
        if root.strip() in NAMES and root != field:
            if rest in (".", "["):
                self._fail(f"{{{field}}} reaches into {root}; only {{{root}}} itself can be used", at, "unsafe_path")
            self._fail(f"{{{field}}}: a conversion or format of {root} is not supported; write {{{root}}}", at)
        if _NAME.match(root) and rest in (".", "["):
            self._fail(f"{{{field}}}: attributes and indexes are refused", at, "unsafe_path")
        if _NAME.match(field):
            near = get_close_matches(field, NAMES, n=1)
            hint = f"; did you mean {{{near[0]}}}?" if near else f"; there are {{{'}, {'.join(NAMES)}}}"
            self._fail(f"unknown name {{{field}}}{hint} (for a literal brace, {_DOUBLING})", at, "missing_variable")
        return self._fail(
            f"{{{field[:40]}...}} is no name; {_DOUBLING}" if field.strip() else f"empty braces; {_DOUBLING}", at
        )

    def _fail(self, message: str, at: int, kind: str = "template_syntax") -> NoReturn:
        line = self.source.count("\n", 0, at) + 1
        start = self.source.rfind("\n", 0, at) + 1
        shown = self.source[start:].split("\n")[0]
        offset = max(at - start - 60, 0)
        mark = f"  {shown[offset : offset + 110]}\n  {' ' * (at - start - offset)}^"
        text = f"{self.name}, line {line}, column {at - start + 1}: {message}\n{mark}"
        raise TemplateError(text, kind, prompt=self.name)


def render_format(template: str, transcript: str, context: str | None = None, *, name: str = "template") -> str:
    """A template filled in at once. `context` None: none was given. Raises as `LegacyTemplate` does."""
    return LegacyTemplate(template, name=name).render({"transcript": transcript, "context": context})
