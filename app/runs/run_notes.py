"""Name, note, tags, pin and prediction of a run, in a `.meta.json` beside its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from app.runs.copies import write_whole
from experiments.core.teaching.lesson_run import Guess
from experiments.engine.recording import SUFFIXES
from machine.convert import UNREADABLE
from machine.system.files import read_file

NOTES_SUFFIX = ".meta.json"
NOTES_BYTES = 2**20


class LeftAs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a run's page when it was left: code or data, the tab beside, the plot in use."""

    side: str = ""
    tab: str = ""
    view: str = ""


class RunNotes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The user's additions to a run; the guess was made before it, or skipped.

    Of a run again it is that of the run `guess_before`.
    """

    name: str = ""
    note: str = ""
    own_words: str = ""  # why it came out so; a worksheet hands it in
    tags: list[str] = []
    pinned: bool = False
    guess: Guess | None = None
    skipped: bool = False
    guess_before: str = ""
    left_as: LeftAs | None = None
    asked_again: bool = False  # did the question come back, after a surprise?


# Made once, before threads ask: msgspec looks at the guess's class then.
_NOTES = msgspec.json.Decoder(RunNotes)


def told_notes(data: bytes) -> RunNotes:
    """Return notes that came with a report; empty ones if they cannot be read."""
    try:
        return msgspec.structs.replace(_NOTES.decode(data), pinned=False)
    except UNREADABLE:
        return RunNotes()


def read_notes(path: Path) -> RunNotes:
    """Return the notes on the run in `path`; empty ones if they cannot be read."""
    try:
        return _NOTES.decode(read_file(notes_path(path), NOTES_BYTES))
    except (OSError, *UNREADABLE):
        return RunNotes()


def write_notes(path: Path, notes: RunNotes) -> None:
    """Write the notes on the run in `path`, and keep what a newer version added. Raises OSError."""
    try:
        before = msgspec.json.decode(read_file(notes_path(path), NOTES_BYTES), type=dict[str, Any])
    except (OSError, *UNREADABLE):
        before = {}
    others = {name: before[name] for name in before if name not in RunNotes.__struct_fields__}
    write_whole(notes_path(path), msgspec.json.encode(others | msgspec.to_builtins(notes)))


def notes_path(path: Path) -> Path:
    """Return the path of the notes on a run."""
    return path.with_name(notes_name(path.name))


def notes_name(name: str) -> str:
    """Return the file name of the notes on a run."""
    suffix = next((s for s in SUFFIXES[::-1] if name.endswith(s)), "")
    return name.removesuffix(suffix) + NOTES_SUFFIX
