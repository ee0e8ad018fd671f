"""The drawing below the plots of an explanation: which run moves it, and which place in a plot."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.window.experiment.page_model import PageModel
from app.window.lesson.model import LessonModel
from app.window.lesson.plots import LessonPlots
from experiments.core.problems import UserError
from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.teaching.lessons import Taught
from experiments.core.teaching.motion import Pointed
from experiments.core.teaching.playable import Playable, playable
from widgets.lesson.drawing.motion_player import MotionPlayer

RESTS_MS = 150  # a mouse that passes over marks sends nothing
HEIGHT_SHARE = 0.25  # of the page: the plots above come first


class Moving(QObject):
    """Plays the motion of the shown run; a pointed place plays another one."""

    changed = Signal()  # whether a drawing is shown, and whether it moves

    def __init__(self, model: PageModel, lesson: LessonModel, plots: LessonPlots) -> None:
        super().__init__()
        self._model, self._lesson = model, lesson
        self.player = MotionPlayer(model.words, model.session.look)
        self.player.hide()
        self._shown: tuple[Taught, LessonRun] | None = None
        self._pointed: Pointed | None = None
        self._broken: list[Taught] = []  # whose motion was told to be broken
        self._rests = QTimer(self, interval=RESTS_MS, singleShot=True)
        self._rests.timeout.connect(self._send)
        plots.pointed_at.connect(self._point)
        model.changed.connect(self._hold)

    @property
    def is_waiting(self) -> bool:
        """Is a place pointed at whose motion will be played if the mouse rests?"""
        return self._rests.isActive()

    @property
    def is_shown(self) -> bool:
        """Is there a drawing?"""
        return not self.player.isHidden()

    @property
    def moves(self) -> bool:
        """Is there something that moves?"""
        return self._shown is not None

    def show(self, taught: Taught) -> None:
        """Show the drawing of a lesson: as it moved in the run that explains, else still."""
        self._hold()
        evidence, found = self._lesson.evidence, None
        if evidence is not None:
            found = self._playable(taught, evidence.run, None, evidence.band)
        self._shown = (taught, evidence.run) if evidence is not None and found is not None else None
        if found is None:
            self.player.show_still(taught.diagram, taught.words.diagram)
        else:
            self._play(found)
        self.changed.emit()

    def pause(self) -> None:
        """Stand still."""
        self._rests.stop()
        self.player.playback.pause()

    def hide(self) -> None:
        """Show nothing, and play nothing."""
        self._rests.stop()
        if self.is_shown:
            self.player.hide()
            self._shown = None
            self.changed.emit()

    def fit(self, page_px: int) -> None:
        """Give the drawing its share of the height of a page."""
        self.player.view.limit_height(HEIGHT_SHARE * page_px)

    def _hold(self) -> None:
        self.player.hold(self._model.session.is_measuring)

    def _point(self, pointed: Pointed) -> None:
        self._pointed = pointed
        self._rests.start()

    def _send(self) -> None:
        """Play what is pointed at; where nothing moves there, what was shown stays."""
        now = self.player.playable
        if self._shown is None or now is None:
            return
        found = self._playable(*self._shown, self._pointed, now.band)
        if found is not None and found.motion != now.motion:
            self._play(found)

    def _play(self, found: Playable) -> None:
        self.player.show_motion(found, is_calm=self._model.session.is_calm)

    def _playable(
        self, taught: Taught, run: LessonRun, pointed: Pointed | None, band: str
    ) -> Playable | None:
        """Return the motion to play; a broken motion is reported once, and gives None."""
        try:
            return playable(taught, run, pointed, band=band)
        except UserError as trouble:
            if taught not in self._broken:
                self._broken.append(taught)
                self._model.session.troubled.emit(trouble.problem)
            return None
