"""The text of a pass rule -> a tree of `Node`. Tokens, grammar, and the place of what is wrong; no criteria here.

Recursive descent by hand: no Python is evaluated, and the depth is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

Fail = Callable[[str, int], NoReturn]

FUNCTIONS = ("min", "max", "mean", "sum", "weighted_mean", "count")
WORDS = ("and", "or", "not", "in", "all", "any", "true", "false", *FUNCTIONS)
COMPARISONS = (">=", "<=", "==", "!=", ">", "<")
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")
_MAX_DEPTH = 50
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d+)?)(?![\w.])|(?P<name>" + KEY.pattern + r")"
    r"|(?P<text>'[^'\n]*'|\"[^\"\n]*\")|(?P<sign>>=|<=|==|!=|[<>(),\[\]]))"
)
_HINTS = {
    "=>": "write >=",
    "=<": "write <=",
    "=": "write == to compare",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    "≥": "write >=",
    "≤": "write <=",
    "%": "there is no arithmetic",
    "*": "there is no arithmetic",
    "+": "there is no arithmetic; sum(a, b) adds",
}


@dataclass(frozen=True, slots=True)
class Node:
    """One piece of a rule. `op` is `number`, `text`, `name`, `all`, `any`, a function, a comparison, `in`, and/or/not.

    `start` and `end` are its place in the text.
    """

    op: str
    parts: tuple[Node, ...] = ()
    value: float | str = 0.0
    start: int = 0
    end: int = 0


def walk(node: Node) -> list[Node]:
    return [node, *(inner for part in node.parts for inner in walk(part))]


class Parser:
    """Recursive descent over the tokens of one rule."""

    def __init__(self, text: str, fail: Fail) -> None:
        self.text, self.fail, self.depth = text, fail, 0
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                self._bad_sign(at + len(text[at:]) - len(text[at:].lstrip()))
            kind = str(match.lastgroup)
            self.tokens.append((kind, match[kind], match.start(kind)))
            at = match.end()
        self.tokens.append(("end", "", len(text.rstrip())))
        self.next = 0

    def _bad_sign(self, at: int) -> NoReturn:
        sign = self.text[at]
        if sign in "'\"":
            self.fail("this text is never closed", at)
        hint = next((text for start, text in _HINTS.items() if self.text.startswith(start, at)), None)
        self.fail(f"unexpected {sign!r}" + (f": {hint}" if hint else ""), at)

    @property
    def token(self) -> tuple[str, str, int]:
        return self.tokens[self.next]

    def _take(self, *values: str) -> tuple[str, str, int] | None:
        token = self.token
        if token[0] in ("name", "sign") and token[1] in values:
            self.next += 1
            return token
        return None

    def _expect(self, value: str) -> None:
        if not self._take(value):
            self.fail(f"expected {value!r}, {self._found()}", self.token[2])

    def _found(self) -> str:
        return "the rule ends here" if self.token[0] == "end" else f"found {self.token[1]!r}"

    def _end(self) -> int:
        _, value, start = self.tokens[self.next - 1]
        return start + len(value)

    def rule(self) -> Node:
        node = self._or()
        if self.token[0] != "end":
            self.fail(f"expected and, or, or the end, {self._found()}", self.token[2])
        return node

    def _or(self) -> Node:
        return self._joined("or", lambda: self._joined("and", self._not))

    def _joined(self, word: str, inner: Callable[[], Node]) -> Node:
        parts = [inner()]
        while self._take(word):
            parts.append(inner())
        return parts[0] if len(parts) == 1 else Node(word, tuple(parts), 0.0, parts[0].start, parts[-1].end)

    def _not(self) -> Node:
        token = self._take("not")
        if token is None:
            return self._comparison()
        inner = self._deeper(self._not)
        return Node("not", (inner,), 0.0, token[2], inner.end)

    def _deeper(self, inner: Callable[[], Node]) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail("nested too deeply", self.token[2])
        node = inner()
        self.depth -= 1
        return node

    def _comparison(self) -> Node:
        left = self._value()
        found: list[Node] = []
        while True:
            token = self._take(*COMPARISONS, "in", "not")
            if token is None:
                break
            op = token[1]
            if op == "not":
                self._expect("in")
            if op in ("in", "not"):
                items = self._items()
                node = Node("in", (left, *items), 0.0, left.start, self._end())
                found.append(node if op == "in" else Node("not", (node,), 0.0, node.start, node.end))
                break
            right = self._value()
            found.append(Node(op, (left, right), 0.0, left.start, right.end))
            left = right
        if not found:
            return left
        return found[0] if len(found) == 1 else Node("and", tuple(found), 0.0, found[0].start, found[-1].end)

    def _items(self) -> list[Node]:
        close = ")" if self._take("(") else "]"
        if close == "]":
            self._expect("[")
        items = [self._value()]
        while self._take(","):
            items.append(self._value())
        self._expect(close)
        return items

    def _value(self) -> Node:
        kind, value, start = self.token
        self.next += 1
        if kind == "number":
            return Node("number", (), float(value), start, start + len(value))
        if kind == "text":
            return Node("text", (), value[1:-1], start, start + len(value))
        if kind == "sign" and value == "(":
            node = self._deeper(self._or)
            self._expect(")")
            return Node(node.op, node.parts, node.value, start, self._end())
        if kind == "name" and value in FUNCTIONS:
            return self._function(value, start)
        if kind == "name" and value in ("true", "false"):
            return Node("number", (), float(value == "true"), start, start + len(value))
        if kind == "name" and value not in ("and", "or", "in", "not"):
            return Node(value if value in ("all", "any") else "name", (), value, start, start + len(value))
        self.next -= 1
        return self.fail(f"expected a criterion, a number or a text, {self._found()}", start)

    def _function(self, name: str, start: int) -> Node:
        self._expect("(")
        parts = [self._deeper(self._or)]
        while self._take(","):
            parts.append(self._deeper(self._or))
        self._expect(")")
        return Node(name, tuple(parts), 0.0, start, self._end())
