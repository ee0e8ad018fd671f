"""A checkup on its way, from its events: rows so far, what it does, what was watched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from app.checkup.in_words import doing
from app.checkup.preconditions import preconditions
from app.window.checkup.page_rows import rows_data
from experiments.checkup.result import Row
from experiments.core.words import Words
from experiments.engine import messages
from widgets.checkup.page_data import PageData

if TYPE_CHECKING:
    from experiments.checkup.run_checkup import Event
    from machine.live.surroundings import Surroundings

SUSTAINED = "sustained"  # the experiment whose samples are drawn, and kept in the result


class Progress:
    """Takes every event; `doing`, `left_s`, `fraction` and `note` say what goes on."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._rows: dict[str, tuple[Row, ...]] = {}
        self._order: tuple[str, ...] = ()  # of the rules
        self._surroundings: Surroundings | None = None
        self._start_s: float | None = None  # of the samples
        self.trace: list[dict[str, Any]] = []
        self.doing, self.note = words.say("checkup.doing.looking"), ""
        self.fraction: float | None = None
        self.left_s: float | None = None

    def hear(self, event: Event) -> bool:
        """Take an event; return whether rows, notes or the trace have changed."""
        from experiments.checkup import run_checkup  # loaded by the thread that follows

        match event:
            case run_checkup.Planned():
                self._order = tuple(rule.id for rule in event.rules)
                self.left_s = event.seconds
            case run_checkup.Surrounded():
                self._surroundings = event.surroundings
                return True
            case run_checkup.Began():
                self.doing, self.note = doing(self._words, event), ""
            case run_checkup.Moved():
                self.fraction, self.left_s, self.note = event.fraction, event.left_s, ""
            case run_checkup.Noted() if event.note.key in messages.WAITING:
                self.note = self._words.say(f"notes.{event.note.key}", event.note.values)
            case run_checkup.Watched() if event.experiment == SUSTAINED:
                self._watch(event)
                return True
            case run_checkup.Found():
                self._rows[event.rule.id] = event.rows
                return True
        return False

    @property
    def rows(self) -> Iterator[Row]:
        """The rows found so far, in the order of their rules."""
        known = (*self._order, *(rule for rule in self._rows if rule not in self._order))
        return chain.from_iterable(self._rows.get(rule, ()) for rule in known)

    def page_data(self, experiments: Collection[str]) -> PageData:
        """Return what the page shows of it."""
        return PageData(
            notes=[*preconditions(self._words, self._surroundings)],
            trace=self.trace,
            **rows_data(self._words, self.rows, experiments),
        )

    def _watch(self, event: Any) -> None:
        from experiments.checkup.evidence import traced

        if self._start_s is None:
            self._start_s = event.sample.t_s
        self.trace.append(traced(event.sample, event.sample.t_s - self._start_s))
