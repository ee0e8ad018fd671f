"""Run files: the messages of a run, read again in their order.

A file can execute nothing. A torn last line is dropped and said so, and so is a checksum that does
not hold (seal.py); any other damage is one sentence. The file stays as it is.
"""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import logging
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import field
from msgspec.structs import replace

from experiments.core.declare import Experiment, Finding, Tables
from experiments.core.judging.disturbed import MOSTLY_DISTURBED, counting, mark
from experiments.core.judging.trust import Noted, Trust, taken_fraction, weigh
from experiments.core.judging.ways import is_one_lost
from experiments.core.parameters import from_json
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.messages import Outcome
from experiments.engine.report_file import SEEN_BYTES, carried, is_report
from experiments.engine.seal import Seal
from machine.convert import UNREADABLE, convert
from machine.model import Machine
from machine.model import from_json as machine_from_json
from machine.record import Record
from machine.system.files import open_file

R = TypeVar("R", bound=Record)

log = logging.getLogger(__name__)

SUFFIXES = (".coreopsis.jsonl", ".coreopsis.jsonl.gz")
RUN_LIMIT_BYTES = 256 * 2**20  # an experiment that floods must not fill the disk
# The densest experiments write 500 lines a second, and 30 pictures: half an hour has 954 000.
RUN_LIMIT_LINES = 1_000_000
# What is packed as gzip may be 1000 times larger: half an hour of one and the same picture is 130.
RATIO_LIMIT = 200
SMALL_BYTES = 16 * 2**20  # what unpacks to less harms nobody
ALTERED = "recording_altered"  # the note where the checksum does not hold


class Order:
    """Checks that each line may come next: started first, rows without a gap, finished last."""

    def __init__(self) -> None:
        self.started: messages.Started | None = None
        self.finished: messages.Finished | None = None
        self._rows = 0

    def check(self, event: messages.Event) -> None:
        """Accept the event or raise BadMessage."""
        if self.finished is not None:
            raise messages.BadMessage("a line after the last one")
        if isinstance(event, messages.Started):
            self._check_started(event)
        elif isinstance(event, messages.Finished):
            self.finished = event
        elif isinstance(event, messages.Row):
            self._check_row(event)
        elif isinstance(event, messages.Frame):
            if self.started is None or event.table not in self.started.tables:
                raise messages.BadMessage(f"a frame of the unknown table {event.table!r}")
        elif not isinstance(event, messages.Progress | messages.Note):
            raise messages.BadMessage(f"{type(event).__name__} does not belong in a run")

    def _check_started(self, event: messages.Started) -> None:
        if self.started is not None:
            raise messages.BadMessage("started twice")
        if event.format != messages.RUN_FORMAT or event.version != messages.VERSION:
            raise messages.BadMessage(f"not {messages.RUN_FORMAT} version {messages.VERSION}")
        self.started = event

    def _check_row(self, event: messages.Row) -> None:
        columns = self.started.tables.get(event.table) if self.started else None
        if columns is None:
            raise messages.BadMessage(f"a row of the unknown table {event.table!r}")
        if event.row.keys() != columns.keys():
            raise messages.BadMessage(f"row {event.n} has other columns than {event.table!r}")
        if event.n != self._rows:
            raise messages.BadMessage(f"row {event.n} where {self._rows} should come")
        self._rows += 1


