"""How is more shown than there is room for? In an area that scrolls up and down, by keys too."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class _Scroll(QScrollArea):
    """As high as its content where there is room."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        self.setWidget(content)
        self.setWidgetResizable(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Want another height where lines of the content break elsewhere."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        content = self._content
        height = content.sizeHint().height()
        if content.hasHeightForWidth():
            height = content.heightForWidth(max(self.viewport().width(), 1))
        return QSize(content.sizeHint().width(), height + 2 * self.frameWidth() + 2)


def scrolling(content: QWidget, name: str) -> QScrollArea:
    """Return an area for `content` that is as high as it where there is room."""
    area = _Scroll(content)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setProperty("role", "reader")
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click would put a frame around what is read
    area.setAccessibleName(name)
    return area
