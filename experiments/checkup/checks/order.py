"""The check of an order: each line of it against what is there.

A part answers one line only. Those that fit best are given away first, so that no line takes what
another one names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from experiments.checkup.invoice import (
    Wanted,
    chipset_of,
    gpu_model,
    gpu_models,
    parts_of,
    processor_model,
    tidied,
)
from experiments.checkup.judge import fact
from experiments.checkup.order import BY_WEIGHT, REST, RULE, SAYS, Kind, Order, Reason
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Limits, Rule, Source, rules
from experiments.core.units import decimal_bytes, show
from machine.devices import Disk, Gpu
from machine.model import Machine, MemoryModule, is_guest
from machine.parts import module_facts

T = TypeVar("T")
SAME_SIZE = 0.03  # of a disk: 512 GB are sold as 500, and 2 TB as 2048 GB
BINARY, EXACT = (2**30 / 1e9, 2**40 / 1e12), 0.002  # virtual disks are cut in GiB, called GB
GPU_KEEPS = 0.9  # a GPU keeps a part of its memory, mostly for error correction
SAME_SPEED = 0.98  # 5600 MT/s is told as 5598 by some firmware
_VARIANTS = frozenset({"pro", "evo", "plus", "qvo"})  # of disks: one number, several products
# What a line tells of a disk beside its name: sizes, rates, forms, counts.
_NO_NAME = re.compile(
    r"\b\d[\d.,]*\s*(?:[tgm]i?b(?:/s|ps)?|g|tbw|rpm|x|years?|jahre?)\b|\bm\.2|\bu\.[23]|\b22\d{2,3}\b|"
    r"\b(?:pcie|pci-e|gen|nvme|sata)\s*\d(?:\.\d)?(?:\s*x\s*\d)?|\b\d\.\d\b|\bx\d\b"
)
_WORD = re.compile(r"[a-z0-9]+")
_NUMBERED = re.compile(r"[a-z]*\d+[a-z0-9]*")
_MAKERS = re.compile(
    r"\b(?:asustek|asus|inc|computer|micro|star|international|co|ltd|gigabyte|technology|asrock|"
    r"dell|hewlett|packard|hp|lenovo|supermicro|msi)\b|\(.*?\)"
)
_MIXED = re.compile(r"[a-z]\d|\d[a-z]|\d{4}")
_LONG_NAME = 4  # letters and digits that no other device has by chance


class Answer(NamedTuple):
    """The answer to a line of the order; `found` are the names of the parts that gave it."""

    line: str
    reason: Reason
    found: str = ""

    @property
    def kind(self) -> Kind:
        """Here, less, other, missing, or untold."""
        return SAYS[self.reason][0]

    @property
    def word(self) -> Word:
        """The word of a row that its reason stands for."""
        return SAYS[self.reason][1]


class _Found(NamedTuple):
    reason: Reason
    names: str = ""


def answers(order: Order, machine: Machine) -> list[Answer]:
    """Return the answer to each line."""
    limits = order_rule().limits[Source.ORDER]
    wanted = parts_of(order.lines)
    judged = _judged([part for of_line in wanted for part in of_line], machine, limits)
    found = []
    for line, parts in zip(order.lines, wanted, strict=True):
        told = [judged[id(part)] for part in parts] or [_by_number(line, machine)]
        worst = max((each.reason for each in told), key=BY_WEIGHT.index)
        if is_guest(machine) and SAYS[worst][0] in ("less", "other", "missing"):
            worst = "hidden"
        names = " + ".join(dict.fromkeys(each.names for each in told if each.names))
        found.append(Answer(line, worst, names))
    return found


def rows_of_order(rule: Rule, order: Order, machine: Machine) -> Iterator[Row]:
    """Yield a row for each line of the order; all lines without an answer share the last row."""
    told = answers(order, machine)
    seen: Counter[str] = Counter()
    for each in told:
        seen[each.line] += 1
        if each.kind != "untold":
            again = f" ({seen[each.line]})" if seen[each.line] > 1 else ""
            yield row_of(rule, each, f"{each.line}{again}")
    untold = [each for each in told if each.kind == "untold"]
    if untold:
        reason = max((each.reason for each in untold), key=BY_WEIGHT.index)
        lines = [each.line for each in untold]
        yield fact(rule, Word.UNCHECKED, reason, REST, lines=lines, count=len(lines))


def row_of(rule: Rule, answer: Answer, part: str = "") -> Row:
    """Return the row of one line."""
    values = {"line": answer.line, "found": answer.found, "lines": [answer.line], "count": 1}
    return fact(rule, answer.word, answer.reason, part or answer.line, **values)


def order_rule() -> Rule:
    """Return the rule that an order is held against by."""
    return next(rule for rule in rules().rule if rule.id == RULE)


def _judged(wanted: Sequence[Wanted], machine: Machine, limits: Limits) -> dict[int, _Found]:
    """Return what was found for each part, by its identity: two lines may ask for the same."""
    found: dict[int, _Found] = {}

    def of(kind: str) -> list[Wanted]:
        return [part for part in wanted if part.kind == kind]

    for part in of("processor"):
        found[id(part)] = _processor(part, machine)
    for part in of("board"):
        found[id(part)] = _board(part, machine.system.board)
    for kind, count, name in (
        ("cores", machine.cpu.cores or machine.cpu.threads or 0, machine.cpu.model),
        ("gpus", len(machine.gpus), ", ".join(gpu.name or "?" for gpu in machine.gpus)),
        ("disks", len(_disks(machine)), ", ".join(disk.model or "?" for disk in _disks(machine))),
    ):
        for part in of(kind):
            reason: Reason = "here" if count >= part.count else "less" if count else "missing"
            found[id(part)] = _Found(reason, f"{count} ({name})" if name else str(count))
    _gpus(of("gpu"), machine, found)
    _disks_of(of("disk"), machine, found)
    _memory(of("memory"), machine, limits, found)
    return found


def _processor(part: Wanted, machine: Machine) -> _Found:
    name, here = machine.cpu.model or "", machine.cpu.packages or part.count
    model = processor_model(name)
    if not model:
        return _Found("untold", name)
    names = f"{here} × {name}" if here > 1 else name
    if model != part.name:
        return _Found("other", names)
    return _Found("here" if here >= part.count else "less", names)


def _board(part: Wanted, board: str | None) -> _Found:
    """Hold the text of a line against the board: the words of its name stand in it."""
    known = _MAKERS.sub("", tidied(board or ""))
    words = set(_WORD.findall(known))
    if words and words <= set(_WORD.findall(part.name)):
        return _Found("here", board or "")
    theirs, its = chipset_of(part.name), chipset_of(known)
    if not its:
        return _Found("untold", board or "")
    return _Found("renamed" if theirs in ("", its) else "other", board or "")


def _gpus(wanted: Sequence[Wanted], machine: Machine, found: dict[int, _Found]) -> None:
    def fits(part: Wanted, gpu: Gpu) -> bool:
        return part.name in gpu_models(gpu.name or "")

    taken, left = _given(wanted, machine.gpus, fits)
    nameless = [gpu for gpu in left if not gpu.name]
    for part in wanted:
        mine = taken[id(part)]
        names = _counted(_gpu_name(gpu) for gpu in mine)
        small = [
            gpu
            for gpu in mine
            if part.size_bytes and gpu.memory_bytes
            if gpu.memory_bytes < GPU_KEEPS * part.size_bytes
        ]
        others = [gpu for gpu in left if gpu_model(gpu.name or "")][: part.count]
        if len(mine) >= part.count:
            found[id(part)] = _Found("less" if small else "here", names)
        elif mine:
            found[id(part)] = _Found("less", names)
        elif others:
            left = [gpu for gpu in left if gpu not in others]
            found[id(part)] = _Found("other", _counted(_gpu_name(gpu) for gpu in others))
        else:
            found[id(part)] = _Found("untold" if nameless else "missing")


def _disks_of(wanted: Sequence[Wanted], machine: Machine, found: dict[int, _Found]) -> None:
    def fits(part: Wanted, disk: Disk) -> bool:
        return _is_size(part, disk) and _is_called(part.name, disk.model)

    taken, left = _given(wanted, _disks(machine), fits)
    short = [part for part in wanted if len(taken[id(part)]) < part.count]
    for part in wanted:
        found[id(part)] = _Found("here", _counted(map(_disk_name, taken[id(part)])))
    ways: Sequence[tuple[Reason, Callable[[Wanted, Disk], bool]]] = (
        ("renamed", _is_size),
        ("less", _is_smaller),
        ("other", lambda _part, _disk: True),
    )
    for reason, is_like in ways:
        for part in [part for part in short if not taken[id(part)]]:
            others = [disk for disk in left if is_like(part, disk)][: part.count]
            left = [disk for disk in left if disk not in others]
            taken[id(part)] += others
            if others:
                few = len(others) < part.count
                names = _counted(map(_disk_name, others))
                found[id(part)] = _Found("less" if few and reason == "renamed" else reason, names)
    for part in short:
        if not taken[id(part)]:
            found[id(part)] = _Found("missing")
        elif found[id(part)].reason == "here":
            found[id(part)] = _Found("less", found[id(part)].names)


def _is_size(part: Wanted, disk: Disk) -> bool:
    if not part.size_bytes or not disk.size_bytes:
        return True
    times = disk.size_bytes / part.size_bytes
    return abs(times - 1) <= SAME_SIZE or any(abs(times / each - 1) <= EXACT for each in BINARY)


def _is_smaller(part: Wanted, disk: Disk) -> bool:
    return _is_called(part.name, disk.model) and (disk.size_bytes or 0) < (part.size_bytes or 0)


def _is_called(text: str, model: str | None) -> bool:
    """Does a disk's model hold a number that the line names? Lines without one fit any disk."""
    known = tidied(model or "")
    numbers = [each for each in _NUMBERED.findall(_NO_NAME.sub(" ", text)) if len(each) > 1]
    flat = "".join(_WORD.findall(known))
    if not numbers or not flat:
        return True
    ours, its = ({*_WORD.findall(name)} & _VARIANTS for name in (text, known))
    is_variant = ours == its or not (its or known.startswith("samsung ssd"))
    return is_variant and any(each in flat for each in numbers)


