"""Asks for files to open, and saves pictures, tables and code into one that a person chooses.

A file dialog begins in the folder used last, at first in a personal one: the folder in which the
program was started may be that of its source.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.core.session import Session
from experiments.core.problems import Problem
from machine.text import short_name
from widgets.sheets.question import Answer, ask

PICTURES = (".png", ".svg")
Location = QStandardPaths.StandardLocation


class Saving:
    """Asks for a file over `parent`, writes it, and says how that went."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session, self._parent = session, parent

    def save(
        self, suggestion: str, write: Callable[[Path], object], endings: Sequence[str] = ()
    ) -> bool:
        """Ask for a file, write it, and say the outcome in a sentence; False if cancelled.

        Its name gets one of the `endings`, by default that of the suggestion.
        """
        path = self.choose_new(suggestion)
        if path is not None:
            endings = endings or (path.suffix or Path(suggestion).suffix,)
            complete(
                self._session, self._parent, path, endings, lambda whole: self._write(whole, write)
            )
        return path is not None

    def save_text(self, suggestion: str, text: str) -> None:
        """Ask for a file and write a text into it."""
        self.save(suggestion, lambda path: path.write_text(text, encoding="utf-8"))

    def copy_text(self, text: str) -> None:
        """Copy a text to the clipboard."""
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
        values = {"name": path.name, "folder": in_short(path.parent)}
        self._session.tell(self._session.words.say("page.saved", values))

    def choose_new(self, suggestion: str) -> Path | None:
        """Ask for a file to write, None if cancelled."""
        title = self._session.words.say("page.save_as")
        kind = f"*{Path(suggestion).suffix}"
        return new_file(self._session, self._parent, title, kind, suggestion)


def new_file(
    session: Session, parent: QWidget, title: str, kinds: str, suggestion: str
) -> Path | None:
    """Ask for a file to write, None if cancelled; the caller remembers where it is."""
    where = begin(session, suggestion)
    name, _ = QFileDialog.getSaveFileName(parent, title, where, kinds)
    return Path(name) if name else None


def file_there(session: Session, parent: QWidget, title: str, kinds: str) -> Path | None:
    """Ask for a file to read, None if cancelled."""
    name, _ = QFileDialog.getOpenFileName(parent, title, begin(session), kinds)
    return next(iter(_remembered(session, [name] if name else [])), None)


def run_files(session: Session, parent: QWidget) -> list[Path]:
    """Ask for files of runs to read, none if cancelled."""
    title, kinds = session.words.say("runs.import_runs"), session.words.say("runs.file_any")
    names, _ = QFileDialog.getOpenFileNames(parent, title, begin(session), kinds)
    return _remembered(session, names)


def _remembered(session: Session, names: Sequence[str]) -> list[Path]:
    if names:
        remember(session, Path(names[0]))
    return [Path(name) for name in names]


def complete(
    session: Session,
    parent: QWidget,
    path: Path,
    endings: Sequence[str],
    then: Callable[[Path], object],
) -> None:
    """Call `then` with the path and its ending; ask first if that file exists.

    The system's dialog has asked only about the name as it was typed.
    """
    whole = with_ending(path, endings)
    if whole == path or not os.path.exists(whole):
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
    """Return the path with one of the endings: `a.jsonl` as `a.kind.jsonl`."""
    if path.name.endswith(tuple(endings)):
        return path
    ending = next((each for each in endings if each.endswith(path.suffix)), endings[0])
    name = path.name
    for part in reversed(Path(f"any{ending}").suffixes):
        name = name.removesuffix(part)
    return path.with_name(name + ending)


def begin(session: Session, name: str = "") -> str:
    """Return where a file dialog begins, with the suggested `name`."""
    last = session.settings.folder
    is_picture = Path(name).suffix in PICTURES
    own = Location.PicturesLocation if is_picture else Location.DocumentsLocation
    wanted = [last, QStandardPaths.writableLocation(own)]
    found = next((folder for folder in wanted if folder and os.path.isdir(folder)), Path.home())
    stem, dot, endings = name.partition(".")
    return str(Path(found, f"{short_name(stem)}{dot}{endings}"))


def remember(session: Session, path: Path) -> None:
    """Let the next dialog begin in the folder of this file, also after a restart."""
    session.remembered.emit({"folder": str(path.parent)})


def in_short(folder: Path) -> str:
    """Return a folder with `~` for the home folder."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if home in folder.parents else str(folder)
