"""Asks what becomes of a run when the window is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.window.core.session import Session
from widgets.sheets.question import Answer, ask

if TYPE_CHECKING:
    from app.window.shell.window import Window


class Closing(QObject):
    """Lets a run finish behind a hidden window, or ends it."""

    def __init__(self, session: Session, window: Window) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._asking = False
        self._hidden = False

    def may_close(self) -> bool:
        """Return whether the window may close now; else ask, or close it later."""
        if not self._session.is_awake or not self._session.runner.is_running:
            return True
        choice = self._session.settings.closing
        if choice == "stop":
            return True  # closing the session ends the run
        if choice == "finish":
            self._finish_hidden()
        elif not self._asking:
            self._ask()
        return False

    def stay(self) -> None:
        """Keep the window: it is wanted again."""
        if self._hidden:
            self._hidden = False
            self._session.runner.ended.disconnect(self._close)

    def _ask(self) -> None:
        say = self._session.words.say
        self._asking = True
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
        self._asking = False
        if name in ("finish", "stop") and remember:
            self._window.preferences.change(closing=name)
        if name == "finish":
            self._finish_hidden()
        elif name == "stop":
            if self._session.runner.is_running:
                self._session.runner.ended.connect(self._window.close)
                self._session.runner.stop()
            else:
                self._window.close()

    def _finish_hidden(self) -> None:
        if not self._session.runner.is_running:  # the run has ended meanwhile
            self._window.close()
        elif not self._hidden:
            self._hidden = True
            self._session.runner.ended.connect(self._close)
            self._window.hide()

    def _close(self) -> None:
        if self._hidden:
            self._window.close()
