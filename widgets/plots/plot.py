"""The widget of every plot, with what a lesson does with it: expect, ask, light, sketch, guess."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication

from experiments.core.teaching.lesson_run import Spot
from experiments.core.views import Lines
from widgets.plots.axes import Painted
from widgets.plots.overlays import light, places
from widgets.plots.overlays.axes_of import x_axis, y_axis
from widgets.plots.overlays.guess import Guessed
from widgets.plots.overlays.handles import Handles, Marker, Sketch
from widgets.plots.overlays.places import Place
from widgets.plots.ranges import NO_ROOM
from widgets.plots.readable import ReadablePlot

LEFT = Qt.MouseButton.LeftButton
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Plot(ReadablePlot):
    """One view of an experiment, which can be asked about and drawn upon.

    Marks are named by their label in the rows: of a bar, a line, a pin, the group of a lane, a row
    of cells; "" where there is none. x has the unit of its column, NaN where there is none.
    """

    picked = Signal(str, float, str)  # while asked: what was chosen, its place, its second name
    pointed = Signal(str, float)  # the mark or place below the mouse or the cursor; "" for none
    sketched = Signal(tuple)  # all heights, after each change
    marked = Signal(float)  # the marker's x, after each change

    # Events arrive while the base class is still being made.
    _mouse: QPointF | None = None  # where it rests, unless it left or keys took over
    _is_asked = False
    _handles: Handles | None = None
    _click: QPointF | None = None  # where the button went down
    _lit: Spot | None = None
    _pointed_at: tuple[str, QRectF] | None = None

    def show_expected(
        self, rows: Sequence[Any], values: Mapping[str, float], *, faint: bool = True
    ) -> None:
        """While nothing is measured, show axes for these rows, and their marks if `faint`.

        The first rows that `draw` brings take it away, and so do none here.
        """
        self.chart.contents.expect(rows, values, is_faint=faint)
        self._show_contents()

    def show_guess(self, guess: Guessed | None) -> None:
        """Show a guess over the marks, in pictures too; None takes it away."""
        if guess == self.chart.guess:
            return
        self.chart.guess = guess
        self.chart.forget_widest()
        self.draw_again()
        self._describe()

    def ghost(self, rows: Sequence[Any] | None, label: str = "") -> None:
        """Show earlier rows in grey under the marks; None takes them away.

        Cells and pictures have no place for them.
        """
        self.chart.contents.haunt(rows, label)
        self._show_contents()

    def hold_back(self, labels: Collection[str]) -> None:
        """Do not show the marks with these labels until they are no longer held back."""
        if self.chart.contents.hold_back(labels):
            self.chart.show_contents()
            self.draw_again()

    def light(self, spot: Spot | None) -> None:
        """Light up the marks of a spot's names, or its stretch of the x axis."""
        self._lit = spot
        self._front.update()

    def zoom_to(self, spot: Spot) -> None:
        """Light a spot, and zoom the x axis so that it fills the middle half, if that can zoom."""
        painted = self.painted()
        part = None if painted.layout.is_empty else places.extent(self.chart, spot)
        if part is not None:
            self.box.show_part(part)
        self.light(spot)

    def ask(self, on: bool) -> None:
        """Let a click, or Enter at the cursor, pick a mark or a place; nothing pans meanwhile."""
        if not on and not self._is_asked:
            return
        self._is_asked, self._click = on, None
        if on:
            self._end_measure()
            self._hovered = None
            self._read(None)
        self._show_shape()
        self._follow()

    # --- sketch and marker ------------------------------------------------------------------------

    def begin_sketch(
        self, xs: Sequence[float], heights: Sequence[float], low: float, high: float
    ) -> None:
        """Draw handles at these x, to be moved between two heights. Only on lines.

        Raises ValueError for a value without a place on its logarithmic axis.
        """
        view = self.chart.terms.view
        x, y = x_axis(view), y_axis(view)
        if x is not None and y is not None and len(xs):
            self._hold(Sketch(self.chart.terms, (x, y), xs, heights, low, high))

    def end_sketch(self) -> None:
        """Take the handles away."""
        if isinstance(self._handles, Sketch):
            self._hold(None)

    def begin_marker(self, x: float, low: float, high: float, step: float = 0.0) -> None:
        """Draw a line to be moved between two x, in steps if given. Not over names.

        Raises ValueError for a value without a place on a logarithmic axis.
        """
        axis = x_axis(self.chart.terms.view)
        if axis is not None:
            self._hold(Marker(self.chart.terms, axis, x, low, high, step))

    def end_marker(self) -> None:
        """Take the line away."""
        if isinstance(self._handles, Marker):
            self._hold(None)

    def _hold(self, handles: Handles | None) -> None:
        self._handles, self._click = handles, None
        self._end_measure()
        self.chart.room = handles.room if handles else NO_ROOM
        self.chart.forget_widest()
        self._read(None)
        self.draw_again()
        self._describe()
        self._show_shape()
        self._follow()

    def _moved(self, *, has_changed: bool) -> None:
        self._front.update()
        self._describe()
        if has_changed and isinstance(self._handles, Sketch):
            self.sketched.emit(self._handles.heights)
        elif has_changed and isinstance(self._handles, Marker):
            self.marked.emit(self._handles.x)

    def said(self) -> str:
        """Return what the chosen handle says, or the reading."""
        return self._handles.text() if self._handles else super().said()

    # --- what is below mouse or cursor ------------------------------------------------------------

    def paint_over(self, painted: Painted) -> None:
        """Paint light, the place that a click would pick, handles and the cursor."""
        if painted.layout.is_empty:
            return
        if self._lit is not None:
            light.show_spot(self.chart, painted, self._lit)
        place = self._place() if self._is_asked else None
        if place is not None:
            light.show_place(self.chart, painted, place)
        if self._handles is not None:
            self._handles.paint(painted)
        super().paint_over(painted)

    def measure(self) -> None:
        """Show lines to measure, unless others are moved or a place is asked for."""
        if self._handles is None and not self._is_asked:
            super().measure()

    def draw_again(self) -> None:
        """Draw what the chart holds now; mouse and cursor may be at another mark."""
        super().draw_again()
        if self._mouse is not None or self._cursor is not None or self._pointed_at:
            self._follow()

    def _show_contents(self) -> None:
        self.chart.forget_widest()
        self.chart.show_contents()
        self.draw_again()
        self._describe()

    def _place(self) -> Place | None:
        """Return what mouse or cursor are at; a line only where its points are near."""
        if self._handles is not None:
            return None
        painted = self.painted()
        is_anywhere = self._is_asked or not isinstance(self.chart.terms.view, Lines)
        if self._mouse is not None and is_anywhere:
            return places.place_at(self.chart, painted, self._mouse)
        return places.place_of(self.chart, painted, self._cursor) if self._cursor else None

    def _follow(self) -> None:
        """Emit the mark or place under mouse or cursor, if it has changed."""
        place = self._place()
        at = (place.label, place.rect) if place else None
        if at != self._pointed_at:
            self._pointed_at = at
            self.pointed.emit(place.label if place else "", place.x if place else float("nan"))
        if self._is_asked:
            self._front.update()

    def _show_shape(self) -> None:
        """Give the mouse the shape of what it can do."""
        if self._handles is not None:
            self.setCursor(self._handles.cursor)
        elif self._is_asked:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def _read_under(self, at: QPointF) -> None:
        if not self._is_asked:
            super()._read_under(at)
        elif self._cursor is not None:  # a reading would cover the place
            self._read(None)

    def _step(self, *, along: int = 0, across: int = 0) -> None:
        super()._step(along=along, across=across)
        self._mouse = None
        self._follow()

    def _dismiss(self) -> None:
        super()._dismiss()
        self._follow()

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the mouse."""
        super().leaveEvent(event)
        self._mouse = None
        self._follow()

    # --- keys and mouse ---------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move handles, or pick the mark at the cursor; else as every plot."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        is_fine = held == Qt.KeyboardModifier.ShiftModifier
        is_plain = held == Qt.KeyboardModifier.NoModifier
        if self._handles is not None and (is_plain or is_fine):
            moved = self._handles.key(event.key(), self.painted().area, is_fine=is_fine)
            if moved is not None:
                self._moved(has_changed=moved)
                self._announce(self._handles.text())
                return
        is_enter = is_plain and event.key() in ENTER
        place = self._place() if self._is_asked and self._cursor and is_enter else None
        if place is not None:
            self.picked.emit(place.label, place.x, place.second)
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of a handle, begin a click, or start dragging."""
        if self._handles is None and not self._is_asked:
            super().mousePressEvent(event)
        elif event.button() == LEFT:
            self._click = event.position()
            if self._handles is not None:
                area = self.painted().area
                self._moved(has_changed=self._handles.press(area, self._click))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move a handle; else read, light up what a click would pick, or pan."""
        if self._handles is not None:
            if self._click is not None:
                area = self.painted().area
                self._moved(has_changed=self._handles.drag(area, event.position()))
            return
        self._mouse = event.position()
        super().mouseMoveEvent(event)
        if not event.buttons():
            self._follow()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go; where the mouse did not move since it was pressed, that picks."""
        super().mouseReleaseEvent(event)
        click, self._click = self._click, None
        self._show_shape()
        if click is None or not self._is_asked or self._handles is not None:
            return
        if (event.position() - click).manhattanLength() < QApplication.startDragDistance():
            self._mouse = event.position()
            place = self._place()
            if place is not None:
                self.picked.emit(place.label, place.x, place.second)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Undo every zoom; a second click on a handle or a place is a click."""
        if self._handles is None and not self._is_asked:
            super().mouseDoubleClickEvent(event)
        else:
            self.mousePressEvent(event)
