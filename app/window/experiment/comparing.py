"""The comparison of two runs, A and B; A is always the earlier one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.loaded_run import LoadedRun, load
from app.report import about, label, problem_text
from app.runs.beside import verdict_of
from app.runs.comparison import cautions, cells, compare, footnotes
from app.runs.library import machine_name
from app.runs.run_notes import read_notes
from app.window.core.listing import Listing
from app.window.core.session import Session
from experiments.core.problems import Problem, UserError
from experiments.core.words import Words
from widgets.experiment.comparison_table import ComparedRow, Comparison

Result = tuple[LoadedRun, LoadedRun, Comparison]


class Comparing(QObject):
    """Reads and compares in the background; emits `changed` for another `pair`."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._asked = 0  # counts requests: only the newest one counts
        self.pair: tuple[LoadedRun, LoadedRun] | None = None  # A and B, on the same axes
        self.found = Comparison()

    @property
    def is_on(self) -> bool:
        """Is there a comparison, or a reason why there is none?"""
        return self.found != Comparison()

    def letter(self, loaded: LoadedRun) -> str:
        """Return "A" or "B" for one of the two runs, "" for any other."""
        runs = [each.run for each in self.pair or ()]
        return "AB"[runs.index(loaded.run)] if loaded.run in runs else ""

    def begin(self, path: Path, beside: Path) -> None:
        """Compare the run in `path` with another; ends in `changed`."""
        self._asked += 1
        catalogue, words = self._session.catalogue, self._session.words
        listing = Listing(words, catalogue, self._session.entries)

        def work() -> Result:
            both = [load(each, catalogue, is_opened=True) for each in (path, beside)]
            a, b = sorted(both, key=lambda loaded: (loaded.at, not loaded.leads_pair))
            if (
                a.is_paired_with(b) and b.path is not None
            ):  # a copy's rows, as its original has them
                b = load(b.path, catalogue, is_opened=True, read_as=a.run_state.experiment)
            return a, b, comparison(words, listing, a, b)

        take = partial(self._take, self._asked)
        self._session.background.do_soon(work, take, failed=take)

    def show_live(self, original: LoadedRun, copy: LoadedRun) -> None:
        """Draw a run beside that of its original while both go on."""
        self._asked += 1
        self.pair, self.found = (original, copy), Comparison()
        self.changed.emit()

    def end(self) -> None:
        """Compare no more."""
        self._asked += 1
        if self.is_on or self.pair is not None:
            self.pair, self.found = None, Comparison()
            self.changed.emit()

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


def comparison(words: Words, listing: Listing, a: LoadedRun, b: LoadedRun) -> Comparison:
    """Compare two recordings, or say why that is impossible. May take a while."""
    assert a.recording is not None
    assert b.recording is not None
    experiment = a.run_state.experiment
    try:
        compared = compare(experiment, a.recording, b.recording)
    except UserError as trouble:
        return Comparison(refusal=problem_text(words, trouble.problem, experiment.id))
    if not compared.values:
        return Comparison(refusal=words.say("terminal.nothing_measured"))
    name_a, name_b = _names(words, listing, a, b)
    said = ""
    if a.is_paired_with(b):
        said = verdict_of(words, experiment, compared)
        name_a = words.say("beside.original", {"id": a.recording.started.experiment})
        name_b = words.say("beside.copy", {"id": b.recording.started.experiment})
    return Comparison(
        a=name_a,
        b=name_b,
        said=said,
        cautions=list(cautions(words, experiment, compared)),
        rows=[
            ComparedRow(
                label(words, experiment, value.name),
                *cells(words, experiment, value),
                verdict=value.verdict or "",
                about=about(words, experiment, value.name),
            )
            for value in compared.values
        ],
        footnotes=footnotes(words, compared),
    )


def _names(words: Words, listing: Listing, a: LoadedRun, b: LoadedRun) -> tuple[str, str]:
    """Return the names of two runs; with seconds where minutes do not distinguish them."""

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
