"""Which files does a person mean? The dialogs of the system, in functions that tests replace."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.core.folders import begin, remember
from app.window.core.session import Session


def choose_files(parent: QWidget, session: Session) -> list[Path]:
    """Return the run files to import, none if that was not wanted after all."""
    say = session.words.say
    names, _ = QFileDialog.getOpenFileNames(
        parent, say("runs.import_runs"), begin(session), say("runs.file_any")
    )
    if names:
        remember(session, Path(names[0]))
    return [Path(name) for name in names]


def choose_target(parent: QWidget, session: Session, suggested: str) -> Path | None:
    """Return where to export one run to, None if that was not wanted after all."""
    say = session.words.say
    name, _ = QFileDialog.getSaveFileName(
        parent,
        say("runs.export_runs"),
        begin(session, suggested),
        f"{say('runs.file_run')};;{say('runs.file_packed')}",
    )
    if not name:
        return None
    remember(session, Path(name))
    return Path(name)


def choose_folder(parent: QWidget, session: Session) -> Path | None:
    """Return the folder to export several runs into, None if that was not wanted after all."""
    title = session.words.say("runs.export_runs")
    name = QFileDialog.getExistingDirectory(parent, title, begin(session))
    if not name:
        return None
    remember(session, Path(name, "any"))
    return Path(name)
