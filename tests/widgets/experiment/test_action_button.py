from __future__ import annotations

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget

from widgets.controls.basics import column
from widgets.experiment.action_button import ActionButton, ActionChip


@pytest.fixture
def action(qapp) -> QAction:
    action = QAction("Run")
    action.setShortcut("F5")
    return action


def shown(qtbot, button: QWidget) -> QWidget:
    whole = QWidget()
    qtbot.addWidget(whole)
    whole.setLayout(column(button))
    whole.show()
    return whole


def test_it_has_the_words_and_the_key_of_its_action(qtbot, action):
    button = ActionButton(action)
    qtbot.addWidget(button)

    assert (button.text(), button.hint) == ("Run", "F5")
    assert button.accessibleName() == "Run F5"


def test_a_hint_may_be_something_else_than_the_key(qtbot, action):
    button = ActionButton(action, hint="")
    qtbot.addWidget(button)
    narrow = button.sizeHint().width()
    button.set_hint("12 s")

    assert button.accessibleName() == "Run 12 s"
    assert button.sizeHint().width() > narrow


def test_a_hint_that_has_its_room_is_drawn_however_large_the_text(qtbot, action):
    button = ActionButton(action, hint="6")
    button.setStyleSheet("QPushButton { padding: 6px 16px; font-size: 30px; }")
    whole = shown(qtbot, button)
    button.setFixedSize(button.sizeHint())
    one = whole.grab().toImage()
    button.set_hint("8")

    assert whole.grab().toImage() != one


def test_it_follows_its_action(qtbot, action):
    button = ActionButton(action)
    whole = shown(qtbot, button)
    action.setEnabled(False)
    assert not button.isEnabled()

    action.setText("Run again")
    assert button.text() == "Run again"

    action.setVisible(False)
    assert not button.isVisibleTo(whole)
    action.setVisible(True)
    assert button.isVisibleTo(whole)


def test_pressing_it_triggers_the_action(qtbot, action):
    button = ActionButton(action)
    qtbot.addWidget(button)

    with qtbot.waitSignal(action.triggered):
        button.click()


def test_it_never_comes_as_a_window_of_its_own(qtbot, action):
    before = set(QApplication.topLevelWidgets())
    made = [ActionButton(action), ActionChip(action)]

    assert not [w for w in set(QApplication.topLevelWidgets()) - before if w.isVisible()]
    for each in made:
        qtbot.addWidget(each)


def test_a_chip_is_checked_while_its_action_is(qtbot, action):
    action.setCheckable(True)
    chip = ActionChip(action)
    qtbot.addWidget(chip)
    action.setChecked(True)
    assert chip.isChecked()

    chip.click()
    assert action.isChecked() == chip.isChecked()
