"""The shelf "Yours" in the window: examined in the background, and again when a file changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.own_experiments import Print, fingerprint, own_homes, refusals
from experiments.core.problems import Problem
from experiments.core.shelves import Home

if TYPE_CHECKING:
    from app.window.core.session import Session

Examined = tuple[dict[str, Home], dict[str, Problem]]  # all of them, and what is wrong with some
LOOK_MS = 2000  # between two looks at the folders


class OwnShelf(QObject):
    """Keeps the session's catalogue as the user's files are; emits `catalogue_changed`."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._known: Print = ()
        self._is_examining = False
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        self.look()

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()

    def look(self) -> None:
        """Examine the experiments if a file is another one than before; not during a run."""
        session = self._session
        if not self._is_examining and not session.runner.is_running:
            self._is_examining = True
            session.background.do_soon(lambda: fingerprint(own_homes()), self._compare, self._fail)

    def _compare(self, found: Print) -> None:
        self._is_examining = found != self._known
        if self._is_examining:
            self._known = found
            self._session.background.do_long(lambda _stop: _examined(), self._use, self._fail)

    def _fail(self, problem: Problem) -> None:
        self._is_examining = False
        self._session.troubled.emit(problem)

    def _use(self, found: Examined) -> None:
        self._is_examining = False
        session, (own, refused) = self._session, found
        session.catalogue.look_again(own, refused)
        homes = session.catalogue.homes
        session.words.read_homes(
            {name: home for name, home in own.items() if homes.get(name) == home}
        )
        session.catalogue_changed.emit()
        session.suit()
        self._tell(dict.fromkeys(str(home.folder.parent) for home in own.values()))

    def _tell(self, folders: dict[str, None]) -> None:
        """Say once of each folder that code runs from it."""
        session = self._session
        told = list(filter(None, session.settings.own_folders.split(os.pathsep)))
        for folder in [folder for folder in folders if folder not in told]:
            told.append(folder)
            session.tell(session.words.say("frame.own_code", {"folder": folder}))
            session.remembered.emit({"own_folders": os.pathsep.join(told)})


def _examined() -> Examined:
    own = own_homes()
    return own, refusals(own)
