"""Runs the examination of the doctor in the background, and fills its page.

An examination starts processes that may hang, so it runs in a thread with time limits. It ends when
the page is closed or another Python is to be examined.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.doctor_report import as_text, explained, headline, json_text, more, sentence, sign, title
from app.window.core.session import Session
from experiments.core.problems import Problem, UserError
from experiments.core.words import Words
from machine.doctor import environments
from machine.doctor.diagnosis import Diagnosis, diagnose
from machine.doctor.gather import gather
from machine.doctor.nvml import ask_nvml
from machine.doctor.torch_probe import BadPython, examine, find_python
from machine.doctor.verdicts import State
from machine.system.asking import Stopped
from widgets.doctor.page import DoctorPage
from widgets.doctor.page_data import Link, PageData, PythonChoice

if TYPE_CHECKING:
    from machine.doctor.environments import Environment

# The steps on most machines, shown while nothing is known yet.
USUAL = ("card", "driver", "nodes", "library", "torch", "build", "architecture", "works")


class Doctor(QObject):
    """One page, from when it is opened until it is closed.

    `look` examines a Python, `find` looks for others; tests replace both.
    """

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._python = ""  # as it was wanted
        self._stop = threading.Event()
        self._is_closed = False
        self._diagnosis: Diagnosis | None = None
        self._choices: list[PythonChoice] = [_own(session.words)]
        self.look: Callable[[str, threading.Event], Diagnosis] = look
        self.find: Callable[[], tuple[Environment, ...]] = environments.find
        self.page = DoctorPage(session.words, session.look, window)
        self.page.wanted.connect(self.examine)
        chooser = self.page.chooser
        chooser.again_wanted.connect(lambda: self.examine(self._python))
        chooser.file_asked.connect(lambda: self._examine_chosen(self.choose_file()))
        chooser.folder_asked.connect(lambda: self._examine_chosen(self.choose_folder()))
        self.page.copy_asked.connect(self._copy)
        self.page.closed.connect(self._end)

    def open(self) -> None:
        """Show the page, and examine the PyTorch of this program."""
        session = self._session
        if session.context.has_fake_machine:
            self.page.refuse(session.say(Problem("fake_machine_examined")))
        else:
            self.page.chooser.offer(self._choices)
            self.page.chooser.show_chosen("")
            self.examine("")
            session.background.do(self.find, self._offer)
        self.page.open()

    def examine(self, path: str) -> None:
        """Examine the Python at a path, as `--python` does; "" for this program's own."""
        self._stop.set()
        words = self._session.words
        links = [Link(title=title(step, words)) for step in USUAL]
        self.page.wait(_short(path) or words.say("doctor.page.this_program"), links)
        if self._session.runner.is_running:  # loading PyTorch takes a core for seconds
            self.page.complain(words.say("doctor.page.waits_for_run"))
            return
        self._stop = self._session.background.do_long(
            partial(self._examined, path), partial(self._show, path), partial(self._refuse, path)
        )

    def _examined(self, path: str, stop: threading.Event) -> Diagnosis | None:
        """Called in a thread. Raises UserError where there is no Python."""
        try:
            return self.look(find_python(path) if path else sys.executable, stop)
        except BadPython as error:
            raise UserError("python_unusable", reason=str(error)) from None
        except Stopped:
            return None

    def _show(self, path: str, diagnosis: Diagnosis | None) -> None:
        if diagnosis is not None:
            self._python, self._diagnosis = path, diagnosis
            self.page.chooser.show_chosen(path)
            self.page.tell(page_data(diagnosis, self._session.words))

    def _refuse(self, path: str, problem: Problem) -> None:
        """Say why there is no Python there, and show the diagnosis before."""
        if self._diagnosis is None:
            self.page.complain(self._session.say(problem))
            return
        self._show(self._python, self._diagnosis)
        self.page.chooser.refuse(self._session.say(problem))
        self.page.chooser.ask_for_path(path)

    def _offer(self, found: tuple[Environment, ...]) -> None:
        if self._is_closed:
            return
        say = self._session.words.say
        for each in found:
            known = {"path": _short(each.path), "torch": each.torch or ""}
            key = "doctor.page.found" if each.torch else "doctor.page.found_without"
            self._choices.append(PythonChoice(path=each.path, text=say(key, known)))
        self.page.chooser.offer(self._choices)

    def _examine_chosen(self, path: str) -> None:
        if path:
            self.examine(path)

    def _copy(self, kind: str) -> None:
        if self._diagnosis is not None:
            write = json_text if kind == "json" else as_text
            QGuiApplication.clipboard().setText(write(self._diagnosis, self._session.words))
            self.page.say_copied()

    def _end(self) -> None:
        self._is_closed = True
        self._stop.set()
        self.deleteLater()

    def choose_file(self) -> str:
        """Ask for a Python, "" if cancelled."""
        asked = self._session.words.say("doctor.page.choose_file_title")
        return QFileDialog.getOpenFileName(self.page.window(), asked, str(Path.home()))[0]

    def choose_folder(self) -> str:
        """Ask for an environment, "" if cancelled."""
        asked = self._session.words.say("doctor.page.choose_folder_title")
        return QFileDialog.getExistingDirectory(self.page.window(), asked, str(Path.home()))


def look(python: str, stop: threading.Event) -> Diagnosis:
    """Examine this machine and the PyTorch of `python`. Raises Stopped soon after `stop` is set."""
    return diagnose(
        gather(python=python, nvml=partial(ask_nvml, stop=stop), probe=partial(examine, stop=stop))
    )


def page_data(diagnosis: Diagnosis, words: Words) -> PageData:
    """Return what the page shows of a diagnosis."""
    found = diagnosis.found
    absent = diagnosis.steps[0] if found is None and diagnosis.vendor is None else None
    shown = found or absent
    links = [
        Link(
            title=title(step.step, words),
            state=sign(step, diagnosis),
            word="" if sign(step, diagnosis) is step.state else words.say("doctor.page.none_here"),
            # Advice for an absent card stands above the chain.
            text=(sentence if step is absent else explained)(step, words)
            if step.state is not State.NOT_REACHED
            else "",
            commands=() if step is absent else step.commands,
        )
        for step in diagnosis.steps
    ]
    return PageData(
        headline=headline(diagnosis, words),
        # An absent part is neutral, not fine, as in the chain.
        state=State.NOT_REACHED if absent else diagnosis.state,
        text=more(absent, words) if absent else sentence(found, words) if found else "",
        commands=shown.commands if shown is not None else (),
        links=tuple(links),
        is_well=found is None and diagnosis.vendor is not None,
    )


def _own(words: Words) -> PythonChoice:
    return PythonChoice(path="", text=words.say("doctor.page.own", {"python": _short(sys.prefix)}))


def _short(path: str) -> str:
    """Return a path with `~` for the home folder."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