def _memory(
    wanted: Sequence[Wanted], machine: Machine, limits: Limits, found: dict[int, _Found]
) -> None:
    modules = [module for module in machine.memory.modules if module.size_bytes != 0]
    if not modules or any(module.size_bytes is None for module in modules):
        _memory_sum(wanted, machine, limits, found)
        return
    left = sorted(modules, key=lambda module: -(module.size_bytes or 0))
    taken: dict[int, list[MemoryModule]] = {}
    for is_exact in (True, False):
        for part in wanted:
            mine = _modules(part, left, is_exact=is_exact) if id(part) not in taken else []
            if mine:
                taken[id(part)] = mine
                left = [module for module in left if all(module is not each for each in mine)]
    for part in wanted:
        found[id(part)] = _of_modules(part, taken.get(id(part), []))


def _modules(part: Wanted, left: Sequence[MemoryModule], *, is_exact: bool) -> list[MemoryModule]:
    """Return the modules that answer a part: those of its size, else as many as make its sum."""
    if is_exact and part.count:
        same = [module for module in left if module.size_bytes == part.size_bytes]
        return same[: part.count] if len(same) >= part.count else []
    mine: list[MemoryModule] = []
    for module in left:
        if sum(each.size_bytes or 0 for each in mine) < _sum_bytes(part):
            mine.append(module)
    is_enough = sum(each.size_bytes or 0 for each in mine) >= _sum_bytes(part)
    return mine if is_enough or not is_exact else []


