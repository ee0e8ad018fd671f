"""In which order does the keyboard go through a page? As one reads it, area after area."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def set_tab_order(areas: Sequence[QWidget]) -> None:
    """Let Tab go through these areas in this order, and through each as its parts were added.

    To be done again when an area has got new parts: Qt puts what is new at the end.
    """
    wanted = [
        widget
        for area in areas
        for widget in area.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    for before, after in pairwise(wanted):
        QWidget.setTabOrder(before, after)
