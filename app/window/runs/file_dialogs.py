"""The file dialogs of the runs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.core.saving import begin, remember
from app.window.core.session import Session


def choose_files(parent: QWidget, session: Session) -> list[Path]:
    """Return the run files to import, none if cancelled."""
    say = session.words.say
    names, _ = QFileDialog.getOpenFileNames(
        parent, say("runs.import_runs"), begin(session), say("runs.file_any")
    )
    if names:
        remember(session, Path(names[0]))
    return [Path(name) for name in names]


def choose_target(parent: QWidget, session: Session, suggested: str) -> Path | None:
    """Return the file to export one run to, None if cancelled."""
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
    """Return the folder to export several runs into, None if cancelled."""
    title = session.words.say("runs.export_runs")
    name = QFileDialog.getExistingDirectory(parent, title, begin(session))
    if not name:
        return None
    remember(session, Path(name, "any"))
    return Path(name)
