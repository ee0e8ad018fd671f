"""Kept runs in words: a line of the list, and the details beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from PySide6.QtCore import QLocale

from app.report import (
    label,
    named_values,
    note_text,
    number,
    settings,
    time_of,
    told_values,
    verdict,
)
from app.runs.library import Kept
from app.window.core.availability import Entry
from app.window.core.predictions import Predictions
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.judging.trust import Trust
from experiments.core.parameters import to_json
from experiments.core.problems import UserError
from experiments.core.units import unit_of
from experiments.core.words import Words, asked
from experiments.engine import messages
from widgets.runs.details import RunDetails, Said
from widgets.runs.listed import ListedRun, Prediction, Result

MONTHS = range(1, 13)
SHOWN_RESULTS = 2
ENDINGS = {
    messages.Outcome.STOPPED: "runs.stopped",
    messages.Outcome.FAILED: "runs.failed",
    messages.Outcome.KILLED: "runs.killed",
    messages.Outcome.LOST: "runs.lost",
}
TROUBLED = frozenset(ENDINGS) - {messages.Outcome.STOPPED}


class Listing:
    """Puts runs into words; each line is cached until its run changes."""

    def __init__(
        self,
        words: Words,
        catalogue: Catalogue,
        entries: Mapping[str, Entry],
        predictions: Predictions | None = None,
    ) -> None:
        self._words, self._catalogue, self._entries = words, catalogue, entries
        self._predictions = predictions
        self._now = datetime.now().astimezone()
        # Qt is asked once: in a thread that asks it again and again the window would not come up.
        english, kinds = QLocale(QLocale.Language.English), QLocale.FormatType
        self._months = [english.monthName(n, kinds.LongFormat) for n in MONTHS]
        self._short_months = [english.monthName(n, kinds.ShortFormat) for n in MONTHS]
        self._experiments: dict[str, Experiment[Any] | None] = {}
        self._starts: dict[tuple[str, bool], Mapping[str, Any]] = {}
        self._lines: dict[str, tuple[Kept, Prediction | None, ListedRun]] = {}

    def is_of(self, entries: Mapping[str, Entry]) -> bool:
        """Was it made today, and for these entries?"""
        return self._entries is entries and self._now.date() == datetime.now().astimezone().date()

    def line(self, run: Kept) -> ListedRun:
        """Return a run as a line of the list."""
        guess = self._prediction(run)
        known = self._lines.get(run.path.name)
        is_same = known is not None and known[1] is guess
        if known is None or not is_same or (known[0] is not run and known[0] != run):
            known = self._lines[run.path.name] = run, guess, self._line(run, guess)
        return known[2]

    def _prediction(self, run: Kept) -> Prediction | None:
        return self._predictions.of(run) if self._predictions is not None else None

    def _line(self, run: Kept, prediction: Prediction | None) -> ListedRun:
        when, exact = self.when(run.at)
        if run.problem is not None:
            return ListedRun(
                key=run.path.name,
                at=run.at,
                title=self._words.say("runs.damaged"),
                problem=self._problem(run),
            )
        experiment = self._experiment(run.experiment)
        question = self._question(run)
        return ListedRun(
            key=run.path.name,
            at=run.at,
            when=when,
            exact=exact,
            title=run.run_notes.name or question,
            question=question if run.run_notes.name else "",
            machine=run.machine,
            kind=self._kind(run),
            settings=tuple(self.changed(run.experiment, run.params, quick=run.quick)),
            all_settings=tuple(map(" ".join, self.settings(run.experiment, run.params))),
            results=tuple(self._results(run)),
            finding=self._finding(experiment, run),
            ending=self.ending(run.outcome),
            is_troubled=run.outcome in TROUBLED,
            note=run.run_notes.note,
            tags=tuple(run.run_notes.tags),
            is_pinned=run.run_notes.pinned,
            prediction=prediction,
            marks=(self._words.say("runs.pinned"),) if run.run_notes.pinned else (),
        )

    def details(self, run: Kept) -> RunDetails:
        """Return the contents of the panel beside the list."""
        when, exact = self.when(run.at)
        if run.problem is not None:
            return RunDetails(
                key=run.path.name,
                question=self._words.say("runs.damaged"),
                when=run.path.name,
                problem=self._problem(run),
            )
        experiment = self._experiment(run.experiment)
        say = self._words.say
        return RunDetails(
            key=run.path.name,
            question=self._question(run),
            when=" · ".join(filter(None, (when, self._kind(run)))),
            said=Said(run.run_notes.name, run.run_notes.note, tuple(run.run_notes.tags)),
            finding="\n".join(filter(None, (self._finding(experiment, run), self._guessed(run)))),
            ending=self.ending(run.outcome),
            is_troubled=run.outcome in TROUBLED,
            values=named_values(self._words, experiment, told_values(experiment, run), run)
            if experiment
            else (),
            facts=(
                *self.settings(run.experiment, run.params),
                (say("runs.machine"), run.machine),
                (say("runs.when"), exact),
                (say("runs.id"), run.run[:8]),
            ),
            is_pinned=run.run_notes.pinned,
            remarks=tuple(
                note_text(self._words, key, values, run.experiment)
                for key, values in run.notes
                if self._words.has(f"{run.experiment}.notes.{key}")
            ),
        )

    def _guessed(self, run: Kept) -> str:
        """Return the prediction of a run, as soon as it was judged."""
        guess, made = self._prediction(run), run.run_notes.guess
        if guess is None or made is None:
            return ""
        say = self._words.say
        sure = say(f"lesson.sure_{made.sure}") if made.sure else ""
        key = "runs.guessed_sure" if sure else "runs.guessed"
        if run.run_notes.guess_before:
            key = "runs.guessed_sure_before" if sure else "runs.guessed_before"
        said = say(key, {"guess": guess.guess, "sure": sure})
        if not guess.right:
            return said
        key = "runs.it_was_off" if guess.miss else "runs.it_was"
        was = say(key, {"right": guess.right, "miss": guess.miss})
        return " ".join(filter(None, (said, was, guess.counts)))

    def when(self, at: str) -> tuple[str, str]:
        """Return a time in short words, and exactly; an invalid time unchanged."""
        if (known := time_of(at)) is None:
            return at, at
        then = known.astimezone()
        time = f"{then:%H:%M}"
        days = (self._now.date() - then.date()).days
        day = f"{then.day} {self._months[then.month - 1]}"
        exact = f"{day} {then.year} {then:%H:%M:%S}"
        if days == 0:
            return self._words.say("runs.today", {"time": time}), exact
        if days == 1:
            return self._words.say("runs.yesterday", {"time": time}), exact
        if then.year == self._now.year:
            return day, exact
        return f"{then.day} {self._short_months[then.month - 1]} {then.year}", exact

    def _experiment(self, experiment_id: str) -> Experiment[Any] | None:
        """Return an experiment, None if this program does not know it."""
        if experiment_id not in self._experiments:
            try:
                self._experiments[experiment_id] = self._catalogue.load(experiment_id)
            except UserError:
                self._experiments[experiment_id] = None
        return self._experiments[experiment_id]

    def ending(self, outcome: str) -> str:
        """Return a word for how a run ended, "" if it completed."""
        key = ENDINGS.get(messages.Outcome(outcome))
        return self._words.say(key) if key else ""

    def settings(self, experiment_id: str, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield name and value of each parameter, in words."""
        experiment = self._experiment(experiment_id)
        return settings(self._words, experiment, params) if experiment else iter(())

    def _question(self, run: Kept) -> str:
        key = f"{run.experiment}.question"
        return self._words.say(key) if self._words.has(key) else run.experiment

    def _kind(self, run: Kept) -> str:
        if not run.quick and run.outcome != messages.Outcome.COMPLETED:
            return ""  # "stopped" or the like stands beside it
        kind = self._words.say("runs.quick" if run.quick else "runs.full")
        trust = "" if run.trust is Trust.SOLID else self._words.say(f"badges.{run.trust}")
        return " · ".join(filter(None, (kind, trust)))

    def _problem(self, run: Kept) -> str:
        assert run.problem is not None
        return self._words.say(f"problems.{run.problem['key']}", run.problem["values"])

    def _finding(self, experiment: Experiment[Any] | None, run: Kept) -> str:
        if experiment is None or not run.message:
            return ""
        found = messages.FindingSent(
            message=run.message, values=run.values, limits=[], trust=run.trust
        )
        return verdict(self._words, experiment, found)

    def _results(self, run: Kept) -> Iterator[Result]:
        """Yield the most important numbers: ratios, those of card and finding, those of parts."""
        experiment = self._experiment(run.experiment)
        if experiment is None:
            return
        units = {value.name: value.unit for value in experiment.values}
        keys = (f"{run.experiment}.in_short", f"{run.experiment}.findings.{run.message}")
        text = " ".join(self._words.say(key) for key in keys if self._words.has(key))
        named = asked(text)
        ratios = [name for name, unit in units.items() if unit == "ratio"]
        units |= {name: unit_of(name) for name in named if name not in units}
        of_parts = [value.name for value in experiment.values if value.part]
        wanted = [
            name for name in dict.fromkeys((*ratios, *named, *of_parts)) if name in run.values
        ]
        values = told_values(experiment, run) if run.trust is not Trust.DISTURBED else {}
        named = [name for name in wanted if units[name] and name in values]  # counts have no unit
        for name in named[:SHOWN_RESULTS]:
            value = values[name]
            shown = number(self._words, name, value, units[name], run)
            yield Result(label(self._words, experiment, name), shown, value)

    def changed(
        self, experiment_id: str, params: Mapping[str, Any], *, quick: bool
    ) -> Iterator[str]:
        """Return the settings that differ from the defaults here."""
        return self.differing(experiment_id, params, self._start(experiment_id, quick=quick))

    def differing(
        self, experiment_id: str, params: Mapping[str, Any], others: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield the settings that differ from those in `others`."""
        told = dict(self.settings(experiment_id, others))
        known = {name: value for name, value in params.items() if name in others}
        other = {
            name: value for name, value in known.items() if _plain(value) != _plain(others[name])
        }
        for called, value in self.settings(experiment_id, other):
            if value != told.get(called):  # free memory varies a little
                yield f"{called} {value}"

    def _start(self, experiment_id: str, *, quick: bool) -> Mapping[str, Any]:
        key = experiment_id, quick
        if key not in self._starts:
            entry = self._entries.get(experiment_id)
            params = (entry.quick_params if quick else entry.params) if entry else None
            self._starts[key] = to_json(params) if params is not None else {}
        return self._starts[key]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
