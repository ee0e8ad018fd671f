"""`coreopsis inspect`: this machine as a page, or as JSON."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode, WriteFailed, refused
from app.terminal.parts.ceilings import show_ceilings
from app.terminal.parts.condition import clock_lines, maker_lines, page_lines, protection_lines
from app.terminal.parts.devices import device_lines
from app.terminal.parts.gpus import gpu_lines
from app.terminal.parts.listed import counted, listed
from app.terminal.parts.memory import memory_lines
from experiments.core.problems import UserError
from experiments.core.units import show
from experiments.presentation.grouped import grouped
from machine.inspect import BadRoot, inspect, portable
from machine.memory.host import NO_LIMIT
from machine.model import Cache, Cpu, CpuCounts, Machine, Missing, is_virtual, remarks, to_json
from machine.processor.core_kinds import ONE_KIND
from machine.processor.cpu import NO_QUOTA
from machine.processor.instructions import vector_instructions

FACTS = (NO_QUOTA, NO_LIMIT, ONE_KIND)  # reasons that mean "there is none", not "unknown"


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show the machine, or the recorded one below `--root`."""
    try:
        machine = inspect(options.root) if options.root else context.machine
    except BadRoot as error:
        raise UserError("root_unreadable", reason=str(error)) from None
    if options.out:
        _write(options.out, _json(portable(machine)))  # a file is handed on
    if options.json:
        context.console.out(_json(machine), end="", highlight=False)
    else:
        show_machine(context.console, machine)
        show_unknown(context.console, machine)
    return ExitCode.DONE


def show_machine(console: Console, machine: Machine) -> None:
    """Print what is known of the machine."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in _lines(machine):
        table.add_row(label, text)
    console.print(Text(machine.cpu.model or "A machine of unknown model", style="bold"))
    console.print(table)
    console.print()
    show_ceilings(console, machine)


def show_unknown(console: Console, machine: Machine) -> None:
    """Print what is unknown, and why, grouped by reason."""
    console.print(Text("Not known here, named as in --json", style="bold"))
    for why, missing in grouped((each.why, each) for each in gaps(machine)).items():
        hows = {each.what: each.how for each in missing}
        ways = [how for how in dict.fromkeys(hows.values()) if how]
        if len(ways) > 1:
            ways = [f"{what}: {how}" for what, how in hows.items() if how]
        console.print(Text(_listed_paths(hows), style="dim"))
        told = Table.grid(padding=(0, 1))
        for way in ways:
            told.add_row("→", way)
        console.print(Padding(Group(why, *([told] if ways else [])), (0, 0, 0, 2)))


def gaps(machine: Machine) -> list[Missing]:
    """Return what is unknown, without parts that are known to be absent, and without remarks."""
    told = remarks(machine)
    return [each for each in machine.missing if each.why not in FACTS and each not in told]


def _json(machine: Machine) -> str:
    return json.dumps(to_json(machine), indent=1, ensure_ascii=False) + "\n"


def _lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the lines of the page. Unknown values are left out here, and named below."""
    cpu, system = machine.cpu, machine.os
    told = (system.distribution, system.kind, system.release, system.architecture)
    yield "system", listed(*told, by=" · ")
    yield from maker_lines(machine)
    if surrounding := listed(
        is_virtual(machine) and f"a virtual machine ({machine.virtualization})",
        machine.container not in (None, "none") and f"a container ({machine.container})",
        by=", and in it ",
    ):
        yield "runs in", surrounding
    yield (
        "processor",
        listed(
            counted(cpu.packages, "package"),
            counted(_dies(cpu), "die"),
            counted(cpu.cores, "core"),
            counted(cpu.threads, "hardware thread"),
        ),
    )
    first_threads = {thread.core: thread for thread in cpu.threads_list if thread.online}.values()
    if kinds := Counter(thread.kind for thread in first_threads if thread.kind):
        yield "cores", ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    elif any(missing.why == ONE_KIND for missing in machine.missing):
        yield "cores", "all of one kind"
    yield "usable", _usable(cpu)
    yield "counted", _counted(cpu.counts)
    if vectors := vector_instructions(cpu.features):
        yield "vectors", ", ".join(vectors)
    for level, caches in itertools.groupby(sorted(cpu.caches, key=_level), key=_level):
        yield level, _cache_line(list(caches))
    yield from clock_lines(machine)
    yield from protection_lines(machine)
    yield from memory_lines(machine)
    yield from (("remark", remark.why) for remark in remarks(machine))
    yield from page_lines(machine)
    yield from gpu_lines(machine)
    yield from device_lines(machine)


def _dies(cpu: Cpu) -> int | None:
    """Return the number of dies, where a package has several."""
    dies = {thread.die for thread in cpu.threads_list} - {None}
    return len(dies) if len(dies) > (cpu.packages or 1) else None


def _usable(cpu: Cpu) -> str:
    counts, online = cpu.counts, cpu.counts.online
    return listed(
        counted(cpu.usable_threads, "hardware thread") or "unknown",
        counts.present not in (None, online) and f"{counts.present} present, {online} switched on",
        counts.affinity not in (None, online) and f"its affinity leaves {counts.affinity}",
        counts.cpuset not in (None, online) and f"its control group leaves {counts.cpuset}",
        counts.quota is not None
        and f"of which its control group grants the time of {counts.quota:g}",
    )


def _counted(counts: CpuCounts) -> str:
    """Return the five answers to "how many CPUs?"."""
    told = (
        (counts.present, "present"),
        (counts.online, "online"),
        (counts.affinity, "by affinity"),
        (counts.cpuset, "by cpuset"),
    )
    numbers = [f"{'?' if number is None else number} {what}" for number, what in told]
    quota = "no quota of time" if counts.quota is None else f"{counts.quota:g} by quota of time"
    return ", ".join((*numbers, quota))


def _cache_line(caches: list[Cache]) -> str:
    kinds = Counter((cache.size_bytes or 0, len(cache.threads)) for cache in caches)
    ordered = sorted(kinds.items(), reverse=True)
    if len({shared for _, shared in kinds}) > 1:
        return ", ".join(
            f"{count} × {show(size, 'bytes')} for {counted(shared, 'hardware thread')}"
            for (size, shared), count in ordered
        )
    told = ", ".join(f"{count} × {show(size, 'bytes')}" for (size, _), count in ordered)
    shared = ordered[0][0][1]
    each = "hardware thread" if shared == 1 else f"{shared} hardware threads"
    return f"{told}, one for each {each}"


def _listed_paths(paths: Iterable[str]) -> str:
    """Return the paths; a common beginning is said once."""
    parted = (path.rpartition(".") for path in paths)
    shown = [
        f"{start}: {', '.join(names)}"
        if len(names) > 2 and start
        else ", ".join(f"{start}.{name}" if start else name for name in names)
        for start, names in grouped((start, name) for start, _, name in parted).items()
    ]
    return ("; " if any(": " in text for text in shown) else ", ").join(shown)


def _level(cache: Cache) -> str:
    kind = {"instruction": "i", "data": "d"}.get(cache.kind or "", "")
    return f"L{cache.level}{kind}"


def _write(path: Path, text: str) -> None:
    with refused(UserError, "out_not_writable", path):
        file = path.open("w", encoding="utf-8")
    with refused(WriteFailed, "out_not_writable", path), file:
        file.write(text)
