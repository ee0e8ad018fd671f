"""Exports runs to files that a person chooses, and asks what these may tell of the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.runs.library import Kept
from app.window.core.saving import begin, complete, new_file, remember
from app.window.core.session import Session
from app.window.runs.archive import Archive
from experiments.engine.recording import SUFFIXES
from widgets.sheets.question import Answer, ask


class Exporting:
    """Asks over `parent`."""

    def __init__(self, session: Session, archive: Archive, parent: QWidget) -> None:
        self._session, self._archive, self._parent = session, archive, parent

    def export(self, runs: Sequence[Kept]) -> None:
        """Export one run to a file, or several into a folder."""
        whole = [run for run in runs if run.problem is None]
        self._ask_what_to_tell(whole, partial(self._choose_target, whole))

    def _ask_what_to_tell(self, runs: Sequence[Kept], then: Callable[[bool], object]) -> None:
        """Call `then` with whether to tell predictions and names; there may be none to tell."""
        say, notes = self._session.words.say, [run.run_notes for run in runs]
        keys = ["runs.export_prediction"] * any(each.guess for each in notes)
        keys += ["runs.export_name"] * any(each.name for each in notes)
        if not keys:
            then(False)
            return
        keys = ["runs.export_several"] if len(runs) > 1 else keys
        told = [say(key, {"name": notes[0].name}) for key in keys]
        asked = ask(
            self._parent.window(),
            self._session.look,
            say("runs.export_question"),
            " ".join([*told, say("runs.export_explained")]),
            [
                Answer("told", say("runs.export_told"), "main"),
                Answer("untold", say("runs.export_untold")),
                Answer("leave", say("runs.export_leave")),
            ],
        )
        asked.answered.connect(
            lambda answer, _remember: then(answer == "told") if answer != "leave" else None
        )

    def _choose_target(self, runs: Sequence[Kept], tells: bool) -> None:
        session, parent, say = self._session, self._parent, self._session.words.say
        export, title = partial(self._archive.export, runs, tells=tells), say("runs.export_runs")
        if len(runs) == 1:
            kinds = f"{say('runs.file_run')};;{say('runs.file_packed')}"
            if target := new_file(session, parent, title, kinds, runs[0].path.name):
                remember(session, target)
                complete(session, parent, target, SUFFIXES, export)
        elif folder := QFileDialog.getExistingDirectory(parent, title, begin(session)):
            remember(session, Path(folder, "any"))
            export(Path(folder))
