"""The ceilings on the page of `coreopsis inspect`, each with its formula and source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.terminal.parts.devices import lanes_text
from app.terminal.parts.gpus import numbers_text
from experiments.core.units import show
from experiments.presentation.grouped import grouped
from machine.bus import pcie
from machine.model import Machine

_UNITS = ("bytes_per_s", "flop_per_s", "op_per_s")


@dataclass(frozen=True, slots=True)
class _Line:
    part: str
    what: str
    value: str
    formula: str
    source: str


def show_ceilings(console: Console, machine: Machine) -> None:
    """Print the ceilings of the machine, grouped by the source of their formulas."""
    by_source = grouped((line.source, line) for line in _lines(machine))
    if not by_source:
        return
    console.print(Text("At best", style="bold"))
    for source, lines in by_source.items():
        console.print(Text(source, style="dim"))
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="dim", no_wrap=True)
        table.add_column()
        table.add_column(no_wrap=True, justify="right")
        table.add_column()
        above = None
        for line in lines:
            part, above = "" if line.part == above else line.part, line.part
            table.add_row(part, line.what, line.value, line.formula and f"= {line.formula}")
        console.print(Padding(table, (0, 0, 0, 2)))
    console.print()


def _lines(machine: Machine) -> Iterator[_Line]:
    """Yield all ceilings, grouped by formula."""
    peaks = machine.peaks
    memory = peaks.get("memory", {})
    if _has_value(memory):
        yield _line("memory", "", memory)
    for (what, _), links in grouped(_links(machine)).items():
        count = f", {len(links)} links" if len(links) > 1 else ""
        yield _line("pcie", f"{what}{count}", links[0])
    for (name, _), gpus in grouped(_gpus(machine)).items():
        which = numbers_text([int(index) for index, _ in gpus])
        yield _line(f"gpu {which}", name.replace("_data_sheet", " (data sheet)"), gpus[0][1])
    nvlinks = [(pair, e) for pair, e in peaks.get("nvlink", {}).items() if _has_value(e)]
    for joined in grouped((_told(e, "formula"), (pair, e)) for pair, e in nvlinks).values():
        a, _, b = joined[0][0].partition("-")
        which = f"gpu {a} and {b}" if len(joined) == 1 else f"{len(joined)} pairs of GPUs"
        yield _line("nvlink", f"{which}, each way", joined[0][1])


def _links(machine: Machine) -> Iterator[tuple[tuple[str, str], Mapping[str, Any]]]:
    links = {gpu.pci_address: gpu.link for gpu in machine.gpus}
    links |= {device.address: device.link for device in machine.pci if device.link}
    able = {address: lanes_text(*pcie.able(link)) for address, link in links.items() if link}
    for address, entry in machine.peaks.get("pcie", {}).items():
        if _has_value(entry):
            yield (able.get(address, address), _told(entry, "formula")), entry


def _gpus(machine: Machine) -> Iterator[tuple[tuple[str, str], tuple[str, Mapping[str, Any]]]]:
    for index, ceilings in machine.peaks.get("gpus", {}).items():
        for name, entry in ceilings.items():
            if _has_value(entry):
                yield (name, _told(entry, "formula")), (index, entry)


def _line(part: str, what: str, entry: Mapping[str, Any]) -> _Line:
    unit = next(unit for unit in _UNITS if unit in entry)
    value = show(entry[unit], "bytes/s" if unit == "bytes_per_s" else "flop/s")
    if unit == "op_per_s":
        value = value.replace("FLOP/s", "OP/s")
    return _Line(part, what, value, _told(entry, "formula"), _told(entry, "source"))


def _has_value(entry: Mapping[str, Any]) -> bool:
    return any(unit in entry for unit in _UNITS)  # one of a later version may have another


def _told(entry: Mapping[str, Any], name: str) -> str:
    return str(entry.get(name, ""))  # a file may have been written by another program
