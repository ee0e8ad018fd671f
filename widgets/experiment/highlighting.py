"""Colours of keywords, strings, numbers and comments in Python code, found by Pygments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from widgets.style.look import Look
from widgets.style.theme import Theme

Kind = Literal["keyword", "string", "number", "comment"]
Span = tuple[int, int, Kind]  # from, to, in columns of one line


def spans(text: str) -> Sequence[Sequence[Span]]:
    """Return the coloured spans of each line."""
    from pygments.lexers.python import PythonLexer  # slow to import: only when code is shown
    from pygments.token import Comment, Keyword, Number, Operator, String

    kinds: dict[Any, Kind] = {
        Keyword: "keyword", Operator.Word: "keyword", String: "string", Number: "number",
        Comment: "comment",
    }  # fmt: skip
    lines: list[list[Span]] = [[]]
    column = 0
    for token, piece in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        kind = next((kind for parent, kind in kinds.items() if token in parent), None)
        for place, part in enumerate(piece.split("\n")):
            if place:
                lines.append([])
                column = 0
            start, column = column, column + len(part)
            if kind and part:
                if lines[-1] and lines[-1][-1][1:] == (start, kind):  # a quote, and what follows it
                    start = lines[-1].pop()[0]
                lines[-1].append((start, column, kind))
    return lines


class PythonHighlighter(QSyntaxHighlighter):
    """Colours a document in the colours of the theme."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self._look = look
        self._lines: Sequence[Sequence[Span]] = ()
        look.changed.connect(self.rehighlight)

    def read(self, text: str) -> None:
        """Prepare for the text that the document is about to be given."""
        self._lines = spans(text)

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        number = self.currentBlock().blockNumber()
        for start, end, kind in self._lines[number] if number < len(self._lines) else ():
            shown = QTextCharFormat()
            shown.setForeground(QColor(colour_of(kind, self._look.theme)))
            self.setFormat(start, min(end, len(text)) - start, shown)


def colour_of(kind: Kind, theme: Theme) -> str:
    """Return the colour of a keyword, string, number or comment."""
    match kind:
        case "keyword":
            return theme.accent_word
        case "string":
            return theme.series_colour(2, word=True)
        case "number":
            return theme.series_colour(1, word=True)
        case "comment":
            return theme.soft
