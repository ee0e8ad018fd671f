"""`coreopsis inspect`: this machine as a page, or as JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode
from app.terminal.devices import device_lines, modules_text
from app.terminal.gpus import gpu_lines
from experiments.problems import Trouble
from experiments.units import show
from machine.inspect import BadRoot, inspect
from machine.instructions import vector_instructions
from machine.linux import format_list
from machine.model import Cache, Machine, is_virtual, missing_of, to_json


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show the machine, or the recorded one below `--root`."""
    try:
        machine = inspect(options.root) if options.root else context.machine
    except BadRoot as error:
        raise Trouble("root_unreadable", reason=str(error)) from None
    if options.json or options.out:
        text = json.dumps(to_json(machine), indent=1, ensure_ascii=False) + "\n"
        if options.out:
            _write(options.out, text)
        if options.json:
            context.console.out(text, end="", highlight=False)
    if not options.json:
        show_machine(context.console, machine)
    return ExitCode.DONE


def show_machine(console: Console, machine: Machine) -> None:
    """Print the machine as a page: what is known, and why the rest is not."""
    page = _Page(machine)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in page.lines():
        table.add_row(label, text)
    console.print(Text(machine.cpu.model or "A machine of unknown model", style="bold"))
    console.print(table)
    console.print()
    console.print(Text("Not known here", style="bold"))
    for what, why, ways in page.unknown():
        console.print(Text(what, style="dim"))
        told = Table.grid(padding=(0, 1))
        for way in ways:
            told.add_row("→", way)
        console.print(Padding(Group(why, *([told] if ways else [])), (0, 0, 0, 2)))


class _Page:
    """The lines of the page. A value that is not known is left out here and told below."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def lines(self) -> Iterator[tuple[str, str]]:
        machine, cpu = self._machine, self._machine.cpu
        system = (machine.os.distribution, machine.os.kind, machine.os.release)
        yield "system", " · ".join(_known(*system, machine.os.architecture))
        surrounding = _known(
            is_virtual(machine) and f"a virtual machine ({machine.virtualization})",
            machine.container not in (None, "none") and f"inside a container ({machine.container})",
        )
        if surrounding:
            yield "runs in", ", ".join(surrounding)
        yield (
            "processor",
            ", ".join(
                _known(
                    _count(cpu.packages, "package"),
                    _count(cpu.cores, "core"),
                    _count(cpu.threads, "hardware thread"),
                )
            ),
        )
        yield "usable", self._usable()
        if vectors := vector_instructions(cpu.features):
            yield "vectors", ", ".join(vectors)
        for level, caches in itertools.groupby(self._caches(), key=_level):
            yield level, self._cache_line(list(caches))
        clock = cpu.clock
        if clock.max_hz:
            least = f"{show(clock.min_hz, 'hz')} to " if clock.min_hz else ""
            yield "clock", f"{least}{show(clock.max_hz, 'hz')}"
        if machine.memory.total_bytes:
            yield "memory", self._memory()
        for node in machine.numa if len(machine.numa) > 1 else ():
            size = f"{show(node.memory_bytes, 'bytes')}, " if node.memory_bytes else ""
            threads = f"threads {format_list(node.threads)}" if node.threads else "no threads"
            yield f"node {node.id}", f"{size}{threads}, distances {_listed(node.distances)}"
        yield from gpu_lines(machine)
        yield from device_lines(machine)

    def unknown(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield what is not known, why, and ways to get it; what shares a reason together."""
        reasons: dict[str, dict[str, str]] = {}
        for missing in self._machine.missing:
            reasons.setdefault(missing.why, {})[missing.what] = missing.how
        for why, hows in reasons.items():
            ways = [how for how in dict.fromkeys(hows.values()) if how]
            if len(ways) > 1:
                ways = [f"{what}: {how}" for what, how in hows.items() if how]
            yield ", ".join(hows), why, ways

    def _usable(self) -> str:
        cpu, counts = self._machine.cpu, self._machine.cpu.counts
        parts = [_count(cpu.usable_threads, "hardware thread") or "unknown"]
        if counts.present is not None and counts.present != counts.online:
            parts.append(f"{counts.present} present, {counts.online} switched on")
        if counts.affinity is not None and counts.affinity != counts.online:
            parts.append(f"pinned to {counts.affinity}")
        if counts.cpuset is not None and counts.cpuset != counts.online:
            parts.append(f"its control group has {counts.cpuset}")
        if counts.quota is not None:
            parts.append(f"of which its control group grants the time of {counts.quota:g}")
        return ", ".join(parts)

    def _caches(self) -> list[Cache]:
        return sorted(self._machine.cpu.caches, key=_level)

    def _cache_line(self, caches: list[Cache]) -> str:
        sizes = sorted({cache.size_bytes or 0 for cache in caches}, reverse=True)
        kinds = [
            f"{sum(1 for c in caches if (c.size_bytes or 0) == size)} × {show(size, 'bytes')}"
            for size in sizes
        ]
        shared = sorted({len(cache.threads) for cache in caches})
        each = "hardware thread" if shared == [1] else f"{_listed(shared)} hardware threads"
        return f"{', '.join(kinds)}, one for each {each}"

    def _memory(self) -> str:
        memory = self._machine.memory
        parts = _known(show(memory.total_bytes or 0, "bytes"), modules_text(memory.modules))
        if memory.channels:
            parts.append(f"{memory.channels} channels")
        if memory.peak_bytes_per_s:
            parts.append(f"at most {show(memory.peak_bytes_per_s, 'bytes/s')}")
        elif missing_of(self._machine, "memory.peak_bytes_per_s"):
            parts.append("bandwidth not known")
        return ", ".join(parts)


def _level(cache: Cache) -> str:
    kind = {"instruction": "i", "data": "d"}.get(cache.kind or "", "")
    return f"L{cache.level}{kind}"


def _known(*texts: str | Literal[False] | None) -> list[str]:
    return [text for text in texts if text]


def _count(count: int | None, what: str) -> str | None:
    if count is None:
        return None
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "?"
        raise Trouble("out_not_writable", path=str(path), reason=reason) from None
