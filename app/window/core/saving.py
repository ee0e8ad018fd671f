"""How do pictures, tables and code get out of the window? Into a file that a person chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.core.folders import begin, remember, shown
from app.window.core.session import Session
from experiments.core.problems import Problem
from widgets.sheets.question import Answer, ask


class Saving:
    """`choose_new` and `choose_existing` ask for a file; tests put others in their place."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session, self._parent = session, parent
        self.choose_new: Callable[[str], Path | None] = self._ask_new
        self.choose_existing: Callable[[], Path | None] = self._ask_existing

    def save(
        self, suggestion: str, write: Callable[[Path], object], endings: Sequence[str] = ()
    ) -> None:
        """Ask for a file and write it; say in one sentence how that went.

        Its name gets one of the `endings`; without them, that of the suggestion if it has none.
        """
        path = self.choose_new(suggestion)
        if path is not None:
            endings = endings or (path.suffix or Path(suggestion).suffix,)
            complete(
                self._session, self._parent, path, endings, lambda whole: self._write(whole, write)
            )

    def save_text(self, suggestion: str, text: str) -> None:
        """Ask for a file and write a text into it."""
        self.save(suggestion, lambda path: path.write_text(text, encoding="utf-8"))

    def copy_text(self, text: str) -> None:
        """Put a text where it can be pasted from."""
        QGuiApplication.clipboard().setText(text)
        self._session.tell(self._session.words.say("page.copied"))

    def _write(self, path: Path, write: Callable[[Path], object]) -> None:
        try:
            write(path)
        except OSError as error:
            values = {"path": str(path), "reason": error.strerror or type(error).__name__}
            self._session.troubled.emit(Problem("file_not_written", values))
            return
        remember(self._session, path)
        values = {"name": path.name, "folder": shown(path.parent)}
        self._session.tell(self._session.words.say("page.saved", values))

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


def complete(
    session: Session,
    parent: QWidget,
    path: Path,
    endings: Sequence[str],
    then: Callable[[Path], object],
) -> None:
    """Call `then` with the path and its ending; first ask where that is a file which exists.

    The dialog has asked about the name as it was typed, and about no other.
    """
    whole = with_ending(path, endings)
    if whole == path or not whole.exists():
        then(whole)
        return
    say = session.words.say
    asked = ask(
        parent.window(),
        session.look,
        say("page.replace_question", {"name": whole.name}),
        say("page.replace_explained"),
        [
            Answer("replace", say("page.replace_yes"), "stop"),
            Answer("leave", say("page.replace_no")),
        ],
    )
    asked.answered.connect(lambda answer, _remember: then(whole) if answer == "replace" else None)


def with_ending(path: Path, endings: Sequence[str]) -> Path:
    """Return the path with an ending by which it is found again: `a.jsonl` as `a.kind.jsonl`."""
    if path.name.endswith(tuple(endings)):
        return path
    ending = next((each for each in endings if each.endswith(path.suffix)), endings[0])
    name = path.name
    for part in reversed(Path(f"any{ending}").suffixes):
        name = name.removesuffix(part)
    return path.with_name(name + ending)
