"""The votes of a class, and the run that belongs to each item, in a file of its own.

`NAME-DATE.coreopsis-lecture-record.json` stands beside the lecture's file, or in `lectures` of the
data folder. It is written anew after each step, so that whatever ends a lecture loses nothing:

```
{"format": "coreopsis.lecture-record", "version": 1, "name": "ten", "title": "Ten things",
 "at": "2026-05-04T03:02:01+00:00",
 "item": [{"experiment": "gil-threads", "title": "", "recording": "", "set": {"workers": 4},
           "options": ["1 s", "4 s"], "numbers": [], "first": [12, 30], "second": null,
           "run": "", "is_recording": false, "guess": ""}]}
```

It holds no notes of the presenter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field
from msgspec.structs import replace

from app.lecture import file as lecture_file
from app.lecture.file import MOST_ITEMS, Lecture, checked, is_beside, read_data
from app.lecture.lecture_state import LETTERS, MOST_HANDS, Turn
from app.lecture.lectures import NAME as FOLDER
from app.lecture.lectures import is_shipped, name_of
from app.lecture.options import Options
from app.runs.copies import write_whole
from experiments.core.problems import Problem
from machine.record import Record
from machine.text import short_name

FORMAT, VERSION = "coreopsis.lecture-record", 1
SUFFIX = ".coreopsis-lecture-record.json"
LONGEST_RUN = 100  # letters of a run's id
NAME_LETTERS = 60


class HeldItem(Record):
    """An item as it was held; `numbers` stand behind the options of a magnitude."""

    experiment: str
    title: str = ""
    recording: str = ""  # the name of a run file beside the lecture
    set: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    first: tuple[int, ...] = ()  # hands for each option
    second: tuple[int, ...] | None = None  # after discussion
    run: str = ""  # the id of the run that was shown, "" for none
    is_recording: bool = False
    guess: str = ""  # the id of the question that was asked in place of the lesson's


class LectureRecord(Record):
    """A lecture as it was held; `at` is when it began, "" for a lecture that was not held yet."""

    format: str = FORMAT
    version: int = VERSION
    name: str = ""  # of the lecture's file, without what every such file ends in
    title: str = ""
    at: str = ""  # ISO 8601
    item: tuple[HeldItem, ...] = ()


def record_of(lecture: Lecture, name: str, at: str = "") -> LectureRecord:
    """Return the record of a lecture in which nothing has happened yet."""
    items = tuple(
        HeldItem(
            experiment=each.experiment,
            title=each.title,
            recording=each.recording,
            set=each.set,
            guess=each.guess,
        )
        for each in lecture.item
    )
    return LectureRecord(name=name, title=lecture.title, at=at, item=items)


def read(path: Path) -> LectureRecord:
    """Return a record, or a new record of a lecture that was not held yet. Raises UserError."""
    data = read_data(path)
    if data.lstrip().startswith(b"{"):
        return decode(data, path.name)
    return record_of(lecture_file.decode(data, path.name), name_of(path))


def decode(data: bytes, name: str) -> LectureRecord:
    """Return the record in the bytes of a file of this name. Raises UserError."""
    parse = partial(msgspec.json.decode, data)
    return checked(parse, LectureRecord, _fault, "lecture_record_refused", name)


def _fault(found: LectureRecord) -> str:
    """Return what is wrong with a record that can be read, "" for nothing."""
    if found.version != VERSION:
        return f"there is no version {found.version}"
    if not is_beside(found.name):
        return f"{found.name!r} is no name of a lecture"
    if len(found.item) > MOST_ITEMS:
        return f"it has more than {MOST_ITEMS} items"
    try:
        datetime.fromisoformat(found.at)
    except ValueError:
        return "its date is none"
    return next(filter(None, map(_fault_of_item, found.item)), "")


def _fault_of_item(item: HeldItem) -> str:
    count, rounds = len(item.options), [item.first]
    if item.second is not None:
        rounds.append(item.second)
    if count > len(LETTERS) or any(len(votes) != count for votes in rounds):
        return "an item needs one count of hands for each of at most four answers"
    if any(not 0 <= hands <= MOST_HANDS for votes in rounds for hands in votes):
        return f"a count of hands must be from 0 to {MOST_HANDS}"
    if item.numbers and len(item.numbers) != count:
        return "an item needs a number for each answer, or none"
    if any(not 0 < number < math.inf for number in item.numbers):
        return "the number of an answer must be more than 0"
    if not re.fullmatch(rf"[\w-]{{0,{LONGEST_RUN}}}", item.run):
        return "the id of a run has only letters, digits and hyphens"
    if not is_beside(item.recording):
        return f"the recording {item.recording!r} must be a file beside it"
    return ""


class RecordKeeper:
    """Keeps the record of the lecture that is under way."""

    def __init__(self, lecture: Lecture, path: Path | None, data: Path, at: str) -> None:
        """Take a lecture with its file, if it has one, the data folder, and when it began."""
        name = name_of(path) if path else file_name(lecture.title)
        self.record = record_of(lecture, name, at)
        self.path: Path | None = None  # where it was written, once something has happened
        self._is_owed = False  # has something changed since it was last written?
        stamp = re.sub(r"[^\d-]", "", at[:19].replace("T", "-"))
        self._file = f"{short_name(name)}-{stamp}{SUFFIX}"
        beside = [path.parent] if path and not is_shipped(path) else []
        self._folders: Sequence[Path] = (*beside, data / FOLDER)
        self.origin = path or data / FOLDER / self._file  # recordings are looked for beside it

    def keep(
        self, place: int, turn: Turn, options: Options | None = None, run: str = ""
    ) -> Problem | None:
        """Write how an item stands, and the id of the run that is shown.

        Call it after each step. The first vote or the first shown run makes the file, and only a
        change writes it again. Returns why the file could not be written; the lecture goes on
        without it.
        """
        before = self.record.item[place]
        item = replace(
            before,
            options=options.texts if options else (),
            numbers=options.numbers if options else (),
            first=tuple(turn.first.counts) if options else (),
            second=tuple(turn.second.counts) if options and turn.second else None,
            run=run,
            is_recording=bool(run) and turn.is_recording,
        )
        is_empty = not run and not any((*item.first, *(item.second or ())))
        if item != before and not (is_empty and not before.first):
            items = (*self.record.item[:place], item, *self.record.item[place + 1 :])
            self.record = replace(self.record, item=items)
            self._is_owed = True
        return self._write() if self._is_owed else None

    def _write(self) -> Problem | None:
        problem = None
        data = msgspec.json.format(msgspec.json.encode(self.record))
        for folder in self._folders:
            path = folder / self._file
            try:
                if folder is self._folders[-1]:
                    folder.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
            except OSError as error:
                reason = error.strerror or str(error)
                problem = Problem("file_not_written", {"path": str(path), "reason": reason})
            else:
                self.path, self._is_owed = path, False
                return None
        return problem


def file_name(text: str) -> str:
    """Return a text as a part of a file's name."""
    return re.sub(r"[^\w]+", "-", text.lower())[:NAME_LETTERS].strip("-") or "lecture"