class Recording(Record, kw_only=False):
    """A run that was read: its lines in order, and the rows of each table together."""

    started: messages.Started
    events: Sequence[messages.Event]  # rows, frames, progress and notes
    finished: messages.Finished
    notes: tuple[str, ...] = ()  # keys: what had to be mended while reading
    rows: Mapping[str, Sequence[messages.Row]] = field(default_factory=dict)

    def tables(self, experiment: Experiment[Any]) -> dict[str, list[Any]]:
        """Return the rows as the records that the experiment declares, the disturbed ones marked.

        Raises UserError where the experiment has changed its tables since.
        """
        try:
            return {
                name: [as_record(row, row_type) for row in self.rows.get(name, ())]
                for name, row_type in experiment.tables.items()
            }
        except msgspec.ValidationError:
            raise UserError(
                "recording_of_other_version",
                id=experiment.id,
                recorded=self.started.experiment_version,
                known=experiment.version,
            ) from None

    def recorded_finding(self) -> messages.FindingSent | None:
        """Return what was found when it ran; an old file does not say how far that stands."""
        finding = self.finished.finding
        if finding is not None and finding.trust is Trust.SOLID and taken_fraction(self.told):
            return msgspec.structs.replace(finding, trust=Trust.DISTURBED)
        return finding

    @property
    def told(self) -> list[messages.Note]:
        """The notes of the run."""
        return [event for event in self.events if isinstance(event, messages.Note)]

    def only_round(self, number: int) -> Recording:
        """Return the run as if one round of it had been measured; tables without rounds whole."""
        rows = {
            table: [row for row in rows if row.row.get("repeat", number) == number]
            for table, rows in self.rows.items()
        }
        return replace(self, rows=rows)

    def finding(self, experiment: Experiment[Any]) -> messages.FindingSent | None:
        """Return what `analyse` says of these rows; None where there is too little to analyse.

        A run that ended before its first row keeps its recorded finding, mostly None. Raises
        UserError if the experiment has changed its tables since.
        """
        tables = self.tables(experiment)
        is_whole = self.finished.outcome is Outcome.COMPLETED
        if experiment.is_own or not (is_whole or any(tables.values())):
            return self.recorded_finding()
        return analysed_later(experiment, self.started, tables, self.told)


def as_record(row: messages.Row, record: type[R]) -> R:
    """Return a row, and what is known of its sample. Raises msgspec.ValidationError."""
    return mark(convert(row.row, record), row.disturbed, row.counters)


def analysed(
    experiment: Experiment[Any],
    params: object,
    tables: Tables,
    machine: Machine,
    notes: Iterable[Noted] = (),
) -> messages.FindingSent:
    """Return what `analyse` says of the rows that were not disturbed, and how far that stands.

    If no sample of a way is left, the finding is `MOSTLY_DISTURBED`. Raises the errors of
    `analyse`.
    """
    left = {name: counting(rows) for name, rows in tables.items()}

    def analyse() -> Finding:
        rounds = [name for name, rows in tables.items() if rows and hasattr(rows[0], "repeat")]
        is_lost = any(is_one_lost(experiment.plots, name, tables[name]) for name in rounds)
        if is_lost or (any(tables.values()) and not any(left.values())):
            return Finding(MOSTLY_DISTURBED)
        return experiment.analyse(params, left, machine)

    return sent(*weigh(analyse, taken_fraction(notes)))


def analysed_later(
    experiment: Experiment[Any],
    started: messages.Started,
    tables: Tables,
    notes: Iterable[Noted] = (),
) -> messages.FindingSent | None:
    """Return what `analyse` says of the tables of a run; None where it cannot say anything."""
    try:
        params = from_json(experiment.params, started.params, check_choices=False)
        return analysed(experiment, params, tables, machine_from_json(started.machine), notes)
    except Exception:  # a partial or foreign run must open, whatever analyse makes of it
        log.warning("cannot analyse run %s", started.run, exc_info=True)
        return None


def sent(finding: object, trust: Trust = Trust.SOLID) -> messages.FindingSent:
    """Return a finding as it crosses the wire. Raises BadMessage for what is none."""
    if not isinstance(finding, Finding):
        raise messages.BadMessage(f"analyse returns {type(finding).__name__}, which is no Finding")
    values: Mapping[str, Any] = finding.values
    for name, value in values.items():
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise messages.BadMessage(f"analyse says that {name} is {value!r}, which is no number")
    return messages.FindingSent(
        message=finding.message,
        values=dict(values),
        limits=list(finding.limits),
        unclear=list(finding.unclear),
        trust=trust,
    )


def read(path: Path) -> Recording:
    """Read a run file, or the run that a report carries.

    Raises UserError with one sentence for anything that is none.
    """
    return recording_of(path.name, lines_of(path))


