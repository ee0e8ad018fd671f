"""Slides of the recordings that come with the program, as a class sees them."""

from __future__ import annotations

from dataclasses import replace

from app.report import report
from app.window.experiment.loaded_run import band, load
from experiments.core.catalogue import Catalogue
from experiments.core.lessons import taught
from experiments.core.words import Words
from widgets.lecture.slide import Slide
from widgets.lecture.slide_data import SlideData
from widgets.plots.contents import label_column
from widgets.style.look import Look

NEXT = {"question": "vote", "vote": "run", "again": "run", "run": "reveal", "reveal": "explain"}
VOTES, AGAIN = (9, 31, 38, 6), (4, 11, 62, 7)


def slide(step: str, look: Look, words: Words, *, experiment: str = "gil-threads") -> Slide:
    """Return the slide of a step of an experiment, with its recording."""
    made = Slide(words, look)
    fill(made, step, words, experiment)
    return made


def fill(made: Slide, step: str, words: Words, experiment: str) -> None:
    """Show a step of an experiment on a slide."""
    catalogue = Catalogue()
    path = catalogue.recording(experiment)
    assert path is not None
    loaded = load(path, catalogue, is_opened=True)
    run_state, home = loaded.run_state, catalogue.homes[experiment]
    started, finished = run_state.started, run_state.finished
    assert started is not None and finished is not None
    told = report(words, run_state.experiment, finished, tables=run_state.tables, quick=False)
    predict = taught(run_state.experiment, home).words.predict
    made.show_experiment(run_state.experiment)
    assert made.plot is not None
    finding = run_state.finding()
    view = run_state.experiment.plots[0]
    rows, column = run_state.tables[view.table], label_column(view)
    made.plot.draw(rows, finding.clear_values() if finding else {})
    if step == "run" and column is not None:
        order = getattr(view, "order", ())
        made.plot.hold_back({str(getattr(row, column)) for row in rows} - set(order[:1]))
    else:
        made.plot.hold_back(())
    options = tuple(option.text for option in getattr(predict, "options", ()))
    data = SlideData(
        place=3,
        count=10,
        step=step,
        title=words.say(f"{experiment}.question"),
        key=f"Page Down: {NEXT.get(step, 'next question')}",
    )
    asked = predict.ask if options else data.title
    hint = "84 votes · 45 % on one answer: let them discuss, then vote again"
    more = {
        "question": {"title": asked},
        "vote": {"title": asked, "options": options, "votes": VOTES, "hint": hint},
        "again": {
            "title": asked,
            "options": options,
            "votes": AGAIN,
            "before": VOTES,
            "hint": hint,
        },
        "run": {"busy": "measuring, 4 s left", "source": "measured live on this machine, 4 cores"},
        "reveal": {"verdict": told.finding, "band": band(words, started)},
        "explain": {
            "verdict": told.finding,
            "said": f"38 of 84 had it. {told.because}",
            "source": "measured live on this machine, 4 cores",
        },
    }
    made.show_data(replace(data, **more[step]))
