"""A page that a student hands in, and its answer sheet; both follow from one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from app.evidence import Evidence
from app.reports.document import Bullets, Document, Facts, Heading, Paragraph, Part, Ruled
from app.reports.privacy import Include, clean
from app.reports.run_report import Draw, RunParts, Source
from app.runs.library import machine_name
from experiments.core.teaching.lessons import GAP, Choice, Gap, Rank, Taught
from experiments.core.words import Words

LINES = 4  # to write on
NAME = 3 * GAP
LEAVES = Include(own_words=True)  # with the prediction: a worksheet is about both


def worksheet(
    sources: Sequence[Source], words: Words, include: Include, draw: Draw | None
) -> Document:
    """Return the worksheet of runs, or with `include.answers` the sheet for who marks it.

    The sheet of a single run carries its data if `include.data`. Without `draw` it has no plots.
    Raises UserError where an experiment has changed its tables since.
    """
    say = words.say
    sheets = [_Sheet(source, words, include, draw) for source in sources]
    parts: list[Part] = []
    data: dict[str, Any] = {}
    if not include.answers:
        parts.append(Paragraph(f"{say('worksheet.name')} {NAME}"))
    for sheet in sheets:
        if len(sheets) > 1:
            parts.append(Heading(sheet.question))
        parts += sheet.parts()
    if len(sheets) == 1:
        data = sheets[0].run.data() if include.data else {}
    kind = say("worksheet.answers" if include.answers else "worksheet.title")
    machines = dict.fromkeys(machine_name(sheet.run.started) for sheet in sheets)
    ids = ", ".join(sheet.run.started.run[:4] for sheet in sheets)
    of_runs = say("worksheet.of_runs", {"count": len(sheets), "ids": ids})
    first = sheets[0]
    file = "answers" if include.answers else "worksheet"
    document = Document(
        title=first.question if len(sheets) == 1 else kind,
        subtitle=" · ".join((kind, *machines, of_runs)),
        date=first.run.started.at,
        parts=parts,
        data=data,
        name=f"{file}-{first.id}-{first.run.started.at[:10]}",
        foot="worksheet.written_by",
    )
    return clean(document, names=include.names)


def can_tell(document: Document, words: Words) -> bool:
    """Return whether each run of a sheet holds what the sheet asks for."""
    return _unanswered(words) not in document.parts


def _unanswered(words: Words) -> Paragraph:
    return Paragraph(words.say("worksheet.cannot_tell"), "strong")


class _Sheet:
    """Puts one run into the parts of its sheet."""

    def __init__(self, source: Source, words: Words, include: Include, draw: Draw | None) -> None:
        self.run = RunParts(words, source, include, draw)
        self.id, self.question = source.experiment.id, words.say(f"{source.experiment.id}.question")
        self._experiment, self._lesson, self._words = source.experiment, source.lesson, words
        self._has_answers = include.answers
        self._found = self.run.lesson_run()

    def parts(self) -> Iterator[Part]:
        """Yield the parts from what was expected to why."""
        yield from self._expected()
        yield self._heading("worksheet.saw")
        yield from self.run.plots(self._view())
        yield from self.run.trust()
        yield from self._to_fill_in()
        yield from self._why()

    def _heading(self, key: str) -> Heading:
        return Heading(self._words.say(key))

    def _view(self) -> str:
        """Return the view that the lesson looks at."""
        if self._lesson is not None:
            return self._lesson.words.observe.view
        return self._experiment.plots[0].key

    def _expected(self) -> Iterator[Part]:
        """Yield the guess, or room for one, and beside the answers what was right."""
        lesson, guess, say = self._lesson, self.run.notes.guess, self._words.say
        if lesson is None:
            return
        yield self._heading("worksheet.expected")
        facts = []
        if guess is None or not lesson.accepts(guess):
            yield from self._asked(lesson)
        else:
            yield Paragraph(lesson.words.predict.ask)
            facts.append((say("lesson.you_predicted"), lesson.told(guess)))
            if guess.sure in (1, 2, 3):
                facts.append((say("lesson.how_sure"), say(f"lesson.sure_{guess.sure}")))
        if self._has_answers and self._found is not None and self.gaps():
            right = lesson.told_right(self._found)
            facts += [(say("worksheet.measured"), right)] if right else []
        if facts:
            yield Facts(tuple(facts))

    def _asked(self, lesson: Taught) -> Iterator[Part]:
        """Yield what a class is asked: paper has no plot to draw a guess on."""
        asked = lesson.voted_on(self._found.machine if self._found is not None else None)
        yield Paragraph(asked.ask)
        if isinstance(asked, Choice):
            yield Bullets([f"☐ {option.text}" for option in asked.options])
        elif isinstance(asked, Rank):
            yield Bullets([f"☐ {item}" for item in asked.items])
        elif not self._has_answers:
            yield Ruled(1)

    def gaps(self) -> tuple[Gap, ...]:
        """Return the sentences to fill in; none where the run cannot tell."""
        if self._found is None:
            return ()
        if self._lesson is not None:
            return self._lesson.gaps(self._found)
        return tuple(
            Gap(f"{name}: {GAP}", f"{name}: {shown}") for name, shown in self.run.read_first()
        )

    def _to_fill_in(self) -> Iterator[Part]:
        yield self._heading("worksheet.fill_in")
        gaps = self.gaps()
        if not gaps:
            yield _unanswered(self._words)
            return
        yield Bullets([gap.answer if self._has_answers else gap.text for gap in gaps])

    def _why(self) -> Iterator[Part]:
        """Yield what the student wrote, or lines; beside the answers the explanation."""
        own = self.run.notes.own_words
        if own or not self._has_answers:
            yield self._heading("worksheet.own_words")
            yield Paragraph(own) if own else Ruled(LINES)
        if not self._has_answers or self._lesson is None:
            return
        evidence = self.run.evidence(self._lesson)
        if evidence is not None:
            yield self._heading("lesson.explain")
            yield from self.run.band(evidence)
            yield from self._explained(self._lesson, evidence)

    def _explained(self, lesson: Taught, evidence: Evidence) -> Iterator[Part]:
        say, told = self._words.say, evidence.explained
        yield Paragraph(told.headline, "strong")
        yield from map(Paragraph, (told.text, *told.beside))
        yield Paragraph(say("lesson.belief", {"belief": told.belief, "answer": told.answer}))
        to = lesson.words.explain.transfer.to
        yield Paragraph(say("handout.transfer", {"ask": told.transfer, "to": to}))
