"""The report of one run: question, prediction, result, plots, all values, and its limits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from app.anonymous import nameless
from app.evidence import Evidence, evidence_of, shipped
from app.loaded_run import LoadedRun, as_lesson_run, clear_values
from app.report import Report, analysed_anew, conditions, note_text, notes_of_file, report, settings
from app.reports.document import (
    Bullets,
    Document,
    Facts,
    Heading,
    Paragraph,
    Part,
    Plot,
    Table,
)
from app.reports.pictures import ChartPicture, MotionPicture
from app.reports.privacy import Include, clean, clean_lines
from app.runs.library import machine_name
from app.runs.run_notes import RunNotes, read_notes, told_notes
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.judging.trust import DOUBTS
from experiments.core.problems import UserError
from experiments.core.tables import in_words, number_columns
from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.teaching.lessons import Taught
from experiments.core.teaching.motion_words import factor_text, moment_text
from experiments.core.teaching.playable import playable
from experiments.core.views import Plotted
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.recording import ALTERED, Recording, lines_of, read, recording_of
from experiments.engine.report_file import LIMIT_BYTES, carried_by

MOST_ROWS = 200  # of one plot, in a report; all of them are in its data
MOST_BYTES = LIMIT_BYTES // 2  # of the lines that a report carries

# Draws one view from its rows, the values of the finding, and the last frame, if there is one.
Draw = Callable[
    [Experiment[Any], Plotted, Sequence[Any], Mapping[str, float], messages.Frame | None],
    ChartPicture,
]


@dataclass(frozen=True, slots=True)
class Source:
    """A run as its file has it, and what its owner says of it."""

    recording: Recording
    lines: Sequence[bytes]
    experiment: Experiment[Any]
    notes: RunNotes
    lesson: Taught | None
    has_names: bool  # is there anything that names somebody, and that is left out by default?
    # Reads what explains the lesson where the run cannot.
    recorded: Callable[[], LoadedRun | None] = lambda: None


def source_of(path: Path, catalogue: Catalogue) -> Source:
    """Read a run file and the notes on it; may take a while. Raises UserError."""
    recording, lines = read(path), list(lines_of(path))
    carried = carried_by(path)
    notes = read_notes(path) if carried is None else told_notes(carried.notes)
    experiment = catalogue.load(recording.started.experiment)
    is_own = experiment.is_own
    without, said = nameless(), (notes.name, notes.note, notes.own_words, *notes.tags)
    has_names = any(without(text) != text for text in said) or clean_lines(
        lines, is_own=is_own
    ) != clean_lines(lines, is_own=is_own, names=True)
    lesson = catalogue.lesson(experiment)
    recorded = partial(shipped, catalogue, experiment)
    return Source(recording, lines, experiment, notes, lesson, has_names, recorded)


def run_report(source: Source, words: Words, include: Include, draw: Draw | None) -> Document:
    """Return the report of a run with what may leave; without `draw` it has no pictures.

    All of it follows from lines that were made clean first, so plots show no names either. Raises
    UserError if the experiment has changed its tables since.
    """
    parts = RunParts(words, source, include, draw)
    data = parts.data() if include.data else {}
    started, told = parts.started, list(parts.all())
    if include.data and not data:
        told.append(Paragraph(words.say("report.too_large", {"limit_bytes": MOST_BYTES}), "soft"))
    kind = words.say("runs.quick" if started.quick else "runs.full")
    document = Document(
        title=words.say(f"{source.experiment.id}.question"),
        subtitle=" · ".join(filter(None, (parts.notes.name, kind, machine_name(started)))),
        date=started.at,
        parts=told,
        data=data,
        name=f"{source.experiment.id}-{started.at[:10]}",
    )
    return clean(document, names=include.names)


def _allowed(notes: RunNotes, include: Include) -> RunNotes:
    return RunNotes(
        name=notes.name if include.name else "",
        tags=notes.tags if include.name else [],
        note=notes.note if include.note else "",
        own_words=notes.own_words if include.own_words else "",
        guess=notes.guess if include.prediction else None,
    )


class RunParts:
    """Puts a run into the parts of its report; other reports take those that they need."""

    def __init__(self, words: Words, source: Source, include: Include, draw: Draw | None) -> None:
        """Make the lines of a run clean, and look at them. Raises UserError as `run_report`."""
        self.lines = clean_lines(
            source.lines,
            is_own=source.experiment.is_own,
            is_sealed=ALTERED not in source.recording.notes,
            names=include.names,
        )
        recording = recording_of("", (bytes(line) + b"\n" for line in self.lines))
        self.started, self.notes = recording.started, _allowed(source.notes, include)
        self._words, self._recording = words, recording
        self._experiment, self._lesson, self._draw = source.experiment, source.lesson, draw
        self._recorded = source.recorded
        self._tables = recording.tables(source.experiment)
        self._finished, self._other_version = analysed_anew(recording, source.experiment)
        # The lines were sealed anew: what was wrong with the file is known from the file.
        of_file = notes_of_file(source.recording)
        self._told: Report = report(
            words,
            source.experiment,
            self._finished,
            tables=self._tables,
            quick=recording.started.quick,
            notes=[*self._notes_of_run(), *of_file],
        )
        self._of_file = of_file

    def data(self) -> dict[str, Any]:
        """Return what Coreopsis opens the report by; nothing where that would be too large."""
        if sum(len(bytes(line)) for line in self.lines) > MOST_BYTES:
            return {}
        return {"run": {"lines": self.lines, "notes": msgspec.to_builtins(self.notes)}}

    def all(self) -> Iterator[Part]:
        """Yield every part in its order."""
        yield from self._prediction()
        yield self._heading("page.result")
        yield from self.result()
        yield from self._plots()
        yield from self._numbers()
        if self._told.remarks:
            yield self._heading("page.cannot_tell")
            yield Bullets(self._told.remarks)
        yield from self._method()
        for key, text in (
            ("worksheet.own_words", self.notes.own_words),
            ("report.own_note", self.notes.note),
        ):
            if text:
                yield self._heading(key)
                yield Paragraph(text)

    def _heading(self, key: str) -> Heading:
        return Heading(self._words.say(key))

    def _prediction(self) -> Iterator[Part]:
        lesson, guess = self._lesson, self.notes.guess
        if lesson is None or guess is None or not lesson.accepts(guess):
            return
        say = self._words.say
        yield self._heading("lesson.predict")
        yield Paragraph(lesson.words.predict.ask)
        facts = [(say("lesson.you_predicted"), lesson.told(guess))]
        if guess.sure in (1, 2, 3):
            facts.append((say("lesson.how_sure"), say(f"lesson.sure_{guess.sure}")))
        yield Facts(tuple(facts))
        if (evidence := self.evidence(lesson)) is not None:
            explained = evidence.explained
            yield self._heading("lesson.explain")
            yield from self.band(evidence)
            yield Paragraph(explained.headline, "strong")
            yield from map(Paragraph, (explained.text, *explained.beside))
            yield from self.motion(lesson, evidence)

    def evidence(self, lesson: Taught) -> Evidence | None:
        """Return what explains: the numbers of this run, or of a recording where it cannot."""
        run = self.lesson_run()
        if run is None:
            return None
        return evidence_of(self._words, lesson, run, self.notes.guess, self._recorded)

    def band(self, evidence: Evidence) -> Iterator[Part]:
        """Yield why a recording explains, and the line that names it."""
        if evidence.band:
            yield Paragraph(evidence.why)
            yield Paragraph(evidence.band, "strong")

    def motion(self, lesson: Taught, evidence: Evidence) -> Iterator[Part]:
        """Yield three moments of what moves, and its sentences; nothing where nothing does."""
        found = None
        with contextlib.suppress(UserError):  # of a broken motion: the window tells of it
            found = playable(lesson, evidence.run)
        if found is None:
            return
        motion, texts = found.motion, found.texts
        title = texts.get("title", "")
        yield Plot(
            caption=" · ".join(filter(None, (title, factor_text(self._words, motion)))),
            picture=MotionPicture(found, f"m-{self._experiment.id}-") if self._draw else None,
            in_text="report.motion_in_text",
        )
        if motion.says:
            says = sorted(motion.says, key=lambda say: say.start_s)
            yield Bullets(
                [f"{moment_text(each.start_s, motion)}: {texts[each.text]}" for each in says]
            )

    def lesson_run(self) -> LessonRun | None:
        """Return the run as its lesson sees it; None unless it is whole."""
        return as_lesson_run(self._experiment, self.started, self._finished, self._tables)

    def result(self) -> Iterator[Part]:
        """Yield what was found, why, and how far one can trust it."""
        told = self._told
        yield from (Paragraph(text) for text in (told.ending, told.problem, told.lead) if text)
        if told.finding:
            yield Paragraph(told.finding, "strong")
        if told.because:
            yield Paragraph(told.because)
        yield from self.trust()
        if facts := self.read_first():
            yield Facts(facts)

    def trust(self) -> Iterator[Part]:
        """Yield how far one can trust the result, and why."""
        told = self._told
        if (badge := told.badge) is not None:
            reason = badge.reason.removeprefix(told.lead).strip()
            said = " · ".join(filter(None, (badge.name, badge.beside)))
            yield Paragraph(f"{said}. {reason}".strip(), "soft")

    def read_first(self) -> tuple[tuple[str, str], ...]:
        """Return the numbers that are read first, each with its name."""
        return tuple((key.shown.label, key.shown.shown) for key in self._told.keys)

    def _plots(self) -> Iterator[Part]:
        if plots := tuple(self.plots()):
            yield self._heading("report.plots")
            yield from plots

    def plots(self, *keys: str) -> Iterator[Plot]:
        """Yield the views of these keys that have something to show; without a key every one."""
        values = clear_values(self._finished.finding)
        events = self._recording.events
        frames = {each.table: each for each in events if isinstance(each, messages.Frame)}
        for view in self._experiment.plots:
            rows, frame = self._tables.get(view.table, []), frames.get(view.table)
            if not (rows or frame) or (keys and view.key not in keys):
                continue
            yield Plot(
                caption=self._words.say(f"{self._experiment.id}.views.{view.key}"),
                picture=self._draw(self._experiment, view, rows, values, frame)
                if self._draw
                else None,
                table=self._table(view) if rows else None,
            )

    def _table(self, view: Plotted) -> Table:
        """Return the rows behind a plot, in words."""
        say, id_ = self._words.say, self._experiment.id
        table = self._experiment.tables[view.table]
        declared, rows = specs(table), self._tables[view.table]
        numbers = number_columns(table)
        return Table(
            head=tuple(say(f"{id_}.columns.{name}") for name in declared),
            rows=tuple(
                tuple(
                    in_words(self._words, id_, name, spec.unit, getattr(row, name))
                    for name, spec in declared.items()
                )
                for row in rows[:MOST_ROWS]
            ),
            numbers=frozenset(place for place, name in enumerate(declared) if name in numbers),
            left_out=max(0, len(rows) - MOST_ROWS),
        )

    def _numbers(self) -> Iterator[Part]:
        say, values = self._words.say, self._told.values
        if values:
            yield self._heading("page.all_numbers")
            yield Table(
                head=(say("report.value"), say("report.number"), say("report.about")),
                rows=tuple((each.label, each.shown, each.about) for each in values),
                numbers=frozenset({1}),
            )

    def _method(self) -> Iterator[Part]:
        words, started, id_ = self._words, self._recording.started, self._experiment.id
        yield self._heading("page.how_measured")
        yield Paragraph(words.say(f"{id_}.method"))
        if said := (*self._said(self._notes_of_run()), *self.remarks()):
            yield Bullets(said)
        told = settings(words, self._experiment, started.params)
        yield Facts((*told, *conditions(words, started), (words.say("runs.id"), started.run[:8])))

    def remarks(self) -> tuple[str, ...]:
        """Return what is wrong with the file of the run, or with its age, in sentences."""
        return self._said([*self._of_file, *filter(None, [self._other_version])])

    def _said(self, notes: Sequence[messages.Note]) -> tuple[str, ...]:
        return tuple(
            note_text(self._words, note.key, note.values, self._experiment.id)
            for note in notes
            if note.key not in (*messages.WAITING, *DOUBTS)
        )

    def _notes_of_run(self) -> list[messages.Note]:
        return [each for each in self._recording.events if isinstance(each, messages.Note)]
