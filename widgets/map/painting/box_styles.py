"""Pens and brushes per box state, cached per theme."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPen

from widgets.map.layout.boxes import Box, Kind, Wire
from widgets.map.live import LOAD_STEPS
from widgets.map.painting.lettering import Text
from widgets.map.painting.state import State
from widgets.style.theme import Theme, ink_on, load_colour, mixed

NONE = Qt.BrushStyle.NoBrush
FILLED = 0.3  # of the accent, in the bar of memory use: text stands on it


class BoxStyle(NamedTuple):
    """Fill and frame of a box, and the colour of its text if that depends on the fill."""

    fill: QBrush
    pen: QPen
    ink: QColor | None = None


class BoxStyles:
    """All colours of the map in one theme."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        line, soft = self.colour("line"), self.colour("soft")
        self._line = QPen(line, 1)
        self._dashes = QPen(mixed(line, soft, 0.5), 1, Qt.PenStyle.DashLine)
        self._hover, self._nothing = QPen(soft, 1), QPen(Qt.PenStyle.NoPen)
        self._lost = QPen(self.colour("fault"), 1.5, Qt.PenStyle.DashLine)
        self._lit = QPen(self.colour("accent"), 1.5)
        self._pointed = QPen(self.colour("accent"), 2, Qt.PenStyle.DashLine)
        self._grounds = [QBrush(self.colour("panel")), QBrush(self.colour("ground"))]
        loads = [load_colour(theme, step / LOAD_STEPS) for step in range(LOAD_STEPS + 1)]
        self._loads = [BoxStyle(QBrush(c), self._nothing, ink_on(c)) for c in loads]
        self.filled = QBrush(mixed(self.colour("panel"), self.colour("accent"), FILLED))
        self._off = BoxStyle(QBrush(NONE), self._dashes, soft)
        self._unusable = QBrush(line, Qt.BrushStyle.BDiagPattern)

    def colour(self, name: str) -> QColor:
        """Return a colour of the theme."""
        return QColor(getattr(self._theme, name))

    def ground(self, depth: int) -> QBrush:
        """Return the fill of a frame at this nesting depth: two alternate."""
        return self._grounds[depth % 2]

    def style_of(self, box: Box, state: State, depth: int) -> BoxStyle:
        """Return how a box is painted now."""
        if box.kind is Kind.THREAD:
            plain = self.tile(box, state, depth)
        elif box.kind is Kind.LINK or is_row(box):
            plain = BoxStyle(QBrush(NONE), self._nothing)
        elif box.is_dashed:
            plain = BoxStyle(QBrush(NONE), self._dashes)
        else:
            plain = BoxStyle(self.ground(depth), self._line)
        if box.kind is Kind.GPU and (live := state.live_of(box.id)) and live.is_lost:
            plain = BoxStyle(QBrush(NONE), self._lost)
        if box.id == state.chosen:
            pen = QPen(self.colour("accent"), 2 if state.has_focus else 1.5)
            if box.kind in (Kind.THREAD, Kind.LINK):  # their fill means something
                return plain._replace(pen=pen)
            return BoxStyle(QBrush(self.colour("accent_wash")), pen, plain.ink)
        if box.id == state.pointed:
            return plain._replace(pen=self._pointed)
        if box.id in state.lit and box.kind is not Kind.LINK:
            return plain._replace(pen=self._lit)
        if box.id == state.hovered:
            return plain._replace(pen=self._hover)
        return plain

    def tile(self, box: Box, state: State, depth: int) -> BoxStyle:
        """Return the style of a hardware thread: coloured only if its load is known."""
        step = state.busy.get(box.threads[0]) if state.shows_load else None
        if step is not None:
            return self._loads[step]
        if box.is_dashed:
            return self._off
        is_usable = box.threads[0] not in state.unusable
        fill = self.ground(depth + 1) if is_usable else self._unusable
        others_known = state.shows_load and bool(state.busy)
        return BoxStyle(fill, self._dashes if others_known else self._line, self._off.ink)

    def cells(self, step: int | None) -> QBrush:
        """Return the fill of the small tiles of a box: their common load, or unknown."""
        return QBrush(self.colour("line")) if step is None else self._loads[step].fill

    def wire(self, wire: Wire, state: State) -> QColor:
        """Return the colour of a line: on a data path, too narrow, busy, or none of these."""
        if wire.box == state.chosen or wire.name in state.lit:
            return self.colour("accent")
        if wire.needs_look:
            return self.colour("attention")
        live = state.live_of(wire.name)
        if live is not None and live.step:
            return mixed(self.colour("soft"), self.colour("accent"), live.step / LOAD_STEPS)
        return self.colour("soft")

    def ink(self, text: Text, box: Box) -> QColor:
        """Return the colour of a text."""
        if text.role in ("invitation", "value"):
            return self.colour("accent_word")
        if text.role in ("attention", "fault"):
            return self.colour(text.role)
        is_plain = text.role in ("title", "bar") and not box.is_dashed
        return self.colour("ink" if is_plain else "soft")


def is_row(box: Box) -> bool:
    """Return whether it is a cache beside the threads of its core, without a frame."""
    return box.kind is Kind.CACHE and (box.parent or "").startswith("core:")
