"""The reports of a checkup, of two checkups compared, and of those of many machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from app.checkup.compare import Compared, known
from app.checkup.gather import Gathered, to_json
from app.checkup.in_words import (
    MARKS,
    RowText,
    absent,
    compared_lines,
    day,
    facts,
    gathered_title,
    odd_text,
    pair_text,
    row_text,
    slower_text,
    summary,
)
from app.reports.document import (
    Bullets,
    Document,
    Facts,
    Heading,
    Paragraph,
    Part,
    State,
    Table,
)
from app.reports.privacy import Include, clean
from app.reports.ticket import (
    COLOURS,
    TOLD,
    load_parts,
    machine_of,
    machine_parts,
    order_parts,
)
from experiments.checkup.order import is_of_order
from experiments.checkup.result import Result, Row, Word
from experiments.core.words import Words

if TYPE_CHECKING:
    from app.reports.run_report import Draw


def checkup_report(
    words: Words,
    result: Result,
    include: Include,
    compared: Compared | None = None,
    draw: Draw | None = None,
) -> Document:
    """Return the report of a checkup, with what changed since another one where it is given.

    Without `draw` the load has no plots.
    """
    shown = result if include.name else replace(result, name="")
    document = Document(
        title=words.say("checkup.title"),
        subtitle=" · ".join(filter(None, (shown.name, known(shown).get("processor", "")))),
        date=result.at,
        parts=tuple(_parts(words, shown, compared, draw)),
        data={"checkup": msgspec.to_builtins(shown)} if include.data else {},
        name=f"checkup-{result.at[:10]}",
    )
    return clean(document, names=include.names)


def _parts(
    words: Words, result: Result, compared: Compared | None, draw: Draw | None
) -> Iterator[Part]:
    machine = machine_of(result)
    texts = [(row, row_text(words, row)) for row in result.rows if row.word is not Word.ABSENT]
    yield Paragraph(summary(words, result.rows), "strong")
    yield Paragraph(words.say("checkup.standing"), "soft")
    if result.outcome == "stopped":
        yield Paragraph(words.say("checkup.stopped"))
    yield from _not_fine(words, texts)
    yield from order_parts(words, result)
    if machine is not None:
        yield from machine_parts(words, machine, result.rows)
    yield from load_parts(words, result.trace, draw)
    for stage in dict.fromkeys(text.stage for _, text in texts):
        of = [(row, text) for row, text in texts if text.stage == stage and not is_of_order(row)]
        if of:
            yield Heading(stage)
            yield Table(
                head=_heads(words, "check", "found", "expected"),
                rows=tuple((text.title, text.found, text.expected) for _, text in of),
                states=tuple(_state(row.word, text.word) for row, text in of),
            )
    if compared is not None:
        yield from comparison_parts(words, compared)
    yield Heading(words.say("checkup.conditions"))
    yield Facts(tuple(_conditions(words, result, compared, told=machine is not None)))


def _not_fine(words: Words, texts: Sequence[tuple[Row, RowText]]) -> Iterator[Part]:
    """Yield problems, what is to be looked at, and what could not be checked."""
    bad = [(row, text) for row, text in texts if row.word in (Word.LOOK, Word.PROBLEM)]
    for row, text in sorted(bad, key=lambda each: each[0].word is not Word.PROBLEM):
        yield Heading(f"{MARKS[row.word]} {text.title}: {text.found}")
        yield Paragraph(text.meaning)
        yield Facts(tuple(_open(words, row, text)))
    unchecked = [(row, text) for row, text in texts if row.word is Word.UNCHECKED]
    if unchecked:
        yield Heading(words.say("checkup.words.unchecked"))
        yield Bullets(
            tuple(f"{text.title}: {text.meaning} {text.advice}".strip() for _, text in unchecked)
        )


def _open(words: Words, row: Row, text: RowText) -> Iterator[tuple[str, str]]:
    yield words.say("checkup.next"), text.advice
    if text.expected:
        yield words.say("checkup.columns.expected"), text.expected
    yield words.say("checkup.how_sure"), f"{text.sure} {text.rule}."


def comparison_parts(words: Words, compared: Compared) -> Iterator[Part]:
    """Yield what changed between two checkups."""
    first, *others = compared_lines(words, compared)
    yield Heading(first)
    if compared.changed:
        texts = [pair_text(words, pair) for pair in compared.changed]
        yield Table(
            head=_heads(words, "check", "before", "now", "ratio"),
            rows=tuple(tuple(text) for text in texts),
            states=tuple(
                _state(pair.row.word, row_text(words, pair.row).word) for pair in compared.changed
            ),
        )
    for line in others:
        yield Paragraph(line, "soft")


def gathered_report(words: Words, gathered: Gathered) -> Document:
    """Return the report of many machines: the odd ones first, then a row for each."""
    document = Document(
        title=words.say("checkup.gathered.title"),
        subtitle=gathered_title(words, gathered),
        date=max(node.result.at for node in gathered.nodes),
        parts=tuple(_gathered_parts(words, gathered)),
        data={"gathered": to_json(gathered)},
        name="machines",
    )
    return clean(document)


def _gathered_parts(words: Words, gathered: Gathered) -> Iterator[Part]:
    say = words.say
    if gathered.odd:
        yield Bullets(tuple(f"{MARKS[o.word]} {odd_text(words, o)}" for o in gathered.odd))
    else:
        is_any = len(gathered.alone) < len(gathered.nodes)
        yield Paragraph(say(f"checkup.gathered.{'none_odd' if is_any else 'none_compared'}"))
    if gathered.alone:
        yield Paragraph(say("checkup.gathered.alone", {"names": ", ".join(gathered.alone)}), "soft")
    yield Table(
        head=(
            say("checkup.gathered.machine"),
            *(say(f"checkup.words.{word}") for word in Word),
            say("checkup.gathered.what"),
        ),
        rows=tuple(
            (
                node.name,
                *(str(node.result.count(word)) for word in Word),
                ", ".join(
                    [
                        *(slower_text(words, odd) for odd in gathered.odd_in(node)),
                        *(
                            f"{row_text(words, row).title}: {row_text(words, row).found}"
                            for row in node.result.rows
                            if row.word in (Word.LOOK, Word.PROBLEM)
                        ),
                    ]
                ),
            )
            for node in gathered.nodes
        ),
        states=tuple(
            _state(word, say(f"checkup.words.{word}"))
            for word in map(gathered.word_of, gathered.nodes)
        ),
        numbers=frozenset(range(1, len(Word) + 1)),
    )


def _heads(words: Words, *names: str) -> tuple[str, ...]:
    return tuple(words.say(f"checkup.columns.{name}") for name in names)


def _state(word: Word, said: str) -> State:
    return State(MARKS[word], said, COLOURS[word])


def _conditions(
    words: Words, result: Result, compared: Compared | None, *, told: bool
) -> Iterator[tuple[str, str]]:
    """Yield what numbers depend on; `told` is what the part about the machine has."""
    yield words.say("checkup.title"), " · ".join(facts(words, result))
    for key, value in known(result).items():
        if told and key in TOLD:
            continue
        yield words.say(f"checkup.facts.{key}"), value
    if said := absent(words, result.rows):
        yield words.say("checkup.words.absent"), said
    if compared is not None and compared.before.id == result.baseline:
        yield words.say("checkup.sources.baseline"), day(compared.before.at)
