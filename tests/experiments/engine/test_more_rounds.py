from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from experiments.core.bench import Bench
from experiments.core.declare import Finding, Note
from experiments.core.judging.statistics import CANNOT_TELL
from experiments.core.judging.trust import Trust
from experiments.engine import measuring, messages
from experiments.engine.measuring import _Run  # noqa: PLC2701  (only it can be given a clock)
from machine.model import Machine
from tests.experiments.engine.misbehaving.misbehave.experiment import EXPERIMENT, Params, Row

QUIET, BUSY = Note("machine_was_quiet", {}), Note("machine_was_busy", {"others_fraction": 0.3})


class Disturbed:
    """A machine that is as busy as `note` says."""

    def __init__(self, note):
        self._note = note

    def notes(self, *, still_runs=False):
        yield self._note


def rounds(monkeypatch, note, *, told_after=99, planned=4, quick=False, before=CANNOT_TELL):
    """Return the rounds of a run that becomes clear after some, and the messages that it sent."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(measuring.time, "monotonic", lambda: clock.now)

    def analyse(params, tables, machine):
        return Finding("told" if len(tables["rows"]) >= told_after else before)

    def measure(params, bench):
        for turn, _ in bench.interleave(["a"], planned):
            clock.now += 1.0
            yield Row(value=float(turn.round))

    experiment = msgspec.structs.replace(EXPERIMENT, analyse=analyse, measure=measure)
    sent: list[messages.Message] = []
    bench = Bench(Machine())
    run = _Run(experiment, Params(), bench, sent.append)
    run._disturbance = Disturbed(note)  # noqa: SLF001
    if not quick:
        bench.wants_more = run.wants_more
    finished = run.finished()
    made = sum(isinstance(each, messages.Row) for each in sent)
    notes = [each.key for each in sent if isinstance(each, messages.Note)]
    return made, notes, finished.finding


def test_a_busy_machine_gets_more_rounds_until_it_can_be_told(monkeypatch):
    made, notes, finding = rounds(monkeypatch, BUSY, told_after=6)

    assert made == 6
    assert notes.count(messages.MORE_ROUNDS) == 1
    assert (finding.message, finding.trust) == ("told", Trust.BUSY)


def test_a_finding_that_leaves_a_part_unclear_gets_more_rounds_too(monkeypatch):
    made, _, finding = rounds(monkeypatch, BUSY, told_after=6, before="gains_others_unclear")

    assert made == 6
    assert finding.message == "told"


def test_they_take_no_longer_than_the_planned_ones(monkeypatch):
    made, _, finding = rounds(monkeypatch, BUSY)

    assert 7 <= made <= 8
    assert finding.trust is Trust.DISTURBED


@pytest.mark.parametrize(
    ("note", "told_after", "quick"), [(QUIET, 99, False), (BUSY, 2, False), (BUSY, 99, True)]
)
def test_a_quiet_a_told_and_a_quick_run_get_none(monkeypatch, note, told_after, quick):
    made, notes, _ = rounds(monkeypatch, note, told_after=told_after, quick=quick)

    assert made == 4
    assert messages.MORE_ROUNDS not in notes
