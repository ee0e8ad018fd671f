"""A result, or the rows of a checkup on its way, as what the page shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from app.checkup.in_words import answer_text, doing, facts, preconditions, row_text
from experiments.checkup.result import Result, Row, Word
from experiments.checkup.rules import rules
from experiments.core.declare import Part
from experiments.core.words import Words
from experiments.engine import messages
from widgets.checkup.counts import Count
from widgets.checkup.page_data import PageData, RowData, RowLink

if TYPE_CHECKING:
    from experiments.checkup.checks.order import Answer
    from experiments.checkup.run_checkup import Event
    from machine.live.surroundings import Surroundings

TO_MAP, TO_EXPERIMENT, TO_ORDER = "map", "experiment", "order"  # kinds of links
COUNTED = (Word.FINE, Word.LOOK, Word.PROBLEM, Word.UNCHECKED)
SUSTAINED = "sustained"  # the experiment whose samples are drawn, and kept in the result
_PARTS = {
    "devices": None,
    "kernel-log": None,
    "memory-errors": Part.MEMORY,
    "memory-speed": Part.MEMORY,
    "memory-bandwidth": Part.MEMORY,
    "cores": Part.CORES,
    "disk": Part.STORAGE,
    "gpu-link": Part.PCIE,
    "gpu-copy": Part.PCIE,
    "nvlinks": Part.NVLINK,
    "gpu-pairs": Part.NVLINK,
}
_PART_OF = {"cpu": Part.CORES, "memory": Part.MEMORY, "disk": Part.STORAGE}
_GPU = re.compile(r"gpu\d+\b.*")


def page_data(words: Words, result: Result, experiments: Collection[str]) -> PageData:
    """Return what is shown of a result; links lead to these experiments and to the map."""
    notes = [*preconditions(words, result.surroundings)]
    if result.outcome == "stopped":
        notes.insert(0, words.say("checkup_page.stopped"))
    return PageData(
        about=" · ".join(facts(words, result)),
        notes=notes,
        trace=result.trace,
        **rows_data(words, result.rows, experiments),
    )


def rows_data(words: Words, rows: Iterable[Row], experiments: Collection[str]) -> dict[str, Any]:
    """Return the rows, those of what is not here apart, and how many say what."""
    found = [(row, _row(words, row, experiments)) for row in rows]
    return {
        "counts": counts(words, [row for row, _ in found]),
        "rows": [data for row, data in found if row.word is not Word.ABSENT],
        "absent": [data for row, data in found if row.word is Word.ABSENT],
    }


def counts(words: Words, rows: Sequence[Row]) -> list[Count]:
    """Return how many rows say what."""
    found = []
    for word in COUNTED if rows else ():
        count = sum(row.word is word for row in rows)
        text = words.say(f"checkup_page.counts.{word}", {"count": count})
        found.append((word, count, text))
    return found


def _row(words: Words, row: Row, experiments: Collection[str]) -> RowData:
    text, links = row_text(words, row), tuple(_links(words, row, experiments))
    told: dict[str, Any] = {**text._asdict(), "word": row.word, "word_text": text.word}
    return RowData(key=f"{row.rule} {row.part}", links=links, **told)


def answer_rows(words: Words, answers: Iterable[Answer]) -> list[RowData]:
    """Return the answers to the lines of an order as rows."""
    from experiments.checkup.checks.order import order_rule, row_of  # loads the engine

    rule, found = order_rule(), []
    for number, each in enumerate(answers):
        text = row_text(words, row_of(rule, each))
        kind, _, there = answer_text(words, each)
        found.append(
            RowData(
                key=str(number),
                word=each.word,
                word_text=kind,
                stage="",
                title=text.title,
                found=there,
                meaning=text.meaning,
                advice=text.advice,
            )
        )
    return found


def _links(words: Words, row: Row, experiments: Collection[str]) -> Iterator[RowLink]:
    if row.rule == "devices":
        yield RowLink(TO_ORDER, words.say("checkup_page.order"))
    part = part_of(row)
    if part is not None and row.word is not Word.ABSENT:
        yield RowLink(f"{TO_MAP} {part}", words.say("checkup_page.show_on_map"))
    measure = next((rule.measure for rule in rules().rule if rule.id == row.rule), "")
    if measure in experiments:
        text = words.say("checkup_page.open_experiment")
        yield RowLink(f"{TO_EXPERIMENT} {measure}", text)


def part_of(row: Row) -> Part | None:
    """Return the part of the map that a row is about, None for the whole machine."""
    if row.rule in _PARTS:
        return _PARTS[row.rule]
    return Part.GPU if _GPU.fullmatch(row.part) else _PART_OF.get(row.part)


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
