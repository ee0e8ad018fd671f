"""Facts about named parts: what a processor, a GPU, a disk or a memory module is made to do.

The tables lie in resources/parts, a file a kind, dated, each line with its source. A user's own
lines lie in the data folder (`parts.toml`, or any *.toml in `parts`). They look alike, and come
first. The `pattern` of a line is a regular expression that fits the whole name of a part; capital
letters do not count. A fact comes from the first line that fits and has it. Without such a line it
is None: unknown.
"""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, field

from machine.convert import convert
from machine.record import Record, names
from machine.system.files import DATA_FOLDER, read_file
from machine.text import plain

SHIPPED = Path(__file__).parents[1] / "resources" / "parts"
OWN_FILE, OWN_FOLDER = "parts.toml", "parts"  # in the data folder
_LIMIT_BYTES = 2**20

Fraction = Annotated[float, Meta(gt=0, le=1)]
Watts = Annotated[float, Meta(ge=1, le=2000)]
Transfers = Annotated[float, Meta(ge=200e6, le=20e9)]
Generation = Annotated[int, Meta(ge=1, le=7)]
Lanes = Annotated[int, Meta(ge=1, le=16)]


class PartFacts(Record):
    """The known facts of a part. `sources` names the source of each."""

    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The sources of all facts, each once."""
        return "; ".join(dict.fromkeys(self.sources.values()))


class ProcessorFacts(PartFacts):
    """A processor. `channels` are those of its memory, 64 bits of data each.

    `transfers_per_s` is the fastest memory that its maker promises. `dies` counts those with cores,
    if these reach the memory over links of their own; one link reads `die_bytes_per_s`. It takes
    `pl2_watts` for a while and `pl1_watts` for good; AMD has one limit for both (PPT).
    `all_core_hz` is the clock that is usual while all cores work.
    """

    channels: Annotated[int, Meta(ge=1, le=16)] | None = None
    transfers_per_s: Transfers | None = None
    dies: Annotated[int, Meta(ge=1, le=32)] | None = None
    die_bytes_per_s: Annotated[float, Meta(ge=10e9, le=500e9)] | None = None
    pl1_watts: Watts | None = None
    pl2_watts: Watts | None = None
    all_core_hz: Annotated[float, Meta(ge=500e6, le=7e9)] | None = None


class GpuFacts(PartFacts):
    """A GPU. The fractions are measured shares of computed peaks (machine/peaks.py).

    `memory_fraction` is that of large copies within its memory, `product_fraction` that of large
    products on its matrix units. The data sheet counts with `data_sheet_hz`, if that is not the
    highest clock.
    """

    lanes: Lanes | None = None
    generation: Generation | None = None
    memory_fraction: Fraction | None = None
    product_fraction: Fraction | None = None
    memory_bytes: Annotated[int, Meta(ge=2**28, le=2**40)] | None = None
    data_sheet_hz: Annotated[float, Meta(ge=300e6, le=5e9)] | None = None


class DiskFacts(PartFacts):
    """A disk: the rate of large sequential reads that its maker promises, and its PCIe link."""

    read_bytes_per_s: Annotated[float, Meta(ge=50e6, le=30e9)] | None = None
    generation: Generation | None = None
    lanes: Lanes | None = None


class ModuleFacts(PartFacts):
    """A memory module. `transfers_per_s` is its rated speed, with its profile (XMP or EXPO)."""

    transfers_per_s: Transfers | None = None


# By the name of a table: what its lines tell, and the file of those that come along.
KINDS: Mapping[str, tuple[type[PartFacts], str]] = {
    "processor": (ProcessorFacts, "processors.toml"),
    "gpu": (GpuFacts, "gpus.toml"),
    "disk": (DiskFacts, "disks.toml"),
    "module": (ModuleFacts, "memory.toml"),
}

_MARKS = re.compile(r"\((?:R|TM|C)\)|[®™]|\bCPU\b", re.IGNORECASE)
_TAIL = re.compile(r" @ .*| w/ .*| with .*| \S+-Cores?(?: Processor)?$")  # of processors
_CHIP = re.compile(r"\w+ \[(.+)\]")  # so pci.ids names GPUs: AD102 [GeForce RTX 4090]
_MAKER = re.compile(r"(?:\d+th Gen )?(?:Intel|AMD|NVIDIA) (?:GeForce )?|GeForce ", re.IGNORECASE)
_ABOUT = ("pattern", "source", "examples")  # the keys of a line that are no facts


class Line(NamedTuple):
    """A line of a table; `examples` are names of parts that its pattern must fit.

    A fact is its value, or { times = number }: what the group of the pattern finds, times that.
    """

    pattern: str
    source: str
    examples: Sequence[str]
    facts: Mapping[str, Any]


class BadLine(ValueError):
    """A line, or a file of lines, cannot be used; the text says why."""


class _Own(NamedTuple):
    lines: Mapping[str, list[Line]]
    troubles: list[str]


K = TypeVar("K", bound=PartFacts)


def processor_facts(model: str | None) -> ProcessorFacts | None:
    """Return what is known of a processor, by the name that the kernel gives it."""
    return _facts(ProcessorFacts, "processor", model)


def gpu_facts(name: str | None) -> GpuFacts | None:
    """Return what is known of a GPU, by its name from the driver or pci.ids."""
    return _facts(GpuFacts, "gpu", name)


def disk_facts(model: str | None) -> DiskFacts | None:
    """Return what is known of a disk, by the model that it reports to the kernel."""
    return _facts(DiskFacts, "disk", model)


def module_facts(part_number: str | None) -> ModuleFacts | None:
    """Return what is known of a memory module, by its part number."""
    return _facts(ModuleFacts, "module", part_number)


def own_troubles() -> tuple[str, ...]:
    """Return a sentence for each file and line of the user's own that cannot be used."""
    return tuple(_own(os.environ.get(DATA_FOLDER, "")).troubles)


