from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from experiments.core import words
from experiments.python_at_work.gil_threads.experiment import EXPERIMENT
from tests.gallery.plot_samples import gil_tables
from widgets.experiment.data_side import DataSide
from widgets.style import theme
from widgets.style.look import Look

FACTS = [("Niceness, of which the program sets so much that nothing beside it suffers", "10")] * 9


@pytest.mark.parametrize(("width", "height"), [(380, 260), (900, 900)])
def test_nothing_is_cut_off_however_small_it_is(qtbot, width, height):
    side = DataSide(EXPERIMENT, words.load(), Look(theme.load("dark", zoom=1.6)))
    qtbot.addWidget(side)
    side.resize(width, height)
    side.show_run(gil_tables(), FACTS)
    with qtbot.waitExposed(side):
        side.show()

    content = side.widget()
    assert content.width() <= side.viewport().width()
    for label in (each for each in content.findChildren(QLabel) if each.isVisible()):
        assert label.height() >= label.heightForWidth(label.width())
        assert content.rect().contains(label.geometry())
    for button in content.findChildren(QPushButton):
        assert button.mapTo(content, button.rect().bottomRight()).x() < content.width()
    assert (side.verticalScrollBar().maximum() > 0) == (height < 300)
