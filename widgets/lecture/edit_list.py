"""The items of a lecture while it is put together: they are dragged in, up and down, and out."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QListView

from widgets.catalogue.card import EXPERIMENT_MIME, drag, dropped
from widgets.lecture.item_list import ItemList
from widgets.style.look import Look

ITEM_MIME = "application/x-coreopsis-lecture-item"
LEFT = Qt.MouseButton.LeftButton


class EditList(ItemList):
    """One item is selected. Places count from 0; a place to drop at is that before an item."""

    dropped = Signal(str, int)  # the id of an experiment, and where
    moved = Signal(int, int)  # from, to
    removed = Signal(int)
    entered = Signal()  # Enter: to what can be written about it
    selected = Signal(int)

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name)
        self._look = look
        self._pressed: QPoint | None = None
        self._gap: int | None = None  # where a drop would go
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setAcceptDrops(True)
        self.setDragDropMode(QListView.DragDropMode.NoDragDrop)
        self.viewport().setAcceptDrops(True)

    @property
    def place(self) -> int:
        """The selected item, -1 for none."""
        return self.currentIndex().row()

    def select(self, place: int) -> None:
        """Select an item."""
        self.setCurrentIndex(self.model().index(place, 0))

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Emit `selected` with the place of the selected item."""
        super().selectionChanged(selected, deselected)
        self.selected.emit(self.place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the item by Alt and arrows, take it out by Delete, write about it by Enter."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key, place = event.key(), self.place
        if place < 0:
            super().keyPressEvent(event)
        elif held == Qt.KeyboardModifier.AltModifier and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(place, place + (1 if key == Qt.Key.Key_Down else -1))
        elif not held and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit(place)
        elif not held and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of an item."""
        super().mousePressEvent(event)
        at = event.position().toPoint()
        is_on_item = event.button() == LEFT and self.indexAt(at).isValid()
        self._pressed = at if is_on_item else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the item that was taken hold of."""
        at = event.position().toPoint()
        far = QApplication.startDragDistance()
        if self._pressed is None or (at - self._pressed).manhattanLength() < far:
            return
        self._pressed = None
        drag(self, ITEM_MIME, str(self.place), Qt.DropAction.MoveAction)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take experiments and own items."""
        if _is_ours(event.mimeData()):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show where it would go."""
        if _is_ours(event.mimeData()):
            self._show_gap(self._gap_at(event.position().toPoint()))
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show it no more."""
        self._show_gap(None)

    def dropEvent(self, event: QDropEvent) -> None:
        """Put it there."""
        data, gap = event.mimeData(), self._gap_at(event.position().toPoint())
        self._show_gap(None)
        event.acceptProposedAction()
        if data.hasFormat(EXPERIMENT_MIME):
            self.dropped.emit(dropped(data, EXPERIMENT_MIME), gap)
        elif data.hasFormat(ITEM_MIME):
            place = int(dropped(data, ITEM_MIME))
            self.moved.emit(place, gap - 1 if gap > place else gap)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the place to drop at over the items."""
        super().paintEvent(event)
        if self._gap is None:
            return
        before = self.model().index(self._gap, 0)
        last = self.model().index(self.model().rowCount() - 1, 0)
        y = self.visualRect(before).top() if before.isValid() else self.visualRect(last).bottom()
        with QPainter(self.viewport()) as painter:
            painter.setPen(QPen(QColor(self._look.theme.accent), 2))
            painter.drawLine(0, max(y, 1), self.viewport().width(), max(y, 1))

    def _gap_at(self, at: QPoint) -> int:
        index = self.indexAt(at)
        if not index.isValid():
            return self.model().rowCount()
        return index.row() + int(at.y() > self.visualRect(index).center().y())

    def _show_gap(self, gap: int | None) -> None:
        self._gap = gap
        self.viewport().update()


def _is_ours(data: QMimeData) -> bool:
    return data.hasFormat(EXPERIMENT_MIME) or data.hasFormat(ITEM_MIME)
