from __future__ import annotations

import pytest

from widgets.style import theme as themes
from widgets.style.look import Look


@pytest.fixture
def look(qapp) -> Look:
    return Look(themes.load("dark"))


@pytest.fixture
def shown(qtbot):
    """Show a widget in an active window, so that the focus moves."""

    def show(widget, width=345):
        qtbot.addWidget(widget)
        widget.resize(width, max(1, widget.sizeHint().height()))
        with qtbot.waitActive(widget):
            widget.show()
            widget.activateWindow()
        return widget

    return show
