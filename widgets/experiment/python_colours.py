"""Where in a text of Python are the keywords, strings, numbers and comments?"""

from __future__ import annotations

import io
import keyword
import token
import tokenize
from collections.abc import Mapping, Sequence
from typing import Literal

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from widgets.style.look import Look
from widgets.style.theme import Theme

Kind = Literal["keyword", "string", "number", "comment"]
Span = tuple[int, int, Kind]  # from, to, in columns of one line

_KINDS: Mapping[int, Kind] = {
    token.STRING: "string",
    token.NUMBER: "number",
    token.COMMENT: "comment",
}


def spans(text: str) -> Sequence[Sequence[Span]]:
    """Return what is to be coloured in each line; nothing from where it is no Python any more."""
    lines: list[list[Span]] = [[] for _ in range(text.count("\n") + 1)]
    try:
        for found in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = _KINDS.get(found.type)
            if found.type == token.NAME and keyword.iskeyword(found.string):
                kind = "keyword"
            if kind is None:
                continue
            (first, start), (last, end) = found.start, found.end
            for number in range(first, last + 1):
                left = start if number == first else 0
                right = end if number == last else len(found.line) + len(text)
                lines[number - 1].append((left, right, kind))
    except (tokenize.TokenError, SyntaxError):
        pass
    return lines


class PythonColours(QSyntaxHighlighter):
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
        for left, right, kind in self._lines[number] if number < len(self._lines) else ():
            shown = QTextCharFormat()
            shown.setForeground(QColor(colour_of(kind, self._look.theme)))
            self.setFormat(left, min(right, len(text)) - left, shown)


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
