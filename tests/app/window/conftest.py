"""A session of the window with its own data folder: no process, no thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.context import Context
from app.window.core.session import Session
from app.window.core.settings import Settings
from experiments.engine.lock import FOLDER_VARIABLE
from widgets.style import theme as themes
from widgets.style.look import Look


@pytest.fixture(autouse=True)
def own_lock(monkeypatch, tmp_path) -> None:
    """Never wait for another program's measurement on this machine."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))


@pytest.fixture
def look(qapp) -> Iterator[Look]:
    """Return the dark look, of which the application has the letters only.

    A style sheet makes every widget several times as expensive.
    """
    look, before = Look(themes.load("dark")), qapp.font()
    qapp.setFont(look.theme.font("text"))
    yield look
    qapp.setFont(before)


@pytest.fixture
def worn(look) -> Look:
    """Return the dark look, worn by the application."""
    look.wear(look.theme)
    return look


@pytest.fixture
def session(look, tmp_path) -> Iterator[Session]:
    """Return a session; a test may wake it, and it is closed in the end."""
    session = Session(Context(data=tmp_path / "data"), look, Settings(numbers=True))
    yield session
    session.close()


@pytest.fixture
def stage(look, tmp_path):
    """Return the page of an experiment, seen, on a machine that is known; it runs nothing."""
    from tests.app.window.stage import Stage

    stage = Stage(look, tmp_path)
    stage.page.resize(1280, 800)
    stage.page.show()
    stage.page.arrive()
    stage.know_machine()
    yield stage
    stage.close()
