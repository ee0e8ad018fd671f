"""The frame of the window: the rail, the places, the status line, and going from one to another.

What is painted first is only the ground of it, in the colours of the theme: before that nothing is
loaded that is not needed for it. `furnish` brings all the rest right after.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRect, QSize, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS, LIVE, MAP, RUNS, Target

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QCloseEvent, QPaintEvent
    from PySide6.QtWidgets import QStackedWidget

    from app.window.core.place import Place
    from app.window.shell.actions import Actions
    from app.window.shell.closing import Closing
    from app.window.shell.preferences import Preferences
    from app.window.shell.status import Status
    from experiments.core.problems import Problem
    from widgets.frame.notice import Notices
    from widgets.frame.rail import Rail

# Each keeps its number, also while the one between them is not there yet.
PLACES = {
    MAP: ("Ctrl+1", "app.window.map.place", "MapPlace"),
    LIVE: ("Ctrl+2", "app.window.live.place", "LivePlace"),
    EXPERIMENTS: ("Ctrl+3", "app.window.catalogue.place", "ExperimentsPlace"),
    RUNS: ("Ctrl+4", "app.window.runs.place", "RunsPlace"),
}
SMALLEST, AT_FIRST = (820, 560), (1440, 900)
RAIL, FOOT = 86, 36  # pixels that rail and status line will take
IDLE_MS = 700  # after waking, before the plots are loaded where nobody asked for them yet


class Window(QWidget):
    """The window. `closed` comes when it is to be no more; what ran has ended by then."""

    painted = Signal()  # for the first time: the ground alone
    closed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setMinimumSize(*SMALLEST)
        self._places: dict[str, Place] = {}
        self._back: list[str] = []
        self._painted = self._furnished = False
        self._rail: Rail
        self._stack: QStackedWidget
        self._notices: Notices
        self._status: Status
        self._closing: Closing
        self.preferences: Preferences
        self.actions_here: Actions
        self._restore()

    def furnish(self) -> None:
        """Bring the frame, the first place, and all that can be done."""
        from app.window.shell import frame
        from app.window.shell.actions import Actions
        from app.window.shell.closing import Closing
        from app.window.shell.preferences import Preferences
        from app.window.shell.status import Status
        from widgets.frame.notice import Notices

        session = self.session
        self._rail, self._stack, line = frame.build(self, session, PLACES)
        self._notices = Notices(self._stack, session.words, session.look)
        self._status = Status(session, line)
        self._closing = Closing(session, self)
        self.preferences = Preferences(session, self)
        self.actions_here = Actions(self, self._rail)
        self._furnished = True
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
        shown = self._shown()
        assert shown is not None
        return shown

    def go(self, target: Target) -> None:
        """Go to a place, and open there what is wanted."""
        before, place = self._shown(), self._built(target.place)
        if before is not place:
            if before is not None:
                self._back.append(before.name)
            self._show(place)
        elif target == Target(place.name):  # its button again: to where it begins
            place.go_back()
        place.open(target)
        self._status.show_place(place)

    def go_back(self) -> None:
        """Go one step back within the place, or else to the place before this one."""
        if not self.place.go_back() and self._back:
            self._show(self._built(self._back.pop()))  # as it was left

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

    def _show(self, place: Place) -> None:
        before = self._shown()
        if before is not None:
            before.leave()
        self._stack.setCurrentWidget(place)
        self._notices.raise_()  # what is shown last would cover them
        self._rail.choose(place.name)
        shown = {"place": self.session.words.say(f"places.{place.name}")}
        self.setWindowTitle(self.session.words.say("frame.title", shown))
        place.arrive()
        self.preferences.keep(place=place.name)
        self._status.show_place(place)

    def _shown(self) -> Place | None:
        shown: Place | None = self._stack.currentWidget()  # type: ignore[assignment]
        return shown

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
            # What is no base64 is skipped: a damaged file must not stop the window.
            self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode("ascii", "ignore")))

    def _tell(self, text: str, action: str, act: object) -> None:
        self._notices.tell(text, action or None, act if callable(act) else None)

    def _tell_trouble(self, problem: Problem) -> None:
        self._notices.tell(self.session.say(problem))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground; tell of the first time, once it is done."""
        theme = self.session.look.theme
        with QPainter(self) as painter:
            _fill(painter, self.rect(), theme.ground)
            if not self._furnished:
                for edge in (QRect(0, 0, RAIL, self.height()), self._foot()):
                    _fill(painter, edge, theme.panel)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.painted.emit)

    def _foot(self) -> QRect:
        return QRect(0, self.height() - FOOT, self.width(), FOOT)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab go through what is seen now as one reads it."""
        from widgets.frame.tab_order import go_on

        return go_on(self, forward=forward)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the desktop from light to dark."""
        super().changeEvent(event)
        if self._furnished and event.type() == event.Type.ThemeChange:
            self.preferences.dress()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask what becomes of a run that is under way; go only then."""
        if self._furnished:
            if not self._closing.may_close():
                event.ignore()
                return
            geometry = bytes(self.saveGeometry().toBase64().data()).decode()
            self.preferences.keep(geometry=geometry)
            self.preferences.save()
        event.accept()
        self.closed.emit()


def _fill(painter: QPainter, where: QRect, colour: str) -> None:
    """Fill without `fillRect`, whose first call takes in all enums of Qt: 40 ms."""
    dot = QPixmap(1, 1)
    dot.fill(QColor(colour))
    painter.drawPixmap(where, dot)


def _load_plots() -> None:
    """Load numpy and the plots while nobody waits for them."""
    importlib.import_module("widgets.plots.plot")
