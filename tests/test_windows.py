"""The program under Windows, in Wine; `make sweep` runs it where Wine can be had."""

import pytest

from tests.tools.windows import wine
from tests.tools.windows.looks import LOOKS, look

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def windows():
    """Make a Windows with this checkout on it, once."""
    if reason := wine.lacking():
        pytest.skip(reason)
    wine.copy_checkout()
    yield
    wine.end()


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.usefixtures("windows")
def test_it_runs_on_windows(name):
    assert not look(name).wrong
