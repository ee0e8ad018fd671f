"""Asks a person before it ends a process that holds GPU memory.

A first request is polite. Only a process that ignored it can be killed, after another question.
"""

from __future__ import annotations

import functools
import os

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app import end_process
from app.end_process import Ended, Process
from app.window.core.session import Session
from experiments.presentation.load.face import shown_bytes
from experiments.presentation.load.gpu_processes import GpuProcess, Right
from widgets.sheets.question import Answer, ask


class EndRequests(QObject):
    """Remembers which processes it has asked to end."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._parent = session, parent
        self._asked: dict[int, Process] = {}

    @functools.cached_property
    def me(self) -> str | None:
        """The user of this program."""
        return end_process.own_name()

    def right_to(self, gpu_process: GpuProcess) -> Right:
        """Return whether a process may be ended from here."""
        if gpu_process.pid == os.getpid() or gpu_process.pid == self._worker():
            return Right.OWN
        if gpu_process.user is None:
            return Right.GONE if end_process.has_gone(gpu_process.pid) else Right.HIDDEN
        if not end_process.may_end(gpu_process.user):
            return Right.OTHERS
        asked = self._asked.get(gpu_process.pid)
        return Right.FORCE if asked is not None and end_process.is_there(asked) else Right.ASK

    def ask(self, gpu_process: GpuProcess) -> None:
        """Ask a person to confirm the end of a process."""
        by_force = self.right_to(gpu_process) is Right.FORCE
        process = self._asked[gpu_process.pid] if by_force else self._identified(gpu_process)
        if isinstance(process, Ended):
            self._tell(process, gpu_process)
            return
        say = self._session.words.say
        held = gpu_process.memory_bytes
        values = {
            "command": gpu_process.command or say("live.unknown"),
            "number": str(gpu_process.pid),
            "user": gpu_process.user or "?",
            "memory": say("live.unknown") if held is None else shown_bytes(held),
            "gpu": gpu_process.gpu,
        }
        if by_force:
            question = say("live.force_question")
            explained, answer = say("live.force_explained", values), say("live.force_it")
        else:
            question = say("live.end_question")
            explained, answer = say("live.end_explained", values), say("live.end_it")
        answers = [Answer("end", answer, "stop"), Answer("leave", say("live.leave_it"), "main")]
        asked = ask(self._parent.window(), self._session.look, question, explained, answers)
        asked.buttons["leave"].setFocus()

        def take(answer: str, _again: bool) -> None:
            if answer == "end":
                self._end(process, gpu_process, by_force=by_force)

        asked.answered.connect(take)

    def _identified(self, gpu_process: GpuProcess) -> Process | Ended:
        if gpu_process.age_s is None:
            return Ended.GONE
        return end_process.identify(gpu_process.pid, gpu_process.age_s)

    def _end(self, process: Process, gpu_process: GpuProcess, *, by_force: bool) -> None:
        ended = end_process.end(process, by_force=by_force)
        if ended is Ended.ASKED:
            self._asked[process.pid] = process
        self._tell(ended, gpu_process, by_force=by_force)

    def _tell(self, ended: Ended, gpu_process: GpuProcess, *, by_force: bool = False) -> None:
        say = self._session.words.say
        number = {"number": str(gpu_process.pid)}
        whose = {"number": str(gpu_process.pid), "user": gpu_process.user or "?"}
        texts = {
            Ended.ASKED: say("live.end_forced" if by_force else "live.end_asked", number),
            Ended.GONE: say("live.end_gone", number),
            Ended.OTHER: say("live.end_other", number),
            Ended.FORBIDDEN: say("live.end_forbidden", whose),
        }
        self._session.tell(texts[ended])

    def _worker(self) -> int | None:
        return self._session.watcher.pid if self._session.is_awake else None
