"""Slides of the recordings that come with the program, as a class sees them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.lecture.options import options_of
from app.loaded_run import band, load
from app.report import report
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.words import Words
from experiments.engine.run_state import RunState
from tests.gallery.lesson_page import moved
from widgets.lecture.series import chosen
from widgets.lecture.slide import Slide
from widgets.lecture.slide_data import SlideData
from widgets.plots.contents import label_column
from widgets.style.look import Look

CATALOGUE = Catalogue()
NEXT = {"question": "vote", "vote": "run", "again": "run", "run": "reveal", "reveal": "explain"}
VOTING = ("typed", "hidden")  # states of a vote
HINT = "84 votes · 45 % on one answer: let them discuss, then vote again"
HIDDEN = "84 votes, hidden"
LIVE = "measured live on this machine, 4 cores"
BROKEN = "The process that measured was ended from outside."
VOTES, AGAIN = (9, 31, 38, 6), (4, 11, 62, 7)


def slide(step: str, look: Look, words: Words, *, experiment: str = "gil-threads") -> Slide:
    """Return the slide of a step of an experiment, with its recording."""
    made = Slide(words, look)
    fill(made, step, words, experiment)
    return made


def moving(look: Look, words: Words) -> Slide:
    """Return the slide of an explanation whose motion plays."""
    made = slide("explain", look, words, experiment="cache-ladder")
    made.show_motion(moved("cache-ladder"))
    return made


def fill(made: Slide, step: str, words: Words, experiment: str) -> None:
    """Show a step of an experiment on a slide."""
    run_state = recorded(experiment)
    started, finished, finding = run_state.started, run_state.finished, run_state.finding()
    assert started is not None
    assert finished is not None
    told = report(words, run_state.experiment, finished, tables=run_state.tables, quick=False)
    made.show_experiment(run_state.experiment)
    assert made.plot is not None
    rows = run_state.tables[run_state.experiment.plots[0].table]
    made.plot.draw(rows, finding.clear_values() if finding else {})
    shown = arms(run_state.experiment, rows)
    made.plot.hold_back(shown[1:] if step == "run" else ())
    lesson = CATALOGUE.lesson(run_state.experiment)
    voted = options_of(lesson.voted_on(None), words) if lesson else None
    options = voted.texts if voted else ()
    question = words.say(f"{experiment}.question")
    asked: dict[str, Any] = {"title": voted.ask if voted else question}
    if lesson is not None:
        asked |= {"context": lesson.stands_on.context, "code": lesson.stands_on.code}
    vote = asked | {"options": options, "votes": VOTES[: len(options)], "hint": HINT}
    more: dict[str, dict[str, Any]] = {
        "question": asked,
        "vote": vote,
        "again": vote | {"votes": AGAIN[: len(options)], "before": VOTES[: len(options)]},
        "hidden": vote
        | {"step": "vote", "is_hidden": True, "typed": "38", "typed_for": 2, "hint": HIDDEN},
        "typed": vote | {"step": "vote", "typed": "38", "typed_for": 2},
        "run": {"busy": "measuring, 4 s left", "source": LIVE},
        "reveal": {"verdict": told.finding, "band": band(words, started)},
        "explain": {
            "verdict": told.finding, "said": f"38 of 84 had it. {told.because}", "source": LIVE,
        },
        "problem": {"step": "run", "problem": BROKEN, "key": "R: recording"},
    }  # fmt: skip
    key = f"Page Down: {NEXT.get(step, 'next question')}"
    data = SlideData(place=3, count=10, step=step, title=question, key=key)
    made.show_data(replace(data, **more[step]))


@functools.cache
def recorded(experiment: str) -> RunState:
    """Return the run that comes with an experiment; it is shared, so leave it as it is."""
    path = CATALOGUE.recording(experiment)
    assert path is not None
    return load(path, CATALOGUE, is_opened=True).run_state


def arms(experiment: Experiment[Any], rows: Sequence[Any]) -> tuple[str, ...]:
    """Return the labels of the headline view in the order in which they are revealed."""
    view = experiment.plots[0]
    column = label_column(view)
    return chosen(experiment, view, {str(getattr(row, column)) for row in rows}) if column else ()
