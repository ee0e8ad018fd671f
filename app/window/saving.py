"""How do pictures, tables and code get out of the window? Into a file that a person chooses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.folders import begin, remember, shown
from app.window.session import Session
from experiments.problems import Problem


class Saving:
    """`choose_new` and `choose_existing` ask for a file; tests put others in their place."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session, self._parent = session, parent
        self.choose_new: Callable[[str], Path | None] = self._ask_new
        self.choose_existing: Callable[[], Path | None] = self._ask_existing

    def save(self, suggestion: str, write: Callable[[Path], object]) -> bool:
        """Ask for a file and write it; say in one sentence how that went."""
        path = self.choose_new(suggestion)
        if path is None:
            return False
        if not path.suffix:
            path = path.with_name(path.name + Path(suggestion).suffix)
        try:
            write(path)
        except OSError as error:
            values = {"path": str(path), "reason": error.strerror or type(error).__name__}
            self._session.troubled.emit(Problem("file_not_written", values))
            return False
        remember(self._session, path)
        values = {"name": path.name, "folder": shown(path.parent)}
        self._session.tell(self._session.words.say("page.saved", values))
        return True

    def save_text(self, suggestion: str, text: str) -> bool:
        """Ask for a file and write a text into it."""
        return self.save(suggestion, lambda path: path.write_text(text, encoding="utf-8"))

    def copy_text(self, text: str) -> None:
        """Put a text where it can be pasted from."""
        QGuiApplication.clipboard().setText(text)
        self._session.tell(self._session.words.say("page.copied"))

    def _ask_new(self, suggestion: str) -> Path | None:
        title = self._session.words.say("page.save_as")
        kind = f"*{Path(suggestion).suffix}"
        name, _ = QFileDialog.getSaveFileName(
            self._parent, title, begin(self._session, suggestion), kind
        )
        return Path(name) if name else None

    def _ask_existing(self) -> Path | None:
        title = self._session.words.say("page.choose_run")
        kinds = "*.coreopsis.jsonl *.coreopsis.jsonl.gz"
        name, _ = QFileDialog.getOpenFileName(self._parent, title, begin(self._session), kinds)
        if not name:
            return None
        remember(self._session, Path(name))
        return Path(name)
