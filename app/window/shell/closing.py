"""Asks what becomes of a run or a checkup when the window is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.window.core.session import Session
from widgets.sheets.question import Answer, ask

if TYPE_CHECKING:
    from app.window.shell.window import Window


class Closing(QObject):
    """Lets what is measured finish behind a hidden window, or ends it."""

    def __init__(self, session: Session, window: Window) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._is_asking = self._is_hidden = self._is_leaving = self._listens = False

    def may_close(self) -> bool:
        """Return whether the window may close now; else ask, or close it later."""
        choice = self._session.settings.closing
        if not self._is_measuring() or choice == "stop":
            return True  # closing the session ends what runs
        if choice == "finish":
            self._finish_hidden()
        elif not self._is_asking:
            self._ask()
        return False

    def stay(self) -> None:
        """Keep the window: it is wanted again."""
        self._is_hidden = False

    def _is_measuring(self) -> bool:
        """Is a measurement going on that the user waits for? A held run has not begun yet."""
        if not self._session.is_awake:
            return False
        runner, checking = self._session.runner, self._session.checking
        is_run = runner.is_running and not runner.is_held
        return is_run or checking.is_running or checking.is_waiting

    def _ask(self) -> None:
        say = self._session.words.say
        self._is_asking = True
        asked = ask(
            self._window,
            self._session.look,
            say("closing.question"),
            say("closing.explained"),
            [
                Answer("finish", say("closing.finish"), role="main"),
                Answer("stop", say("closing.stop"), role="stop"),
                Answer("stay", say("closing.stay")),
            ],
            remember=say("closing.remember"),
        )
        asked.answered.connect(self._answer)

    def _answer(self, name: str, remember: bool) -> None:
        self._is_asking = False
        if name in ("finish", "stop") and remember:
            self._window.preferences.change(closing=name)
        if name == "finish":
            self._finish_hidden()
        elif name == "stop":
            self._listen()
            self._is_leaving = True
            self._session.checking.stop()
            self._session.runner.stop()
            self._look()

    def _finish_hidden(self) -> None:
        self._listen()
        self._is_hidden = True
        self._window.hide()
        self._look()  # it may have ended meanwhile

    def _listen(self) -> None:
        if not self._listens:
            self._listens = True
            self._session.runner.ended.connect(self._look)
            self._session.checking.ended.connect(self._look)

    def _look(self) -> None:
        """Close the window once nothing is measured any more."""
        if (self._is_hidden or self._is_leaving) and not self._is_measuring():
            self._is_hidden = self._is_leaving = False
            self._window.close()
