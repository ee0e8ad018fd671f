from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtGui import QFontMetricsF

from tests.cases import in_one
from widgets.plots.axes import shortened, ticks_across
from widgets.plots.drawing import AxisPlan
from widgets.style import theme as themes

pytestmark = pytest.mark.usefixtures("qapp")  # fonts are measured


@in_one("width", [60.0, 150.0, 300.0, 800.0])
def test_words_of_ticks_stand_apart_however_long_their_unit_is(width):
    theme = themes.load("light", 1.6)
    high = 400e9
    found = ticks_across(AxisPlan(unit="FLOP/s"), (0.0, high), width, theme)

    metrics = QFontMetricsF(theme.font("note"))
    assert len(found) >= (2 if width >= 300 else 1)
    for (a, text_a), (b, text_b) in pairwise(found):
        halves = (metrics.horizontalAdvance(text_a) + metrics.horizontalAdvance(text_b)) / 2
        assert (b - a) / high * width > halves


def test_names_that_differ_in_their_last_word_still_do_when_they_are_cut():
    font = themes.load("light").font("note")
    cut = {shortened(f"handed out, rows at a time {n}", font, 90.0) for n in (1, 2, 16)}

    assert len(cut) == 3
