from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from tests.widgets.runs.samples import WORDS
from widgets.runs.reminder import Reminder


@pytest.fixture
def reminder(qtbot):
    reminder = Reminder(WORDS)
    qtbot.addWidget(reminder)
    reminder.given = []
    reminder.answered.connect(reminder.given.append)
    return reminder


def test_it_is_seen_only_while_it_offers_something(reminder):
    assert reminder.isHidden()
    reminder.offer("Ask again?")
    assert not reminder.isHidden()
    assert reminder.text() == "Ask again?"
    reminder.offer("")
    assert reminder.isHidden()


@pytest.mark.parametrize("again", [True, False])
def test_either_answer_hides_it(qtbot, reminder, again):
    reminder.offer("Ask again?")
    reminder.show()
    pressed = reminder.ask if again else reminder.leave
    pressed.setFocus()
    qtbot.keyClick(pressed, Qt.Key.Key_Space)
    assert reminder.given == [again]
    assert reminder.isHidden()
