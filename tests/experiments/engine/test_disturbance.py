from __future__ import annotations

import subprocess
import sys

import pytest

from experiments.engine import disturbance
from experiments.engine.disturbance import Disturbance

CORES = 4


@pytest.fixture
def used(monkeypatch):
    """Return a function to say what was used in ten seconds on four processors."""

    def use(**seconds):
        before = dict.fromkeys(("busy_s", "stolen_s", "own_s", "program_s"), 0.0)
        looks = iter(
            disturbance._Used(clock_s=clock_s, **(before | more))  # noqa: SLF001  (what it started is the subject)
            for clock_s, more in ((0.0, {}), (10.0, seconds))
        )
        monkeypatch.setattr(disturbance._Used, "now", lambda: next(looks))  # noqa: SLF001  (what it started is the subject)
        monkeypatch.setattr(disturbance.os, "cpu_count", lambda: CORES)
        return {note.key: dict(note.values) for note in Disturbance().notes()}

    return use


def test_what_the_run_and_its_window_use_is_not_said_of_other_programs(used):
    told = used(busy_s=13.4, own_s=10.0, program_s=3.0)

    assert list(told) == ["machine_was_quiet"]
    assert told["machine_was_quiet"]["others_fraction"] == 0.01


def test_other_programs_and_the_host_are_told(used):
    assert used(busy_s=13.0, own_s=10.0)["machine_was_busy"]["others_fraction"] == 0.075
    assert used(busy_s=10.0, own_s=10.0, stolen_s=2.0)["time_was_stolen"] == {
        "others_fraction": 0.0,
        "stolen_fraction": 0.05,
    }


def test_a_window_that_takes_much_is_told_beside_it(used):
    told = used(busy_s=15.0, own_s=10.0, program_s=5.0)

    assert list(told) == ["machine_was_quiet", "program_was_busy"]
    assert told["program_was_busy"] == {"program_fraction": 0.125}


def test_the_program_is_what_started_the_guardian_of_the_run():
    busy = "import subprocess, sys, time\nwhile time.process_time() < 0.2: pass\n"
    measuring = "from experiments.engine.disturbance import _program_s; print(_program_s())"
    guardian = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {measuring!r}])"
    program = busy + f"subprocess.run([sys.executable, '-c', {guardian!r}])"

    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert float(said.stdout) >= 0.17  # user and system are told in whole ticks each