def shipped(kind: str) -> Mapping[str, Any]:
    """Return a table that comes along, as its file has it."""
    import tomllib

    return tomllib.loads((SHIPPED / KINDS[kind][1]).read_text(encoding="utf-8"))


def short_name(kind: str, name: str) -> str:
    """Return a name as patterns see it: single spaces, of processors and GPUs without the maker."""
    known = " ".join(_MARKS.sub("", name).split())
    if kind == "processor":
        known = _TAIL.sub("", known)
    elif kind == "gpu" and (chip := _CHIP.fullmatch(known)):
        known = chip[1]
    return _MAKER.sub("", known, count=1) if kind in ("processor", "gpu") else known


def line_of(entry: Mapping[str, Any]) -> Line:
    """Return a line as its file has it, unchecked."""
    facts = {name: value for name, value in entry.items() if name not in _ABOUT}
    return Line(entry.get("pattern", ""), entry.get("source", ""), entry.get("examples", ()), facts)


def fits(kind: str, line: Line, name: str) -> re.Match[str] | None:
    """Return how the pattern of a line fits the name of a part, None if it does not."""
    return re.fullmatch(line.pattern, short_name(kind, name), re.IGNORECASE)


def check(kind: str, line: Line) -> None:
    """Raise BadLine if it is none: its text names the key and what is wrong with it."""
    for name in ("pattern", "source"):
        if not isinstance(getattr(line, name), str) or not getattr(line, name):
            raise BadLine(f"{name} must be a text")
    if not isinstance(line.examples, list | tuple):
        raise BadLine("examples must be a list")
    try:
        groups = re.compile(line.pattern).groups
    except re.error as error:
        raise BadLine(f"pattern is no regular expression ({plain(str(error))})") from None
    for example in line.examples:
        if not fits(kind, line, str(example)):
            raise BadLine(f"pattern does not fit the example {plain(str(example))}")
    if not line.facts:
        raise BadLine(f"it tells nothing; it may tell {', '.join(facts_of(kind))}")
    for name, told in line.facts.items():
        if name not in facts_of(kind):
            raise BadLine(f"{plain(name)} is not among {', '.join(facts_of(kind))}")
        if isinstance(told, dict):
            if list(told) != ["times"] or not isinstance(told["times"], int | float) or not groups:
                raise BadLine(f"{name} takes {{ times = number }} and a (group) in the pattern")
        elif (why := _wrong(kind, name, told)) is not None:
            raise BadLine(why)


