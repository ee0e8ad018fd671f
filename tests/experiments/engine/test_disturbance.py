from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import Loss
from experiments.engine import disturbance, measuring, messages
from experiments.engine.disturbance import Disturbance, Quietest
from experiments.engine.guardian import PROGRAM
from machine.live.threads import ThreadSample, ThreadSampler
from machine.processor.counters import Counts
from tests.experiments.engine.runs import SHELVES, params

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


def test_what_is_left_out_counts_neither_as_time_nor_as_use(monkeypatch):
    looks = iter(
        disturbance._Used(clock_s, busy_s, 0.0, own_s, program_s)  # noqa: SLF001  (what it started is the subject)
        for clock_s, busy_s, own_s, program_s in (
            (0.0, 0.0, 0.0, 0.0),
            (5.0, 5.0, 5.0, 0.0),  # a wait begins
            (65.0, 95.0, 5.0, 60.0),  # and ends: others and the window were busy
            (70.0, 101.0, 10.0, 60.0),
        )
    )
    monkeypatch.setattr(disturbance._Used, "now", lambda: next(looks))  # noqa: SLF001  (what it started is the subject)
    monkeypatch.setattr(disturbance.os, "cpu_count", lambda: CORES)
    watched = Disturbance()
    with watched.left_out():
        pass

    (note,) = watched.notes()
    assert note.key == "machine_was_quiet"
    assert note.values["others_fraction"] == pytest.approx(1.0 / (10.0 * CORES))


@pytest.mark.parametrize("launchers", [0, 1])
def test_the_program_is_what_shows_the_run_whatever_stands_between(launchers):
    """On Windows, the Python of an environment is a launcher that starts another."""
    busy = "import os, subprocess, sys, time\nwhile time.process_time() < 0.2: pass\n"
    started = "from experiments.engine.disturbance import _program_s; print(_program_s())"
    for _ in range(launchers):
        started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {started!r}])"
    handed = f"os.environ[{PROGRAM!r}] = str(os.getpid())\n"
    program = f"{busy}{handed}subprocess.run([sys.executable, '-c', {started!r}])"

    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert float(said.stdout) >= 0.17  # user and system are told in whole ticks each


@pytest.mark.parametrize(
    ("lost", "kept"), [((0.0, 0.5), [0, 1, 1, 2]), ((), [0, 1, 2]), ((0.5,) * 3, [0, 0, 1, 2])]
)
def test_a_disturbed_sample_is_told_as_one_and_taken_again(lost, kept, monkeypatch):
    """One more turn is all that three rounds allow."""
    losses, told = iter(lost), []
    monkeypatch.setattr(measuring, "WATCH", lambda: lambda: Loss(next(losses, 0.0), 2))
    command = messages.Measure(
        experiment="misbehave", params=params("takes_samples"), quick=False, run="a-run"
    )

    finished = measuring.measure(command, Catalogue(SHELVES), told.append, lambda: False)

    rows = [each for each in told if isinstance(each, messages.Row)]
    assert [row.row["value"] for row in rows] == kept
    assert [row.disturbed for row in rows if row.disturbed] == [
        Loss(fraction, 2) for fraction in lost[: len(rows)] if fraction
    ]
    assert finished.finding is not None
    assert finished.finding.message != "mostly_disturbed"


def test_what_the_processor_counted_stands_beside_each_row(monkeypatch):
    counts = Counts(events={"cycles": 12}, operations=3)
    monkeypatch.setattr(measuring, "count", lambda: lambda _operations: counts)
    told = _measured(monkeypatch, "")

    rows = [each for each in told if isinstance(each, messages.Row)]
    assert [row.counters for row in rows] == [counts] * 3
    assert not [each for each in told if getattr(each, "key", "").startswith("no_counters")]


@pytest.mark.parametrize(
    ("why", "key", "values"),
    [("ENOENT", "no_counters_ENOENT", {}), ("ENOSYS", "no_counters", {"reason": "ENOSYS"})],
)
def test_why_nothing_could_be_counted_is_said_once(why, key, values, monkeypatch):
    notes = [each for each in _measured(monkeypatch, why) if isinstance(each, messages.Note)]

    (said,) = (note for note in notes if note.key.startswith("no_counters"))
    assert (said.key, said.values) == (key, values)
    assert words.load("en").has(f"notes.{key}")


def _measured(monkeypatch, why):
    """Return the messages of a run whose effect the processor could count."""
    told, catalogue = [], Catalogue(SHELVES)
    experiment = catalogue.load("misbehave")
    monkeypatch.setattr(
        catalogue, "load", lambda _id: msgspec.structs.replace(experiment, confirmed_by="cycles")
    )
    monkeypatch.setattr(measuring.counters, "refusal", lambda: why)
    monkeypatch.setattr(measuring, "WATCH", None)
    command = messages.Measure(
        experiment="misbehave", params=params("takes_samples"), quick=False, run="a-run"
    )
    measuring.measure(command, catalogue, told.append, lambda: False)
    return told


@pytest.mark.parametrize(
    ("busy", "chosen"),
    [((0.0, 0.1, 0.0), 2), ((0.1, 0.0, 1.0), 1), ((0.0, 0.9, 0.5), 0), ((None,) * 3, 2)],
)
def test_the_last_of_the_quietest_threads_is_measured_on(busy, chosen, monkeypatch):
    looks = iter([(), busy])
    monkeypatch.setattr(disturbance, "LOOK_S", 0.0)
    monkeypatch.setattr(
        ThreadSampler,
        "sample",
        lambda _self, _now_s: tuple(
            ThreadSample(id=number, busy=share, hz=None, steal_fraction=None)
            for number, share in enumerate(next(looks))
        ),
    )
    quietest = Quietest()

    assert quietest([0, 1, 2]) == chosen
    assert quietest([0, 1, 2]) == chosen  # it looks once
    assert quietest([0]) == 0
