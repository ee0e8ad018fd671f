from __future__ import annotations

import pytest

from experiments.core import words
from experiments.core.words import Words
from widgets.style import theme
from widgets.style.look import Look


@pytest.fixture(params=theme.MODES)
def look(qapp, request) -> Look:
    theme.add_fonts()
    look = Look(theme.load(request.param))
    look.wear(look.theme)
    return look


@pytest.fixture(scope="session")
def english() -> Words:
    return words.load("en")
