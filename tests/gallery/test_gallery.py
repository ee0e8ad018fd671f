from __future__ import annotations

import pytest

from experiments.core import words
from tests.gallery.__main__ import GALLERY
from widgets.style import theme
from widgets.style.look import Look


@pytest.mark.parametrize("name", GALLERY)
def test_each_entry_opens(qtbot, name):
    make, size = GALLERY[name]
    widget = make(Look(theme.load("dark")), words.load())
    qtbot.addWidget(widget)
    widget.resize(*size)
    with qtbot.waitExposed(widget):
        widget.show()
    assert not widget.grab().isNull()
