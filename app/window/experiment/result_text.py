"""A run that has ended, as the column beside the plots shows it."""

from __future__ import annotations

from app.report import Report, conditions, note_text
from app.window.experiment.status_text import LOADING
from experiments.core.judging.trust import DOUBTS
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.run_state import RunState
from widgets.experiment.key_cards import Card
from widgets.experiment.result import Result
from widgets.experiment.verdict import BadgeText, Verdict

TOLD_ELSEWHERE = (*messages.WAITING, LOADING, *DOUBTS)


def result_of(words: Words, told: Report, run_state: RunState) -> Result:
    """Return the result of a run; one that found nothing has only its notes."""
    notes, started = notes_of(words, run_state), run_state.started
    method = words.say(f"{run_state.experiment.id}.method")
    is_told = bool(told.finding) and started is not None
    return Result(
        verdict=verdict_of(told),
        values=told.values,
        limits=told.remarks,
        measured=(method, *notes) if told.values else notes,
        conditions=conditions(words, started) if is_told and started is not None else (),
    )


def verdict_of(told: Report) -> Verdict:
    """Return what a report says in short."""
    badge = told.badge
    return Verdict(
        lead=told.lead,
        verdict=told.finding,
        because=told.because,
        badge=BadgeText(kind=badge.kind, name=badge.name, beside=badge.beside, reason=badge.reason)
        if badge is not None
        else None,
        cards=tuple(
            Card(value=name, number=shown.shown, label=shown.label, about=shown.about, key=key)
            for name, shown, key in told.keys
        ),
    )


def notes_of(words: Words, run_state: RunState) -> tuple[str, ...]:
    """Return the notes that tell how a run was measured."""
    experiment = run_state.experiment.id
    return tuple(
        note_text(words, note.key, note.values, experiment)
        for note in run_state.notes
        if note.key not in TOLD_ELSEWHERE
    )