def _of_modules(part: Wanted, mine: Sequence[MemoryModule]) -> _Found:
    if not mine:
        return _Found("missing")
    names = _counted(map(_module_name, mine))
    kinds = {module.kind for module in mine if module.kind}
    wanted = part.transfers_per_s or 0.0
    if sum(module.size_bytes or 0 for module in mine) < _sum_bytes(part):
        return _Found("less", names)
    if part.memory_kind and kinds and part.memory_kind not in kinds:
        return _Found("other", names)
    if any(0 < _fastest(module) < SAME_SPEED * wanted for module in mine):
        return _Found("slower", names)
    is_split = (
        part.count and [module.size_bytes for module in mine] != [part.size_bytes] * part.count
    )
    return _Found("split" if is_split else "here", names)


def _fastest(module: MemoryModule) -> float:
    """Return the most that is known of a module's speed, 0.0 if nothing is."""
    facts = module_facts(module.part_number)
    rated = facts.transfers_per_s if facts else None
    return max(rated or 0.0, module.transfers_per_s or 0.0, module.rated_transfers_per_s or 0.0)


def _memory_sum(
    wanted: Sequence[Wanted], machine: Machine, limits: Limits, found: dict[int, _Found]
) -> None:
    """Hold the sum of memory against what all lines ask for: the modules cannot be read."""
    total = machine.memory.total_bytes
    asked = sum(map(_sum_bytes, wanted))
    share = (total or 0) / asked if asked else 1.0
    reason: Reason = (
        "in_sum" if share >= limits.ok else "nearly" if share >= limits.floor else "less"
    )
    for part in wanted:
        known = _Found(reason, show(total, "bytes")) if total else _Found("untold")
        found[id(part)] = known


