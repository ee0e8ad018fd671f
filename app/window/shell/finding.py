"""The contents of the palette: places, experiments, runs, actions, and the buttons in sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton
from shiboken6 import isValid

from app.window.core.place import Place
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from experiments.core.declare import Experiment, Need, Part, specs
from experiments.core.found_by import found_by
from experiments.core.words import Words
from widgets.sheets.palette import Choice

FOUND_BY = "found_by"  # property of an action: words by which it is found too
RUNS_LISTED = 200


def choices(
    session: Session, groups: Iterator[tuple[str, Sequence[QAction]]], place: Place
) -> list[Choice]:
    """Return all choices, the likeliest first; last the place's buttons that are not among them."""
    found = list(_known(session, groups))
    told = {choice.text for choice in found}
    title = session.words.say(f"places.{place.name}")
    for button in place.findChildren(QAbstractButton):
        text = words_of(button)
        if text and text not in told and button.isVisible() and button.isEnabled():
            told.add(text)
            found.append(Choice(text, title, "", partial(_press, button)))
    return found


def words_of(button: QAbstractButton) -> str:
    """Return the words of a button, without the sign of a menu and the key it names."""
    text = button.text().replace("&&", "&") or button.accessibleName()
    return text.removesuffix(" ▾").partition(" (")[0]


def _press(button: QAbstractButton) -> None:
    if isValid(button):  # the place may have been drawn anew meanwhile
        button.click()


def _known(session: Session, groups: Iterator[tuple[str, Sequence[QAction]]]) -> Iterator[Choice]:
    for title, actions in groups:
        for action in actions:
            if action.isEnabled():
                about = (action.property(FOUND_BY),) if action.property(FOUND_BY) else ()
                yield Choice(action.text(), title, _keys(action), action.trigger, about)
    words = session.words
    for experiment_id, home in session.catalogue.homes.items():
        entry = session.entries.get(experiment_id)
        kinds: tuple[Part | Need, ...] = ()
        settings: list[str] = []
        if entry is not None:
            kinds = (*entry.experiment.parts, *entry.experiment.needs)
            settings = _settings(words, entry.experiment)
        names = found_by(words, experiment_id, kinds, has_lesson=home.has_lesson)
        yield Choice(
            words.say(f"{experiment_id}.question"),
            f"{words.say('frame.experiment')} · {experiment_id}",
            "",
            partial(session.go, EXPERIMENTS, experiment=experiment_id),
            (*names, *settings),
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


def _settings(words: Words, experiment: Experiment[Any]) -> list[str]:
    """Return the names of an experiment's settings and of their choices."""
    keys = []
    for name, spec in specs(experiment.params).items():
        keys.append(f"{experiment.id}.params.{name}")
        if isinstance(spec.choices, tuple):
            keys += [f"{experiment.id}.choices.{choice}" for choice in spec.choices]
    return [words.say(key) for key in keys if words.has(key)]


def keys_of(actions: Sequence[QAction]) -> list[tuple[str, str]]:
    """Return the shortcut and the words of every action that has one."""
    return [(keys, action.text()) for action in actions if (keys := _keys(action))]


def _keys(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
