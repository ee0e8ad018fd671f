"""Further parts of a report for a dealer: the machine part by part, the order, and the load."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.checkup.in_words import MARKS, row_text
from app.checkup.load_trace import EXPERIMENT, VIEWS, Trace, seen
from app.reports.document import Colour, Facts, Heading, Part, Plot, State, Table
from experiments.checkup.order import SAYS, Kind, Reason, is_of_order
from experiments.checkup.result import Result, Row, Word
from experiments.core.units import decimal_bytes, show, unit_of
from experiments.core.words import Words
from machine.bus.pcie import able
from machine.devices import Disk, Gpu, Link
from machine.model import BadMachine, Machine, MemoryModule, from_json
from machine.parts import module_facts

if TYPE_CHECKING:
    from app.reports.run_report import Draw

STEPS, SKETCH = "▁▂▃▄▅▆▇█", 60  # of a curve in letters, and how many of them
STEADY = 0.05  # of the value: a steady clock is a straight line, not noise
MOST_LOOKS = 60  # at the load in the table below a plot; all of them are in the data
COLOURS: Mapping[Word, Colour] = {
    Word.FINE: "good",
    Word.LOOK: "attention",
    Word.PROBLEM: "fault",
    Word.UNCHECKED: "soft",
    Word.ABSENT: "soft",
}
# What is told of the machine itself, and so not again among the conditions.
TOLD = frozenset({"processor", "memory", "gpus", "firmware", "kernel", "driver"})


def machine_of(result: Result) -> Machine | None:
    """Return the machine that was checked, None where the file has no valid machine."""
    try:
        return from_json(result.machine)
    except BadMachine:
        return None


def order_parts(words: Words, result: Result) -> Iterator[Part]:
    """Yield the lines of the order with their answers, nothing without one."""
    lines = [line for row in result.rows if is_of_order(row) for line in _lines(words, row)]
    if lines:
        yield Heading(words.say("checkup.order"))
        yield Table(
            head=(words.say("checkup.ticket.line"), words.say("checkup.columns.found")),
            rows=tuple(texts for _, texts in lines),
            states=tuple(state for state, _ in lines),
        )


def _lines(words: Words, row: Row) -> Iterator[tuple[State, tuple[str, str]]]:
    reason: Reason = row.reason  # type: ignore[assignment]  # `is_of_order` says so
    kind: Kind = SAYS[reason][0]
    state = State(MARKS[row.word], words.say(f"checkup.answers.{kind}"), COLOURS[row.word])
    text = row_text(words, row)
    if row.values.get("line"):
        yield state, (text.title, text.found)
    elif isinstance(lines := row.values.get("lines"), list | tuple):
        yield from ((state, (str(line), "")) for line in lines)


def machine_parts(words: Words, machine: Machine, rows: Iterable[Row]) -> Iterator[Part]:
    """Yield maker, board, firmware and system, then modules, disks and GPUs."""
    say = words.say
    yield Heading(say("checkup.ticket.machine"))
    facts = ((say(f"checkup.ticket.{name}"), text) for name, text in _facts(words, machine))
    yield Facts(tuple((name, text) for name, text in facts if text))
    links = {row.part: row for row in rows if row.rule == "gpu-link"}
    tables: Sequence[tuple[str, Sequence[str], Iterable[Sequence[str]]]] = (
        (
            "modules",
            ("slot", "size", "kind", "set_to", "made_for", "part_number"),
            (_module(words, module) for module in machine.memory.modules),
        ),
        (
            "disks",
            ("disk", "size", "kind", "link", "worn"),
            (_disk(words, machine, disk) for disk in machine.storage),
        ),
        (
            "gpus",
            ("gpu", "memory", "link", "power_limit"),
            (_gpu(words, machine, gpu, links.get(f"gpu{gpu.index}")) for gpu in machine.gpus),
        ),
    )
    for name, heads, told in tables:
        cells = [*told]
        if cells:
            yield Heading(say(f"checkup.ticket.{name}"))
            yield _table([say(f"checkup.ticket.{head}") for head in heads], cells)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table without the columns of which nothing is known."""
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    return Table(
        head=tuple(heads[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in rows),
    )


def _facts(words: Words, machine: Machine) -> Iterator[tuple[str, str]]:
    system, cpu, os, say = machine.system, machine.cpu, machine.os, words.say
    yield "computer", _joined(system.maker, system.model)
    yield "board", system.board or ""
    yield "firmware", _joined(system.firmware, system.firmware_date, by=", ")
    counts = {"cores": cpu.cores, "threads": cpu.threads}
    cores = say("checkup.ticket.cores", counts) if cpu.cores and cpu.threads else ""
    packages = f"{cpu.packages} × {cpu.model}" if (cpu.packages or 0) > 1 else cpu.model
    yield "processor", _joined(packages, cores, by=", ")
    slots = len(machine.memory.modules)
    filled = sum(module.size_bytes != 0 for module in machine.memory.modules)
    size = show(machine.memory.total_bytes, "bytes") if machine.memory.total_bytes else ""
    in_slots = say("checkup.ticket.slots", {"filled": filled, "slots": slots}) if slots else ""
    yield "memory", _joined(size, in_slots, by=", ")
    yield "system", _joined(os.distribution, os.release, by=", ")
    drivers = (f"{gpu.vendor or ''} {gpu.driver_version or ''}".strip() for gpu in machine.gpus)
    yield "driver", ", ".join(dict.fromkeys(filter(None, drivers)))
    cuda = (gpu.cuda_version or "" for gpu in machine.gpus)
    yield "cuda", ", ".join(dict.fromkeys(filter(None, cuda)))
    if machine.virtualization not in (None, "none"):
        yield "virtual", machine.virtualization or ""


def _module(words: Words, module: MemoryModule) -> tuple[str, ...]:
    bank = module.bank if module.bank and module.bank != module.slot else None
    slot = _joined(module.slot, bank, by=", ")
    if module.size_bytes == 0:
        return slot, words.say("checkup.ticket.empty"), "", "", "", ""
    size = show(module.size_bytes, "bytes") if module.size_bytes else ""
    facts = module_facts(module.part_number)
    rated = max((facts.transfers_per_s if facts else None) or 0, module.rated_transfers_per_s or 0)
    number = _joined(module.maker, module.part_number)
    return slot, size, module.kind or "", _mega(module.transfers_per_s), _mega(rated), number


def _disk(words: Words, machine: Machine, disk: Disk) -> tuple[str, ...]:
    link = next((each.link for each in machine.pci if each.address == disk.pci_address), None)
    worn = "" if disk.wear_fraction is None else show(disk.wear_fraction, "fraction")
    size = decimal_bytes(disk.size_bytes) if disk.size_bytes else ""
    kind = _joined(disk.kind, disk.transport, by=", ")
    return disk.model or disk.name, size, kind, _link(words, link), worn


def _gpu(words: Words, machine: Machine, gpu: Gpu, seen: Row | None) -> tuple[str, ...]:
    number = {"number": gpu.index}
    name = _joined(words.say("checkup.parts.gpu", number), gpu.name, by=": ")
    memory = show(gpu.memory_bytes, "bytes") if gpu.memory_bytes else ""
    watts = show(gpu.power_limit_watts, "watts") if gpu.power_limit_watts else ""
    of_card = next((each.link for each in machine.pci if each.address == gpu.pci_address), None)
    return name, memory, _link(words, of_card or gpu.link, seen), watts


def _link(words: Words, link: Link | None, seen: Row | None = None) -> str:
    """Return the link, and what both ends allow where that is more.

    An idle link slows down, so only its lanes can show a fault; `seen` is the link under load.
    """
    generation, width = able(link) if link is not None else (None, None)
    under_load = seen.values if seen is not None else {}
    best = _lanes(words, under_load.get("best_generation"), under_load.get("best_width"))
    best = best or _lanes(words, generation, width)
    now = _lanes(words, under_load.get("generation"), under_load.get("width"))
    now = now or _lanes(words, generation, link.width if link is not None else None)
    if not now or not best or now == best:
        return now or best
    return words.say("checkup.ticket.less", {"now": now, "best": best})


def _lanes(words: Words, generation: object, width: object) -> str:
    known = {"generation": generation, "width": width}
    return words.say("checkup.ticket.lanes", known) if generation and width else ""


def load_parts(words: Words, trace: Trace, draw: Draw | None) -> Iterator[Part]:
    """Yield clocks, temperatures and watts over the load: their ends, and a plot of each.

    Without `draw` the plots have no pictures.
    """
    found = {view: seen(words, trace, view) for view in VIEWS}
    if not any(found.values()):
        return
    say = words.say
    yield Heading(say("checkup.trace"))
    heads = ("what", "at_first", "lowest", "highest", "at_the_end")
    yield Table(
        head=tuple(say(f"checkup.load.{head}") for head in heads),
        rows=tuple(
            (f"{part}, {say(f'checkup.columns.{view.key}')}", *_ends(told, view.key))
            for view, rows in found.items()
            for part, told in itertools.groupby(rows, key=lambda row: row.part)
        ),
        numbers=frozenset(range(1, len(heads))),
    )
    for view, rows in found.items():
        if rows:
            yield Plot(
                caption=say(f"checkup.views.{view.key}"),
                picture=None if draw is None else draw(EXPERIMENT, view, rows, {}, None),
                table=_looks(words, rows, view.key),
                sketch=tuple(_sketch(rows, view.key)),
            )


def _ends(rows: Iterable[Any], column: str) -> tuple[str, ...]:
    values = [getattr(row, column) for row in rows]
    ends = (values[0], min(values), max(values), values[-1])
    return tuple(show(value, unit_of(column)) for value in ends)


def _sketch(rows: Sequence[Any], column: str) -> Iterator[str]:
    """Yield a line of steps for each part: from its lowest to its highest, unless it is steady."""
    parts = {part: [*told] for part, told in itertools.groupby(rows, key=lambda row: row.part)}
    widest = max(map(len, parts), default=0)
    for part, told in parts.items():
        values = [getattr(row, column) for row in told]
        count = min(SKETCH, len(values))
        places = [at * len(values) // count for at in range(count)]
        ends = [*places[1:], len(values)]
        means = [statistics.fmean(values[a:b]) for a, b in zip(places, ends, strict=True)]
        low, high = min(means), max(means)
        span = max(high - low, STEADY * abs(high), 1e-9)
        steps = (STEPS[min(len(STEPS) - 1, int((v - low) / span * len(STEPS)))] for v in means)
        yield f"{part:<{widest}}  {''.join(steps)}"


def _looks(words: Words, rows: Sequence[Any], column: str) -> Table:
    """Return the rows of a plot, thinned to a readable table."""
    every = max(1, -(-len(rows) // MOST_LOOKS))
    shown = rows[::every]
    return Table(
        head=tuple(words.say(f"checkup.columns.{name}") for name in ("t_s", "part", column)),
        rows=tuple(
            (show(row.t_s, "s"), row.part, show(getattr(row, column), unit_of(column)))
            for row in shown
        ),
        numbers=frozenset({0, 2}),
        left_out=len(rows) - len(shown),
    )


def _joined(*texts: str | None, by: str = " ") -> str:
    return by.join(text for text in texts if text)


def _mega(transfers_per_s: float | None) -> str:
    return f"{transfers_per_s / 1e6:.0f} MT/s" if transfers_per_s else ""