def _sum_bytes(part: Wanted) -> float:
    return (part.size_bytes or 0.0) * max(1, part.count)


def _given(
    wanted: Sequence[Wanted], there: Sequence[T], fits: Callable[[Wanted, T], bool]
) -> tuple[dict[int, list[T]], list[T]]:
    """Give each part of the order what fits it; return that by part, and what is left."""
    left, taken = list(there), dict[int, list[T]]()
    for part in wanted:
        mine = [each for each in left if fits(part, each)][: part.count]
        taken[id(part)] = mine
        left = [each for each in left if all(each is not other for other in mine)]
    return taken, left


def _by_number(line: str, machine: Machine) -> _Found:
    """Return a device, or the computer, whose long number stands in a line."""
    system = " ".join(filter(None, (machine.system.maker, machine.system.model)))
    there = [system, *(device.name or "" for device in machine.pci)]
    numbers = {each for each in _numbers(line) if len(each) >= _LONG_NAME}
    name = next((each for each in there if numbers & {*_numbers(each)}), "")
    return _Found("here", name) if name else _Found("untold")


def _numbers(text: str) -> Iterator[str]:
    """Yield the words of letters and digits in a name: x710, 7960."""
    yield from (word for word in _WORD.findall(tidied(text)) if _MIXED.search(word))


def _disks(machine: Machine) -> list[Disk]:
    return [disk for disk in machine.storage if disk.transport != "usb"]


def _counted(names: Iterator[str]) -> str:
    told = Counter(names)
    return ", ".join(f"{count} × {name}" if count > 1 else name for name, count in told.items())


def _gpu_name(gpu: Gpu) -> str:
    size = show(gpu.memory_bytes, "bytes") if gpu.memory_bytes else ""
    return ", ".join(filter(None, (gpu.name, size)))


def _disk_name(disk: Disk) -> str:
    size = decimal_bytes(disk.size_bytes) if disk.size_bytes else ""
    return ", ".join(filter(None, (disk.model or disk.name, size)))


def _module_name(module: MemoryModule) -> str:
    size = show(module.size_bytes or 0, "bytes")
    speed = f"{module.transfers_per_s / 1e6:.0f} MT/s" if module.transfers_per_s else ""
    number = f"({module.part_number})" if module.part_number else ""
    return " ".join(filter(None, (size, module.kind, number, speed)))
