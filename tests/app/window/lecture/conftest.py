"""The window with a lecture over it."""

from __future__ import annotations

import pytest

from tests.app.window.lecture.lectures import Hall


@pytest.fixture
def hall(look, tmp_path):
    hall = Hall(look, tmp_path)
    yield hall
    hall.close()
