"""The frame of the window: the rail, the places, the status line, and going from one to another.

The first paint shows only the background in the theme's colours, so that it needs few imports.
`furnish` brings the rest right after.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QByteArray, QMargins, QRect, QSize, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from app.window.core.session import Session
from app.window.core.target import CHECKUP, EXPERIMENTS, LIVE, MAP, RUNS, Target

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent
    from PySide6.QtWidgets import QStackedWidget

    from app.window.catalogue.place import ExperimentsPlace
    from app.window.core.place import Place
    from app.window.lecture.lecture_mode import LectureMode
    from app.window.shell.actions import Actions
    from app.window.shell.closing import Closing
    from app.window.shell.preferences import Preferences
    from app.window.shell.status import Status
    from experiments.core.problems import Problem
    from widgets.frame.notice import Notices
    from widgets.frame.rail import Rail

PLACES = {
    MAP: ("Ctrl+1", "app.window.map.place", "MapPlace"),
    LIVE: ("Ctrl+2", "app.window.live.place", "LivePlace"),
    EXPERIMENTS: ("Ctrl+3", "app.window.catalogue.place", "ExperimentsPlace"),
    CHECKUP: ("Ctrl+4", "app.window.checkup.place", "CheckupPlace"),
    RUNS: ("Ctrl+5", "app.window.runs.place", "RunsPlace"),
}
SMALLEST, AT_FIRST = (820, 560), (1440, 900)
FRAME = QMargins(8, 40, 8, 8)  # kept free for frame and title bar, known only once shown
RAIL, FOOT = 86, 36  # pixels of rail and status line
IDLE_MS = 700  # after waking, before the plots are loaded in advance


class Window(QWidget):
    """The window. It emits `closed` when it is gone and no run is left."""

    painted = Signal()  # for the first time: the background alone
    closed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setMinimumSize(*SMALLEST)
        self.setAcceptDrops(True)
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
        self.lecture_mode: LectureMode
        self._restore()

    def furnish(self) -> None:
        """Build the frame, the first place, and the actions."""
        from PySide6.QtWidgets import QStackedWidget

        from app.window.lecture.lecture_mode import LectureMode
        from app.window.shell.actions import Actions
        from app.window.shell.closing import Closing
        from app.window.shell.preferences import Preferences
        from app.window.shell.status import Status
        from widgets.controls.basics import column, row
        from widgets.frame.notice import Notices
        from widgets.frame.rail import Rail, Stop
        from widgets.frame.status_line import StatusLine

        session, words = self.session, self.session.words
        named = {name: words.say(f"places.{name}") for name in PLACES}
        places = [Stop(name, named[name], keys) for name, (keys, *_) in PLACES.items()]
        tools = [
            Stop("search", words.say("frame.find"), "Ctrl+K"),
            Stop("settings", words.say("frame.settings"), "Ctrl+,"),
            Stop("menu", words.say("frame.menu"), "F10"),
        ]
        self._rail, self._stack = Rail(places, tools, words, session.look), QStackedWidget()
        line = StatusLine(words)
        line.show_machine(words.say("frame.reading_machine"))
        self.setLayout(row(self._rail, column(self._stack, line, space=0), space=0))
        self._notices = Notices(self._stack, words, session.look)
        self._status = Status(session, line)
        self._closing = Closing(session, self)
        self.preferences = Preferences(session, self)
        self.lecture_mode = LectureMode(self)
        self.actions_here = Actions(self, self._rail)
        self._furnished = True
        self.setAcceptDrops(True)
        self._rail.chosen.connect(lambda name: self.go(Target(name)))
        self._rail.used.connect(self.actions_here.use)
        session.went.connect(self.go)
        session.asked_for_playlist.connect(self.show_playlist)
        session.asked_for_lecture.connect(self.lecture_mode.begin)
        session.asked_for_handout.connect(self.lecture_mode.show_record)
        session.noticed.connect(self._notices.tell)
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
        """Go to a place, and open the target there."""
        before, place = self._shown(), self._built(target.place)
        if before is not place:
            if before is not None:
                self._back.append(before.name)
            self._show(place)
        elif target == Target(place.name):  # its button was pressed again: back to its beginning
            place.go_back()
        place.open(target)
        self._status.show_place(place)

    def show_playlist(self, path: Path | None) -> None:
        """Show the panel in which a lecture is put together; `path` is one to open in it."""
        if self.place.name != EXPERIMENTS:
            self.go(Target(EXPERIMENTS))
        place = cast("ExperimentsPlace", self.place)
        if path is not None:
            place.playlist.open(path)
        place.playlist.show()

    def go_back(self) -> None:
        """Go one step back within the place, or else to the place before this one."""
        if not self.place.go_back() and self._back:
            self._show(self._built(self._back.pop()))  # in the state it was left in

    def come_to_front(self) -> None:
        """Bring the window to the front: the program was started again."""
        self._closing.stay()
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def wake(self) -> None:
        """Start the slow parts after the first paint."""
        self.furnish()
        self.session.wake()
        QTimer.singleShot(IDLE_MS, self, self._load_plots)

    def _load_plots(self) -> None:
        """Load numpy, pyqtgraph and the plots in advance, in a thread: it takes half a second."""
        self.session.background.do(lambda: importlib.import_module("widgets.plots.plot"))

    def _show(self, place: Place) -> None:
        before = self._shown()
        if before is not None:
            before.leave()
        self._stack.setCurrentWidget(place)
        self._notices.raise_()  # the place would cover them
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
        """Take the size and place of the last time, as far as the screen has room for them."""
        room = self.screen().availableGeometry() - FRAME
        self.resize(room.size().boundedTo(QSize(*AT_FIRST)))
        # Invalid base64 is skipped: a damaged file must not stop the window.
        saved = QByteArray.fromBase64(self.session.settings.geometry.encode("ascii", "ignore"))
        if self.restoreGeometry(saved) and not self.isMaximized() and not self.isFullScreen():
            here, screen = self.geometry(), QGuiApplication.screenAt(self.geometry().center())
            room = (screen or self.screen()).availableGeometry() - FRAME
            here.setSize(here.size().boundedTo(room.size()))
            here.moveLeft(max(room.left(), min(here.left(), room.right() + 1 - here.width())))
            here.moveTop(max(room.top(), min(here.top(), room.bottom() + 1 - here.height())))
            self.setGeometry(here)

    def _tell_trouble(self, problem: Problem) -> None:
        self._notices.tell(self.session.say(problem))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files that the place does not take, unless a sheet has the keys."""
        from widgets.runs.takes_files import files_of
        from widgets.sheets.overlay import Overlay

        has_sheet = any(sheet.isVisible() for sheet in self.findChildren(Overlay))
        if not has_sheet and files_of(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Show what is inside dropped files, in the place that they belong to."""
        from widgets.runs.takes_files import files_of

        event.acceptProposedAction()
        self._show_files(tuple(files_of(event.mimeData())))

    def show_file(self, file: Path) -> None:
        """Show what is inside a file, in the place that it belongs to."""
        self._show_files((file,))

    def _show_files(self, files: tuple[Path, ...]) -> None:
        from app.window.core.drops import shown_elsewhere

        if not shown_elsewhere(files, self.session):
            self.go(Target(RUNS, files=files))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the background; after the first time, emit `painted`."""
        theme = self.session.look.theme
        with QPainter(self) as painter:
            _fill(painter, self.rect(), theme.ground)
            if not self._furnished:
                _fill(painter, QRect(0, 0, RAIL, self.height()), theme.panel)
                foot = QRect(0, self.height() - FOOT, self.width(), FOOT)
                _fill(painter, foot, theme.panel)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.painted.emit)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab follow the reading order of what is seen."""
        from widgets.controls.tab_order import go_on

        return go_on(self, forward=forward)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the desktop from light to dark."""
        super().changeEvent(event)
        if self._furnished and event.type() == event.Type.ThemeChange:
            self.preferences.dress()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close, unless a run under way has to be asked about first."""
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
    """Fill without `fillRect`, whose first call loads all enums of Qt: 40 ms."""
    dot = QPixmap(1, 1)
    dot.fill(QColor(colour))
    painter.drawPixmap(where, dot)
