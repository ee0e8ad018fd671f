"""The messages between application and worker, which are also the lines of a run file.

JSON lines, version 1, decoded strictly: whatever is not exactly one of these messages is a
`BadMessage` with its reason. Only the lines of a run may have fields that are unknown here. So a
file of a newer version opens. NaN and infinity do not exist.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import math
import zlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from experiments.core.judging.disturbed import Loss
from experiments.core.judging.trust import Trust
from experiments.core.problems import Problem
from machine.convert import UNREADABLE
from machine.processor.counters import Counts
from machine.text import escaped

VERSION = 1
LINE_LIMIT_BYTES = 2**20
FRAME_LIMIT = 320  # rows and columns of a frame
REASON_LIMIT = 300  # characters
RUN_FORMAT = "coreopsis.run"
WAITING = ("waiting_for_machine", "waiting_for_stopped")  # notes of who waits for another run
HELD = "held"  # a note: all is ready for the first turn, which waits for `go`
MORE_ROUNDS = "more_rounds"  # the note that a busy machine needs them

Cell = float | int | str | bool | None


class Outcome(StrEnum):
    """The end of a run. Every run ends in exactly one of these."""

    COMPLETED = "completed"  # measure returned
    STOPPED = "stopped"  # by its user, however it had to be ended
    FAILED = "failed"  # with a reason
    KILLED = "killed"  # silent beyond its limit
    LOST = "lost"  # the process vanished


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Common to all messages: immutable, and nothing unknown in them."""


class RunLine(Message, frozen=True, forbid_unknown_fields=False):
    """A line of a run file: fields of newer versions are left alone."""


class Inspect(Message, frozen=True, tag="inspect"):
    """To the worker: read the machine, or the recorded tree under `root`."""

    root: str | None = None


class Watch(Message, frozen=True, tag="watch"):
    """To the worker: send samples at this rate until another command comes."""

    hz: float


class Rate(Message, frozen=True, tag="rate"):
    """To a watching worker: from now on at this rate."""

    hz: float


class Measure(Message, frozen=True, tag="measure"):
    """To the worker: run one experiment; with `hold` its first turn waits for `go`.

    Two runs side by side have one `pair`, the id of the first. Each waits for `go` before each
    round, and the first holds the machine for both.
    """

    experiment: str
    params: dict[str, Any]
    quick: bool
    run: str
    hold: bool = False
    pair: str = ""


class Live(Message, frozen=True, tag="live"):
    """To the worker: measure single points of one experiment, until another command comes."""

    experiment: str


class Point(Message, frozen=True, tag="point"):
    """To a worker that is ready for points: measure this one, and no older one not yet begun."""

    point: int  # grows with each
    params: dict[str, Any]  # of the experiment's `live`


class Go(Message, frozen=True, tag="go"):
    """To a worker that holds a run, or will: go on, with the arm called `first` if it is known.

    Each lets one wait end.
    """

    first: str = ""


class Stop(Message, frozen=True, tag="stop"):
    """To the worker: end what you do."""


class Hello(Message, frozen=True, tag="hello"):
    """From the worker, first."""

    protocol: int
    program: str
    pid: int
    python: str


class Found(Message, frozen=True, tag="part"):
    """One part of the machine, as soon as it is known."""

    path: str
    value: Any


class Whole(Message, frozen=True, tag="machine"):
    """The whole machine (coreopsis.machine)."""

    value: dict[str, Any]


class Sample(Message, frozen=True, tag="sample"):
    """One look at the load, `t_s` after the watch began."""

    t_s: float
    threads: list[dict[str, Any]]
    memory: dict[str, Any]
    disks: list[dict[str, Any]]
    network: list[dict[str, Any]]
    gpus: list[dict[str, Any]]
    missing: list[dict[str, Any]]
    heat: dict[str, Any] | None = None  # not in recordings of older versions


class Started(RunLine, frozen=True, tag="started"):
    """First line of a run: everything known before the first row. `tables`: column to unit.

    Two runs whose rounds alternated have one `pair`, the id of the first.
    """

    format: str
    version: int
    run: str
    experiment: str
    experiment_version: int
    params: dict[str, Any]
    quick: bool
    tables: dict[str, dict[str, str]]
    machine: dict[str, Any]
    environment: dict[str, Any]
    at: str
    pair: str | msgspec.UnsetType = msgspec.UNSET


class Row(RunLine, frozen=True, tag="row", omit_defaults=True):
    """One row of a table; `n` counts from 0 without a gap over all tables of the run."""

    n: int
    t_s: float
    table: str
    row: dict[str, Cell]
    disturbed: Loss | None = None  # what was taken from its sample, where that spoils it
    counters: Counts | None = None  # what the processor counted during its sample


class Frame(RunLine, frozen=True, tag="frame"):
    """A picture: base64 of zlib of uint8, `shape` (rows, columns)."""

    n: int
    t_s: float
    table: str
    shape: tuple[int, int]
    data: str

    def __post_init__(self) -> None:
        """Refuse a frame whose data is not what its shape says."""
        if not all(0 < side <= FRAME_LIMIT for side in self.shape):
            raise ValueError(f"frame of {self.shape}, at most {FRAME_LIMIT} x {FRAME_LIMIT}")
        self.pixels()

    def pixels(self) -> bytes:
        """Return the uint8 values, row by row."""
        size = self.shape[0] * self.shape[1]
        try:
            unpack = zlib.decompressobj()
            pixels = unpack.decompress(base64.b64decode(self.data, validate=True), size + 1)
        except (binascii.Error, zlib.error) as error:
            raise ValueError(f"frame data: {error}") from None
        if len(pixels) != size or not unpack.eof:
            raise ValueError(f"frame of {self.shape} with other than {size} values")
        return pixels


