from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from experiments.core import words
from experiments.core.teaching.glossary import Glossary
from widgets.controls.basics import column
from widgets.controls.links import Explanation, TermLabel
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")
LOOK = Look(themes.load("dark"))


@pytest.fixture
def page(qtbot) -> QWidget:
    """Return a button that has the focus above a text with two terms."""
    label, beside, page = TermLabel(Glossary(ENGLISH), LOOK), QPushButton("Run"), QWidget()
    page.setLayout(column(beside, label))
    qtbot.addWidget(page)
    label.say("Only <one> thread has the GIL, on a huge page.")
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    beside.setFocus()
    return page


@pytest.fixture
def term_label(page) -> TermLabel:
    label = page.findChild(TermLabel)
    assert label is not None
    return label


def explained(label: TermLabel) -> list[str]:
    return [
        each.text()
        for popup in label.findChildren(Explanation)
        if popup.isVisible()
        for each in popup.findChildren(QLabel)
    ]


def test_a_term_is_explained_by_keyboard_and_esc_closes_it(qtbot, term_label):
    term_label.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(term_label, Qt.Key.Key_Return)
    assert explained(term_label) == ["GIL", ENGLISH.say("glossary.GIL")]

    qtbot.keyClick(QApplication.activePopupWidget(), Qt.Key.Key_Escape)
    assert explained(term_label) == []


def test_tab_goes_from_term_to_term(qtbot, term_label):
    term_label.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(term_label, Qt.Key.Key_Tab)
    qtbot.keyClick(term_label, Qt.Key.Key_Return)

    assert explained(term_label)[0] == "huge page"


def test_shift_tab_comes_to_the_last_term(qtbot, term_label):
    term_label.setFocus(Qt.FocusReason.BacktabFocusReason)
    qtbot.keyClick(term_label, Qt.Key.Key_Return)

    assert explained(term_label)[0] == "huge page"


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_tab_leaves_the_text_after_its_terms(qtbot, term_label, key):
    reasons = {Qt.Key.Key_Tab: Qt.FocusReason.TabFocusReason}
    term_label.setFocus(reasons.get(key, Qt.FocusReason.BacktabFocusReason))
    qtbot.keyClick(term_label, key)
    assert term_label.hasFocus()

    qtbot.keyClick(term_label, key)
    assert not term_label.hasFocus()


def test_a_text_is_whole_for_those_who_hear_it_and_one_without_terms_takes_no_focus(term_label):
    assert term_label.accessibleName() == "Only <one> thread has the GIL, on a huge page."
    term_label.say("Nothing <to> explain.")

    assert term_label.focusPolicy() == Qt.FocusPolicy.NoFocus
    assert term_label.text() == "Nothing <to> explain."
