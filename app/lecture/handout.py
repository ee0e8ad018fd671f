"""The handout of a lecture: what was asked, what the class voted, what was measured, and why."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from app.evidence import Evidence
from app.guesses import in_words
from app.lecture.fallbacks import StandIns
from app.lecture.file import SUFFIX, Item
from app.lecture.lecture_state import LETTERS
from app.lecture.lectures import SHIPPED
from app.lecture.options import Options, options_of, options_of_guess
from app.lecture.record import HeldItem, LectureRecord, file_name
from app.reports.document import Code, Document, Heading, Paragraph, Part, Table
from app.reports.privacy import Include, clean
from app.reports.run_report import Draw, RunParts, Source, source_of
from app.runs.library import machine_name
from experiments.core.declare import Experiment
from experiments.core.judging.trust import as_trusted, is_told
from experiments.core.problems import Problem, UserError
from experiments.core.teaching.lessons import Background, Taught
from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.guesses.questions import Question, named
from machine.record import Record

INCLUDE = Include(prediction=False, data=False)  # a guess would be the presenter's


class HandoutItem(Record):
    """The parts of an item; `problem` says why a run is missing, or another stands in."""

    item: HeldItem
    experiment: Experiment[Any] | None = None
    lesson: Taught | None = None
    source: Source | None = None
    is_shown: bool = False  # it is the very run that the class saw
    problem: Problem | None = None


def find(held: LectureRecord, stand_ins: StandIns) -> list[HandoutItem]:
    """Return every item with the run that was shown, or what stands in; may take a while.

    Recordings are looked for beside the file of the lecture or of its record. A lecture that was
    not held yet has no runs, so recordings stand in for them.
    """
    lecture = stand_ins.lecture.with_name(f"{held.name}{SUFFIX}")
    if not os.path.exists(lecture) and os.path.exists(SHIPPED / lecture.name):
        lecture = SHIPPED / lecture.name
    stand_ins = dataclasses.replace(stand_ins, lecture=lecture)
    return [_found(item, bool(held.at), stand_ins) for item in held.item]


def _found(item: HeldItem, is_held: bool, stand_ins: StandIns) -> HandoutItem:
    catalogue = stand_ins.catalogue
    try:
        experiment = catalogue.load(item.experiment)
        lesson = None if item.guess else catalogue.lesson(experiment)
    except UserError as trouble:
        return HandoutItem(item=item, problem=trouble.problem)
    found = HandoutItem(item=item, experiment=experiment, lesson=lesson)
    if is_held and not item.run:
        return replace(found, problem=Problem("handout_not_shown"))
    like = Item(experiment=item.experiment, recording=item.recording, set=item.set)
    behind = stand_ins.find(like, experiment, item.run)
    problem, best = next(iter(behind.faults.values()), None), behind.best
    if best is None:
        return replace(found, problem=problem or Problem("handout_no_run"))
    try:
        source = source_of(best.path, catalogue)
    except UserError as trouble:  # it has just been deleted or changed
        return replace(found, problem=trouble.problem)
    if item.run and best.started.run == item.run:
        return replace(found, source=source, is_shown=True)
    gone = Problem("handout_run_gone") if item.run else None
    return replace(found, source=source, problem=problem or gone)


def handout(
    words: Words,
    held: LectureRecord,
    found: Sequence[HandoutItem],
    draw: Draw | None,
    why_not: str = "",
) -> Document:
    """Return the handout of a lecture with the runs of its items, without names.

    Without `draw` it has no pictures, and `why_not` says why.
    """
    items = [_Item(words, held, each, draw) for each in found]
    machines = dict.fromkeys(item.machine for item in items if item.is_live)
    date = held.at or datetime.now(UTC).isoformat()
    title = held.title or words.say("handout.untitled")
    parts: list[Part] = [Paragraph(why_not, "soft")] if why_not else []
    for number, item in enumerate(items, start=1):
        parts += item.parts(number)
    document = Document(
        title=title,
        subtitle=" · ".join((words.say("handout.handout"), *machines)),
        date=date,
        parts=parts or (Paragraph(words.say("handout.empty")),),
        name=f"{file_name(title)}-{date[:10]}",
        foot="handout.written_by",
    )
    return clean(document)


class _Item:
    """Puts an item into the parts of the handout."""

    def __init__(
        self, words: Words, held: LectureRecord, found: HandoutItem, draw: Draw | None
    ) -> None:
        self._words, self._found, self._item = words, found, found.item
        self._is_held = bool(held.at)
        self._run = RunParts(words, found.source, INCLUDE, draw) if found.source else None
        lesson = found.lesson  # it may have other options by now
        self._today = options_of(lesson.voted_on(None), words) if lesson is not None else None
        self._question = named(found.item.guess)
        if self._question is not None:
            self._today = options_of_guess(self._question, words)
        self._evidence: Evidence | None = None
        if self._run is not None and found.lesson is not None:
            self._evidence = self._run.evidence(found.lesson)

    @property
    def is_live(self) -> bool:
        """Was its run measured before the eyes of the class?"""
        return self._run is not None and self._found.is_shown and not self._item.is_recording

    @property
    def machine(self) -> str:
        """The machine of its run."""
        return machine_name(self._run.started) if self._run is not None else ""

    def parts(self, number: int) -> Iterator[Part]:
        """Yield every part in its order."""
        say, experiment = self._words.say, self._found.experiment
        question = say(f"{experiment.id}.question") if experiment is not None else ""
        if self._question is not None:
            question = in_words.ask(self._words, self._question)
        title = self._item.title or question or self._item.experiment
        yield Heading(say("handout.heading", {"number": number, "title": title}))
        if question not in ("", title):
            yield Paragraph(question, "strong")
        yield from self._background()
        yield from self._votes()
        if self._run is None:
            yield self._trouble("handout.no_result")
            return
        if self._found.problem is not None:
            yield self._trouble("handout.other_recording")
        if self._question is not None:
            yield from self._answer(self._run, self._question)
            return
        yield from self._result(self._run)
        if self._found.lesson is None:
            yield Paragraph(say("handout.no_lesson"), "soft")
        elif self._evidence is None:
            yield Paragraph(say("handout.unexplained"), "soft")
        else:
            yield from self._run.band(self._evidence)
            yield from self._explanation(self._run, self._found.lesson, self._evidence)

    def _background(self) -> Iterator[Part]:
        """Yield what the question stands on, as the slide showed it."""
        on = self._found.lesson.stands_on if self._found.lesson is not None else Background()
        if on.context:
            yield Paragraph(on.context)
        if on.code:
            yield Code(tuple(on.code.split("\n")))

    def _votes(self) -> Iterator[Part]:
        """Yield the answers with the hands for each, and say how many were right."""
        options = self._options()
        if options is None:
            return
        item, say = self._item, self._words.say
        right = self._right(options)
        rounds = [votes for votes in (item.first, item.second) if votes and sum(votes)]
        if options.ask and self._question is None:  # else it stands above
            yield Paragraph(options.ask)
        heads = [say("handout.answer")]
        for key in ("handout.first", "handout.second")[: len(rounds)]:
            heads += [say(key), say("handout.share")]
        yield Table(
            head=heads,
            rows=tuple(
                self._row(options, place, right, rounds) for place in range(len(options.texts))
            ),
            numbers=frozenset(range(1, len(heads))),
        )
        if not rounds and self._is_held:
            yield Paragraph(say("handout.nobody"), "soft")
        elif rounds and right is not None:
            first, last = rounds[0], rounds[-1]
            key = "handout.had_it" if first is last else "handout.had_it_then"
            values = {"right": first[right], "total": sum(first),
                      "right_then": last[right], "total_then": sum(last)}  # fmt: skip
            yield Paragraph(say(key, values))

    def _row(
        self, options: Options, place: int, right: int | None, rounds: Sequence[Sequence[int]]
    ) -> tuple[str, ...]:
        key = "handout.right" if place == right else "handout.option"
        named = {"letter": LETTERS[place], "text": options.texts[place]}
        cells = [self._words.say(key, named)]
        for votes in rounds:
            cells += [str(votes[place]), show(round(votes[place] / sum(votes), 2), "fraction")]
        return tuple(cells)

    def _options(self) -> Options | None:
        """Return what the class voted on, or could vote on."""
        item, lesson = self._item, self._found.lesson
        if item.options:
            ask = lesson.voted_on(None).ask if lesson is not None else ""
            value = self._question.value if self._question is not None else ""
            return Options(ask, item.options, item.numbers, value)
        return self._today

    def _right(self, options: Options) -> int | None:
        """Return the right option; None where the run, or another lesson by now, cannot tell."""
        lesson, run = self._found.lesson, self._run.lesson_run() if self._run else None
        if run is None or (lesson is None and self._question is None):
            return None
        if self._question is None and not is_told(run.message, run.trust):
            return None
        today = self._today
        if today is None or bool(options.numbers) != bool(today.numbers):
            return None
        if not options.numbers and options.texts != today.texts:
            return None
        return options.right(lesson, run)

    def _answer(self, run: RunParts, question: Question) -> Iterator[Part]:
        """Yield the answer of a guess, and why; the class saw no more of the run."""
        yield self._source(run)
        found = run.lesson_run()
        if found is not None and question.value in found.values:
            value = as_trusted(found.values, found.trust)[question.value]
            yield Paragraph(in_words.answer(self._words, question, value), "strong")
            yield Paragraph(in_words.because(self._words, question))

    def _source(self, run: RunParts) -> Part:
        key = "handout.live" if self.is_live else "handout.recorded"
        values = {"machine": self.machine, "date": run.started.at[:10]}
        return Paragraph(self._words.say(key, values), "soft")

    def _result(self, run: RunParts) -> Iterator[Part]:
        yield self._source(run)
        yield from (Paragraph(text) for text in run.remarks())
        yield from run.result()
        assert self._found.experiment is not None
        yield from run.plots(*(view.key for view in self._found.experiment.plots[:1]))

    def _explanation(self, run: RunParts, lesson: Taught, evidence: Evidence) -> Iterator[Part]:
        say, explain, experiment = self._words.say, lesson.words.explain, self._found.experiment
        assert experiment is not None
        told = evidence.explained
        yield Paragraph(told.headline, "strong")
        yield from map(Paragraph, (told.text, *told.beside))
        yield from run.motion(lesson, evidence)
        view = explain.confirm.view
        named = {"view": say(f"{experiment.id}.views.{view}"), "text": told.confirm}
        yield Paragraph(say("lesson.confirm", named))
        if view != experiment.plots[0].key:
            yield from run.plots(view)
        yield Paragraph(told.why_not_double)
        yield Paragraph(say("lesson.belief", {"belief": told.belief, "answer": told.answer}))
        yield Paragraph(say("handout.transfer", {"ask": told.transfer, "to": explain.transfer.to}))

    def _trouble(self, key: str) -> Part:
        problem = self._found.problem
        assert problem is not None
        reason = self._words.say(f"problems.{problem.key}", problem.values)
        return Paragraph(self._words.say(key, {"reason": reason}), "soft")
