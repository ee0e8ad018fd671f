"""The result of a checkup, and its file: JSON, `coreopsis.checkup` version 1.

The file holds samples, expectations and limits, so that it can be judged anew. It names neither
host nor serial numbers; `name` is what its owner called the machine. A row may hold a folder of the
user, which is taken out of what is written for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import field

from experiments.checkup.rules import Source, Stage
from experiments.core.judging.trust import DOUBTS
from experiments.core.problems import UserError
from experiments.engine.report_file import data_in, is_report
from machine.convert import UNREADABLE, convert
from machine.record import Record
from machine.system.files import open_file, read_file

FORMAT, VERSION = "coreopsis.checkup", 1
SUFFIX = ".coreopsis-checkup.json"
LIMIT_BYTES = 64 * 2**20
HEAD_BYTES = 2**20  # the words of a JSON report stand before its data

DISTURBANCES = (*DOUBTS, "gpu_is_shared", "on_battery", "power_saver")  # reasons of rows
DISTURBED = "disturbed"  # the value of a row with one of them

Kind = Literal["quick", "check", "soak"]


class Word(StrEnum):
    """The word of a check, from the best to the worst; the last two say nothing of the part."""

    FINE = "fine"
    LOOK = "look"
    PROBLEM = "problem"
    UNCHECKED = "unchecked"
    ABSENT = "absent"


class Expected(Record):
    """One expectation of a row: a value, and the word for what was measured against it.

    `low` to `high` is the interval of measured over expected; `values` are the numbers behind it.
    The value is in the row's unit, or in its own `unit`: then something else was measured, too.
    """

    source: Source
    value: float | None = None
    unit: str = ""
    ok: float | None = None
    floor: float | None = None
    low: float | None = None
    high: float | None = None
    word: Word = Word.FINE
    values: Mapping[str, Any] = field(default_factory=dict)


class Row(Record):
    """The answer of one rule about one part, such as "gpu0"; `part` is "" for the whole machine.

    `reason` is the key of what was found, `values` fill it. `samples` are in the SI `unit`. A
    disturbed row has the disturbance as its `reason`. If its word stands all the same, the
    disturbance is the value `disturbed`.
    """

    rule: str
    version: int
    stage: Stage
    word: Word
    reason: str
    part: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[float, ...] = ()
    unit: str = ""
    expected: tuple[Expected, ...] = ()
    runs: int = 0  # how often it was measured; a slow result is confirmed by another run

    @property
    def disturbance(self) -> str | None:
        """The reason that may have slowed the part down; then its samples are no measure."""
        told = (self.reason, self.values.get(DISTURBED))
        return next((each for each in told if each in DISTURBANCES), None)


class Measurement(Record):
    """A run of an experiment within the checkup; `notes` are the keys of what disturbed it."""

    experiment: str
    version: int
    device: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    outcome: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str = ""


class Result(Record):
    """A whole checkup. `trace` is what was watched during the sustained load."""

    format: str = FORMAT
    version: int = VERSION
    id: str
    kind: Kind
    at: str  # ISO 8601
    seconds: float = 0.0
    outcome: Literal["completed", "stopped"] = "completed"
    rules_version: int
    name: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    surroundings: Mapping[str, Any] = field(default_factory=dict)
    baseline: str = ""  # the id of the checkup that it was held against
    rows: tuple[Row, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    trace: tuple[Mapping[str, float | str | None], ...] = ()

    @property
    def disturbed(self) -> tuple[Row, ...]:
        """The rows that others disturbed: they are no baseline and no reference."""
        return tuple(row for row in self.rows if row.disturbance)

    def count(self, word: Word) -> int:
        """Return how many rows say this word."""
        return sum(row.word is word for row in self.rows)


def encode(result: Result) -> bytes:
    """Return the JSON of a checkup, indented, with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def decode(data: bytes, name: str) -> Result:
    """Return the checkup in a file of this name, or in a report. Raises UserError."""
    try:
        in_report = is_report(data)
        plain = msgspec.json.decode(data_in(data) if in_report else data)
    except UNREADABLE:
        raise UserError("checkup_unreadable", name=name) from None
    if in_report:
        plain = plain.get("checkup") if isinstance(plain, Mapping) else None
    return from_plain(plain, name)


def from_plain(plain: object, name: str) -> Result:
    """Return the checkup in parsed JSON. Raises UserError."""
    if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
        raise UserError("checkup_unreadable", name=name)
    version = plain.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UserError("file_newer", name=name)
    try:
        return convert(plain, Result)
    except UNREADABLE as error:
        raise UserError("checkup_refused", name=name, reason=str(error)) from None


def holds_checkup(path: Path) -> bool:
    """Does a file look like a checkup, or like a report of one? Reads its beginning only."""
    try:
        with open_file(path) as file:
            return f'"{FORMAT}"'.encode() in file.read(HEAD_BYTES)
    except OSError:
        return False


def read(path: Path) -> Result:
    """Return the checkup in a file. Raises UserError."""
    try:
        data = read_file(path, LIMIT_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError("recording_unreadable", name=path.name, reason=reason) from None
    return decode(data, path.name)
