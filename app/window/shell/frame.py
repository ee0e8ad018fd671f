"""Lays out the frame: the rail at the left, the places, the status line below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.window.core.session import Session
from widgets.controls.basics import column, row
from widgets.frame.rail import Rail, Stop
from widgets.frame.status_line import StatusLine


def build(
    window: QWidget, session: Session, places: Mapping[str, Iterable[str]]
) -> tuple[Rail, QStackedWidget, StatusLine]:
    """Lay the frame out in `window`; each of `places` begins with its shortcut."""
    words = session.words
    rail = Rail(
        [Stop(name, words.say(f"places.{name}"), keys) for name, (keys, *_) in places.items()],
        [
            Stop("search", words.say("frame.find"), "Ctrl+K"),
            Stop("settings", words.say("frame.settings"), "Ctrl+,"),
            Stop("menu", words.say("frame.menu"), "F10"),
        ],
        words,
        session.look,
    )
    stack, line = QStackedWidget(), StatusLine(words)
    line.show_machine(words.say("frame.reading_machine"))
    window.setLayout(row(rail, column(stack, line, space=0), space=0))
    return rail, stack, line
