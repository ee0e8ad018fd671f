"""Placement of the texts of a box: inside it, cut or left out where room is short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.painting.box_texts import BoxText
from widgets.style.theme import STEP, Theme

ZEROS = str.maketrans("123456789", "0" * 9)
INSET, NARROW = 2 * STEP, STEP
WEIGHTS = {Letters.TITLE: QFont.Weight.DemiBold}
SIZES = {
    Letters.TITLE: "note",
    Letters.DETAIL: "small",
    Letters.NUMBER: "small",
    Letters.VALUE: "note",
}


def font_of(letters: Letters, theme: Theme) -> QFont:
    """Return the font of texts on the map."""
    return theme.font(SIZES[letters], weight=WEIGHTS.get(letters, QFont.Weight.Normal))


class FontMeasure:
    """Measures texts in the fonts of a theme, and caches the results.

    Digits are equally wide, so all numbers of the same length share a measure.
    """

    def __init__(self, theme: Theme) -> None:
        self._metrics = {letters: QFontMetricsF(font_of(letters, theme)) for letters in Letters}
        self._widths: dict[tuple[str, Letters], float] = {}

    def width(self, text: str, letters: Letters) -> float:
        """Return the width of one line of text."""
        known = self._widths.get((text, letters))
        if known is None:
            shape = text.translate(ZEROS)
            known = self._widths.get((shape, letters))
            if known is None:
                known = self._metrics[letters].horizontalAdvance(shape)
                self._widths[shape, letters] = known
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
    """One line of text, which fits into `rect`."""

    rect: Rect
    text: str
    letters: Letters
    role: str  # title, detail, number, value, invitation, attention, fault, bar
    centred: bool = False
    is_upright: bool = False  # written upwards


def texts(box: Box, box_text: BoxText, measure: Measure) -> list[Text]:
    """Return the texts of a box."""
    match box.kind:
        case Kind.THREAD:
            return _number(box, measure)
        case Kind.LINK:
            return _link(box, box_text, measure)
        case Kind.CORE:
            return []
        case _ if box.is_upright:
            return _upright(box, box_text, measure)
    is_row = box.kind is Kind.CACHE and (box.parent or "").startswith("core:")
    return _Headed(box, box_text, measure, is_row=is_row).texts()


class _Headed:
    """Title at the left, number and load at its right, the rest below."""

    def __init__(self, box: Box, box_text: BoxText, measure: Measure, *, is_row: bool) -> None:
        self._box, self._box_text, self._measure = box, box_text, measure
        self._inset = NARROW if is_row else INSET
        small = is_row or box.kind in (Kind.MODULE, Kind.NODE, Kind.SLICE)
        self._letters = Letters.DETAIL if small else Letters.TITLE
        self._title_role = "detail" if small else "title"
        self._found: list[Text] = []

    def texts(self) -> list[Text]:
        """Return all of them."""
        box, box_text, measure = self._box, self._box_text, self._measure
        rate_below = bool(box.bar or box.lines)
        values = box_text.value or (() if rate_below else box_text.rate)
        role = box_text.rate_role if values is box_text.rate and values else "value"
        height = measure.line(self._letters)
        is_low = not box.lines and self._is_bar()
        top = box.rect.y + ((box.rect.height - height) / 2 if is_low else self._inset)
        self._head(values, role, top, height)
        if box.bar is not None:
            self._bar(box.bar)
        y = top + height + self._inset / 2 if box.lines_y is None else box.lines_y
        for number, line in enumerate(box.lines):
            rate = box_text.rate if number == 0 and not box.bar else ()
            y = self._line(line, rate, y)
        for line in box_text.below:
            y = self._line(line, (), y, "value")
        return self._found

    def _head(self, values: Sequence[str], role: str, top: float, height: float) -> None:
        box, measure, inset = self._box, self._measure, self._inset
        width = box.rect.width - 2 * inset
        if self._box_text.now and role == "detail":  # the present load says more than the peak
            values = ()
        # Beside a load, prefer a longer title than the shortest if both fit.
        titles = [measure.width(title, self._letters) for title in box.titles[-2:]]
        for choices, letters, as_what in (
            (values, Letters.VALUE, role),
            (self._box_text.now, Letters.DETAIL, self._box_text.now_role),
        ):
            least = titles if choices is self._box_text.now else titles[-1:]
            fits = (
                _first_fitting(choices, width - needed - inset, letters, measure)
                for needed in (*least, 0.0)[: len(least) or 1]
            )
            text = next((found for found in fits if found), "")
            if text:
                wide, high = measure.width(text, letters), measure.line(letters)
                place = box.rect.x + inset + width - wide
                line = Rect(place, top + (height - high) / 2, wide, high)
                self._add(line, text, letters, "invitation" if text == "?" else as_what)
                width -= wide + inset
        title = _first_fitting(box.titles, width, self._letters, measure) or (
            measure.elided(box.titles[-1], self._letters, width) if box.titles else ""
        )
        if title and top + height <= box.rect.bottom:
            sign = (height + STEP) * box.needs_look  # width of the sign before the text
            line = Rect(box.rect.x + inset + sign, top, width - sign, height)
            role = "attention" if box.needs_look else self._title_role
            self._add(line, title, self._letters, role)

    def _bar(self, bar: Rect) -> None:
        """Place the fill in the bar, and the bandwidth at its right."""
        measure, inner = self._measure, bar.inset(0)._replace(x=bar.x + INSET)
        text = _first_fitting(self._box_text.bar, bar.width - 2 * INSET, Letters.DETAIL, measure)
        if text:
            rect = inner._replace(width=bar.width - 2 * INSET)
            self._add(rect, text, Letters.DETAIL, "bar")
        right = self._box.rect.right - self._inset
        room = right - bar.right - self._inset
        rate = _first_fitting(self._box_text.rate, room, Letters.VALUE, measure)
        if rate:
            wide, high = measure.width(rate, Letters.VALUE), measure.line(Letters.VALUE)
            line = Rect(right - wide, bar.centre[1] - high / 2, wide, high)
            self._add(line, rate, Letters.VALUE, self._box_text.rate_role)

    def _line(self, text: str, rate: Sequence[str], y: float, role: str = "detail") -> float:
        """Place a line, with a bandwidth at its right; return the top of the next."""
        measure, rect = self._measure, self._box.rect
        high, width = measure.line(Letters.DETAIL), rect.width - 2 * self._inset
        if y + high > rect.bottom:
            return y + high
        shown = _first_fitting(rate, width - measure.width(text, Letters.DETAIL) - self._inset,
                               Letters.DETAIL, measure)  # fmt: skip
        if shown:
            wide = measure.width(shown, Letters.DETAIL)
            line = Rect(rect.right - self._inset - wide, y, wide, high)
            self._add(line, shown, Letters.DETAIL, self._box_text.rate_role)
            width -= wide + self._inset
        text = measure.elided(text, Letters.DETAIL, width)
        if text:
            line = Rect(rect.x + self._inset, y, width, high)
            self._add(line, text, Letters.DETAIL, role)
        return y + high

    def _add(self, rect: Rect, text: str, letters: Letters, role: str) -> None:
        self._found.append(Text(rect, text, letters, role))

    def _is_bar(self) -> bool:
        """Return whether it is so low that its title is centred; never above cores."""
        box = self._box
        if box.kind in (Kind.PACKAGE, Kind.DIE, Kind.CORE_KIND):
            return False
        least = 2 * self._measure.line(Letters.TITLE) + 2 * INSET
        return box.rect.height < least and not box.grid and not box.bar


def _number(box: Box, measure: Measure) -> list[Text]:
    width, height = (measure.width(box.titles[0], Letters.NUMBER), measure.line(Letters.NUMBER))
    if width > box.rect.width or height > box.rect.height:
        return []
    return [Text(box.rect, box.titles[0], Letters.NUMBER, "number", centred=True)]


def _link(box: Box, box_text: BoxText, measure: Measure) -> list[Text]:
    """Return the title above the line, and its bandwidth below."""
    rect, found = box.rect, []
    middle = rect.centre[1]
    high = measure.line(Letters.VALUE)
    title = _first_fitting(box.titles, rect.width, Letters.VALUE, measure)
    if title:
        line = Rect(rect.x, middle - high - STEP * 1.5, rect.width, high)
        role = "attention" if box.needs_look else "title"
        found.append(Text(line, title, Letters.VALUE, role, centred=True))
    below, role = box_text.value or box_text.rate, "value" if box_text.value else box_text.rate_role
    if box_text.now and role == "detail":  # the present traffic says more than the peak
        below = box_text.now
    value = _first_fitting(below, rect.width, Letters.VALUE, measure)
    if value:
        role = "invitation" if value == "?" else role
        line = Rect(rect.x, middle + STEP * 1.5, rect.width, high)
        found.append(Text(line, value, Letters.VALUE, role, centred=True))
    return found


def _upright(box: Box, box_text: BoxText, measure: Measure) -> list[Text]:
    """Return the title written upwards, with a question mark at the bottom."""
    rect, found = box.rect, []
    value, high = box_text.value, measure.line(Letters.VALUE)
    if value == ("?",):
        foot = Rect(rect.x, rect.bottom - high - STEP, rect.width, high)
        found.append(Text(foot, "?", Letters.VALUE, "invitation", centred=True))
        rect, value = rect._replace(height=rect.height - high - STEP), ()
    titles = [*(f"{title} · {text}" for title in box.titles for text in value), *box.titles]
    title = _first_fitting(titles, rect.height - 2 * NARROW, Letters.TITLE, measure)
    if title:
        role = "attention" if box.needs_look else "title"
        found.append(Text(rect, title, Letters.TITLE, role, centred=True, is_upright=True))
    return found


def _first_fitting(choices: Sequence[str], width: float, letters: Letters, measure: Measure) -> str:
    return next((text for text in choices if measure.width(text, letters) <= width), "")
