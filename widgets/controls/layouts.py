"""A layout that wraps its widgets into lines, and an area that scrolls."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLayout, QLayoutItem, QScrollArea, QWidget

from widgets.controls.basics import column, holding
from widgets.style.theme import STEP


class FlowLayout(QLayout):
    """A layout that wraps widgets into lines, as text wraps; each line is centred vertically."""

    def __init__(self, *widgets: QWidget, space: int = 2 * STEP) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}  # by width, until something changes: Qt asks very often
        self.setSpacing(space)
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)
        self.invalidate()

    def invalidate(self) -> None:
        """Forget what was laid out: Qt says so when a widget, or the room between them, changes."""
        super().invalidate()
        self._heights.clear()

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item, None beyond the last."""
        if not 0 <= index < len(self._items):
            return None
        self.invalidate()
        return self._items.pop(index)

    def expandingDirections(self) -> Qt.Orientation:
        """Take no more room than needed."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Say that a narrow layout needs more height."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def setGeometry(self, rect: QRect) -> None:
        """Move every widget to its place."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """Return the size of all widgets in one line."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """Return the size of the largest widget."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Return the height of all lines; with `move`, place the widgets."""
        top = rect.top()
        for line in self._lines(rect.width()):
            sizes = [_within(item, rect.width()) for item in line]
            height = max(size.height() for size in sizes)
            left = rect.left()
            for item, size in zip(line, sizes, strict=True):
                if move:
                    corner = QPoint(left, top + (height - size.height()) // 2)
                    item.setGeometry(QRect(corner, size))
                left += size.width() + self.spacing()
            top += height + self.spacing()
        return max(0, top - self.spacing() - rect.top())

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._shown():
            needed = item.sizeHint().width()
            if not lines or left + needed > width:
                lines.append([])
                left = 0
            lines[-1].append(item)
            left += needed + self.spacing()
        return lines


def _within(item: QLayoutItem, width: int) -> QSize:
    """Return the size of an item in a line of this width, where a wide one may wrap."""
    size = item.sizeHint()
    if size.width() <= width:
        return size
    return QSize(width, item.heightForWidth(width) if item.hasHeightForWidth() else size.height())


class Fitting(QWidget):
    """A widget that fits its content to each new size."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        raise NotImplementedError


class DownArea(QScrollArea):
    """Shows what is as wide as the area, without a frame, and scrolls it up and down alone.

    Its content takes the keys.
    """

    def __init__(self, content: QWidget | None = None) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if content is not None:
            self.setWidget(content)


class ReaderArea(DownArea):
    """Parts to read one below the other, scrolled by keys too; there is room for the scroll bar."""

    def __init__(self, name: str, *parts: QWidget | QLayout) -> None:
        super().__init__()
        self.setProperty("role", "reader")
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.show_parts(parts)

    def show_parts(self, parts: Sequence[QWidget | QLayout]) -> None:
        """Show these parts in place of those before, scrolled to the top."""
        before = self.takeWidget()
        if before is not None:
            before.deleteLater()  # one of its buttons may have asked for this
        self.setWidget(holding(column(*parts, None, space=4 * STEP, edges=(0, 0, 3 * STEP, 0))))
        self.verticalScrollBar().setValue(0)


class _Scroll(DownArea):
    """A scroll area as high as its content where there is room."""

    def __init__(self, content: QWidget) -> None:
        super().__init__(content)
        self._content = content

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for another height: at another width the content wraps differently."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for another height when the content has one."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        content = self._content
        height = content.sizeHint().height()
        if content.hasHeightForWidth():
            height = content.heightForWidth(max(self.viewport().width(), 1))
        return QSize(content.sizeHint().width(), height + 2 * self.frameWidth() + 2)


def scrolling(content: QWidget, name: str) -> QScrollArea:
    """Return an area that scrolls `content` vertically, by keys too, and shrinks to its height."""
    area = _Scroll(content)
    area.setProperty("role", "reader")
    area.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click would draw a focus frame around the text
    area.setAccessibleName(name)
    return area
