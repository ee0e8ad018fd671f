"""The base of every place of the window; each is built at its first visit."""

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
        """Show the target; the place is seen already."""

    def arrive(self) -> None:
        """Begin to be seen."""

    def leave(self) -> None:
        """Stop being seen: nothing is drawn until `arrive`."""

    def go_back(self) -> bool:
        """Go one step back within the place; False if there is none."""
        return False

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions allowed now, for menu, palette and shortcut sheet."""
        return ()

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return keys that act only on the focused widget, with their words, for the sheet."""
        return ()

    def status(self) -> str:
        """Return the text at the right of the status line while this place is shown."""
        return ""
