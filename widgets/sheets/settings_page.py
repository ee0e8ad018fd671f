"""The settings sheet; each change takes effect at once."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLayout, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, grid, holding, label, row, selectable
from widgets.controls.choices import Check, Segments
from widgets.controls.layouts import scrolling
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP, ZOOMS

WIDTH_PX = 840
MODES = {"system": "settings.as_system", "light": "settings.light", "dark": "settings.dark"}
CLOSINGS = {"ask": "settings.ask", "finish": "closing.finish", "stop": "closing.stop"}


class SettingsDialog(Overlay):
    """The settings. Nothing needs confirming: each change emits `changed`."""

    changed = Signal(object)  # dict of the changed settings
    folder_wanted = Signal()

    def __init__(self, words: Words, look: Look, parent: QWidget) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words = words
        self.add_head(words.say("settings.title"), words.say("overlay.close"), look)
        self.mode = self._segments("mode", MODES)
        self.closing = self._segments("closing", CLOSINGS)
        self.letters = Check(words.say("settings.letters_on"), look)
        self.letters.clicked.connect(lambda is_on: self.changed.emit({"letters": is_on}))
        self.less_motion = Check(words.say("settings.less_motion"), look)
        self.less_motion.clicked.connect(lambda is_on: self.changed.emit({"less_motion": is_on}))
        kinds = [("lesson", words.say("page.lesson")), ("numbers", words.say("page.numbers"))]
        self.kind = Segments(kinds, name=words.say("settings.experiments"))
        self.kind.chosen.connect(lambda kind: self.changed.emit({"numbers": kind == "numbers"}))
        # One button per size: a "larger" button would move away from under the mouse.
        percents = ((zoom, {"percent": round(100 * zoom)}) for zoom in ZOOMS)
        zooms = [(str(zoom), words.say("settings.percent", percent)) for zoom, percent in percents]
        self.zoom = Segments(zooms, name=words.say("settings.zoom"))
        self.zoom.chosen.connect(lambda zoom: self.changed.emit({"zoom": float(zoom)}))
        self.folder = selectable(label("", "small", wrap=True))
        self.opener = button(words.say("settings.open_folder"), clicked=self.folder_wanted.emit)
        self.copier = button(words.say("settings.copy_folder"), clicked=self._copy_folder)
        self.not_opened = label("", "attention", wrap=True)
        self.not_opened.hide()
        self._grid = grid(8 * STEP, 5 * STEP, (0, 0, 2 * STEP, 0))
        self._grid.setColumnStretch(1, 1)
        self._add(words.say("settings.mode"), self.mode)
        self._add(words.say("settings.zoom"), self.zoom)
        self._add(words.say("settings.experiments"), self.kind)
        self._add(words.say("settings.letters"), self.letters)
        self._add(words.say("settings.motion"), self.less_motion)
        self._add(words.say("settings.closing"), self.closing)
        buttons = row(self.opener, self.copier, None)
        self._add(words.say("settings.folder"), column(self.folder, buttons, self.not_opened))
        area = scrolling(holding(self._grid), words.say("settings.title"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its focused content scrolls into view
        self.content.addWidget(area, 1)

    def show_settings(
        self,
        *,
        mode: str,
        zoom: float,
        letters: bool,
        less_motion: bool,
        numbers: bool,
        closing: str,
        folder: str,
    ) -> None:
        """Show these values without emitting `changed`."""
        self.mode.choose(mode)
        self.closing.choose(closing)
        self.letters.setChecked(letters)
        self.less_motion.setChecked(less_motion)
        self.kind.choose("numbers" if numbers else "lesson")
        self.folder.setText(folder)
        self.zoom.choose(str(min(ZOOMS, key=lambda each: abs(each - zoom))))

    def tell_not_opened(self) -> None:
        """Say that the folder could not be opened; its path can be copied."""
        self.not_opened.setText(self._words.say("settings.not_opened"))
        self.not_opened.show()

    def _segments(self, setting: str, choices: Mapping[str, str]) -> Segments:
        named = [(choice, self._words.say(key)) for choice, key in choices.items()]
        segments = Segments(named, name=self._words.say(f"settings.{setting}"))
        segments.chosen.connect(lambda choice: self.changed.emit({setting: choice}))
        return segments

    def _add(self, text: str, control: QWidget | QLayout) -> None:
        place = self._grid.rowCount()
        words = label(text, "strong", wrap=True)
        self._grid.addWidget(words, place, 0, Qt.AlignmentFlag.AlignVCenter)
        if isinstance(control, QLayout):
            self._grid.addLayout(control, place, 1, Qt.AlignmentFlag.AlignVCenter)
        else:
            self._grid.addWidget(control, place, 1, Qt.AlignmentFlag.AlignVCenter)

    def _copy_folder(self) -> None:
        QGuiApplication.clipboard().setText(self.folder.text())
        self.copier.setText(self._words.say("settings.folder_copied"))
