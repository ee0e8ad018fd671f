"""Brings the question of a surprise back once, a week later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from app.report import time_of
from app.runs.library import Kept
from app.window.core.availability import Entry
from app.window.core.listing import Listing
from app.window.core.predictions import Predictions
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from app.window.runs.archive import Archive
from widgets.runs.reminder import Reminder

AFTER = timedelta(days=7)


class Surprises:
    """Fills the reminder, and does what is answered."""

    def __init__(
        self, session: Session, archive: Archive, predictions: Predictions, reminder: Reminder
    ) -> None:
        self._session, self._archive, self._predictions = session, archive, predictions
        self._reminder = reminder
        self._run: Kept | None = None
        self._answered: set[str] = set()  # file names, should notes not be writable
        reminder.answered.connect(self._take)

    def remind(self, runs: Iterable[Kept], listing: Listing) -> None:
        """Offer the newest question that is due, of predicted runs.

        None where numbers are shown at once.
        """
        session, text = self._session, ""
        if session.settings.numbers:
            self._run = None
        else:
            now = datetime.now(UTC)
            self._run = due(runs, self._predictions, session.entries, now)
        if self._run is not None and self._run.path.name in self._answered:
            self._run = None
        if self._run is not None and (told := self._predictions.of(self._run)) is not None:
            values = {
                "question": session.words.say(f"{self._run.experiment}.question"),
                "guess": told.guess,
                "when": listing.when(self._run.at)[0],
            }
            text = session.words.say("runs.ask_again_question", values)
        self._reminder.offer(text)

    def _take(self, again: bool) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        self._answered.add(run.path.name)
        self._archive.describe(run, asked_again=True)
        if again:
            self._session.go(EXPERIMENTS, experiment=run.experiment, then="ask")


def due(
    runs: Iterable[Kept], predictions: Predictions, entries: Mapping[str, Entry], now: datetime
) -> Kept | None:
    """Return the newest surprise of a week ago or more whose question was not asked again."""
    seen: set[str] = set()
    made = (run for run in runs if not run.run_notes.guess_before)
    guessed = (run for run in made if run.run_notes.guess is not None and run.problem is None)
    for run in sorted(guessed, key=lambda run: run.at, reverse=True):
        if run.experiment in seen:
            continue  # its question was answered anew since
        seen.add(run.experiment)
        told, entry = predictions.of(run), entries.get(run.experiment)
        can_be = entry is not None and entry.need is None
        is_surprise = told is not None and told.is_surprise and not run.run_notes.asked_again
        if is_surprise and can_be and _is_past(run.at, now - AFTER):
            return run
    return None


def _is_past(at: str, limit: datetime) -> bool:
    then = time_of(at)
    return then is not None and then <= limit
