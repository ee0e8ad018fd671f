"""The replay bar of a recorded run: play, pause, step, and seek on a slider."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QPushButton, QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.controls.basics import IconButton, chip, label, leave_keys, row, tip
from widgets.controls.choices import joined
from widgets.controls.slider import TimeSlider
from widgets.style.icons import icon
from widgets.style.look import Look
from widgets.style.theme import STEP

SPEEDS = (1.0, 4.0)
PAGES = 10  # presses of Page Up from one end to the other


class ReplayBar(QWidget):
    """Emits what the user asks for; `show_state` shows the state of the replay."""

    play_asked = Signal(float)  # at this speed
    pause_asked = Signal()
    step_asked = Signal(bool)  # back?
    seek_asked = Signal(float)  # to this second
    restart_asked = Signal()

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self._is_playing = False
        self._shown = self._longest = ""
        self.setAccessibleName(words.say("replay.bar"))
        say = words.say
        self.play_button = IconButton(look, "play", say("replay.play"), clicked=self.toggle)
        self.restart_button = IconButton(
            look, "restart", say("replay.restart"), clicked=self.restart_asked.emit
        )
        self.back_button = IconButton(
            look, "step-back", say("replay.back"), clicked=lambda: self.step_asked.emit(True)
        )
        self.step_button = IconButton(
            look, "step", say("replay.step"), clicked=lambda: self.step_asked.emit(False)
        )
        buttons = self.play_button, self.back_button, self.step_button, self.restart_button
        self.slider = TimeSlider(look)
        self.slider.setAccessibleName(say("replay.position"))
        self._time = label(role="soft")
        self._time.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._speeds = QButtonGroup(self)
        speeds = joined(*[self._speed_chip(speed) for speed in SPEEDS])
        speeds.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)  # in one line
        left = row(*buttons, space=STEP)
        self.setLayout(row(left, self.slider, self._time, speeds, space=3 * STEP))
        leave_keys(*buttons)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # a click on the bar gives it the focus
        self.setFocusProxy(self.slider)  # only now: a proxy takes over the policy
        self.slider.valueChanged.connect(lambda ms: self.seek_asked.emit(ms / 1000))
        look.changed.connect(self._show_button)
        look.changed.connect(self._fit)
        self.show_state(0.0, 0.0, is_playing=False)

    @property
    def speed(self) -> float:
        """The chosen speed, as a multiple of the recorded one."""
        return SPEEDS[self._speeds.checkedId()]

    def show_state(
        self, t_s: float, total_s: float, *, is_playing: bool, left_out_s: float = 0.0
    ) -> None:
        """Show the position, whether the replay is playing, and how much is left out."""
        with QSignalBlocker(self.slider):
            total_ms = max(1, math.ceil(total_s * 1000))
            self.slider.setRange(0, total_ms)
            self.slider.setPageStep(max(1, total_ms // PAGES))
            self.slider.setSingleStep(max(1, total_ms // 100))
            if not self.slider.isSliderDown():
                self.slider.setValue(total_ms if t_s >= total_s else round(t_s * 1000))
        places = 1 if total_s >= 1 else 2
        left_out = self._words.say("replay.left_out", {"duration": left_out_s})
        for each in (self.slider, self._time):
            each.setToolTip(tip(left_out) if left_out_s else "")
        time = {"position": f"{t_s:.{places}f}", "total": f"{total_s:.{places}f} s"}
        self._show_time(self._words.say("replay.time", time), f"{total_s:.{places}f}")
        if is_playing != self._is_playing or not self._shown:
            self._is_playing = is_playing
            self._show_button()

    def toggle(self) -> None:
        """Ask to pause while playing, otherwise to play."""
        if self._is_playing:
            self.pause_asked.emit()
        else:
            self.play_asked.emit(self.speed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Play or pause with Space, step with comma and full stop, as video players do."""
        match event.key():
            case Qt.Key.Key_Space:
                self.toggle()
            case Qt.Key.Key_Comma:
                self.step_asked.emit(True)
            case Qt.Key.Key_Period:
                self.step_asked.emit(False)
            case _:
                event.ignore()

    def _speed_chip(self, speed: float) -> QPushButton:
        times = {"times": f"{speed:g}"}
        text, name = (self._words.say(key, times) for key in ("replay.speed", "replay.speed_name"))
        made = chip(text, checkable=True, clicked=self._take_speed, tip=name)
        made.setAccessibleName(name)
        made.setChecked(speed == SPEEDS[0])
        leave_keys(made)
        self._speeds.addButton(made, SPEEDS.index(speed))
        return made

    def _take_speed(self) -> None:
        if self._is_playing:
            self.play_asked.emit(self.speed)

    def _show_time(self, text: str, total: str) -> None:
        if text == self._time.text():
            return
        self._time.setText(text)
        self.slider.setAccessibleDescription(text)
        self._longest = self._words.say("replay.time", {"position": total, "total": f"{total} s"})
        self._fit()

    def _fit(self) -> None:
        """Reserve the width of the longest time, so that nothing moves during replay."""
        font = self._look.theme.font("note")
        self._time.setMinimumWidth(QFontMetrics(font).horizontalAdvance(self._longest))

    def _show_button(self) -> None:
        key = "replay.pause" if self._is_playing else "replay.play"
        self._shown = key
        self.play_button.call(self._words.say(key))
        colour = self._look.theme.accent
        self.play_button.setIcon(icon("pause" if self._is_playing else "play", colour))
