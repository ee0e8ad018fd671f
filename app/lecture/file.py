"""The file of a lecture, `NAME.coreopsis-lecture.toml`: items in order, settings, notes.

```
format = "coreopsis.lecture"
version = 1
title = "Ten things you believe about computers"
minutes = 45

[[item]]
experiment = "gil-threads"
notes = "Ask who has used threads before."
minutes = 4
set = { jobs = 4 }
recording = "gil-threads.coreopsis.jsonl.gz"  # beside the file; else the experiment's own

[[item]]
experiment = "start-cost"
guess = "thread"  # asks this of the ten guesses in place of the lesson's question
```

It executes nothing, and names no file outside its own folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec
from msgspec import field

from experiments.core.problems import UserError
from experiments.presentation.guesses.questions import named
from machine.convert import UNREADABLE, convert
from machine.record import Record
from machine.system.files import read_file

T = TypeVar("T")

FORMAT, VERSION = "coreopsis.lecture", 1
SUFFIX = ".coreopsis-lecture.toml"
LIMIT_BYTES = 2**20
MOST_ITEMS, LONGEST_MINUTES = 200, 24 * 60
MINUTE_S = 60.0


class Item(Record):
    """One experiment of a lecture; `set` are the settings that differ from the usual ones."""

    experiment: str
    title: str = ""
    notes: str = ""
    minutes: float | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    recording: str = ""  # the name of a run file beside the lecture
    guess: str = ""  # the id of the question that is asked in place of the lesson's


class Lecture(Record):
    """A lecture; `minutes` is how long it may take, None for as long as its items."""

    format: str = FORMAT
    version: int = VERSION
    title: str = ""
    minutes: float | None = None
    item: tuple[Item, ...] = ()

    @property
    def planned_minutes(self) -> float | None:
        """The planned duration of the lecture, None if its file gives none."""
        told = [each.minutes for each in self.item if each.minutes is not None]
        return self.minutes if self.minutes is not None else sum(told) or None

    def behind_s(self, place: int, elapsed_s: float) -> float | None:
        """Return how far the item at `place` is behind the plan, below zero if it is ahead of it.

        An item without minutes takes an equal share of what the plan leaves; None without a plan.
        """
        planned = self.planned_minutes
        if planned is None or not self.item:
            return None
        told = sum(item.minutes or 0.0 for item in self.item)
        untold = sum(item.minutes is None for item in self.item)
        share = max(0.0, planned - told) / untold if untold else 0.0
        minutes = [share if item.minutes is None else item.minutes for item in self.item]
        begins_s = MINUTE_S * sum(minutes[:place])
        ends_s = begins_s + MINUTE_S * minutes[place]
        return max(elapsed_s - ends_s, 0.0) or min(elapsed_s - begins_s, 0.0)


def read(path: Path) -> Lecture:
    """Return the lecture in a file. Raises UserError."""
    return decode(read_data(path), path.name)


def read_data(path: Path) -> bytes:
    """Return the bytes of a file of a lecture. Raises UserError."""
    try:
        return read_file(path, LIMIT_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError("recording_unreadable", name=path.name, reason=reason) from None


def decode(data: bytes, name: str) -> Lecture:
    """Return the lecture in the bytes of a file of this name. Raises UserError."""
    return checked(lambda: tomllib.loads(data.decode()), Lecture, _fault, "lecture_refused", name)


def checked(
    parse: Callable[[], Any], kind: type[T], fault: Callable[[T], str], refused: str, name: str
) -> T:
    """Return what is parsed as a record that has no fault; `refused` is the key of the problem.

    Raises UserError.
    """
    usual: Any = kind()
    try:
        plain = parse()
        if not isinstance(plain, dict) or plain.get("format") != usual.format:
            raise UserError("no_lecture", name=name)
        version = plain.get("version")
        if isinstance(version, int) and version > usual.version:
            raise UserError("file_newer", name=name)
        found = convert(plain, kind)
    except UNREADABLE as error:
        raise UserError(refused, name=name, reason=str(error)) from None
    if reason := fault(found):
        raise UserError(refused, name=name, reason=reason)
    return found


def _fault(lecture: Lecture) -> str:
    """Return what is wrong with a lecture that can be read, "" for nothing."""
    if len(lecture.item) > MOST_ITEMS:
        return f"it has more than {MOST_ITEMS} items"
    times = [lecture.minutes, *(item.minutes for item in lecture.item)]
    if any(time is not None and not 0 < time <= LONGEST_MINUTES for time in times):
        return "its minutes must be more than 0 and at most a day"
    for item in lecture.item:
        if not is_beside(item.recording):
            return f"the recording {item.recording!r} must be a file beside it"
        asked = named(item.guess)
        if item.guess and (asked is None or asked.experiment != item.experiment):
            return f"{item.experiment!r} answers no guess {item.guess!r}"
    return ""


def is_beside(name: str) -> bool:
    """Is it the bare name of a file, or ""? Else it would lie elsewhere."""
    path = PurePosixPath(name.replace("\\", "/"))
    return not name or (path.name == name and name not in (".", ".."))


def encode(lecture: Lecture) -> bytes:
    """Return the text of a lecture's file."""
    lines = [f"format = {_text(FORMAT)}", f"version = {VERSION}", f"title = {_text(lecture.title)}"]
    if lecture.minutes is not None:
        lines.append(f"minutes = {lecture.minutes:g}")
    for item in lecture.item:
        lines += ["", "[[item]]", f"experiment = {_text(item.experiment)}"]
        for name in ("title", "notes", "recording", "guess"):
            if value := getattr(item, name):
                lines.append(f"{name} = {_text(value)}")
        if item.minutes is not None:
            lines.append(f"minutes = {item.minutes:g}")
        if item.set:
            pairs = ", ".join(
                f"{_text(name)} = {_value(value)}" for name, value in item.set.items()
            )
            lines.append(f"set = {{ {pairs} }}")
    return ("\n".join(lines) + "\n").encode()


def _text(text: str) -> str:
    """Return a TOML string: a JSON string is one, but for the character DEL."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    """Return a setting in TOML: a text, a number, a switch, or a list of these."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _text(str(value))
