"""The keys of a lecture: those of a clicker, the letters of the votes, numbers that jump."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent

from app.lecture.course import LETTERS
from app.window.lecture.conductor import Conductor

Key = Qt.Key
FORWARD = (Key.Key_PageDown, Key.Key_Right, Key.Key_Down, Key.Key_Space)
BACK = (Key.Key_PageUp, Key.Key_Left, Key.Key_Up)
ENTER = (Key.Key_Return, Key.Key_Enter)
LEAVE = (Key.Key_Escape, Key.Key_F11)
SIGNS = range(Key.Key_Exclam, Key.Key_AsciiTilde + 1)  # letters, digits, punctuation
MOST_DIGITS = 3


class Keys(QObject):
    """Does what a key asks for. `acts` are further letters of the windows.

    Where single letters are switched off (WCAG 2.1.4), letters, digits and signs need Ctrl.
    """

    typed_changed = Signal()

    def __init__(self, conductor: Conductor, acts: Mapping[Key, Callable[[], object]]) -> None:
        super().__init__()
        self._conductor = conductor
        self._acts: dict[Qt.Key, Callable[[], object]] = {
            **dict.fromkeys(FORWARD, conductor.forward),
            **dict.fromkeys(BACK, conductor.back),
            **dict.fromkeys(LEAVE, conductor.leave),
            Key.Key_V: conductor.vote_again,
            Key.Key_R: conductor.show_recording,
            Key.Key_G: conductor.show_live,
            Key.Key_F: conductor.freeze,
            Key.Key_H: conductor.use_halo,
            Key.Key_B: conductor.blacken,
            Key.Key_Period: conductor.blacken,  # what clickers send, during a vote too
            **acts,
        }
        self.typed = ""  # the digits of a number, before Enter

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key asks for; False if it asks for nothing."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
        key, letter = event.key(), event.text().upper()
        if key in SIGNS and not self._conductor.session.settings.letters:
            if not held & control:
                return False
            held, letter = held & ~control, chr(key)
        if held not in (Qt.KeyboardModifier.NoModifier, shift):
            return False
        if event.isAutoRepeat():
            return True  # a clicker that is held must not run through the lecture
        if key in ENTER and self.typed:
            place, self.typed = int(self.typed) - 1, ""
            self.typed_changed.emit()
            self._conductor.go(place)
            return True
        if letter.isdecimal() and letter.isascii() and held != shift:
            self.typed = (self.typed + letter)[-MOST_DIGITS:]
            self.typed_changed.emit()
            return True
        if self.typed:
            self.typed = ""
            self.typed_changed.emit()
            if key == Key.Key_Escape:
                return True
        option = LETTERS.find(letter) if letter else -1
        if option >= 0 and self._conductor.is_voting:  # else B is black
            self._conductor.vote(option, -1 if held == shift else 1)
            return True
        act = self._acts.get(Qt.Key(key))
        if act is not None:
            act()
        return act is not None
