"""One whole story in the real window, with real keys and a real mouse on a screen of its own."""

from __future__ import annotations

import pytest

from experiments.engine.lock import FOLDER_VARIABLE
from tests.story.screen import Program, opened

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def coreopsis(tmp_path):
    with opened(tmp_path / "data", **{FOLDER_VARIABLE: str(tmp_path)}) as program:
        program.wait_until(lambda told: told["entries"] > 0)
        yield program


def is_running(told) -> bool:
    return told["running"] and told["rows"] > 0


def has_ended(told) -> bool:
    return not told["running"] and told["outcome"] is not None


def run_to_the_end(program: Program, runs: int) -> None:
    """Make a quick run of the experiment whose page is open."""
    program.press("shift+F5")
    program.wait_until(is_running)
    told = program.wait_until(has_ended)
    assert told["outcome"] == "completed"
    program.wait_until(lambda told: told["runs"] == runs)


def test_everything_by_the_mouse_alone(coreopsis, tmp_path):
    # Start, choose, run, stop.
    coreopsis.click("Experiments")
    coreopsis.click("How far away is a byte?")
    coreopsis.click("Run")
    coreopsis.wait_until(is_running)
    coreopsis.click("Stop")
    assert coreopsis.wait_until(has_ended)["outcome"] == "stopped"

    # Run again, twice.
    for runs in (2, 3):
        coreopsis.click("Quick run")
        coreopsis.wait_until(is_running)
        assert coreopsis.wait_until(has_ended)["outcome"] == "completed"
        coreopsis.wait_until(lambda told, runs=runs: told["runs"] == runs)

    # Zoom with the wheel, and back by the chip.
    coreopsis.turn_wheel("Time of one dependent read", up=6)
    coreopsis.click("Show all")

    # Delete a run, and undo that.
    coreopsis.click("Runs")
    coreopsis.click("Delete")
    coreopsis.wait_until(lambda told: told["runs"] == 2)
    coreopsis.click("Undo")
    coreopsis.wait_until(lambda told: told["runs"] == 3)
