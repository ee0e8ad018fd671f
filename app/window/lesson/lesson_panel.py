"""The lesson on an experiment's page: step bar, column, goals, and what it puts elsewhere."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from app.window.core.target import EXPERIMENTS
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.key_marks import KeyMarks
from app.window.experiment.page_model import PageModel
from app.window.lesson.controller import LessonController
from app.window.lesson.live_try import LiveTry
from app.window.lesson.model import LessonModel
from app.window.lesson.moving import Moving
from app.window.lesson.plots import LessonPlots
from experiments.engine.run_state import RunState
from experiments.presentation.paths import paths
from widgets.controls.basics import chip, column, holding, row
from widgets.controls.layouts import scrolling
from widgets.experiment.action_button import ActionButton
from widgets.experiment.main_panel import MainPanel
from widgets.experiment.side_column import SideColumn, Tab
from widgets.lesson.go_on import GoOn
from widgets.lesson.goals import Goals
from widgets.lesson.step_bar import StepBar
from widgets.lesson.steps import Step
from widgets.style.theme import STEP

LEAST_PX = 120  # at zoom 1: of the numbers below what is to be tried, which scrolls before that


class LessonPart(QObject):
    """Shows the lesson while its side is chosen; the numbers stay as they are without it."""

    def __init__(
        self, model: PageModel, do: ExperimentActions, panel: MainPanel, numbers: SideColumn
    ) -> None:
        super().__init__()
        self._page, self._do, self._numbers = model, do, numbers
        self._session, words, look = model.session, model.words, model.session.look
        self.model = LessonModel(model)
        self._plots = LessonPlots(model, self.model, panel.views)
        self._marks = KeyMarks(model, panel.views)
        self._controller = LessonController(
            model, self.model, do, self._plots, numbers.result.glossary
        )
        self.bar, self._goals = StepBar(words, look), Goals(words, look)
        self.on_path = chip("", clicked=self._go_along)
        self._stack = QStackedWidget()
        for side in (self._controller.side, numbers):
            self._stack.addWidget(side)
        self.column = QWidget()
        self._live = LiveTry(model, panel.views)
        to_try = QWidget()
        self._go_on = GoOn(words)
        self._go_on.wanted.connect(lambda to: self._session.go(EXPERIMENTS, experiment=to))
        mine = holding(row(ActionButton(do.mine), None))
        parts = self._goals, self._live.widget, mine, self._go_on
        to_try.setLayout(column(*parts, space=4 * STEP))
        self._to_try = scrolling(to_try, words.say("lesson.to_try"))
        policy = self._stack.sizePolicy()
        policy.setVerticalPolicy(QSizePolicy.Policy.Ignored)  # what stands above comes first
        self._stack.setSizePolicy(policy)
        whole = column(self._to_try, self._stack, space=4 * STEP)
        whole.setStretch(1, 1)
        self.column.setLayout(whole)
        self.bar.wanted.connect(self._go)
        for step, action in do.steps.items():
            action.triggered.connect(lambda _checked=False, step=step: self._go(step))
        do.lesson.triggered.connect(lambda: self._choose(numbers=False))
        do.plot.triggered.connect(lambda: self._choose(numbers=True))
        do.swap.triggered.connect(lambda: self._choose(numbers=self.model.is_on))
        self._session.settings_changed.connect(self._follow_settings)
        self._was_on = self.model.is_on
        self._next = ""  # of the path
        self._awaited: RunState | None = None  # the run whose first rows are waited for
        self._step: Step | None = None  # that was shown last

    def side(self) -> QAction:
        """Return the side that the page shows unless another is asked for."""
        return self._do.lesson if self.model.is_on else self._do.plot

    @property
    def is_seen(self) -> bool:
        """Is the lesson the side that is seen?"""
        return self._do.lesson.isChecked()

    @property
    def moving(self) -> Moving:
        """The motion below the plots of an explanation."""
        return self._controller.moving

    def fit(self, page: QSize) -> None:
        """Give the column, and what moves below the plots, their share of the page."""
        self._numbers.fit(page.width())
        self.moving.fit(page.height())
        self.column.setFixedWidth(self._numbers.width())

    def refresh(self) -> None:
        """Show the step, after any change of state or side."""
        lesson = self.model
        self.bar.setVisible(self.is_seen and self._page.experiment is not None)
        self._show_path()
        self.bar.show_steps(lesson.steps, lesson.step, lesson.reachable)
        self._do.allow_steps(lesson.reachable if self.is_seen else frozenset())
        if self.is_seen:
            self._controller.refresh()
        else:
            self._controller.forget()
            self._expect()
        is_own = self.is_seen and self._controller.is_shown
        self._marks.join(self._controller.short if is_own else self._numbers.result.verdict)
        self._stack.setCurrentWidget(self._controller.side if is_own else self._numbers)
        if is_own:
            self._controller.take_focus()
        if self.is_seen and lesson.step is Step.TRY and self._step is not Step.TRY:
            self._numbers.choose(Tab.SETTINGS)
        self._step = lesson.step if self.is_seen else None
        is_trying = self.is_seen and lesson.step is Step.TRY
        self._live.show(self._page.experiment if is_trying else None)
        tried, say = self._page.experiment, self._session.words.say
        ids = self._session.catalogue.follow_ups(tried.id) if is_trying and tried else ()
        self._go_on.show_links([(name, say(f"{name}.question")) for name in ids])
        has_goals = self.is_seen and lesson.taught is not None and lesson.step is Step.TRY
        self._goals.setVisible(has_goals)
        if has_goals and lesson.taught is not None:
            texts = [goal.goal for goal in lesson.taught.words.goals]
            self._goals.show_goals(texts, lesson.reached)
        self._to_try.setVisible(is_trying)
        least_px = round(LEAST_PX * self._session.look.theme.zoom)
        self._stack.setMinimumHeight(least_px if is_trying else 0)

    def _show_path(self) -> None:
        """Show how far along the chosen path this is; at its end nothing follows."""
        path, experiment = paths().get(self._session.settings.path), self._page.experiment
        self._next, say = "", self._session.words.say
        is_on = path is not None and experiment is not None and experiment.id in path.experiments
        self.on_path.setVisible(self.is_seen and is_on)
        if path is None or experiment is None or not is_on:
            return
        self._next = path.after(experiment.id)
        number, count = path.experiments.index(experiment.id) + 1, len(path.experiments)
        key = "lesson.on_path" if self._next else "lesson.path_ends"
        self.on_path.setText(say(key, {"number": number, "count": count}))
        self.on_path.setEnabled(bool(self._next))
        self.on_path.setToolTip(say(f"{self._next}.question" if self._next else f"paths.{path.id}"))

    def _go_along(self) -> None:
        self._session.go(EXPERIMENTS, experiment=self._next)

    def _expect(self) -> None:
        """Show what a run looks like while the first rows are waited for."""
        under_way = self._page.under_way
        if under_way is not self._awaited:
            self._awaited = under_way
            if under_way is not None and under_way is self._page.run_state:
                self._plots.expect(faint=True)

    def leave(self) -> None:
        """End what measures or moves while the page is seen."""
        self.moving.pause()
        self._live.show(None)

    def show_in(self, panel: MainPanel) -> bool:
        """Show what belongs to the step in the main panel; False where the page itself does."""
        lesson = self.model
        if lesson.taught is None:
            return False
        if (question := self._controller.question) is not None:
            panel.show_question(question)
        else:
            panel.show_views()
        return True

    @property
    def asks_plainly(self) -> bool:
        """Is the question shown, of an experiment whose lesson is not written?"""
        return self.is_seen and self.model.taught is None and self.model.step is Step.QUESTION

    def focus(self) -> bool:
        """Focus what one would use next; False where the numbers are shown."""
        is_own = self._stack.currentWidget() is self._controller.side
        return is_own and self._controller.focus()

    def _go(self, step: Step) -> None:
        self._do.lesson.setChecked(True)
        if step is self.model.step:
            self.focus()  # the click took the keyboard away from it
        self.model.go(step)

    def _choose(self, *, numbers: bool) -> None:
        """Turn the page into one of numbers or back; the setting remembers it."""
        self._session.remembered.emit({"numbers": numbers})
        self._follow_settings()

    def _follow_settings(self) -> None:
        if self.model.is_on != self._was_on:
            self._was_on = self.model.is_on
            self.side().setChecked(True)
            self.model.turn()
