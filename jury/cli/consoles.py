"""Where words for people go: consoles and streams on which no text that was judged acts. Knows no result.

Ids, names of judges and texts come from files and models. What would move a cursor, change colours, set a title or turn
the direction of writing stands there as an escape (`\\x1b`), wherever it came from; only rich itself styles.
JSON, and prompts that go into a pipe, are for programs: they stay what they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from jury.wording import visible


class Careful(Console):
    """A console that shows what would act on a terminal. It reads no markup and no names of emoji."""

    def __init__(self, **how: Any) -> None:
        super().__init__(highlight=False, emoji=False, markup=False, **how)

    def render_str(self, text: str, **how: Any) -> Text:
        """Before it is measured, so that columns fit."""
        return super().render_str(visible(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Whatever comes ready made (`Text`, tables)."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control is not None else visible(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)


def write(text: str, stream: TextIO | None = None) -> None:
    """Writes a text for people as it is laid out; to standard output, where no `stream` is given."""
    (stream or sys.stdout).write(visible(text))


def copy(text: str) -> None:
    """Writes a text that may be read by a program as well: exactly as it is, unless it goes to a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
