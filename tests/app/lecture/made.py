"""A lecture of three items that was held: a lesson with a choice, no lesson, a damaged run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.lecture.fallbacks import StandIns
from app.lecture.file import Item, Lecture
from app.lecture.handout import HandoutItem, find
from app.lecture.record import SUFFIX, HeldItem, LectureRecord
from app.runs.library import Library
from experiments.core.teaching.lessons import taught
from experiments.engine.recording import read
from tests.app.recordings import CATALOGUE, activations, ladder

AT = "2026-05-04T03:02:01+00:00"
LESSON = taught(CATALOGUE.load("gil-threads"), CATALOGUE.homes["gil-threads"])
OPTIONS = tuple(option.text for option in LESSON.words.predict.options)
LECTURE = Lecture(
    title="Ten things",
    item=(
        Item(experiment="gil-threads", notes="Ask who has used threads before."),
        Item(experiment="activations", title="Tanh"),
        Item(experiment="cache-ladder"),
    ),
)


def recording() -> Path:
    """Return the recording that comes with gil-threads; here it stands for a run of the library."""
    path = CATALOGUE.recording("gil-threads")
    assert path is not None
    return path


def held(folder: Path) -> tuple[LectureRecord, list[HandoutItem]]:
    """Return the record of the lecture, with its runs in a library of this folder."""
    library = Library(folder)
    live = recording()
    library.adopt(live)
    plain, steps = activations(), ladder()
    library.adopt(plain.write(folder / "made.coreopsis.jsonl"))
    broken = library.adopt(steps.write(folder / "made.coreopsis.jsonl"))
    data = broken.read_bytes()
    broken.write_bytes(data[: len(data) // 2] + b"{]\n" + data[len(data) // 2 :])
    record = LectureRecord(
        name="ten",
        title="Ten things",
        at=AT,
        item=(
            HeldItem(experiment="gil-threads", options=OPTIONS, first=(40, 10, 30, 4),
                     second=(10, 4, 60, 6), run=read(live).started.run),
            HeldItem(experiment="activations", title="Tanh", run=plain.run,
                     is_recording=True),
            HeldItem(experiment="cache-ladder", run=steps.run),
        ),
    )  # fmt: skip
    return record, find(
        record, StandIns(folder / f"ten{SUFFIX}", folder, CATALOGUE, library.runs())
    )


def texts(parts: Sequence[object]) -> list[str]:
    """Return the words of headings and paragraphs."""
    return [part.text for part in parts if hasattr(part, "text")]
