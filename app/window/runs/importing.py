"""Looks into run files before an import. They are read as data; nothing executes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.context import read_watch
from app.report import note_text
from app.runs.library import Kept, machine_name
from app.window.core.listing import Listing
from experiments.core.problems import Problem, UserError
from experiments.core.units import show
from experiments.core.words import Words
from experiments.engine import report_file
from experiments.engine.recording import SUFFIXES, Recording, is_beginning, read
from machine.live import recorded_watch
from widgets.runs.import_look import Inside

FILE_LIMIT = 200  # of one drop; a folder may hold far more
LOOK_LIMIT = 20_000  # names that are looked at below one folder: it may be the whole disk


@dataclass(frozen=True, slots=True)
class Brought:
    """One file, its contents in words, and its experiment ("" if it cannot be imported).

    `kept` is the name of its file in the library, if it has one there.
    """

    path: Path
    inside: Inside
    experiment: str = ""
    kept: str = ""


def look_inside(
    paths: Sequence[Path], runs: Sequence[Kept], words: Words, listing: Listing
) -> list[Brought]:
    """Read the files, and those in folders; may take a while."""
    known = {run.run: run for run in runs if run.problem is None}
    found = []
    for path in expanded(paths):
        try:
            if os.path.isdir(path):
                raise UserError("no_run_in_folder", name=path.name)
            recording = read(path)
        except UserError as trouble:
            problem = _watched(path, words, listing) or _say(words, trouble.problem)
            inside = Inside(key=str(path), file=path.name, problem=problem)
            found.append(Brought(path, inside))
        else:
            kept = known.get(recording.started.run)
            inside = _inside(path, recording, kept, words, listing)
            name = kept.path.name if kept is not None else ""
            found.append(Brought(path, inside, recording.started.experiment, name))
    return found


def _watched(path: Path, words: Words, listing: Listing) -> str:
    """Return the description of a file from Live, "" for any other file."""
    if not path.name.endswith(recorded_watch.SUFFIXES):
        return ""
    try:
        watch = read_watch(path)
    except UserError as trouble:
        return _say(words, trouble.problem)
    values = {"duration": watch.seconds, "when": listing.when(watch.at)[1]}
    return words.say("import.of_live" if watch.at else "import.of_live_undated", values)


def expanded(paths: Sequence[Path], most: int = FILE_LIMIT) -> list[Path]:
    """Return at most `most` files: these, and the run files in these folders."""
    found: dict[Path, None] = {}
    for path in paths:
        inner = sorted(_run_files(path)) if os.path.isdir(path) else []
        found.update(dict.fromkeys(inner or [path]))
    return list(found)[:most]


def _run_files(folder: Path) -> Iterator[Path]:
    looked_at = itertools.islice(os.walk(folder), LOOK_LIMIT)
    names = (Path(inner, name) for inner, _, files in looked_at for name in files)
    for path in itertools.islice(names, LOOK_LIMIT):
        if path.name.endswith((*SUFFIXES, *report_file.SUFFIXES)):
            yield path


def _inside(
    path: Path, recording: Recording, kept: Kept | None, words: Words, listing: Listing
) -> Inside:
    started, finished = recording.started, recording.finished
    is_longer = kept is not None and is_beginning(kept.path, path)
    say = words.say
    key = f"{started.experiment}.question"
    rows = sum(map(len, recording.rows.values()))
    program = started.environment.get("program")
    kind = say("runs.quick" if started.quick else "runs.full")
    when = listing.when(started.at)[1]
    brief = (kind, machine_name(recording.started), when, say("import.row_count", {"count": rows}))
    facts = (
        (say("import.experiment"), started.experiment),
        (say("import.outcome"), listing.ending(finished.outcome) or say("import.completed")),
        (say("runs.machine"), machine_name(recording.started)),
        (say("runs.when"), when),
        (say("runs.kind"), kind),
        *listing.settings(started.experiment, started.params),
        (say("import.rows"), f"{rows}"),
        (say("import.size"), _size(path)),
        (say("import.program"), str(program or say("import.no_version"))),
    )
    remarks = [note_text(words, note, {}, started.experiment) for note in recording.notes]
    if kept is not None:
        name = kept.run_notes.name or listing.when(kept.at)[0]
        key_here = "import.longer" if is_longer else "import.here_already"
        remarks.append(say(key_here, {"name": name}))
    return Inside(
        key=str(path),
        file=path.name,
        question=say(key) if words.has(key) else say("import.unknown"),
        facts=facts,
        brief=" · ".join(brief),
        remark="\n".join(remarks),
        is_here=kept is not None and not is_longer,
    )


def _size(path: Path) -> str:
    try:
        return show(path.stat().st_size, "bytes")
    except OSError:
        return "?"


def _say(words: Words, problem: Problem) -> str:
    return words.say(f"problems.{problem.key}", problem.values)
