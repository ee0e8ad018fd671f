"""One stop for Tab in a row of widgets; within it the arrow keys move the focus."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

FAR = 2**15  # past either end
MOVES = {
    Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Home: -FAR,
    Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_End: FAR,
}  # fmt: skip


def rove(widgets: Sequence[QWidget], stop: QWidget | None) -> None:
    """Let Tab reach `stop` alone; a click gives the focus to any of them."""
    for each in widgets:
        is_stop = each is stop
        each.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_stop else Qt.FocusPolicy.ClickFocus)


def step_to(widgets: Sequence[QWidget], key: int) -> QWidget | None:
    """Give the focus to the widget that an arrow key, Home or End leads to.

    None for another key, and where no widget has the focus.
    """
    usable = [each for each in widgets if each.isEnabled()]
    place = next((place for place, each in enumerate(usable) if each.hasFocus()), None)
    if place is None:
        return None
    if key not in MOVES:
        return None
    wanted = usable[min(max(0, place + MOVES[Qt.Key(key)]), len(usable) - 1)]
    rove(widgets, wanted)
    wanted.setFocus(Qt.FocusReason.OtherFocusReason)
    return wanted
