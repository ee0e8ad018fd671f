"""The whole story in the real window, once by the mouse alone and once by the keyboard alone."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from experiments.engine.lock import FOLDER_VARIABLE
from tests.app.recordings import ladder
from tests.story.screen import PATIENCE_S, Program, opened

pytestmark = pytest.mark.slow
LATE_S = 2.0  # a key that has moved nothing by then moves nothing
QUESTION, PLOT = (
    "How far away is a byte?",
    "Time of one chained read, in pages of 4 KiB and of 2 MiB",
)


@pytest.fixture
def earlier(tmp_path) -> None:
    """Put a quick run from another machine into the library, to compare with."""
    made = ladder(change=lambda started: replace(started, quick=True))
    made.write(tmp_path / "data" / "runs" / f"{made.run}.coreopsis.jsonl")


@pytest.fixture
def coreopsis(tmp_path):
    with opened(tmp_path / "data", **{FOLDER_VARIABLE: str(tmp_path)}) as program:
        program.wait_until(lambda told: told["entries"] > 0)
        yield program


def is_running(told) -> bool:
    return told["running"] and told["rows"] > 0


def has_ended(told) -> bool:
    return not told["running"] and told["outcome"] is not None


def shows(place: str, runs: int):
    return lambda told: (told["place"], told["runs"]) == (place, runs)


def export(program: Program, path, how) -> None:
    """Save the headline plot in the dialog that `how` opens."""
    how()
    program.take_keys("Save")
    program.type(str(path))
    program.press("Return")
    program.wait_until(lambda _: path.exists() and path.stat().st_size > 1000)
    program.take_keys("Coreopsis")


def other_run(program: Program) -> str:
    """Wait for the menu of other runs; return what the first of the quick ones is called there."""
    end_s = time.monotonic() + PATIENCE_S
    while not (found := [n for n in program.ask("names") if " · quick · " in n]):
        assert time.monotonic() < end_s
    return found[0]


def step_to(program: Program, name: str, key: str = "Tab") -> None:
    """Press a key until what is called so has the focus; a round of Tab is shorter than this.

    A busy window moves the focus late: without waiting for it, a step would go too far.
    """
    for _ in range(60):
        if (focus := program.ask("tell")["focus"]) == name:
            return
        program.press(key)
        late_s = time.monotonic() + LATE_S
        while program.ask("tell")["focus"] == focus and time.monotonic() < late_s:
            time.sleep(0.02)
    raise AssertionError(f"{key} does not reach {name}")


def test_everything_by_the_mouse_alone(earlier, coreopsis: Program, tmp_path):
    coreopsis.click("Experiments")
    coreopsis.turn_wheel("How far does it scale?", down=8)  # its shelf is the second
    coreopsis.click(QUESTION)
    coreopsis.click("Numbers")
    coreopsis.click("Run")
    coreopsis.wait_until(is_running)
    coreopsis.click("Stop")
    assert coreopsis.wait_until(has_ended)["outcome"] == "stopped"

    coreopsis.click("Quick run")
    coreopsis.wait_until(is_running)
    assert coreopsis.wait_until(has_ended)["outcome"] == "completed"
    coreopsis.wait_until(shows("experiments", 3))

    coreopsis.turn_wheel(PLOT, up=5)
    coreopsis.wait_until(lambda told: PLOT in told["zoomed"])
    coreopsis.click(PLOT, button=3)
    coreopsis.click("Show all")
    coreopsis.wait_until(lambda told: told["zoomed"] == [])

    def save_by_menu() -> None:
        coreopsis.click(PLOT, button=3)
        coreopsis.click("Save as PNG…")

    picture = tmp_path / "ladder.png"
    export(coreopsis, picture, save_by_menu)
    assert picture.read_bytes().startswith(b"\x89PNG")

    coreopsis.click("Compare")
    coreopsis.click(other_run(coreopsis))
    coreopsis.wait_for("Stop comparing")
    coreopsis.click("Stop comparing")

    coreopsis.click("Runs")
    coreopsis.click("Delete into the bin")
    coreopsis.wait_until(shows("runs", 2))
    coreopsis.click("Undo")
    coreopsis.wait_until(shows("runs", 3))

    coreopsis.click("Menu")
    coreopsis.click("Quit")
    assert coreopsis.end() == 0


def test_everything_by_the_keyboard_alone(earlier, coreopsis: Program, tmp_path):
    coreopsis.take_keys("Coreopsis")
    coreopsis.press("ctrl+3")
    coreopsis.wait_until(lambda told: told["place"] == "experiments")
    step_to(coreopsis, "How far away is a byte?", "Down")  # the cards of one column
    coreopsis.press("Return")
    coreopsis.wait_for("First guess, then measure.")
    coreopsis.press("n")  # numbers, no lesson
    coreopsis.wait_for("Not measured here yet")
    coreopsis.press("F5")
    coreopsis.wait_until(lambda told: told["rows"] > 10)  # enough to zoom into
    coreopsis.press("Escape")
    assert coreopsis.wait_until(has_ended)["outcome"] == "stopped"
    coreopsis.wait_until(shows("experiments", 2))

    step_to(coreopsis, PLOT)
    coreopsis.press("plus", "plus", "Right", "Right")
    coreopsis.wait_until(lambda told: PLOT in told["zoomed"])
    coreopsis.press("0")
    coreopsis.wait_until(lambda told: told["zoomed"] == [])

    picture = tmp_path / "ladder.svg"
    export(coreopsis, picture, lambda: coreopsis.press("ctrl+s"))
    assert "<svg" in picture.read_text()[:500]

    step_to(coreopsis, "Compare")
    coreopsis.press("Return")
    other_run(coreopsis)
    coreopsis.press("Down", "Return")
    coreopsis.wait_for("Stop comparing")
    step_to(coreopsis, "Stop comparing")
    coreopsis.press("Return")

    coreopsis.press("ctrl+5")
    coreopsis.wait_until(shows("runs", 2))
    coreopsis.press("Home", "Delete")
    coreopsis.wait_until(shows("runs", 1))
    coreopsis.press("ctrl+z")
    coreopsis.wait_until(shows("runs", 2))

    coreopsis.press("ctrl+k")
    coreopsis.type("live")
    coreopsis.press("Return")
    coreopsis.wait_until(lambda told: told["place"] == "live")

    coreopsis.press("ctrl+q")
    assert coreopsis.end() == 0


def test_a_second_start_only_ends_and_a_run_outlives_its_window(coreopsis: Program, tmp_path):
    assert coreopsis.again() == 0  # it brings the first window to the front
    assert coreopsis.ask("tell")["place"] == "map"

    coreopsis.take_keys("Coreopsis")
    coreopsis.press("ctrl+3")
    step_to(coreopsis, "How far away is a byte?", "Down")  # the cards of one column
    coreopsis.press("Return")
    coreopsis.wait_for("First guess, then measure.")
    coreopsis.press("n")
    coreopsis.wait_for("Not measured here yet")
    coreopsis.press("shift+F5")
    coreopsis.wait_until(lambda told: told["running"])

    coreopsis.press("ctrl+q")
    coreopsis.click("Finish in the background")

    assert coreopsis.end() == 0
    (run,) = (tmp_path / "data" / "runs").glob("*.jsonl")
    assert '"outcome":"completed"' in run.read_text().splitlines()[-1]