def recording_of(name: str, lines: Iterable[bytes]) -> Recording:
    """Return the run of these lines with their ends. Raises UserError, which names `name`."""
    order, seal = Order(), Seal()
    events: list[messages.Event] = []
    rows: dict[str, list[messages.Row]] = {}
    notes: list[str] = []
    for number, line in enumerate(lines, start=1):
        if number == 1:
            _check_head(name, line)
        try:
            event = messages.decode_event(line)
            order.check(event)
        except messages.BadMessage as error:
            torn = not line.endswith(b"\n") and len(line) <= messages.LINE_LIMIT_BYTES
            if torn and number > 1:
                notes.append("torn_line_dropped")
                break
            raise UserError(
                "recording_damaged", name=name, line=number, reason=str(error)
            ) from None
        if not seal.holds(event, line):
            notes.append(ALTERED)
        if isinstance(event, messages.Started):
            rows = {table: [] for table in event.tables}
        elif isinstance(event, messages.Row):
            rows[event.table].append(event)
            events.append(event)
        elif not isinstance(event, messages.Finished):
            events.append(event)
    if order.started is None:
        raise UserError("recording_empty", name=name)
    finished = order.finished
    if finished is None:
        notes.append("recording_without_end")
        finished = messages.Finished(
            outcome=Outcome.LOST, problem=messages.ProblemSent(key="run_cut_short")
        )
    return Recording(order.started, tuple(events), finished, tuple(notes), rows)


def is_beginning(path: Path, of: Path) -> bool:
    """Is a file less than another one, and the same as far as it goes?"""
    pairs = itertools.zip_longest(lines_of(path), lines_of(of), fillvalue=b"")
    try:
        for ours, theirs in pairs:
            if ours != theirs:  # the last line may be torn
                return theirs.startswith(ours) and next(pairs, (b"",))[0] == b""
    except UserError as trouble:
        log.info("cannot be compared: %s", trouble)
    return False


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a run with their ends, the first part of one that is too long.

    Raises UserError, in the middle of it where a gzip is cut or damaged.
    """
    total = 0
    try:
        packed_bytes = path.stat().st_size
        with _open(path) as file:
            readline = functools.partial(file.readline, messages.LINE_LIMIT_BYTES + 1)
            for number, line in enumerate(iter(readline, b""), start=1):
                total += len(line)
                _check_size(path.name, number, total, packed_bytes)
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(
            "recording_damaged", name=path.name, line="?", reason=f"gzip: {error}"
        ) from None
    except IsADirectoryError:
        raise UserError("recording_is_folder", name=str(path)) from None
    except FileNotFoundError:
        raise UserError("recording_missing", name=str(path)) from None
    except OSError as error:
        raise UserError(
            "recording_unreadable", name=path.name, reason=error.strerror or "?"
        ) from None


def _check_size(name: str, lines: int, total_bytes: int, packed_bytes: int) -> None:
    """Raise UserError for a file that no run can be, before it fills the memory."""
    if total_bytes > 2 * RUN_LIMIT_BYTES:
        raise UserError("recording_too_large", name=name, limit_bytes=2 * RUN_LIMIT_BYTES)
    if lines > RUN_LIMIT_LINES:
        raise UserError("recording_of_too_many_lines", name=name, limit=RUN_LIMIT_LINES)
    if total_bytes > max(SMALL_BYTES, RATIO_LIMIT * packed_bytes):
        raise UserError("recording_packed_too_well", name=name, limit=RATIO_LIMIT)


def _open(path: Path) -> io.BufferedIOBase:
    file = open_file(path)
    beginning = file.peek(SEEN_BYTES)
    if beginning[:2] == b"\x1f\x8b":
        return _Gzip(file)
    if is_report(beginning):
        with file:
            return io.BytesIO(carried(path.name, file).lines)
    return file


class _Gzip(gzip.GzipFile):
    """A gzip reader that closes the file beneath it."""

    def __init__(self, file: io.BufferedReader) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._beneath = file

    def close(self) -> None:
        super().close()
        self._beneath.close()


def _check_head(name: str, line: bytes) -> None:
    """Name a foreign or a newer file, by the little that all versions share. Raises UserError."""
    try:
        head = msgspec.json.decode(line)
    except UNREADABLE:
        raise UserError("recording_foreign", name=name) from None
    if isinstance(head, dict) and head.get("type") in ("watch", "sample"):
        raise UserError("recording_is_watch", name=name)
    if not isinstance(head, dict) or head.get("format") != messages.RUN_FORMAT:
        raise UserError("recording_foreign", name=name)
    version = head.get("version")
    if isinstance(version, int) and version > messages.VERSION:
        raise UserError("recording_newer", name=name, version=version, known=messages.VERSION)
