"""What is a place of the window? A widget that is built when it is first gone to."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.window.core.session import Session
from app.window.core.target import Target


class Place(QWidget):
    """Base of every place. `name` is also the key of its words, `places.NAME`."""

    name: str

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def open(self, target: Target) -> None:
        """Show what is wanted; the place has been gone to."""

    def arrive(self) -> None:
        """Begin to be seen."""

    def leave(self) -> None:
        """Stop being seen: nothing is drawn until `arrive`."""

    def go_back(self) -> bool:
        """Go one step back within the place; False if there is none."""
        return False

    def own_actions(self) -> Sequence[QAction]:
        """Return what can be done here now, for the menu, the palette and the sheet."""
        return ()

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return keys and their words that act only on what has the focus here, for the sheet."""
        return ()

    def status(self) -> str:
        """Return what the status line says at its right while this place is shown."""
        return ""
