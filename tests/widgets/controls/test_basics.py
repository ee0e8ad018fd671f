from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QLabel, QStyleOptionButton, QWidget

from widgets.controls.basics import Chip, IconButton, SteadyChip, chip, label
from widgets.controls.choices import joined
from widgets.style import theme as themes
from widgets.style.look import Look


def test_an_icon_button_follows_the_theme_until_it_is_gone(qtbot):
    look, above = Look(themes.load("dark")), QWidget()
    button = IconButton(look, "close", "Close")
    button.setParent(above)
    before = button.icon().pixmap(16).toImage()
    look.wear(themes.load("light"))
    assert button.icon().pixmap(16).toImage() != before

    above.deleteLater()
    del above
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    look.wear(themes.load("dark"))  # pytest-qt: nothing may be raised


def test_a_word_of_hundreds_of_letters_widens_nothing(qtbot):
    """The id of an experiment or the name of a machine that a stranger chose."""
    plain = QLabel("an ordinary sentence")
    plain.setWordWrap(True)
    ordinary, long = (label(text, wrap=True) for text in (plain.text(), f"{'n' * 300} word"))

    assert ordinary.minimumSizeHint() == plain.minimumSizeHint()
    assert long.minimumSizeHint().width() < 300


def test_a_chip_with_several_texts_keeps_its_width(qtbot):
    look, texts = Look(themes.load("dark")), ("Start a known load ▾", "End the load", "2 Hz ▾")
    look.wear(look.theme)
    made = SteadyChip(texts, checkable=True)
    qtbot.addWidget(made)
    made.show()

    widths = set()
    for text in texts:
        made.setText(text)
        widths.add(made.sizeHint().width())

    assert len(widths) == 1


def signs(each: Chip) -> str:
    """Return what is drawn on a chip besides its text."""
    option = QStyleOptionButton()
    each.initStyleOption(option)
    return option.text.replace(each.text(), "").strip()


def test_a_chip_that_is_on_has_a_tick_and_one_that_adds_has_a_plus(qtbot):
    selects, adds, acts = chip("a", checkable=True), chip("b", adds=True), chip("c")
    for each in (selects, adds, acts):
        qtbot.addWidget(each)
    before = selects.sizeHint()
    assert [signs(each) for each in (selects, adds, acts)] == ["", "+", ""]

    selects.setChecked(True)

    assert signs(selects) == "✓"
    assert selects.text() == "a"  # what a screen reader says
    assert selects.sizeHint() == before  # its neighbours stay where they are


def test_buttons_that_switch_the_view_stand_in_one_frame_without_signs(qtbot):
    plot, code = chip("Plot", checkable=True), chip("Code", checkable=True)
    frame = joined(plot, code)
    qtbot.addWidget(frame)
    frame.show()
    plot.setChecked(True)

    assert signs(plot) == ""
    assert plot.geometry().right() + 1 == code.geometry().left()
    assert frame.rect().contains(code.geometry())
