from __future__ import annotations

import pytest

from experiments.core import words
from experiments.core.words import Words
from widgets.style import theme
from widgets.style.look import Look


@pytest.fixture
def look(qapp, request) -> Look:
    """Return a look; dark, where a test does not ask for a mode."""
    look = Look(theme.load(getattr(request, "param", "dark")))
    look.wear(look.theme)
    return look


@pytest.fixture(scope="session")
def english() -> Words:
    return words.load("en")
