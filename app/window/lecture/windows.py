"""The windows of a lecture: the slide on one screen, the presenter's view on another."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QObject, QSize, QTimer
from PySide6.QtGui import QGuiApplication, QScreen

from app.lecture.lecture_state import LectureState, Step
from app.loaded_run import clear_values
from app.window.core.session import Session
from app.window.core.throttle import DRAW_MS, Throttle
from app.window.lecture.conductor import Conductor
from app.window.lecture.keys import Keys, over_of
from app.window.lecture.presenter_texts import presenter_texts, strip_of, then_of
from app.window.lecture.shown_runs import ShownRuns
from app.window.lecture.slide_content import PLOTTED, slide_content
from experiments.core.views import Plotted
from experiments.engine.run_state import RunState
from widgets.lecture.audience import Audience
from widgets.lecture.presenter import Presenter
from widgets.lecture.slide import Slide
from widgets.style import theme as themes
from widgets.style.look import Look

log = logging.getLogger(__name__)

PICTURE = QSize(1280, 720)  # of what comes then
Screens = Callable[[], Sequence[QScreen]]


class LectureWindows(QObject):
    """Both windows, kept up to date. With one screen there is the slide alone, with its strip."""

    def __init__(
        self,
        session: Session,
        conductor: Conductor,
        home: QScreen,
        screens: Screens = QGuiApplication.screens,
    ) -> None:
        """Open the windows; `home` is the screen of the presenter where there are two."""
        super().__init__()
        self._session, self._conductor, self._runs = session, conductor, conductor.runs
        self._home, self._screens = home, screens
        self._is_swapped = False
        self._mode = "light"  # projectors raise black levels
        self._values: dict[str, float] = {}
        self._throttle = Throttle()
        self._begun: RunState | None = None  # the run of which something has been drawn
        self._acts: dict[str, Callable[[], object]] = {
            "swap": self.swap,
            "turn_light": self.turn_light,
            "pin_strip": lambda: self.audience.pin_strip(),
        }
        self.keys = Keys(session, conductor, self._acts)
        self.presenter = Presenter(session.words, session.look, self.keys.press)
        self.presenter.asked.connect(self._do)
        self.presenter.chosen.connect(conductor.go)
        self.presenter.closed.connect(conductor.leave)
        self.presenter.over.answered.connect(conductor.answer)
        self._build()
        self._drawing = QTimer(self, interval=DRAW_MS, singleShot=True)
        self._drawing.timeout.connect(self._draw_soon)
        conductor.changed.connect(self.refresh)
        conductor.moved.connect(self._move)
        session.other_load.changed.connect(self._tell)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenAdded.connect(self._follow_screens)
        application.screenRemoved.connect(self._follow_screens)
        self.place()
        self.refresh()

    @property
    def has_presenter(self) -> bool:
        """Is there a screen for the presenter?"""
        return len(self._screens()) > 1

    def place(self) -> None:
        """Give each window its screen."""
        screens = self._screens()
        others = [screen for screen in screens if screen is not self._home] or [self._home]
        mine, theirs = self._home, others[0]
        if self._is_swapped:
            mine, theirs = theirs, mine
        _fill(self.audience, theirs)
        if self.has_presenter:
            _fill(self.presenter, mine)
            self.presenter.activateWindow()
            self.presenter.setFocus()
        else:
            self.presenter.hide()
            self.audience.activateWindow()
            self.audience.setFocus()

    def swap(self) -> None:
        """Change the two screens."""
        self._is_swapped = not self._is_swapped
        self.place()
        self._tell()

    def turn_light(self) -> None:
        """Change the slide from light to dark or back; a frozen one stays as it is."""
        if self._conductor.is_frozen:
            return
        self._mode = "dark" if self._mode == "light" else "light"
        old = self.audience
        old.closed.disconnect()
        self._build()
        self.place()
        old.hide()
        old.deleteLater()
        self.refresh()

    def close(self) -> None:
        """Close both windows."""
        self._drawing.stop()
        for window in (self.audience, self.presenter):
            window.closed.disconnect()
            window.hide()
            window.deleteLater()
        self._preview.deleteLater()
        self._session.other_load.changed.disconnect(self._tell)
        self.deleteLater()

    def refresh(self) -> None:
        """Show the step, and what the presenter needs; an exception shows the recording."""
        try:
            self._show()
        except Exception as error:
            log.exception("in a lecture")
            self._conductor.rescue(error)
            self._tell()

    # --- inside -------------------------------------------------------------------------------

    def _build(self) -> None:
        session = self._session
        look = Look(themes.load(self._mode, session.look.theme.zoom))
        self.audience = Audience(session.words, look, self.keys.press)
        self.audience.closed.connect(self._conductor.leave)
        self.audience.over.answered.connect(self._conductor.answer)
        self._preview = Slide(session.words, look)
        self._preview.resize(PICTURE)

    def _do(self, name: str) -> None:
        act = self._acts.get(name) or getattr(self._conductor, name)
        act()
        self.presenter.setFocus()  # a button that had it may be off now

    def _follow_screens(self) -> None:
        if self._home not in self._screens():
            self._home = self._screens()[0]
        self.place()
        self._tell()

    def _show(self) -> None:
        conductor, slide = self._conductor, self.audience.slide
        if conductor.is_frozen:
            slide.freeze()
        self._show_slide(slide, conductor.course)
        if not conductor.is_frozen:
            slide.thaw()
        slide.set_halo(conductor.is_halo)
        self.audience.blacken(conductor.is_black)
        self._tell()

    def _tell(self) -> None:
        """Show the texts of the strip, and all of the presenter's view."""
        conductor = self._conductor
        self.audience.strip.show_text(*strip_of(self._session.words, conductor))
        over, has_presenter = over_of(self._session, conductor.over), self.has_presenter
        self.presenter.over.show_content(over if has_presenter else None)
        self.audience.over.show_content(None if has_presenter else over)
        if has_presenter:
            data = presenter_texts(self._session, conductor)
            self.presenter.show_data(data)
            then = then_of(conductor)
            self._show_slide(self._preview, then)
            self.presenter.show_pictures(self.audience.grab(), self._preview.grab())

    def _show_slide(self, slide: Slide, course: LectureState) -> None:
        conductor = self._conductor
        turn, prepared = course.turn, conductor.items[course.place]
        slide.show_experiment(prepared.experiment if prepared.view is not None else None)
        slide.show_data(slide_content(self._session, conductor, self._runs, course))
        is_moving = conductor.is_moving and slide is self.audience.slide
        slide.show_motion(conductor.motion if is_moving else None)
        if turn.step in PLOTTED:
            _draw(slide, course, prepared.view, self._runs)

    def _move(self) -> None:
        """Draw the first mark of a run at once, and what follows soon."""
        with self._rescued():
            run_state = self._runs.run_state
            if run_state is not self._begun and self._runs.has_marks():
                self._begun = run_state
                self._draw_now()
            else:
                self._drawing.start()

    def _draw_soon(self) -> None:
        """Draw new rows, with little of a core while something is measured."""
        if self._conductor.is_measuring and self._throttle.would_disturb():
            self._drawing.start()
        else:
            self._draw_now()

    def _draw_now(self) -> None:
        self._throttle.note()
        if self._conductor.course.turn.step not in (*PLOTTED, Step.QUESTION):
            return
        with self._rescued():
            self._show_slide(self.audience.slide, self._conductor.course)

    @contextlib.contextmanager
    def _rescued(self) -> Iterator[None]:
        """Let an exception show the recording in place of the run."""
        try:
            yield
        except Exception as error:
            log.exception("in a lecture")
            self._conductor.rescue(error)
            self.refresh()


def _draw(slide: Slide, course: LectureState, view: Plotted | None, runs: ShownRuns) -> None:
    """Draw a run on the slide's plot, without the arms that stay hidden for now."""
    plot = slide.plot
    if plot is None or view is None:
        return
    plot.hold_back(course.turn.hidden_arms)
    run_state = runs.of(course)
    rows = run_state.tables.get(view.table, []) if run_state is not None else []
    frame = run_state.frames.get(view.table) if run_state is not None else None
    if not rows and frame is None:
        plot.show_expected(runs.expected(course, view.table), {}, faint=False)
        plot.draw((), {})
        return
    if frame is not None:
        plot.draw_frame(frame)
    else:
        plot.draw(rows, clear_values(run_state.finding() if run_state is not None else None))


def _fill(window: Audience | Presenter, screen: QScreen) -> None:
    """Cover a screen with a window."""
    window.setScreen(screen)
    window.setGeometry(screen.geometry())
    window.showFullScreen()
