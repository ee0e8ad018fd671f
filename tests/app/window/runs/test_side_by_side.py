"""Three and more runs side by side, and which runs are refused."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest
from PySide6.QtWidgets import QLabel

from app.window.runs.side_by_side import why_not_comparable
from experiments.memory.burst_random.experiment import Params
from tests.app.recordings import MIB, burst, ladder
from tests.app.window.runs.test_place import Runs
from tests.experiments.machines import machine
from widgets.runs.side_by_side import MOST, SideBySide

AT = "2026-03-0{}T10:00:00+00:00"


@pytest.fixture
def runs(qtbot, session):
    return Runs(qtbot, session)


def compared(runs, *made):
    """Keep these runs, select all, compare; return the texts of the sheet from its start."""
    names = runs.keep(*made)
    runs.show()
    runs.table.select(names)
    runs.click(runs.details.buttons.compare)
    (sheet,) = runs.place.window().findChildren(SideBySide)
    return [each.text() for each in sheet.findChildren(QLabel) if each.isVisible()]


def test_three_runs_stand_side_by_side_the_earliest_first(runs):
    told = compared(
        runs, burst(4.0, at=AT.format(3)), burst(at=AT.format(1)), burst(2.0, at=AT.format(2))
    )
    row = told.index("chained, per element")
    assert told[row + 1 : row + 4] == ["120 ns", "240 ns", "480 ns"]
    assert [text for text in told if "March 2026" in text] == [
        f"{day} March 2026 10:00:00" for day in (1, 2, 3)
    ]
    assert runs.session.words.say("runs.beside_settings") not in told


def test_what_differs_is_said(runs):
    other = msgspec.structs.replace(machine(), fingerprint="other")
    other = msgspec.structs.replace(
        other, cpu=msgspec.structs.replace(other.cpu, model="Other CPU")
    )
    fewer = burst(noise=(1.0, 1.1), params=Params(largest_bytes=MIB, rounds=2), at=AT.format(2))
    told = compared(runs, burst(at=AT.format(1)), fewer, burst(at=AT.format(3), here=other))
    say = runs.session.words.say
    assert say("runs.beside_one_setting") in told
    assert say("runs.beside_machines") in told
    assert "Other CPU" in told
    row = told.index("Rounds")
    assert told[row + 1 : row + 4] == ["5", "2", "5"]


def test_of_a_run_that_was_cut_short_that_is_said(runs):
    ends = ("completed", "stopped", "completed")
    told = compared(
        runs, *(burst(at=AT.format(day), outcome=end) for day, end in enumerate(ends, 1))
    )
    assert runs.session.words.say("runs.beside_cut_short") in told


def kept(runs, *made):
    runs.keep(*made)
    return runs.library.runs()


def test_what_cannot_be_compared_is_refused_with_the_reason(runs):
    say = runs.session.words.say
    one, two, three = kept(runs, *(burst(at=AT.format(day)) for day in (1, 2, 3)))
    (other,) = [run for run in kept(runs, ladder()) if run.experiment == "cache-ladder"]
    newer = dataclasses.replace(three, version=one.version + 1)
    damaged = dataclasses.replace(three, problem={"key": "recording_empty", "values": {}})
    nothing = [dataclasses.replace(run, values={}) for run in (one, two, three)]

    def refusal(*chosen):
        return why_not_comparable(runs.session.words, chosen)

    assert refusal(one, two) == refusal(one, two, three) == ""
    assert refusal(one) == refusal(one, two, damaged) == say("runs.compare_two")
    assert refusal(one, two, other) == say("runs.compare_other")
    versions = {"a": one.version, "b": newer.version}
    assert refusal(newer, one) == say("problems.not_comparable_version", versions)
    assert refusal(*[one] * (MOST + 1)) == say("runs.compare_most", {"count": MOST})
    assert refusal(*nothing) == say("runs.compare_nothing")


def test_the_version_of_an_experiment_is_read_from_the_file(runs):
    made = burst(change=lambda started: msgspec.structs.replace(started, experiment_version=7))
    (run,) = kept(runs, made)
    assert run.version == 7
