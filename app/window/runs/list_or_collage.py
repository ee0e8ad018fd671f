"""The two sides of the place Runs: the list, and the class collage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.window.core.session import Session

if TYPE_CHECKING:
    from app.window.runs.collage import Collages


class RunsStack(QStackedWidget):
    """Shows the list; the collage is made when it is first asked for, because it brings plots."""

    turned = Signal()

    def __init__(self, session: Session, listed: QWidget) -> None:
        super().__init__()
        self._session, self._listed = session, listed
        self.collages: Collages | None = None
        self.addWidget(listed)

    @property
    def has_collage(self) -> bool:
        """Is the collage shown?"""
        return self.currentWidget() is not self._listed

    def show_list(self) -> bool:
        """Show the list; return whether it was not shown."""
        was_other = self.has_collage
        if was_other:
            self.setCurrentWidget(self._listed)
            self.turned.emit()
        return was_other

    def show_collage(self, paths: Sequence[Path] | None = None) -> None:
        """Show a collage of these files; None: as it was left."""
        if self.collages is None:
            from app.window.runs.collage import Collages

            self.collages = Collages(self._session)
            self.collages.page.back.connect(self.show_list)
            self.addWidget(self.collages.page)
        self.setCurrentWidget(self.collages.page)
        if paths is not None:
            self.collages.show(paths)
        self.turned.emit()

    def focus_collage(self) -> None:
        """Give the keys to the collage."""
        if self.collages is not None:
            self.collages.page.focus_first()

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions of the collage that are allowed now."""
        return self.collages.page.own_actions() if self.collages is not None else ()