def _wrong(kind: str, name: str, value: object) -> str | None:
    """Return why a value is no such fact."""
    try:
        convert({name: value}, KINDS[kind][0])
    except msgspec.ValidationError as error:
        return f"{name}: {str(error).partition(' - at ')[0].replace('`', '').lower()}"
    return None


def facts_of(kind: str) -> list[str]:
    """Return the names of all facts that a line of a table may hold."""
    return [name for name in names(KINDS[kind][0]) if name != "sources"]


def _facts(record: type[K], kind: str, name: str | None) -> K | None:
    known = short_name(kind, name or "")
    return _looked_up(record, kind, known, os.environ.get(DATA_FOLDER, "")) if known else None


@functools.lru_cache(maxsize=256)
def _looked_up(record: type[K], kind: str, name: str, folder: str) -> K | None:
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for line in (*_own(folder).lines[kind], *_lines(kind)):
        match = re.fullmatch(line.pattern, name, re.IGNORECASE)
        for fact, told in line.facts.items() if match else ():
            value = _number(match, told) if isinstance(told, dict) else told
            if value is not None and fact not in found and _wrong(kind, fact, value) is None:
                found[fact], sources[fact] = value, line.source
    return convert({**found, "sources": sources}, record) if found else None


def _number(match: re.Match[str] | None, told: Mapping[str, float]) -> float | None:
    """Return the number in the pattern's group, times the factor of the table's line."""
    try:
        return float(match[1]) * told["times"] if match else None
    except (TypeError, ValueError):  # nothing, or no number
        return None


@functools.cache
def _lines(kind: str) -> tuple[Line, ...]:
    return tuple(map(line_of, shipped(kind)[kind]))


@functools.lru_cache(maxsize=4)
def _own(folder: str) -> _Own:
    """Read the lines of a user's own in a data folder."""
    import tomllib

    own = _Own({kind: [] for kind in KINDS}, [])
    for path in _own_files(Path(folder)) if folder else ():
        shown = plain(path.name)
        try:
            tables = tomllib.loads(read_file(path, _LIMIT_BYTES).decode())
        except FileNotFoundError:
            continue
        except OSError as error:
            own.troubles.append(f"{shown} is left out: {error.strerror or error}.")
            continue
        except (ValueError, RecursionError) as error:  # no UTF-8, no TOML; it names the line
            own.troubles.append(f"{shown} is left out: {plain(str(error))}.")
            continue
        for kind, entries in tables.items():
            _take(own, shown, kind, entries)
    return own


def _own_files(folder: Path) -> list[Path]:
    pattern = os.path.join(glob.escape(str(folder / OWN_FOLDER)), "*.toml")
    return [folder / OWN_FILE, *map(Path, sorted(glob.glob(pattern)))]  # pathlib's raises


def _take(own: _Own, shown: str, kind: str, entries: object) -> None:
    """Take the lines of one table, and leave out each that is wrong."""
    if kind == "date":
        return
    if kind not in KINDS or not isinstance(entries, list):
        whole = f"[[{plain(kind)}]] of {shown} is left out: a table is one of"
        own.troubles.append(f"{whole} {', '.join(f'[[{each}]]' for each in KINDS)}.")
        return
    for number, entry in enumerate(entries, 1):
        try:
            line = line_of(entry if isinstance(entry, dict) else {})
            check(kind, line)
        except BadLine as bad:
            own.troubles.append(f"[[{kind}]] number {number} of {shown} is left out: {bad}.")
            continue
        source = f"your own line in {shown}: {plain(line.source)}"
        own.lines[kind].append(line._replace(source=source))
