"""A look and a way to measure texts, and every machine that the map is tried on."""

from __future__ import annotations

import functools

import pytest

from machine.inspect import inspect
from tests.machine.conftest import recording  # noqa: F401
from tests.machine.trees import RECORDINGS
from tests.widgets.map.machines import MACHINES
from widgets.map.painting.lettering import FontMeasure
from widgets.style import theme as themes
from widgets.style.look import Look

RECORDED = sorted(path.name.removesuffix(".tar.bz2") for path in RECORDINGS.glob("*.tar.bz2"))


@pytest.fixture
def look(qapp) -> Look:
    themes.add_fonts()
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    return look


@pytest.fixture(scope="session")
def measure(qapp):
    """Return a function from the zoom of all text to what measures texts."""
    themes.add_fonts()
    return functools.cache(lambda zoom=1.0: FontMeasure(themes.load("dark", zoom)))


@pytest.fixture(scope="session")
def machine_called(recording):  # noqa: F811
    """Return a function from the name of a machine to the machine, read once."""

    @functools.cache
    def read(name):
        return MACHINES[name]() if name in MACHINES else inspect(recording(name))

    return read


@pytest.fixture(params=[*MACHINES, *RECORDED])
def any_machine(request, machine_called):
    """Return one machine after the other: made up ones, and those that hwloc has recorded."""
    return machine_called(request.param)
