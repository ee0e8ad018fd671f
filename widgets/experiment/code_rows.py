"""Code to read, as coloured HTML in rows of limited length."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from html import escape

from PySide6.QtGui import QFont

from widgets.experiment.highlighting import colour_of, spans
from widgets.style.theme import Theme

HANG = 4  # characters of extra indent in wrapped rows
_REMARK = re.compile(r"(?<=\S) {3,}#", re.MULTILINE)


def closer(code: str) -> str:
    """Return code whose remarks stand close to it, which makes its lines shorter."""
    return _REMARK.sub("  #", code)


def longest(code: str) -> int:
    """Return the characters of the longest line."""
    return max(map(len, code.splitlines()), default=0)


def coloured(code: str, font: QFont, most: int, theme: Theme) -> str:
    """Return code as HTML in the colours of the theme."""
    rows = []
    for line, kinds in zip(code.split("\n"), spans(code), strict=True):
        colours = [""] * len(line)
        for start, end, kind in kinds:
            colours[start:end] = [colour_of(kind, theme)] * (end - start)
        for start, end, hang in _rows(line, most):
            pieces = itertools.groupby(range(start, end), key=colours.__getitem__)
            texts = ((colour, "".join(line[at] for at in places)) for colour, places in pieces)
            rows.append(" " * hang + "".join(itertools.starmap(_piece, texts)))
    named = f"font-family:'{font.family()}'; font-size:{font.pixelSize()}px"
    style = f"white-space:pre; {named}"
    return f'<div style="{style}">{"<br>".join(rows)}</div>'


def _piece(colour: str, text: str) -> str:
    return f'<span style="color:{colour}">{escape(text)}</span>' if colour else escape(text)


def _rows(line: str, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and indent of each row of a line; all but the first hang below it."""
    start, hang = 0, 0
    deeper = min(len(line) - len(line.lstrip()) + HANG, most // 2)
    while len(line) - start > most - hang:
        space = line.rfind(" ", start + 1, start + most - hang + 1)
        is_word = space > start and line[start:space].strip()
        end = space if is_word else start + most - hang
        yield start, end, hang
        start, hang = end + bool(is_word), deeper
    yield start, len(line), hang
