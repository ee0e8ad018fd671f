"""`coreopsis inspect`: this machine as a page, or as JSON."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode, WriteFailed
from app.terminal.parts.ceilings import show_ceilings
from app.terminal.parts.condition import clock_lines, maker_lines, page_lines, protection_lines
from app.terminal.parts.devices import device_lines
from app.terminal.parts.gpus import gpu_lines
from app.terminal.parts.memory import memory_lines
from experiments.core.problems import UserError
from experiments.core.units import show
from machine.inspect import BadRoot, inspect, portable
from machine.memory.host import NO_LIMIT
from machine.model import Cache, Machine, Missing, Thread, is_virtual, remarks, to_json
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
    if not options.json:
        show_machine(context.console, machine)
        show_unknown(context.console, machine)
    return ExitCode.DONE


def show_machine(console: Console, machine: Machine) -> None:
    """Print what is known of the machine."""
    page = _Page(machine)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in page.lines():
        table.add_row(label, text)
    console.print(Text(machine.cpu.model or "A machine of unknown model", style="bold"))
    console.print(table)
    console.print()
    show_ceilings(console, machine)


def show_unknown(console: Console, machine: Machine) -> None:
    """Print what is unknown, and why."""
    console.print(Text("Not known here, named as in --json", style="bold"))
    for what, why, ways in _Page(machine).unknown():
        console.print(Text(what, style="dim"))
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


class _Page:
    """The lines of the page. Unknown values are left out here and listed below."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def lines(self) -> Iterator[tuple[str, str]]:
        machine, cpu = self._machine, self._machine.cpu
        system = (machine.os.distribution, machine.os.kind, machine.os.release)
        yield "system", " · ".join(_known(*system, machine.os.architecture))
        yield from maker_lines(machine)
        surrounding = _known(
            is_virtual(machine) and f"a virtual machine ({machine.virtualization})",
            machine.container not in (None, "none") and f"a container ({machine.container})",
        )
        if surrounding:
            yield "runs in", ", and in it ".join(surrounding)
        yield (
            "processor",
            ", ".join(
                _known(
                    _count(cpu.packages, "package"),
                    _count(self._dies(), "die"),
                    _count(cpu.cores, "core"),
                    _count(cpu.threads, "hardware thread"),
                )
            ),
        )
        if kinds := Counter(thread.kind for thread in self._first_threads() if thread.kind):
            yield "cores", ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        elif any(missing.why == ONE_KIND for missing in machine.missing):
            yield "cores", "all of one kind"
        yield "usable", self._usable()
        yield "counted", self._counted()
        if vectors := vector_instructions(cpu.features):
            yield "vectors", ", ".join(vectors)
        for level, caches in itertools.groupby(self._caches(), key=_level):
            yield level, self._cache_line(list(caches))
        yield from clock_lines(machine)
        yield from protection_lines(machine)
        yield from memory_lines(machine)
        yield from (("remark", remark.why) for remark in remarks(machine))
        yield from page_lines(machine)
        yield from gpu_lines(machine)
        yield from device_lines(machine)

    def unknown(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield unknown values, the reason, and ways to get them, grouped by reason."""
        reasons: dict[str, dict[str, str]] = {}
        for missing in gaps(self._machine):
            reasons.setdefault(missing.why, {})[missing.what] = missing.how
        for why, hows in reasons.items():
            ways = [how for how in dict.fromkeys(hows.values()) if how]
            if len(ways) > 1:
                ways = [f"{what}: {how}" for what, how in hows.items() if how]
            yield _listed_paths(hows), why, ways

    def _first_threads(self) -> list[Thread]:
        """Return one thread of each core."""
        return list({t.core: t for t in self._machine.cpu.threads_list if t.online}.values())

    def _dies(self) -> int | None:
        """Return the number of dies, where a package has several."""
        dies = {thread.die for thread in self._machine.cpu.threads_list} - {None}
        return len(dies) if len(dies) > (self._machine.cpu.packages or 1) else None

    def _usable(self) -> str:
        cpu, counts = self._machine.cpu, self._machine.cpu.counts
        parts = [_count(cpu.usable_threads, "hardware thread") or "unknown"]
        if counts.present is not None and counts.present != counts.online:
            parts.append(f"{counts.present} present, {counts.online} switched on")
        if counts.affinity is not None and counts.affinity != counts.online:
            parts.append(f"its affinity leaves {counts.affinity}")
        if counts.cpuset is not None and counts.cpuset != counts.online:
            parts.append(f"its control group leaves {counts.cpuset}")
        if counts.quota is not None:
            parts.append(f"of which its control group grants the time of {counts.quota:g}")
        return ", ".join(parts)

    def _counted(self) -> str:
        """Return the five answers to "how many CPUs?"."""
        counts = self._machine.cpu.counts
        told = (
            (counts.present, "present"),
            (counts.online, "online"),
            (counts.affinity, "by affinity"),
            (counts.cpuset, "by cpuset"),
        )
        numbers = [f"{'?' if number is None else number} {what}" for number, what in told]
        quota = "no quota of time" if counts.quota is None else f"{counts.quota:g} by quota of time"
        return ", ".join((*numbers, quota))

    def _caches(self) -> list[Cache]:
        return sorted(self._machine.cpu.caches, key=_level)

    def _cache_line(self, caches: list[Cache]) -> str:
        kinds = Counter((cache.size_bytes or 0, len(cache.threads)) for cache in caches)
        ordered = sorted(kinds.items(), reverse=True)
        if len({shared for _, shared in kinds}) > 1:
            return ", ".join(
                f"{count} × {show(size, 'bytes')} for {_count(shared, 'hardware thread')}"
                for (size, shared), count in ordered
            )
        told = ", ".join(f"{count} × {show(size, 'bytes')}" for (size, _), count in ordered)
        shared = ordered[0][0][1]
        each = "hardware thread" if shared == 1 else f"{shared} hardware threads"
        return f"{told}, one for each {each}"


def _listed_paths(paths: Iterable[str]) -> str:
    """Return the paths; a common beginning is said once."""
    below: dict[str, list[str]] = {}
    for path in paths:
        start, _, name = path.rpartition(".")
        below.setdefault(start, []).append(name)
    shown = [
        f"{start}: {', '.join(names)}"
        if len(names) > 2 and start
        else ", ".join(f"{start}.{name}" if start else name for name in names)
        for start, names in below.items()
    ]
    return ("; " if any(": " in text for text in shown) else ", ").join(shown)


def _level(cache: Cache) -> str:
    kind = {"instruction": "i", "data": "d"}.get(cache.kind or "", "")
    return f"L{cache.level}{kind}"


def _known(*texts: str | Literal[False] | None) -> list[str]:
    return [text for text in texts if text]


def _count(count: int | None, what: str) -> str | None:
    if count is None:
        return None
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _write(path: Path, text: str) -> None:
    kind = UserError
    try:
        with path.open("w", encoding="utf-8") as file:
            kind = WriteFailed
            file.write(text)
    except OSError as error:
        reason = error.strerror or "?"
        raise kind("out_not_writable", path=str(path), reason=reason) from None
