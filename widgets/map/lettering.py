"""Where do the texts of a box stand? Inside it, cut or left out where there is no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from widgets.map.boxes import Box, Kind, Letters, Measure, Rect
from widgets.theme import STEP, Theme

INSET, NARROW = 2 * STEP, STEP
WEIGHTS = {Letters.TITLE: QFont.Weight.DemiBold}
SIZES = {
    Letters.TITLE: "note",
    Letters.DETAIL: "small",
    Letters.NUMBER: "small",
    Letters.VALUE: "note",
}
LOWEST_SHARE = 0.6  # of a title that is worth showing when it is cut


def font_of(letters: Letters, theme: Theme) -> QFont:
    """Return the font of texts on the map."""
    return theme.font(SIZES[letters], weight=WEIGHTS.get(letters, QFont.Weight.Normal))


class FontMeasure:
    """Measures texts in the fonts of a theme; remembers them, as many are alike."""

    def __init__(self, theme: Theme) -> None:
        self._metrics = {letters: QFontMetricsF(font_of(letters, theme)) for letters in Letters}
        self._widths: dict[tuple[str, Letters], float] = {}

    def width(self, text: str, letters: Letters) -> float:
        """Return the width of one line of text."""
        known = self._widths.get((text, letters))
        if known is None:
            known = self._metrics[letters].horizontalAdvance(text)
            self._widths[text, letters] = known
        return known

    def line(self, letters: Letters) -> float:
        """Return the height of one line."""
        return self._metrics[letters].height()

    def elided(self, text: str, letters: Letters, width: float) -> str:
        """Return the text, cut to `width` with an ellipsis; "" where not even that fits."""
        if self.width(text, letters) <= width:
            return text
        cut = self._metrics[letters].elidedText(text, Qt.TextElideMode.ElideRight, width)
        return cut if len(cut) > 2 and self.width(cut, letters) <= width else ""


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; it fills `rect` and fits into it."""

    rect: Rect
    text: str
    letters: Letters
    role: str  # title, detail, number, value, invitation, attention
    centred: bool = False


def texts(box: Box, values: Sequence[str], measure: Measure) -> list[Text]:
    """Return the texts of a box. `values` say its number, the longest first; "?" invites."""
    match box.kind:
        case Kind.THREAD:
            return _number(box, measure)
        case Kind.LINK:
            return _link(box, values, measure)
        case Kind.CORE:
            return []
    is_row = box.kind is Kind.CACHE and (box.parent or "").startswith("core:")
    return _headed(box, values, measure, is_row=is_row)


def _headed(box: Box, values: Sequence[str], measure: Measure, *, is_row: bool) -> list[Text]:
    """Title at the left, value at the right of it, lines below."""
    rect, inset = box.rect, NARROW if is_row else INSET
    letters = Letters.DETAIL if is_row or box.kind in (Kind.MODULE, Kind.NODE) else Letters.TITLE
    height = measure.line(letters)
    top = rect.y + (inset if box.lines or not _is_bar(box, measure) else (rect.height - height) / 2)
    width = rect.width - 2 * inset
    found = []
    shortest = min((measure.width(title, letters) for title in box.titles), default=0.0)
    value = _first_fitting(values, width - shortest - inset, Letters.VALUE, measure)
    if value:
        wide = measure.width(value, Letters.VALUE)
        role = "invitation" if value == "?" else "value"
        high = measure.line(Letters.VALUE)
        line = Rect(rect.right - inset - wide, top + (height - high) / 2, wide, high)
        found.append(Text(line, value, Letters.VALUE, role))
        width -= wide + inset
    title = _first_fitting(box.titles, width, letters, measure) or (
        measure.elided(box.titles[-1], letters, width) if box.titles else ""
    )
    if title and top + height <= rect.bottom:
        role = "detail" if is_row or letters is Letters.DETAIL else "title"
        found.append(Text(Rect(rect.x + inset, top, width, height), title, letters, role))
    y = rect.y + 2 * inset + height
    for line_text in box.lines:
        high = measure.line(Letters.DETAIL)
        shown = measure.elided(line_text, Letters.DETAIL, rect.width - 2 * inset)
        if shown and y + high <= rect.bottom:
            line = Rect(rect.x + inset, y - inset / 2, rect.width - 2 * inset, high)
            found.append(Text(line, shown, Letters.DETAIL, "detail"))
        y += high
    return found


def _is_bar(box: Box, measure: Measure) -> bool:
    return box.rect.height < 2 * measure.line(Letters.TITLE) + 2 * INSET and not box.cells


def _number(box: Box, measure: Measure) -> list[Text]:
    width, height = (measure.width(box.titles[0], Letters.NUMBER), measure.line(Letters.NUMBER))
    if width > box.rect.width or height > box.rect.height:
        return []
    return [Text(box.rect, box.titles[0], Letters.NUMBER, "number", centred=True)]


def _link(box: Box, values: Sequence[str], measure: Measure) -> list[Text]:
    """The title above the line, the value below it."""
    rect, found = box.rect, []
    middle = rect.centre[1]
    high = measure.line(Letters.VALUE)
    title = _first_fitting(box.titles, rect.width, Letters.VALUE, measure)
    if title:
        line = Rect(rect.x, middle - high - STEP * 1.5, rect.width, high)
        role = "attention" if box.needs_look else "title"
        found.append(Text(line, title, Letters.VALUE, role, centred=True))
    value = _first_fitting(values, rect.width, Letters.VALUE, measure)
    if value:
        role = "invitation" if value == "?" else "value"
        line = Rect(rect.x, middle + STEP * 1.5, rect.width, high)
        found.append(Text(line, value, Letters.VALUE, role, centred=True))
    return found


def _first_fitting(choices: Sequence[str], width: float, letters: Letters, measure: Measure) -> str:
    return next((text for text in choices if measure.width(text, letters) <= width), "")
