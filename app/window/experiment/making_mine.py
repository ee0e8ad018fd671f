"""Asks for a name, copies the shown experiment to the user's own shelf, and goes to the copy."""

from __future__ import annotations

import ast
import os
import shlex
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QProcess, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.mine import free_name, make_mine, start_of
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from experiments.core.declare import Experiment
from experiments.core.problems import Problem
from experiments.core.shelves import id_of
from widgets.sheets.make_mine import MakeMine

EDITORS = ("VISUAL", "EDITOR")


class MakingMine(QObject):
    """One sheet after another; the page goes to the copy once it has been examined."""

    def __init__(self, session: Session, page: QWidget) -> None:
        super().__init__(page)
        self._session, self._page = session, page
        self._awaited = ""  # the copy that is examined now
        session.catalogue_changed.connect(self._go)

    def ask(self, experiment: Experiment[Any], *, starts: bool = False) -> None:
        """Ask for the name; `starts`: the exercise is chosen already, where there is one."""
        session, start = self._session, start_of(self._session.catalogue.homes[experiment.id])
        task = _task(start) if start is not None else ""
        name = free_name(experiment.id)
        sheet = MakeMine(self._page.window(), session.words, session.look, name, task)
        sheet.exercise.setChecked(starts and bool(task))
        sheet.wanted.connect(partial(self._make, sheet, experiment.id))
        sheet.open()

    def _make(self, sheet: MakeMine, experiment_id: str, name: str, start: bool) -> None:
        session, data = self._session, self._session.context.folder

        def work() -> Path:
            return make_mine(session.catalogue, experiment_id, name, data, start=start)

        def fail(problem: Problem) -> None:
            sheet.refuse(session.say(problem))

        session.background.do_soon(work, partial(self._take, sheet), failed=fail)

    def _take(self, sheet: MakeMine, folder: Path) -> None:
        self._awaited = id_of(folder.name)
        if self._session.own is not None:
            self._session.own.look()
        if opened(folder):
            sheet.dismiss()
        else:
            sheet.show_path(str(folder))
        say = self._session.words.say
        self._session.tell(say("mine.written", {"folder": folder}))

    def _go(self) -> None:
        """Go to the copy as soon as it is known, or say what is wrong with it."""
        name, catalogue = self._awaited, self._session.catalogue
        if name not in catalogue.own:
            return
        self._awaited = ""
        if (problem := catalogue.refused.get(name)) is not None:
            self._session.troubled.emit(problem)
        else:
            self._session.go(EXPERIMENTS, experiment=name)


def opened(folder: Path) -> bool:
    """Open a folder as the system opens folders, else in the user's editor; False if none does."""
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        return True
    named = next((os.environ[name] for name in EDITORS if os.environ.get(name)), "")
    try:
        program, *arguments = shlex.split(named)
    except ValueError:  # nothing is named, or no command
        return False
    return bool(QProcess.startDetached(program, [*arguments, str(folder)])[0])


def _task(start: Path) -> str:
    """Return what an exercise is: the first paragraph of its file."""
    text = ast.get_docstring(ast.parse(start.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())
