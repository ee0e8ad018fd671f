from __future__ import annotations

import pytest

from experiments.core import words
from experiments.core.words import Words


@pytest.fixture(scope="session")
def english() -> Words:
    return words.load("en")
