"""A remark beside the text: a tinted block with a coloured left edge."""

from __future__ import annotations

from typing import Literal

from PySide6.QtWidgets import QFrame, QLayout, QWidget

from widgets.controls.basics import column
from widgets.style.theme import STEP

Edge = Literal["plain", "main", "second"]


class Aside(QFrame):
    """Holds parts, one below the other; `edge` is the colour at its left."""

    def __init__(self, *parts: QWidget | QLayout, edge: Edge = "plain") -> None:
        super().__init__()
        self.setProperty("role", "aside")
        self.setProperty("edge", edge)
        edges = (4 * STEP - 1, 3 * STEP, 4 * STEP, 3 * STEP)
        self.setLayout(column(*parts, space=STEP, edges=edges))
