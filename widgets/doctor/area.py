"""How is more shown than there is room for, and no more room taken than is needed?"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget


class Area(QScrollArea):
    """As high as its content is at this width, also when that changes; scrolls where it is less."""

    def __init__(self, content: QWidget, name: str) -> None:
        super().__init__()
        self._content = content
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "reader")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the keys
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        content.installEventFilter(self)

    def heightForWidth(self, width: int) -> int:
        """Return the height of the content, whose lines wrap; also while there is a scroll bar.

        Once it is there, Qt takes it away only where all would fit beside it as well.
        """
        edges = 2 * (self.frameWidth() + 1)  # a border by the style sheet
        bar = self.verticalScrollBar().sizeHint().width()
        layout = self._content.layout()
        assert layout is not None
        least = (width - edges, width - edges - bar)
        return max(map(layout.totalHeightForWidth, least)) + edges

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for another height when the content has one."""
        if watched is self._content and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
