"""The numbers that explain a lesson: those of a run, or of a recording, and why of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.loaded_run import LoadedRun, band, lesson_run_of, load
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, Need
from experiments.core.problems import UserError
from experiments.core.teaching.lesson_run import Guess, LessonRun
from experiments.core.teaching.lessons import Explained, Taught
from experiments.core.words import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A run that explains, and the explanation.

    `band` names a recording, and `why` says why it explains; both are "" for the run itself.
    """

    run: LessonRun
    explained: Explained
    band: str = ""
    why: str = ""


def shipped(catalogue: Catalogue, experiment: Experiment[Any]) -> LoadedRun | None:
    """Return the recording that comes with an experiment; None without one. Takes a moment."""
    path = catalogue.recording(experiment.id)
    try:
        return None if path is None else load(path, catalogue, is_opened=True)
    except UserError:  # damaged: whoever opens it is told
        return None


def evidence_of(
    words: Words,
    lesson: Taught,
    run: LessonRun,
    guess: Guess | None,
    read: Callable[[], LoadedRun | None],
) -> Evidence | None:
    """Return what explains a run: its own numbers, else those of the recording; None for neither.

    `read` returns the recording, and is asked only where the run cannot tell. A guess is about
    this machine, so that it is not held against a recording.
    """
    if (explained := lesson.explain(run, guess)) is not None:
        return Evidence(run=run, explained=explained)
    if (recorded := read()) is None:
        return None
    return evidence_of_recording(
        words, lesson, recorded, None, words.say("lesson.recording_explains")
    )


def evidence_of_recording(
    words: Words, lesson: Taught, recorded: LoadedRun, guess: Guess | None, why: str
) -> Evidence | None:
    """Return what a recording explains under its band; None where it cannot tell.

    A guess is held against it where the recording was played in place of a run.
    """
    started, run = recorded.run_state.started, lesson_run_of(recorded.run_state)
    if started is None or run is None or (explained := lesson.explain(run, guess)) is None:
        return None
    return Evidence(run=run, explained=explained, band=band(words, started), why=why)


def why_recorded(words: Words, need: Need) -> str:
    """Return the sentence that says what is missing here, and what is shown instead."""
    reason = words.say(f"problems.needs_{need}")
    return words.say("page.stands_in", {"reason": reason})
