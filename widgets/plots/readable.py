"""A plot that is drawn live and can be read: with a reading cursor, zoom, menu and export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QMenu, QToolTip

from experiments.core.declare import Experiment
from experiments.core.views import View
from experiments.core.words import Words
from experiments.engine import messages
from widgets.controls.basics import announce, takes_escape, tip
from widgets.plots import reading
from widgets.plots.axes import Painted
from widgets.plots.canvas import Canvas
from widgets.plots.chart import Chart
from widgets.plots.drawing import Beside, Drawing, Track
from widgets.plots.frame import ZOOM_STEP
from widgets.plots.kinds.of_view import drawing_of
from widgets.plots.measure import Measure
from widgets.plots.reading import Cursor
from widgets.plots.terms import Terms
from widgets.style.look import Look

DESCRIBE_MS = 400  # shortest time between two descriptions of a live plot


class ReadablePlot(Canvas):
    """One view of an experiment. Call `draw` whenever there are new rows."""

    reading_changed = Signal(str)  # the cursor's text; "" when it disappears
    table_wanted = Signal()
    save_wanted = Signal(str)  # ".png" or ".svg"; the page asks for the file name

    _cursor: Cursor | None = None  # events arrive while the base class is still being made
    _measure: Measure | None = None

    def __init__(
        self,
        experiment: Experiment[Any],
        view: View,
        words: Words,
        look: Look,
        drawing: Callable[[View, Terms], Drawing] = drawing_of,
    ) -> None:
        super().__init__(Chart(experiment, view, words, drawing), look)
        self._tracks: Sequence[Track] | None = None
        self._reading = ""
        self._hovered: QPointF | None = None  # where the mouse reads a mark
        self._menu: QMenu | None = None
        self._describing = QTimer(self, singleShot=True, interval=DESCRIBE_MS)
        self._describing.timeout.connect(self._describe)
        self.setMouseTracking(True)
        self._describe()

    def draw(
        self, rows: Sequence[Any], values: Mapping[str, float], *, beside: Beside | None = None
    ) -> None:
        """Show all rows of the view's table; the finding's `values` place the limit lines.

        Fewer rows than before, or different ones, start another run: its zoom is reset.
        """
        if self.chart.take(rows, values, beside):
            self._cursor = None
            self._end_measure()
        self.draw_again()

    def draw_again(self) -> None:
        """Draw what the chart holds now; the cursor stays on its mark."""
        self._tracks = None
        self._refresh()
        if self._hovered is not None:
            self._read_under(self._hovered)  # the marks move under the mouse
        elif self._cursor is not None or self._reading:
            self._read(reading.kept(self._cursor, self._known_tracks()))
        if not self._describing.isActive():
            self._describing.start()

    def draw_frame(self, frame: messages.Frame) -> None:
        """Show a frame, if the view shows frames."""
        self.chart.take_frame(frame)
        self._tracks = None
        self._refresh()

    def zoom_in(self) -> None:
        """Zoom the x axis in around the cursor or the middle."""
        self._zoom(1 / ZOOM_STEP)

    def zoom_out(self) -> None:
        """Zoom the x axis out."""
        self._zoom(ZOOM_STEP)

    def menu(self) -> QMenu:
        """Return the context menu."""
        if self._menu is not None:
            return self._menu
        menu = self._menu = QMenu(self)
        entries: tuple[tuple[str, Callable[[], object]] | None, ...] = (
            ("plot.copy_picture", self.copy_picture),
            ("plot.copy_svg", self.copy_svg),
            ("plot.save_png", lambda: self.save_wanted.emit(".png")),
            ("plot.save_svg", lambda: self.save_wanted.emit(".svg")),
            None,
            ("plot.show_table", self.table_wanted.emit),
            None,
            ("plot.zoom_in", self.zoom_in),
            ("plot.zoom_out", self.zoom_out),
            ("plot.show_all", self.show_all),
            None,
            ("plot.measure", self.measure),
        )
        for entry in entries:
            if entry is None:
                menu.addSeparator()
            else:
                menu.addAction(self.chart.terms.say(entry[0])).triggered.connect(entry[1])
        return menu

    # --- the measure ------------------------------------------------------------------------------

    def measure(self) -> None:
        """Show two lines to measure along x; called again, along y, and then none."""
        layout = self.painted().layout
        first = self._measure.axis + 1 if self._measure else 0
        self._end_measure()
        plans = () if layout.is_empty else ((0, layout.plan.x), (1, layout.plan.y))
        for axis, plan in plans[first:]:
            if plan.names is None and plan.is_shown:
                self._measure = Measure(self.box, axis, plan, self.chart.terms, self._measured)
                self._measured(self._measure.text())
                return

    def _measured(self, text: str) -> None:
        """Follow a line that was moved or chosen, and say a text aloud."""
        if self._measure is not None:
            self._measure.dress(self._look.theme)
        self._front.update()
        self._describe()
        self._announce(text)

    def _refresh(self) -> None:
        super()._refresh()
        if self._measure is not None:
            self._measure.dress(self._look.theme)

    def _end_measure(self) -> None:
        if self._measure is not None:
            self._measure.close()
            self._measure = None
            self._measured("")

    # --- the reading cursor -----------------------------------------------------------------------

    def paint_over(self, painted: Painted) -> None:
        """Paint the cursor and its text."""
        tracks = self._known_tracks() if self._cursor else ()
        if self._cursor and reading.kept(self._cursor, tracks):
            track = tracks[self._cursor.track]
            reading.paint(painted, track, self._cursor.point, self._reading)
        if self._measure is not None and not painted.layout.is_empty:
            self._measure.paint(painted)

    def _describe(self) -> None:
        self.setAccessibleDescription(self.said() or self.summary())

    def said(self) -> str:
        """Return what is to be said instead of the summary."""
        return self._measure.text() if self._measure else self._reading

    def _known_tracks(self) -> Sequence[Track]:
        if self._tracks is None:
            self._tracks = self.chart.tracks()
        return self._tracks

    def _read(self, cursor: Cursor | None, *, aloud: bool = False) -> None:
        """Move the cursor, or hide it, and show its text."""
        text = self.chart.drawing.read(cursor.track, cursor.point) if cursor else ""
        has_moved = cursor != self._cursor
        self._cursor = cursor
        if has_moved or text != self._reading:
            self._front.update()
        if text != self._reading:
            self._reading = text
            self._describe()
            self.reading_changed.emit(text)
        if aloud:
            self._announce(text)

    def _announce(self, text: str) -> None:
        if text:
            announce(self, text)

    def _read_under(self, at: QPointF) -> None:
        """Read the mark under the mouse; without one, a cursor placed by keys stays."""
        painted, found = self.painted(), None
        tracks = self._known_tracks()
        if tracks and not self.chart.about(painted, at):  # its tooltip would cover the reading
            found = reading.under(self.chart.drawing, tracks, painted.area, at)
        if not painted.layout.is_empty and (found is not None or self._hovered is not None):
            self._hovered = at
            self._read(found)

    def _step(self, *, along: int = 0, across: int = 0) -> None:
        tracks = self._known_tracks()
        cursor = reading.stepped(self._cursor, tracks, along=along, across=across)
        self._hovered = None
        if cursor is not None:
            track = tracks[cursor.track]
            place = float(track.xs[cursor.point]), float(track.ys[cursor.point])
            self.box.bring_into_sight(*place)
        self._read(cursor, aloud=True)

    def _dismiss(self) -> None:
        """Take the lines of a measure away, or else the cursor."""
        if self._measure is not None:
            self._end_measure()
        else:
            self._read(None)

    def _zoom(self, factor: float) -> None:
        if not self.painted().layout.is_empty:
            cursor = self._cursor
            at = float(self._known_tracks()[cursor.track].xs[cursor.point]) if cursor else None
            self.box.zoom(factor, at)

    # --- keys and mouse ---------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain a limit in the tooltip of its label."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            about = self.chart.about(self.painted(), QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), tip(about), self)  # an empty text hides it
            return True
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Take Esc while there is something to dismiss."""
        has_one = self._cursor is not None or self._measure is not None
        return takes_escape(event, wanted=has_one) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys of a plot; pass all others on."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        is_fine = held == Qt.KeyboardModifier.ShiftModifier
        is_plain = is_fine or held == Qt.KeyboardModifier.NoModifier
        if self._measure and is_plain and self._measure.key(event.key(), is_fine=is_fine):
            return
        act = self._of_key(event.key(), held)
        if act is None:
            event.ignore()
        else:
            act()

    def _of_key(self, key: int, held: Qt.KeyboardModifier) -> Callable[[], object] | None:
        none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
        keys = Qt.Key
        if held == Qt.KeyboardModifier.ControlModifier:
            return self.table_wanted.emit if key == keys.Key_D else None
        if held == shift and key == keys.Key_F10:
            return self._show_menu
        if held not in (none, shift):
            return None
        acts: dict[int, Callable[[], object]] = {
            keys.Key_Left: lambda: self._step(along=-1),
            keys.Key_Right: lambda: self._step(along=1),
            keys.Key_Up: lambda: self._step(across=-1),
            keys.Key_Down: lambda: self._step(across=1),
            keys.Key_Home: lambda: self._step(along=-(10**9)),
            keys.Key_End: lambda: self._step(along=10**9),
            keys.Key_Plus: self.zoom_in,
            keys.Key_Equal: self.zoom_in,  # on keyboards where + needs Shift
            keys.Key_Minus: self.zoom_out,
            keys.Key_0: self.show_all,
            keys.Key_M: self.measure,
            keys.Key_Menu: self._show_menu,
        }
        if self._cursor or self._measure:
            acts[keys.Key_Escape] = self._dismiss
        return acts.get(key)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom what is there now."""
        self.painted()
        super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start dragging."""
        self.painted()
        super().mousePressEvent(event)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Read the nearest point, or pan."""
        if event.buttons() or self._measure:  # its lines are lit up below the mouse
            super().mouseMoveEvent(event)
        if not event.buttons():
            self._read_under(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stop dragging."""
        super().mouseReleaseEvent(event)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Undo every zoom."""
        self.show_all()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu."""
        self._show_menu(event.globalPos())

    def _show_menu(self, at: QPoint | None = None) -> None:
        menu = self.menu()
        if not menu.isVisible():  # the key arrives twice, also as a context menu event
            menu.popup(at or self.mapToGlobal(self.rect().center()))

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the cursor if the mouse placed it."""
        if self._hovered is not None:
            self._hovered = None
            self._read(None)