class Progress(RunLine, frozen=True, tag="progress"):
    """The share of the work done, and the seconds left where they are known."""

    fraction: float
    left_s: float | None = None


class Note(RunLine, frozen=True, tag="note"):
    """Something to say in words."""

    key: str
    values: dict[str, Any] = {}


class FindingSent(RunLine, frozen=True, omit_defaults=True):
    """The finding of `analyse`: the numbers and the keys of the words."""

    message: str
    values: dict[str, float]
    limits: list[str]
    unclear: list[str] = []  # values whose arms do not part; left out where there are none
    trust: Trust = Trust.SOLID  # left out where all of it stands

    def clear_values(self) -> dict[str, float]:
        """Return the values that may be drawn: those that are not unclear."""
        return {name: value for name, value in self.values.items() if name not in self.unclear}


class ProblemSent(RunLine, frozen=True):
    """Why a run failed, as the key of a sentence; `detail` for "copy details"."""

    key: str
    values: dict[str, Any] = {}
    detail: str = ""


def problem_sent(problem: Problem) -> ProblemSent:
    """Return a problem as it crosses the wire."""
    return ProblemSent(key=problem.key, values=dict(problem.values), detail=problem.detail)


class Ready(Message, frozen=True, tag="ready"):
    """From a worker that measures points: all that they share is made."""


class PointDone(Message, frozen=True, tag="point_done"):
    """This point and every older one is done: its rows came before, or `problem` says why not."""

    point: int
    problem: ProblemSent | None = None


class Finished(RunLine, frozen=True, tag="finished"):
    """Last line of every job."""

    outcome: Outcome
    finding: FindingSent | None = None
    problem: ProblemSent | None = None
    crc32: str | msgspec.UnsetType = msgspec.UNSET  # in files alone: seal.py


Command = Inspect | Watch | Rate | Measure | Live | Point | Go | Stop
Event = (
    Hello | Found | Whole | Sample | Started | Row | Frame | Progress | Note | Ready | PointDone
    | Finished
)  # fmt: skip


class BadMessage(ValueError):
    """The line is not a message of this version; the text says why."""

    def __init__(self, reason: str) -> None:
        # It may quote the line, and must fit into one itself.
        super().__init__(reason if len(reason) <= REASON_LIMIT else reason[:REASON_LIMIT] + "…")


_COMMANDS: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_ENCODER = msgspec.json.Encoder()


def encode(message: Message | Mapping[str, Any]) -> bytes:
    """Return a message, or its parsed JSON, as one line.

    Raises BadMessage for NaN, infinity, or a line over the limit.
    """
    try:
        _refuse_not_finite(message)
        line = _ENCODER.encode(message) + b"\n"
        if not line.isascii() or b"\x7f" in line:  # a worker may run in a terminal
            line = escaped(line.decode()).encode()
    except BadMessage:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadMessage(f"not JSON: {error}") from None
    if len(line) > LINE_LIMIT_BYTES:
        raise BadMessage(f"a line of {len(line)} bytes, at most {LINE_LIMIT_BYTES}")
    return line


def decode_command(line: bytes) -> Command:
    """Return the command on `line`. Raises BadMessage."""
    command: Command = _decode(_COMMANDS, line)
    return command


def decode_event(line: bytes) -> Event:
    """Return the event on `line`. Raises BadMessage."""
    event: Event = _decode(_EVENTS, line)
    return event


def unknown_fields(message: RunLine, line: bytes) -> set[str]:
    """Return the fields of a line that the message decoded from it does not have."""
    plain = msgspec.json.decode(line, type=dict[str, Any])
    return plain.keys() - {"type", *message.__struct_fields__}


def _decode(decoder: msgspec.json.Decoder[Any], line: bytes) -> Any:
    if len(line) > LINE_LIMIT_BYTES:
        raise BadMessage(f"a line of more than {LINE_LIMIT_BYTES} bytes")
    if not line.endswith(b"\n"):
        raise BadMessage("a torn line: it does not end")
    try:
        if not line.isascii():
            line.decode()  # msgspec passes over fields that it does not know
        return decoder.decode(line)
    except UNREADABLE as error:
        raise BadMessage(str(error) or type(error).__name__) from None


_ALWAYS_FINITE = frozenset({str, int, bool, bytes, type(None)})  # most values: they go fast


def _refuse_not_finite(value: object, where: str = "") -> None:
    # msgspec writes NaN as null, which would be a quiet lie.
    if type(value) in _ALWAYS_FINITE:
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadMessage(f"{where.lstrip('.')} is {value}")
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _refuse_not_finite(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(name, float):
                _refuse_not_finite(name, where)
            _refuse_not_finite(part, f"{where}.{name}")
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            _refuse_not_finite(part, where)
    elif dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            _refuse_not_finite(getattr(value, part.name), f"{where}.{part.name}")
