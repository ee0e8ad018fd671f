"""The contents of the palette: places, experiments, runs and actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtGui import QAction, QKeySequence

from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from experiments.core.words import Words
from widgets.sheets.palette import Choice

RUNS_LISTED = 200


def choices(session: Session, groups: Iterator[tuple[str, Sequence[QAction]]]) -> Iterator[Choice]:
    """Yield everything, the likeliest first."""
    for title, actions in groups:
        for action in actions:
            if action.isEnabled():
                yield Choice(action.text(), title, _keys(action), action.trigger)
    words = session.words
    settings = _settings(words)
    for experiment_id in session.catalogue.ids():
        yield Choice(
            words.say(f"{experiment_id}.question"),
            f"{words.say('frame.experiment')} · {experiment_id}",
            "",
            partial(session.go, EXPERIMENTS, experiment=experiment_id),
            (words.say(f"{experiment_id}.topic"), *settings.get(experiment_id, ())),
        )
    for run in session.runs[:RUNS_LISTED]:
        if run.experiment in session.catalogue.ids():
            yield Choice(
                run.run_notes.name or words.say(f"{run.experiment}.question"),
                f"{words.say('frame.run')} · {run.at[:16].replace('T', ' ')}",
                "",
                partial(session.go, EXPERIMENTS, run=run.path),
                (run.experiment,),
            )


def _settings(words: Words) -> dict[str, list[str]]:
    """Return the names of settings and choices of each experiment."""
    found: dict[str, list[str]] = {}
    for key in words.keys(""):
        experiment_id, _, rest = key.partition(".")
        if rest.startswith(("params.", "choices.")):
            found.setdefault(experiment_id, []).append(words.say(key))
    return found


def keys_of(actions: Sequence[QAction]) -> list[tuple[str, str]]:
    """Return the shortcut and the words of every action that has one."""
    return [(keys, action.text()) for action in actions if (keys := _keys(action))]


def _keys(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
