"""The frame of the window: the rail, the places, the status line, and going from one to another.

Only the frame is there for the first paint; `furnish` brings all the rest right after it.
"""

from __future__ import annotations

import base64
import importlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QSize, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QPaintEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.window.place import EXPERIMENTS, LIVE, MAP, RUNS, Place, Target
from app.window.session import Session
from experiments.problems import Problem
from widgets.basics import column, row
from widgets.rail import Rail, Stop
from widgets.status_line import StatusLine

if TYPE_CHECKING:
    from app.window.actions import Actions
    from app.window.closing import Closing
    from app.window.preferences import Preferences
    from app.window.status import Status
    from widgets.notice import Notices

# Each keeps its number, also while the one between them is not there yet.
PLACES = {
    MAP: ("Ctrl+1", "app.window.places.map", "MapPlace"),
    LIVE: ("Ctrl+2", "app.window.places.live", "LivePlace"),
    EXPERIMENTS: ("Ctrl+3", "app.window.places.experiments", "ExperimentsPlace"),
    RUNS: ("Ctrl+5", "app.window.places.runs", "RunsPlace"),
}
SMALLEST, AT_FIRST = (820, 560), (1440, 900)
IDLE_MS = 700  # after waking, before the plots are loaded where nobody asked for them yet


class Window(QWidget):
    """The window. `closed` comes when it is to be no more; what ran has ended by then."""

    painted = Signal()  # for the first time: the frame alone
    closed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        words = session.words
        self.setMinimumSize(*SMALLEST)
        self._places: dict[str, Place] = {}
        self._painted = False
        self._back: list[str] = []
        self._rail = Rail(
            [Stop(name, words.say(f"places.{name}"), keys) for name, (keys, *_) in PLACES.items()],
            [
                Stop("search", words.say("frame.find"), "Ctrl+K"),
                Stop("settings", words.say("frame.settings"), "Ctrl+,"),
                Stop("menu", words.say("frame.menu"), "F10"),
            ],
            words,
            session.look,
        )
        self._stack = QStackedWidget()
        self._line = StatusLine(words)
        self._line.show_machine(words.say("frame.reading_machine"))
        self.setLayout(row(self._rail, column(self._stack, self._line, space=0), space=0))
        self._notices: Notices
        self._status: Status
        self._closing: Closing
        self.preferences: Preferences
        self.actions_here: Actions
        self._restore()

    def furnish(self) -> None:
        """Bring the first place, and all that can be done."""
        from app.window.actions import Actions
        from app.window.closing import Closing
        from app.window.preferences import Preferences
        from app.window.status import Status
        from widgets.notice import Notices

        session = self.session
        self._notices = Notices(self._stack, session.words, session.look)
        self._status = Status(session, self._line)
        self._closing = Closing(session, self)
        self.preferences = Preferences(session, self)
        self.actions_here = Actions(self, self._rail)
        self._rail.chosen.connect(lambda name: self.go(Target(name)))
        self._rail.used.connect(self.actions_here.use)
        session.went.connect(self.go)
        session.noticed.connect(self._tell)
        session.troubled.connect(self._tell_trouble)
        last = session.settings.place
        self.go(Target(last if last in PLACES else MAP))

    @property
    def place(self) -> Place:
        """The place that is shown."""
        shown = self._stack.currentWidget()
        assert isinstance(shown, Place)
        return shown

    def go(self, target: Target) -> None:
        """Go to a place, and open there what is wanted."""
        before, place = self._stack.currentWidget(), self._built(target.place)
        if before is not place:
            if isinstance(before, Place):
                before.leave()
                self._back.append(before.name)
            self._stack.setCurrentWidget(place)
            self._rail.choose(place.name)
            shown = {"place": self.session.words.say(f"places.{place.name}")}
            self.setWindowTitle(self.session.words.say("frame.title", shown))
            place.arrive()
            self.preferences.keep(place=place.name)
        elif target == Target(place.name):  # its button again: to where it begins
            place.go_back()
        place.open(target)
        self._status.show_place(place)

    def go_back(self) -> None:
        """Go one step back within the place, or else to the place before this one."""
        if not self.place.go_back() and self._back:
            name = self._back.pop()
            self.go(Target(name))
            self._back.pop()  # the way back is no way forth

    def come_to_front(self) -> None:
        """Show the window above others: somebody has started the program again."""
        self._closing.stay()
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def wake(self) -> None:
        """Begin with all that takes a while; the frame has been painted."""
        self.furnish()
        self.session.wake()
        QTimer.singleShot(IDLE_MS, self, _load_plots)

    @property
    def _is_furnished(self) -> bool:
        return hasattr(self, "preferences")

    def _built(self, name: str) -> Place:
        if name not in self._places:
            _, module, kind = PLACES[name]
            place: Place = getattr(importlib.import_module(module), kind)(self.session)
            self._places[name] = place
            self._stack.addWidget(place)
        return self._places[name]

    def _restore(self) -> None:
        settings = self.session.settings
        self.resize(self.screen().availableGeometry().size().boundedTo(QSize(*AT_FIRST)))
        if settings.geometry:
            self.restoreGeometry(QByteArray(base64.b64decode(settings.geometry)))

    def _tell(self, text: str, action: str, act: object) -> None:
        self._notices.tell(text, action or None, act if callable(act) else None)

    def _tell_trouble(self, problem: Problem) -> None:
        self._notices.tell(self.session.say(problem))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell of the first paint, once it is done."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.painted.emit)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the desktop from light to dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ThemeChange and self._is_furnished:
            self.preferences.dress()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask what becomes of a run that is under way; go only then."""
        if self._is_furnished:
            if not self._closing.may_close():
                event.ignore()
                return
            geometry = base64.b64encode(self.saveGeometry().data()).decode()
            self.preferences.keep(geometry=geometry)
            self.preferences.save()
        event.accept()
        self.closed.emit()


def _load_plots() -> None:
    """Load numpy and pyqtgraph while nobody waits for them: it takes a quarter of a second."""
    importlib.import_module("widgets.plots.plot")
