from __future__ import annotations

import pytest

from experiments.core import words
from tests.gallery import slides
from widgets.lecture.slide import Slide
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load()


@pytest.fixture
def make(qtbot):
    """Show a slide with a step of an experiment's recording."""

    def shown(step="reveal", experiment="gil-threads", *, size=(1280, 720), mode="light") -> Slide:
        made = Slide(ENGLISH, Look(themes.load(mode)))
        qtbot.addWidget(made)
        made.resize(*size)
        slides.fill(made, step, ENGLISH, experiment)
        with qtbot.waitExposed(made):
            made.show()
        return made

    return shown
