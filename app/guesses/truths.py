"""The true answer of a question: from a run of this machine, else from a recording.

The newest kept run of this machine counts first. Next comes a run that was measured while the
person thought, and then the experiment's own recording.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.runs.known_values import known_value
from app.runs.library import Kept, machine_name
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import MOSTLY_DISTURBED
from experiments.core.judging.trust import Trust, as_trusted, slowed, taken_fraction
from experiments.core.problems import UserError
from experiments.core.teaching.lessons import SHARP
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import Question
from experiments.presentation.guesses.quick_round import Source, Truth
from machine.model import Machine


def kept(
    question: Question, catalogue: Catalogue, machine: Machine, runs: Sequence[Kept]
) -> Truth | None:
    """Return the answer of an earlier run of this machine, None where no run has it."""
    known = known_value(runs, catalogue.load(question.experiment), machine, question.value)
    if known is None:
        return None
    value, run = known
    return Truth(value=value, source=Source.KEPT, at=run.at, machine=run.machine)


def measured(
    question: Question,
    started: messages.Started,
    finished: messages.Finished,
    notes: Sequence[messages.Note] = (),
) -> Truth | None:
    """Return the answer of a run that has ended, None where it has none.

    Beside other programs, a run this short gives only an approximate value. It has no answer if
    their load may have doubled its time, or disturbed most samples.
    """
    finding = finished.finding
    if finished.outcome is not messages.Outcome.COMPLETED or finding is None:
        return None
    if finding.message == MOSTLY_DISTURBED or question.value not in finding.values:
        return None
    if slowed(taken_fraction(notes)) > SHARP:
        return None
    trust = Trust.SOLID if finding.trust is Trust.SOLID else Trust.BUSY
    value = as_trusted(finding.values, trust)[question.value]
    name = machine_name(started)
    return Truth(value=value, source=Source.MEASURED, at=started.at, machine=name)


def recorded(question: Question, catalogue: Catalogue) -> Truth:
    """Return the answer of the recording that comes with the experiment.

    Raises UserError where that file is missing or damaged.
    """
    path = catalogue.recording(question.experiment)
    if path is None:
        raise UserError("recording_missing", name=question.experiment)
    recording = read(path)
    finding = recording.recorded_finding()
    if finding is None or question.value not in finding.values:
        raise UserError("recording_empty", name=path.name)
    started = recording.started
    return Truth(
        value=as_trusted(finding.values, finding.trust)[question.value],
        source=Source.RECORDED,
        at=started.at,
        machine=machine_name(started),
    )
