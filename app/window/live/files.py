"""Saves the shown minute of Live, and opens recorded ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from app.context import read_watch
from app.window.core.saving import Saving, file_there
from app.window.core.session import Session
from experiments.engine import messages
from machine.live import recorded_watch


class LiveFiles(QObject):
    """Asks for files over `parent`, writes minutes and reads recordings."""

    opened = Signal(object)  # RecordedWatch

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._parent = session, parent
        self.saving = Saving(session, parent)

    def save(self, samples: Sequence[messages.Sample], marks_s: Sequence[float]) -> None:
        """Write samples and marks into a chosen file, without anything that names people."""
        now, machine = datetime.now().astimezone(), self._session.machine
        date = now.strftime("%Y-%m-%d-%H%M%S")
        self.saving.save(
            self._session.words.say("live.saved_as", {"date": date}),
            lambda path: recorded_watch.write(
                path,
                [msgspec.structs.asdict(sample) for sample in samples],
                at=now.isoformat(timespec="seconds"),
                machine=machine,
                marks_s=marks_s,
            ),
            recorded_watch.SUFFIXES,
        )

    def open(self, path: Path) -> None:
        """Read a recorded watch; `opened` comes when that is done."""
        self._session.background.do_soon(lambda: read_watch(path), self.opened.emit)

    def choose_and_open(self) -> None:
        """Ask for a recorded watch, and open it."""
        if (path := self.choose()) is not None:
            self.open(path)

    def choose(self) -> Path | None:
        """Ask for a recorded watch, None if cancelled."""
        say = self._session.words.say
        kinds = " ".join(f"*{suffix}" for suffix in recorded_watch.SUFFIXES)
        kinds = f"{say('live.recorded_kind')} ({kinds})"
        return file_there(self._session, self._parent, say("live.open"), kinds)


def dropped(event: QDropEvent) -> list[Path]:
    """Return the recorded watches among dropped files."""
    paths = (url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile())
    return [Path(path) for path in paths if path.endswith(recorded_watch.SUFFIXES)]
