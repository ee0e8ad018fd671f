"""How does what has the focus keep Esc for itself? The window's shortcut would stop a run by it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent


def asks_for_escape(event: QEvent) -> bool:
    """Return whether Qt asks if Esc is wanted here: `QWidget.event` accepts it and returns True."""
    return (
        event.type() == QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and event.key() == Qt.Key.Key_Escape
    )
