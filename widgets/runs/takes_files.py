"""A page on which files may be dropped anywhere."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QWidget

from widgets.controls.basics import column, label


class TakesFiles(QWidget):
    """Says that files can be dropped while some are held over it, and emits those dropped."""

    files_dropped = Signal(object)  # list of Path

    def __init__(self, hint: str) -> None:
        super().__init__()
        words = label(hint, "head", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._drop = QFrame(self)
        self._drop.setProperty("role", "drop")
        self._drop.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._drop.setLayout(column(None, words, None))
        self._drop.hide()
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show that files can be dropped here."""
        if files_of(event.mimeData()):
            event.acceptProposedAction()
            self._drop.setGeometry(self.rect())
            self._drop.show()
            self._drop.raise_()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the hint for drops."""
        self._drop.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the dropped files."""
        self._drop.hide()
        files = files_of(event.mimeData())
        if files:
            event.acceptProposedAction()
            self.files_dropped.emit(files)


def files_of(data: QMimeData) -> list[Path]:
    """Return the files and folders of this machine that are dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
