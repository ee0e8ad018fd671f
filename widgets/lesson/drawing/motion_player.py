"""The drawing of a lesson as it moves: play, pause, step from event to event, or move by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QFontMetrics, QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from experiments.core.teaching.diagram import Diagram
from experiments.core.teaching.motion import Motion
from experiments.core.teaching.motion_words import (
    factor_text,
    moment_text,
    said_at,
    time_text,
)
from experiments.core.teaching.playable import Playable
from experiments.core.words import Words
from widgets.controls.basics import (
    IconButton,
    announce,
    column,
    holding,
    label,
    leave_keys,
    row,
    show_text,
)
from widgets.controls.layouts import scrolling
from widgets.controls.slider import TimeSlider
from widgets.lesson.drawing.diagram import DiagramView
from widgets.lesson.drawing.playback import Playback
from widgets.style.icons import icon
from widgets.style.look import Look
from widgets.style.theme import STEP

LEAST_PX = 90  # of drawing and words, which scroll then
PLACES, PAGE = 1000, 100  # of the slider, and of a page of it
OWN_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)


class MotionPlayer(QFrame):
    """Shows a drawing, with a bar below it where it moves.

    If less motion is wanted, it does not play by itself: three stills stand side by side.
    """

    def __init__(
        self, words: Words, look: Look, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._words, self._look = words, look
        self.playable: Playable | None = None
        self.playback = Playback(clock, self)
        self.playback.moved.connect(self._show_moment)
        self.playback.turned.connect(self._show_button)
        self._title, self._band = label("", "head", wrap=True), label("", "soft", wrap=True)
        self._point, self._said = label("", "soft"), label("", wrap=True)
        self.view = DiagramView(words, look)
        self._stills = [_Still(words, look) for _ in range(3)]
        self._side_by_side = holding(row(*self._stills, space=4 * STEP))
        self._play_button = IconButton(look, "play", words.say("replay.play"), clicked=self.toggle)
        leave_keys(self._play_button)
        self.slider = _MomentSlider(look)
        self.slider.setRange(0, PLACES)
        self.slider.setPageStep(PAGE)
        self.slider.setAccessibleName(words.say("lesson.motion_at"))
        self.slider.valueChanged.connect(self._seek)
        self._time, self._factor = label("", "soft"), label("", "soft")
        self._time.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        bar = self._play_button, self.slider, self._time, self._factor
        self._bar = holding(row(*bar, space=3 * STEP, grows=1))
        head = column(row(self._title, self._point, grows=0), self._band, space=STEP)
        shown = holding(column(head, self.view, self._side_by_side, self._said, space=2 * STEP))
        area = scrolling(shown, words.say("lesson.drawing"))  # where large words leave less room
        area.setMinimumHeight(LEAST_PX)
        self.setLayout(column(area, self._bar, space=2 * STEP, edges=(4 * STEP, 3 * STEP) * 2))
        self.setFocusProxy(self.slider)
        look.changed.connect(self._fit)

    def show_still(self, diagram: Diagram | None, labels: Mapping[str, str]) -> None:
        """Show a drawing that does not move; None hides everything."""
        self._show(diagram, labels, labels.get("about", ""), None)
        self.setVisible(diagram is not None)

    def show_motion(self, playable: Playable, *, is_calm: bool = False) -> None:
        """Show a motion, and play it unless it is calm."""
        self._show(playable.diagram, playable.labels, playable.texts.get("title", ""), playable)
        self._show_stills(is_calm)
        self._show_moment()
        self.show()
        if not is_calm:
            self.playback.play()

    @property
    def motion(self) -> Motion | None:
        """Return the motion; None for a drawing that stands."""
        return self.playable.motion if self.playable is not None else None

    def toggle(self) -> None:
        """Pause while playing, otherwise play."""
        if self.playback.is_playing:
            self.playback.pause()
            self._announce()
        else:
            self._show_stills(False)
            self.playback.play()

    def take_space(self) -> bool:
        """Play or pause where something moves; return whether it does."""
        has_one = self.motion is not None and self.isVisible()
        if has_one:
            self.toggle()
        return has_one

    def stand_at(self, t_s: float | None) -> None:
        """Stand at a moment, and announce what is shown; None changes nothing."""
        if t_s is not None:
            self.playback.stand_at(t_s)
            self._show_stills(False)
            self._announce()

    def hold(self, on: bool) -> None:
        """Stand still while something is measured, and let nothing play meanwhile."""
        self.playback.hold(on)
        self._play_button.setEnabled(not on)
        self.slider.setToolTip(self._words.say("lesson.motion_stands") if on else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Play or pause with Space; step with arrow keys, go to an end with Home and End."""
        keys, motion = Qt.Key, self.motion
        if motion is None:
            event.ignore()
            return
        match event.key():
            case keys.Key_Space:
                self.toggle()
            case keys.Key_Left | keys.Key_Right:
                is_back = event.key() == keys.Key_Left
                self.stand_at(self.playback.next_moment(back=is_back))
            case keys.Key_Home | keys.Key_End:
                self.stand_at(0.0 if event.key() == keys.Key_Home else motion.duration_s)
            case _:
                event.ignore()

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw nothing unseen."""
        super().hideEvent(event)
        self.playback.pause()

    # --- inside -------------------------------------------------------------------------------

    def _show(
        self,
        diagram: Diagram | None,
        labels: Mapping[str, str],
        title: str,
        playable: Playable | None,
    ) -> None:
        self.playable = playable
        self.playback.take(self.motion)
        texts = playable.texts if playable is not None else {}
        self.view.show_diagram(diagram, labels, self.motion, texts)
        show_text(self._title, title)
        show_text(self._band, playable.band if playable is not None else "")
        show_text(self._point, texts.get("point", ""))
        self._side_by_side.hide()
        self._bar.setVisible(playable is not None)
        self._said.setVisible(playable is not None and bool(playable.motion.says))
        if playable is not None:
            self._factor.setText(factor_text(self._words, playable.motion))
        self._fit()

    def _show_stills(self, on: bool) -> None:
        """Show three moments in place of one, or one again."""
        self._side_by_side.setVisible(on)
        self.view.setVisible(not on)
        if on and self.playable is not None:
            for still, t_s in zip(self._stills, self.playable.motion.stills, strict=True):
                still.show_moment(self.playable, t_s)

    def _seek(self, place: int) -> None:
        """Go where the slider was moved to."""
        if self.motion is not None:
            self.stand_at(self.motion.duration_s * place / PLACES)

    def _show_moment(self) -> None:
        if self.playable is None:
            return
        motion, t_s = self.playable.motion, self.playback.t_s
        self.view.show_at(t_s)
        if not self.slider.isSliderDown():
            with QSignalBlocker(self.slider):
                self.slider.setValue(round(PLACES * t_s / motion.duration_s))
        shown = time_text(self._words, t_s, motion), said_at(t_s, motion, self.playable.texts)
        for words, text in zip((self._time, self._said), shown, strict=True):
            if words.text() != text:
                words.setText(text)
        self._describe()

    def _describe(self) -> None:
        """Describe what is shown to a screen reader, but not at every frame."""
        if not self.playback.is_playing:
            said = f"{self._time.text()}. {self._said.text()}"
            self.slider.setAccessibleDescription(said.strip())

    def _announce(self) -> None:
        announce(self.slider, self.slider.accessibleDescription())

    def _show_button(self) -> None:
        is_playing = self.playback.is_playing
        self._play_button.call(self._words.say("replay.pause" if is_playing else "replay.play"))
        colour = self._look.theme.accent
        self._play_button.setIcon(icon("pause" if is_playing else "play", colour))
        self._describe()

    def _fit(self) -> None:
        """Reserve the width of the longest time, so that nothing moves while it plays."""
        if self.motion is not None:
            longest = time_text(self._words, self.motion.duration_s, self.motion)
            font = self._look.theme.font("note")
            self._time.setMinimumWidth(QFontMetrics(font).horizontalAdvance(longest))
        self._show_button()


class _MomentSlider(TimeSlider):
    """Leaves arrow keys, Home and End to the player, which steps from event to event."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by a page, or leave the key."""
        if event.key() in OWN_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)


class _Still(QWidget):
    """One moment of a motion, with its time below it."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._view, self._time = DiagramView(words, look), label("", "small")
        self._time.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setLayout(column(self._view, self._time, space=STEP))

    def show_moment(self, playable: Playable, t_s: float) -> None:
        """Show a moment."""
        self._view.show_diagram(playable.diagram, playable.labels, playable.motion, playable.texts)
        self._view.show_at(t_s)
        self._time.setText(moment_text(t_s, playable.motion))
