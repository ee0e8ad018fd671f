"""Which files does a person mean? The dialogs of the system, in functions that tests replace."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from experiments.engine.recording import SUFFIXES
from experiments.words import Words


def choose_files(parent: QWidget, words: Words) -> list[Path]:
    """Return the run files to import, none if that was not wanted after all."""
    names, _ = QFileDialog.getOpenFileNames(
        parent, words.say("runs.import_runs"), str(Path.home()), words.say("runs.file_any")
    )
    return [Path(name) for name in names]


def choose_target(parent: QWidget, words: Words, suggested: str) -> Path | None:
    """Return where to export one run to, None if that was not wanted after all."""
    name, _ = QFileDialog.getSaveFileName(
        parent,
        words.say("runs.export_runs"),
        str(Path.home() / suggested),
        f"{words.say('runs.file_run')};;{words.say('runs.file_packed')}",
    )
    return with_suffix(Path(name)) if name else None


def choose_folder(parent: QWidget, words: Words) -> Path | None:
    """Return the folder to export several runs into, None if that was not wanted after all."""
    name = QFileDialog.getExistingDirectory(parent, words.say("runs.export_runs"), str(Path.home()))
    return Path(name) if name else None


def with_suffix(path: Path) -> Path:
    """Return the path with the ending of a run file, if it has none that says what it is."""
    if path.name.endswith((".jsonl", ".gz")):
        return path
    return path.with_name(path.name + SUFFIXES[0])
