"""Reports of made-up runs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.reports.document import Document
from app.reports.pictures import drawer
from app.reports.privacy import Include
from app.reports.run_report import run_report, source_of
from app.runs.run_notes import RunNotes, notes_path
from experiments.core import words
from experiments.core.teaching.lesson_run import Guess
from tests.app.recordings import CATALOGUE, Made, threads

WORDS = words.load()
ALL = Include(note=True, name=True)
NOTES = RunNotes(
    name="On battery",
    tags=["lecture 3"],
    note="First <b>run</b> of & mine.\nAnother | line.",
    guess=Guess(kind="choice", at=(0.0,), sure=2),
)


def report(
    folder: Path, made: Made | bytes | None = None, include: Include = ALL, notes: RunNotes = NOTES
) -> Document:
    """Return the report, with plots, of a run that was written to a file."""
    path = folder / "run.coreopsis.jsonl"
    path.write_bytes(made if isinstance(made, bytes) else (made or threads()).data)
    notes_path(path).write_bytes(msgspec.json.encode(notes))
    return run_report(source_of(path, CATALOGUE), WORDS, include, drawer(WORDS))
