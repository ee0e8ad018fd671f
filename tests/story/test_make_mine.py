"""Make it mine in the real window: copy, race, slow, break, mend, by the mouse and an editor."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from experiments.engine.lock import FOLDER_VARIABLE
from tests.story.screen import PATIENCE_S, Program, opened

pytestmark = pytest.mark.slow
QUESTION = "What does it cost to start a thread or a process?"
LOOP = "        thread.join()\n"  # of the threads, which come first


@pytest.fixture
def coreopsis(tmp_path):
    # An editor, and a desktop, that open everything.
    desktop = tmp_path / "bin" / "xdg-open"
    desktop.parent.mkdir()
    desktop.symlink_to("/bin/true")
    path = f"{desktop.parent}{os.pathsep}{os.environ['PATH']}"
    given = {FOLDER_VARIABLE: str(tmp_path), "EDITOR": "true", "PATH": path}
    with opened(tmp_path / "data", **given) as program:
        program.wait_until(lambda told: told["entries"] > 0)
        yield program


def says(program: Program, part: str) -> str:
    """Wait until something in sight says so; return all that it says."""
    end_s = time.monotonic() + PATIENCE_S
    while not (found := [name for name in program.ask("names") if part in name]):
        assert time.monotonic() < end_s, (part, program.ask("names"))
        time.sleep(0.1)
    return found[0]


def race(program: Program, runs: int) -> None:
    """Run beside the original, until `runs` runs are kept in all."""
    program.click("Beside the original")
    program.wait_until(lambda told: told["running"])
    program.wait_until(lambda told: not told["running"] and told["runs"] == runs)


def test_a_copy_is_made_raced_slowed_broken_and_mended(coreopsis: Program, tmp_path: Path):
    coreopsis.click("Experiments")
    coreopsis.click(QUESTION)
    coreopsis.click("Numbers")  # the question of the lesson shows code, too
    coreopsis.click("Code")
    coreopsis.open("Make it mine", "Name of the copy")
    coreopsis.click("Copy it")
    says(coreopsis, "· my-start-cost")
    file = tmp_path / "data/experiments/my_start_cost/start_jobs.py"
    text = file.read_text()

    race(coreopsis, 2)
    says(coreopsis, "my-start-cost, your copy")
    coreopsis.wait_for("Stop comparing")

    file.write_text(text.replace(LOOP, f"{LOOP}        time.sleep(0.02)\n", 1))
    race(coreopsis, 4)
    says(coreopsis, "times slower: ")

    file.write_text(text.replace(LOOP, "        thread.join(\n", 1))
    race(coreopsis, 5)  # of the broken one alone: it failed
    says(coreopsis, "start_jobs.py, line 91: '(' was never closed")

    file.write_text(text)
    race(coreopsis, 7)
    says(coreopsis, "my-start-cost, your copy")

    coreopsis.click("Menu")
    coreopsis.click("Quit")
    assert coreopsis.end() == 0
