"""A result, or the rows of a checkup on its way, as what the page shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.checkup.in_words import facts, row_text
from app.checkup.preconditions import preconditions
from experiments.checkup.result import Result, Row, Word
from experiments.checkup.rules import rules
from experiments.core.declare import Part
from experiments.core.words import Words
from widgets.checkup.counts import Count
from widgets.checkup.page_data import PageData, RowData, RowLink

TO_MAP, TO_EXPERIMENT, TO_ORDER = "map", "experiment", "order"  # kinds of links
COUNTED = (Word.FINE, Word.LOOK, Word.PROBLEM, Word.UNCHECKED)
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
    text = row_text(words, row)
    return RowData(
        key=f"{row.rule} {row.part}",
        word=row.word,
        word_text=text.word,
        stage=text.stage,
        title=text.title,
        found=text.found,
        expected=text.expected,
        meaning=text.meaning,
        advice=text.advice,
        sure=text.sure,
        rule=text.rule,
        links=tuple(_links(words, row, experiments)),
    )


def _links(words: Words, row: Row, experiments: Collection[str]) -> Iterator[RowLink]:
    if row.rule == "devices":
        yield RowLink(TO_ORDER, words.say("checkup_page.order"))
    part = part_of(row)
    if part is not None and row.word is not Word.ABSENT:
        yield RowLink(f"{TO_MAP} {part}", words.say("checkup_page.show_on_map"))
    measure = _measures().get(row.rule, "")
    if measure in experiments:
        text = words.say("checkup_page.open_experiment")
        yield RowLink(f"{TO_EXPERIMENT} {measure}", text)


def part_of(row: Row) -> Part | None:
    """Return the part of the map that a row is about, None for the whole machine."""
    if row.rule in _PARTS:
        return _PARTS[row.rule]
    return Part.GPU if _GPU.fullmatch(row.part) else _PART_OF.get(row.part)


def _measures() -> Mapping[str, str]:
    return {rule.id: rule.measure for rule in rules().rule}
