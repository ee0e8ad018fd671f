"""The menu of runs that the shown run can be compared with."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu, QWidget

from app.runs.selection import runs_of
from app.window.core.listing import Listing
from app.window.core.saving import file_there
from app.window.experiment.page_model import PageModel
from experiments.engine import messages, report_file
from experiments.engine.recording import SUFFIXES

MENU_RUNS = 12


def compare_menu(model: PageModel, parent: QWidget) -> QMenu:
    """Return a menu of the other runs of the shown experiment, and of any file."""
    menu, say, session = QMenu(parent), model.words.say, model.session
    listing = Listing(model.words, session.catalogue, session.entries)
    loaded, experiment = model.loaded, model.experiment
    started = loaded.run_state.started if loaded is not None else None
    runs = runs_of(session.runs, experiment.id) if experiment is not None else ()
    # A run that was stopped before it found anything has nothing to compare.
    found = (run for run in runs if run.values or run.outcome != messages.Outcome.STOPPED)
    others = [run for run in found if loaded is None or run.run != loaded.run][:MENU_RUNS]
    for run in others:
        line = listing.line(run)
        result = "".join(f"{each.label} {each.shown}" for each in line.results[:1])
        settings = line.settings
        if started is not None and run.quick == started.quick:
            # Only the differences from the shown run; a quick and a full run differ in nearly all.
            differing = listing.differing(run.experiment, run.params, started.params)
            settings = tuple(differing) or (say("page.same_settings"),)
        parts = (run.run_notes.name, line.when, line.kind, *settings, line.ending, result)
        action = menu.addAction(" · ".join(part for part in parts if part).replace("&", "&&"))
        action.triggered.connect(partial(_compare, model, run.path))
    if not others:
        menu.addAction(say("page.no_other_run")).setEnabled(False)
    menu.addSeparator()
    from_file = menu.addAction(say("page.compare_file"))
    kinds = " ".join(f"*{suffix}" for suffix in (*SUFFIXES, *report_file.SUFFIXES))
    ask = partial(file_there, session, parent, say("page.choose_run"), kinds)
    from_file.triggered.connect(lambda: _compare(model, ask()))
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def _compare(model: PageModel, beside: Path | None, _checked: bool = False) -> None:
    if beside is not None:
        model.compare_with(beside)
