"""Slides of the recordings that come with the program, as a class sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.report import report
from app.window.experiment.loaded_run import band, load
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.lessons import taught
from experiments.core.words import Words
from experiments.engine.run_state import RunState
from widgets.lecture.series import chosen
from widgets.lecture.slide import Slide
from widgets.lecture.slide_data import SlideData
from widgets.plots.contents import label_column
from widgets.style.look import Look

NEXT = {"question": "vote", "vote": "run", "again": "run", "run": "reveal", "reveal": "explain"}
HINT = "84 votes · 45 % on one answer: let them discuss, then vote again"
LIVE = "measured live on this machine, 4 cores"
BROKEN = "The process that measured was ended from outside."
VOTES, AGAIN = (9, 31, 38, 6), (4, 11, 62, 7)


def slide(step: str, look: Look, words: Words, *, experiment: str = "gil-threads") -> Slide:
    """Return the slide of a step of an experiment, with its recording."""
    made = Slide(words, look)
    fill(made, step, words, experiment)
    return made


def fill(made: Slide, step: str, words: Words, experiment: str) -> None:
    """Show a step of an experiment on a slide."""
    catalogue, run_state = Catalogue(), recorded(experiment)
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
    lesson = taught(run_state.experiment, catalogue.homes[experiment])
    options = tuple(
        option.text for option in getattr(lesson and lesson.words.predict, "options", ())
    )
    question = words.say(f"{experiment}.question")
    asked = lesson.words.predict.ask if lesson and options else question
    more: dict[str, dict[str, Any]] = {
        "question": {"title": asked},
        "vote": {"title": asked, "options": options, "votes": VOTES, "hint": HINT},
        "again": {
            "title": asked, "options": options, "votes": AGAIN, "before": VOTES, "hint": HINT,
        },
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


def recorded(experiment: str) -> RunState:
    """Return the run that comes with an experiment."""
    path = Catalogue().recording(experiment)
    assert path is not None
    return load(path, Catalogue(), is_opened=True).run_state


def arms(experiment: Experiment[Any], rows: Sequence[Any]) -> tuple[str, ...]:
    """Return the labels of the headline view in the order in which they are revealed."""
    view = experiment.plots[0]
    column = label_column(view)
    return chosen(experiment, view, {str(getattr(row, column)) for row in rows}) if column else ()
