"""How do two runs compare, the shown one and another? A is the earlier, wherever one comes from."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.comparison import Compared, cautions, cells, compare, footnotes
from app.report import about, label
from app.runs.library import machine_name
from app.runs.run_notes import read_notes
from app.window.core.saving import Saving
from app.window.core.session import Session
from app.window.experiment.loaded_run import LoadedRun, load, runs_of
from app.window.experiment.page_model import PageModel
from app.window.runs.listing import Listing
from experiments.core.declare import Experiment
from experiments.core.problems import Problem, UserError
from experiments.core.words import Words
from experiments.engine import messages
from widgets.experiment.comparison_table import ComparedRow, Comparison

Result = tuple[LoadedRun, LoadedRun, Comparison]
MENU_RUNS = 12


class Comparing(QObject):
    """Reads and compares in the background. `changed` comes when `pair` is another."""

    changed = Signal()

    def __init__(self, session: Session, model: PageModel, saving: Saving) -> None:
        super().__init__()
        self._session, self._model, self._saving = session, model, saving
        self._asked = 0  # what was asked for before is of no interest any more
        self.pair: tuple[LoadedRun, LoadedRun] | None = (
            None  # A and B, to be drawn on the same axes
        )
        self.found = Comparison()

    @property
    def is_on(self) -> bool:
        """Is there a comparison, or a reason why there is none?"""
        return self.found != Comparison()

    def letter(self, loaded: LoadedRun) -> str:
        """Return which of the two a run is, "A" or "B"; "" where it is neither."""
        runs = [each.run for each in self.pair or ()]
        return "AB"[runs.index(loaded.run)] if loaded.run in runs else ""

    def begin(self, path: Path, beside: Path) -> None:
        """Compare the run in `path` with another; ends in `changed`."""
        self._asked += 1
        catalogue, words, listing = self._session.catalogue, self._session.words, self._listing()

        def work() -> Result:
            loaded = (load(each, catalogue, is_opened=True) for each in (path, beside))
            a, b = sorted(loaded, key=lambda loaded: loaded.at)
            return a, b, comparison(words, listing, a, b)

        take = partial(self._take, self._asked)
        self._session.background.do_soon(work, take, failed=take)

    def end(self) -> None:
        """Compare no more."""
        self._asked += 1
        if self.is_on:
            self.pair, self.found = None, Comparison()
            self.changed.emit()

    def with_shown(self, beside: Path) -> None:
        """Compare the shown run with another."""
        if self._model.path is not None:
            self.begin(self._model.path, beside)

    def ask(self) -> None:
        """Compare the shown run with one from a file that a person chooses."""
        beside = self._saving.choose_existing()
        if beside is not None:
            self.with_shown(beside)

    def menu(self, parent: QWidget) -> QMenu:
        """Return a menu of the other runs of the shown experiment, and of any file."""
        menu, say, experiment = QMenu(parent), self._session.words.say, self._model.experiment
        listing, loaded = self._listing(), self._model.loaded
        started = loaded.run_state.started if loaded is not None else None
        runs = runs_of(self._session.runs, experiment.id) if experiment is not None else ()
        # What was stopped before it found anything has nothing to compare.
        found = (run for run in runs if run.values or run.outcome != messages.Outcome.STOPPED)
        others = [run for run in found if loaded is None or run.run != loaded.run][:MENU_RUNS]
        for run in others:
            line = listing.line(run)
            result = "".join(f"{each.label} {each.shown}" for each in line.results[:1])
            settings = line.settings
            if started is not None and run.quick == started.quick:
                # What differs from the shown run; of a quick beside a full one, nearly all does.
                differing = listing.differing(run.experiment, run.params, started.params)
                settings = tuple(differing) or (say("page.same_settings"),)
            parts = (run.run_notes.name, line.when, line.kind, *settings, line.ending, result)
            action = menu.addAction(" · ".join(part for part in parts if part).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, path=run.path: self.with_shown(path))
        if not others:
            menu.addAction(say("page.no_other_run")).setEnabled(False)
        menu.addSeparator()
        menu.addAction(say("page.compare_file")).triggered.connect(lambda _=False: self.ask())
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _take(self, asked: int, result: Result | Problem) -> None:
        if asked != self._asked:
            return
        if isinstance(result, Problem):
            self.pair, self.found = None, Comparison(refusal=self._session.say(result))
        else:
            a, b, self.found = result
            same = a.run_state.experiment is b.run_state.experiment
            self.pair = (a, b) if same else None
        self.changed.emit()

    def _listing(self) -> Listing:
        return Listing(self._session.words, self._session.catalogue, self._session.entries)


def comparison(words: Words, listing: Listing, a: LoadedRun, b: LoadedRun) -> Comparison:
    """Compare two recordings; where that cannot be, a sentence says why. May take a while."""
    assert a.recording is not None
    assert b.recording is not None
    experiment = a.run_state.experiment
    try:
        compared = compare(experiment, a.recording, b.recording)
    except UserError as trouble:
        problem = trouble.problem
        return Comparison(refusal=words.say(f"problems.{problem.key}", problem.values))
    if not compared.values:
        return Comparison(refusal=words.say("terminal.nothing_measured"))
    name_a, name_b = _names(words, listing, a, b)
    return Comparison(
        a=name_a,
        b=name_b,
        cautions=list(cautions(words, experiment, compared)),
        rows=_rows(words, experiment, compared),
        footnotes=footnotes(words, compared),
    )


def _names(words: Words, listing: Listing, a: LoadedRun, b: LoadedRun) -> tuple[str, str]:
    """Return what two runs are called side by side; to the second where that tells them apart."""

    def name(loaded: LoadedRun, when: str) -> str:
        started = loaded.run_state.started
        machine = machine_name(started) if started is not None else ""
        given = read_notes(loaded.path).name if loaded.path is not None else ""
        told = words.say("page.run_name", {"when": when, "machine": machine})
        return " · ".join(part for part in (given, told) if part)

    (short_a, exact_a), (short_b, exact_b) = (listing.when(loaded.at) for loaded in (a, b))
    if name(a, short_a) != name(b, short_b):
        return name(a, short_a), name(b, short_b)
    return name(a, exact_a), name(b, exact_b)


def _rows(words: Words, experiment: Experiment[Any], compared: Compared) -> list[ComparedRow]:
    return [
        ComparedRow(
            label(words, experiment, value.name),
            *cells(words, experiment, value),
            verdict=value.verdict or "",
            about=about(words, experiment, value.name),
        )
        for value in compared.values
    ]
