"""The keys of a lecture: those of a clicker, the letters of the votes, numbers that are typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent

from app.lecture.lecture_state import LETTERS
from app.window.core.session import Session
from app.window.lecture.conductor import Conductor, Over
from widgets.lecture.over import KeySheet, Question
from widgets.sheets.shortcut_sheet import Group

Key = Qt.Key
FORWARD = (Key.Key_PageDown, Key.Key_Right, Key.Key_Down, Key.Key_Space)
BACK = (Key.Key_PageUp, Key.Key_Left, Key.Key_Up)
ENTER = (Key.Key_Return, Key.Key_Enter)
LEAVE = (Key.Key_Escape, Key.Key_F11)
CLOSE = (Key.Key_Question, *FORWARD, *BACK, *LEAVE)  # what lies over a window
SIGNS = range(Key.Key_Exclam, Key.Key_AsciiTilde + 1)  # letters, digits, punctuation
LETTER_OF = {  # what a letter does; A to D vote
    "vote_again": "V",
    "hide_votes": "U",
    "show_recording": "R",
    "show_live": "G",
    "play_motion": "M",
    "freeze": "F",
    "blacken": "B",
    "use_halo": "H",
    "turn_light": "L",
    "pin_strip": "P",
    "swap": "S",
    "show_keys": "?",
}
ALSO = {"blacken": "."}  # what clickers send, during a vote too


class Keys(QObject):
    """Does what a key asks for. `acts` are those of the windows, by their names in `LETTER_OF`.

    If single letters are switched off (WCAG 2.1.4), letters, digits and signs need Ctrl.
    """

    def __init__(
        self, session: Session, conductor: Conductor, acts: Mapping[str, Callable[[], object]]
    ) -> None:
        super().__init__()
        self._session, self._conductor = session, conductor
        named = {Key(ord(letter)): name for name, letter in LETTER_OF.items()}
        self._acts: dict[Qt.Key, Callable[[], object]] = {
            **dict.fromkeys(FORWARD, conductor.forward),
            **dict.fromkeys(BACK, conductor.back),
            **dict.fromkeys(LEAVE, conductor.ask_to_leave),
            Key.Key_Home: conductor.ask_anew,
            **{Key(ord(also)): getattr(conductor, name) for name, also in ALSO.items()},
            **{key: acts.get(name) or getattr(conductor, name) for key, name in named.items()},
        }

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key asks for; False if it asks for nothing."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
        key, letter = event.key(), event.text().upper()
        conductor = self._conductor
        if key in SIGNS and not self._session.settings.letters:
            if not held & control:
                return False
            held, letter = held & ~control, chr(key)
        if held not in (Qt.KeyboardModifier.NoModifier, shift):
            return False
        if event.isAutoRepeat():
            return True  # a clicker that is held must not run through the lecture
        if conductor.over:
            self._press_over(Qt.Key(key))
            return True
        is_digit = letter.isdecimal() and letter.isascii() and held != shift
        if self._press_number(Qt.Key(key), letter if is_digit else ""):
            return True
        option = LETTERS.find(letter) if letter else -1
        if option >= 0 and conductor.course.is_voting:  # else B is black
            conductor.vote(option, -1 if held == shift else 1)
            return True
        act = self._acts.get(Qt.Key(key))
        if act is not None:
            act()
        return act is not None

    def _press_over(self, key: Qt.Key) -> None:
        """Answer a question, or close what lies over the window; no other key acts meanwhile."""
        if key in ENTER and self._conductor.over is not Over.KEYS:
            self._conductor.answer(True)
        elif key in CLOSE:
            self._conductor.answer(False)

    def _press_number(self, key: Qt.Key, digit: str) -> bool:
        """Type a number; hands that were typed are given by any key but Esc."""
        conductor = self._conductor
        if digit:
            conductor.type_number(conductor.typed + digit)
        elif not conductor.typed:
            return False
        elif key in ENTER:
            conductor.enter()
        elif key == Key.Key_Backspace:
            conductor.type_number(conductor.typed[:-1])
        elif key != Key.Key_Escape and conductor.course.is_voting:
            conductor.enter()
            return False
        else:
            conductor.type_number("")
            return key == Key.Key_Escape
        return True


def over_of(session: Session, over: Over) -> KeySheet | Question | None:
    """Return what lies over the window of who leads the lecture."""
    say = session.words.say
    if over is Over.KEYS:
        return sheet_of(session)
    if over:
        key = f"lecture.{over}"
        yes, no = say(f"{key}.yes"), say(f"{key}.no")
        return Question(say(f"{key}.title"), say(f"{key}.text"), yes, no)
    return None


def sheet_of(session: Session) -> KeySheet:
    """Return every key in words."""
    say, key_of = session.words.say, session.settings.key_of

    def told(*names: str) -> list[tuple[str, str]]:
        return [(say(f"lecture.keys.{name}"), say(f"lecture.keys.{name}_does")) for name in names]

    def letters(*names: str) -> list[tuple[str, str]]:
        signs = [LETTER_OF[name] + ALSO.get(name, "") for name in names]
        keys = [", ".join(map(key_of, each)) for each in signs]
        return [(each, say(f"lecture.acts.{name}")) for each, name in zip(keys, names, strict=True)]

    ends = {"first": key_of(LETTERS[0]), "last": key_of(LETTERS[-1])}
    letter, hand = (say(f"lecture.keys.{name}", ends) for name in ("to", "hand"))
    go, vote, slide = (say(f"lecture.keys.{name}") for name in ("go", "vote", "slide"))
    again = letters("vote_again", "hide_votes")
    views = [name for name in LETTER_OF if name not in ("vote_again", "hide_votes")]
    return KeySheet(
        say("lecture.keys.title"),
        (
            (
                Group(go, told("forward", "back", "item", "anew", "leave")),
                Group(vote, [(letter, hand), *told("less", "hands"), *again]),
            ),
            (Group(slide, letters(*views)),),
        ),
        say("lecture.keys.close", {"key": key_of(LETTER_OF["show_keys"])}),
    )
