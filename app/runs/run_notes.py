"""What do people say of a run? It stands beside its file, in a `.meta.json`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from experiments.engine.recording import SUFFIXES

NOTES_SUFFIX = ".meta.json"


class RunNotes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people add to a run."""

    name: str = ""
    note: str = ""
    tags: list[str] = []
    pinned: bool = False


def read_notes(path: Path) -> RunNotes:
    """Return what people added to the run in `path`; nothing where that cannot be read."""
    try:
        return msgspec.json.decode(notes_path(path).read_bytes(), type=RunNotes)
    except (OSError, msgspec.MsgspecError):
        return RunNotes()


def notes_path(path: Path) -> Path:
    """Return the file beside the file of a run."""
    return path.with_name(notes_name(path.name))


def notes_name(name: str) -> str:
    """Return what the file beside a run's is called."""
    suffix = next((s for s in SUFFIXES[::-1] if name.endswith(s)), "")
    return name.removesuffix(suffix) + NOTES_SUFFIX
