from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget

from widgets.controls.basics import IconButton, SteadyChip
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


def test_a_chip_with_several_texts_keeps_its_width(qtbot):
    look, texts = Look(themes.load("dark")), ("Start a known load ▾", "End the load", "2 Hz ▾")
    look.wear(look.theme)
    chip = SteadyChip(texts, checkable=True)
    qtbot.addWidget(chip)
    chip.show()

    widths = set()
    for text in texts:
        chip.setText(text)
        widths.add(chip.sizeHint().width())

    assert len(widths) == 1
