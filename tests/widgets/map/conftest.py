"""A look, and a way to measure texts."""

from __future__ import annotations

import functools

import pytest

from widgets.map.painting.lettering import FontMeasure
from widgets.style import theme as themes
from widgets.style.look import Look


@pytest.fixture
def look(qapp) -> Look:
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    return look


@pytest.fixture(scope="session")
def measure(qapp):
    """Return a function from the zoom of all text to what measures texts."""
    return functools.cache(lambda zoom=1.0: FontMeasure(themes.load("dark", zoom)))
