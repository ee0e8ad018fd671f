"""Reads a line of an invoice: processor, memory, GPU, disk, board; how many and how large.

The names of processors and GPUs are reduced to their model ("9950x", "rtx 5090"). The names that
the system reports are reduced in the same way, so the two can be compared. A line about anything
else names nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from machine.parts import module_facts
from machine.record import Record

GIB = 2**30
Kind = Literal["processor", "memory", "gpu", "disk", "board", "cores", "gpus", "disks"]


class Wanted(Record):
    """A part that a line names; what it does not say is None or "".

    `count` is how many; for memory it counts modules, and is 0 if the line gives only their total
    size. `size_bytes` is the size of each, or that total. `name` is the model of a processor or a
    GPU, otherwise the text itself.
    """

    kind: Kind
    name: str = ""
    count: int = 1
    size_bytes: float | None = None
    transfers_per_s: float | None = None
    memory_kind: str = ""  # DDR5


class _Size(NamedTuple):
    number: float
    unit: str  # tb, tib, gb, gib
    times: int  # how many of them, as in 2 x 16 GB; 0 where it does not say
    start: int


_SIGNS = str.maketrans(
    {
        "×": "x",
        "✕": "x",
        "\N{EN DASH}": "-",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{NO-BREAK SPACE}": " ",
    }
)
_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_PRICE = re.compile(
    r"(?:[€$£]|\b(?:eur|usd|chf)\b)\s*\d[\d.,]*|\d[\d.,]*\s*(?:[€$£]|(?:eur|usd|chf)\b)"
)
_BETWEEN = re.compile(
    r"[;|]|,\s|\s(?:[+/]|and|und|with|mit)\s"
)  # the parts of a line that describes a whole computer
_FITS = re.compile(r"\b(?:for|für|supports?|compatible|kompatibel|passend|unterstützt)\b.*")
_NUMBER = r"\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d+)?"
_SIZE = re.compile(
    rf"(?<![\w.,])(?:(?P<before>\d{{1,2}})\s*x\s*)?(?P<number>{_NUMBER})\s*(?P<unit>[tg]i?b|g)\b"
    r"(?!\s*/\s*s)(?:\s*x\s*(?P<after>\d{1,2})\b)?"
)
_SPEED = re.compile(
    r"ddr[2-5]x?[\s-]*(\d{4,5})(?!\d)|(?<![\d.])(\d{4,5})\s*(?:mhz|mt/?s|cl\s*\d)|pc[3-5]-(\d{5,6})(?!\d)"
)
_MEMORY = re.compile(
    r"\b(?:lp)?ddr[2-5]x?\b|\b(?:ram|memory|arbeitsspeicher|mémoire|s?o?-?u?r?dimms?)\b"
)
_MEMORY_KIND = re.compile(r"\b(lp)?ddr([2-5])")
_MOST_MODULE = 256  # GB; what is larger is no module
# Part numbers of kits and modules that hold their size: modules, then GB of each or of all.
_KITS = (
    re.compile(r"\bf[3-5]-\w+?(?P<each>\d{1,3})gx(?P<count>\d)"),  # G.Skill
    re.compile(r"\bcm[a-z]{1,2}(?P<all>\d{1,3})gx[3-5]m(?P<count>\d)"),  # Corsair
    re.compile(r"\bk[fv]\w+?k(?P<count>\d)-(?P<all>\d{1,3})\b"),  # Kingston, a kit
    re.compile(r"\bk[fv]\d{3}\w*?-(?P<all>\d{1,3})\b"),  # and a module
    re.compile(r"\bct(?P<count>\d)k(?P<each>\d{1,3})g\d"),  # Crucial, a kit
    re.compile(r"\bct(?P<all>\d{1,3})g\d\d"),
)
_DISK = re.compile(
    r"\b(?:ssds?|nvme|hdds?|m\.2|sata|sas|u\.[23]|optane|disks?|hard\s?drives?|drives?|festplatten?)\b"
)
_OUTSIDE = re.compile(  # beside the machine, or a thing that holds a part of it
    r"\b(?:usb|external|externe?|portable|sd-?card|microsd\w*|stick|nas|thunderbolt|riser|brackets?|"
    r"water\s?blocks?|wasser\w+|cables?|kabel|adapters?|enclosures?|monitor|warranty|garantie)\b"
)
_CHIPSETS = (
    "a320 a520 a620 b350 b450 b550 b650 b650e b840 b850 x370 x399 x470 x570 x570s x670 x670e x870 "
    "x870e trx40 trx50 wrx80 wrx90 x99 x299 h310 h370 h410 h470 h510 h570 h610 h670 h770 h810 b360 "
    "b365 b460 b560 b660 b760 b860 z370 z390 z490 z590 z690 z790 z890 w480 w580 w680 w790 w880 "
    "c621 c741"
)
_CHIPSET = re.compile(rf"\b({_CHIPSETS.replace(' ', '|')})(?:[mi]\b|\b)")
_BOARD = re.compile(r"\b(?:main|mother)\s?board|\bhauptplatine")
_APPLE = r"m[1-9](?:\s+(?:pro|max|ultra))?"
_PROCESSORS = (
    re.compile(
        r"\b(?:ryzen|threadripper|epyc|athlon)\b(?:[\s-]+(?:pro|ai|max\+?|hx|threadripper|[3579]))*"
        r"[\s-]+(\d{3,5}[a-z0-9]{0,4}\b\+?)"
    ),
    re.compile(r"\br[3579][\s-]+(\d{4}[a-z0-9]{0,4})\b"),
    re.compile(r"\bi[3579][\s-]+(\d{3,5}[a-z]{0,3}\d?)\b"),
    re.compile(r"\bcore(?:\s+ultra)?\s+[3579](?:\s+pro)?[\s-]+(\d{3}[a-z]{0,3})\b"),
    re.compile(
        r"\bxeon\b(?:[\s-]+(?:platinum|gold|silver|bronze|max|cpu|processor|phi|[6dew]\b))*[\s-]+"
        r"(?:(?:e[357]|w\d?|d|e)-)?(\d{4,5}[a-z]{0,3}\b\+?(?:\s*v\d)?)"
    ),
    re.compile(r"\b(?:celeron|pentium)\b[\sa-z]*?\s([a-z]?\d{4}[a-z]?)\b"),
    re.compile(r"\bintel\s+(?:processor\s+)?(n\d{2,3})\b"),
    re.compile(rf"\bapple\s+({_APPLE})\b|\b({_APPLE})\s+chip\b"),
)
_VARIANTS = r"(?:\s*(?:ti|super|xtx|xt|gre|sff|ada|d|m))*"
_GPU = re.compile(
    r"\b(?P<family>quadro rtx|rtx|gtx|gt|rx|arc|radeon pro|quadro)[\s-]*(?P<pro>pro\s+)?"
    rf"(?P<number>[abvw]?\d{{3,4}})(?P<variants>{_VARIANTS})\b"
)
_ACCELERATOR = re.compile(
    r"\b(gh200|gb[23]00|h[12]00|h800|h20|b[23]00|a[18]00|a40|a30|a16|a10|a2|l40s?|l20|l4|t4|v100|"
    r"p100|mi\d{3}[xa]?)(?=\b|_)"
)
_MAKER_OF_GPU = re.compile(r"\b(?:nvidia|amd|tesla|instinct|gpus?)\b")
_SHORT = 3  # letters: A40 is a GPU only where its maker stands beside it
_COUNTED = re.compile(r"(?:\D*\b)?(\d{1,5})[\s-]*(cores?|gpus?|disks?)\b\D*")
_BEFORE = re.compile(
    r"[\s(•*-]*(\d{1,2})(?:\s*(?:x|st(?:k|ck|ück)?\.?|pcs?\.?|pieces?|units?)(?=[\s)])|\)?\s+(?=[a-z]{2})"
    r"(?!(?:[tg]i?b|cores?|gpus?|disks?)\b))"
)
_SAID = re.compile(
    r"\b(?:qty|quantity|menge|anzahl)\b\.?:?\s*(\d{1,2})\b|\((\d{1,2})\s*x\)|\(x\s*(\d{1,2})\)"
)
_PLACE = re.compile(r"\s*(?:pos(?:ition)?\.?\s*)?(\d{1,3})[.):]?\s+")


def parts_of(lines: Sequence[str]) -> list[tuple[Wanted, ...]]:
    """Return what each line names; nothing for a line about what no program can see."""
    places = [_PLACE.match(line) for line in lines]
    numbers = [int(place[1]) for place in places if place]
    if len(lines) > 1 and numbers == [*range(1, len(lines) + 1)]:  # they are counted, not the parts
        lines = [line[place.end() :] for line, place in zip(lines, places, strict=True) if place]
    return [tuple(_parts(line)) for line in lines]


def processor_model(text: str) -> str:
    """Return the model in the name of a processor, "" for none: "9950x", "14900k", "8480+"."""
    known = tidied(text)
    found = (match for pattern in _PROCESSORS if (match := pattern.search(known)))
    match = next(found, None)
    return "" if match is None else "".join(each or "" for each in match.groups()).replace(" ", "")


def gpu_model(text: str) -> str:
    """Return the model in the name of a GPU, "" for none: "rtx 4070 super ti", "h100"."""
    return next(iter(gpu_models(text)), "")


def gpu_models(text: str) -> list[str]:
    """Return all models in the name of a GPU: pci.ids has one number for several."""
    known = tidied(text)
    models = [
        " ".join(
            (match["family"], *(["pro"] if match["pro"] else []), match["number"],
             *sorted(re.findall(r"ti|super|xtx|xt|gre|sff|ada|d|m", match["variants"])))
        )
        for match in _GPU.finditer(known.replace("/", " rx ") if " rx " in known else known)
    ]  # fmt: skip
    match = None if models else _ACCELERATOR.search(known)
    if match and (len(match[1]) > _SHORT or _MAKER_OF_GPU.search(known)):
        models.append(match[1])
    return models


def chipset_of(text: str) -> str:
    """Return the chipset in the name of a board, "" for none."""
    match = _CHIPSET.search(tidied(text))
    return match[1] if match else ""


def tidied(text: str) -> str:
    """Return a name in small letters, with plain signs and single spaces."""
    known = unicodedata.normalize("NFKC", _MARKS.sub(" ", text).translate(_SIGNS))
    return " ".join(known.lower().split())


def _parts(line: str) -> Iterator[Wanted]:
    text = _PRICE.sub(" ", tidied(line))
    groups: list[tuple[Kind | None, str]] = []
    for piece in _BETWEEN.split(text):
        kind, known = _kind(piece)
        before = groups[-1] if groups else None
        if before is not None and (kind in (None, before[0]) or before[0] is None):
            groups[-1] = (kind or before[0], f"{before[1]}, {known}")
        else:
            groups.append((kind, known))
    kinds = {kind for kind, _ in groups if kind}
    if "board" in kinds:  # it lists what can be plugged in
        groups = [("board", text)]
    elif len(kinds) == 1:
        groups = [(kinds.pop(), ", ".join(known for _, known in groups))]
    for kind, known in groups:
        if kind is not None:
            yield _wanted(kind, known)


def _kind(piece: str) -> tuple[Kind | None, str]:
    """Return what a piece of a line is about, and the piece without what it is made for."""
    text = _FITS.sub("", piece)
    if _OUTSIDE.search(text):
        return None, ""
    if _BOARD.search(text):
        return "board", text
    if gpu_model(text):
        return "gpu", text
    if processor_model(text):
        return "processor", text
    if _CHIPSET.search(text):
        return "board", text
    if (counted := _COUNTED.fullmatch(text)) and not _SIZE.search(text):
        kinds: dict[str, Kind] = {"c": "cores", "g": "gpus", "d": "disks"}
        return kinds[counted[2][0]], text
    sizes = _sizes(text)
    is_small = any(each.unit[0] == "g" for each in sizes)
    if _MEMORY.search(text) and is_small and not re.search(r"\bcache|\bbuffer|puffer", text):
        return "memory", text
    if _DISK.search(text) and sizes:
        return "disk", text
    if _kit(text) or any(each.times and each.number <= _MOST_MODULE for each in sizes if is_small):
        return "memory", text
    is_large = any(each.unit[0] == "t" or each.number > _MOST_MODULE for each in sizes)
    return ("disk" if is_large else None), text


def _wanted(kind: Kind, text: str) -> Wanted:
    sizes = _sizes(text)
    match kind:
        case "processor":
            return Wanted(kind=kind, name=processor_model(text), count=_count(text))
        case "gpu":
            each = next((size for size in sizes if size.unit[0] == "g"), None)
            size_bytes = each.number * GIB if each else None
            return Wanted(
                kind=kind, name=gpu_model(text), count=_count(text), size_bytes=size_bytes
            )
        case "disk":
            size = sizes[0] if sizes else None
            count = _count(text, size.start if size and size.times else None)
            return Wanted(
                kind=kind,
                name=text,
                count=count * max(1, size.times if size else 1),
                size_bytes=_disk_bytes(size) if size else None,
            )
        case "memory":
            return _memory(text, sizes)
        case "board":
            return Wanted(kind=kind, name=text)
        case _:
            counted = _COUNTED.fullmatch(text)
            return Wanted(kind=kind, count=int(counted[1]) if counted else 1)


def _memory(text: str, sizes: Sequence[_Size]) -> Wanted:
    """Return the modules in a text: "2 x 16 GB", "32 GB (2 x 16 GB)", a kit's number."""
    small = [size for size in sizes if size.unit[0] == "g"]
    counted = next((size for size in reversed(small) if size.times), None)
    kit = _kit(text)
    if counted is not None:
        kits = _count(text, counted.start)
        modules, each_bytes = kits * counted.times, counted.number * GIB
    elif kit is not None:
        kits = _count(text)
        modules, each_bytes = kits * kit[0], kit[1] * GIB
    else:
        kits = _count(text)
        known = small[0].number if small else 0.0
        modules = kits if kits > 1 and "kit" not in text else 0
        each_bytes = known * GIB * (1 if modules else kits)
    kind = _MEMORY_KIND.search(text)
    return Wanted(
        kind="memory",
        name=text,
        count=modules,
        size_bytes=each_bytes or None,
        transfers_per_s=_transfers_per_s(text),
        memory_kind=f"{'LP' if kind[1] else ''}DDR{kind[2]}" if kind else "",
    )


def _kit(text: str) -> tuple[int, float] | None:
    """Return modules and GB of each from a kit's part number, None where it has neither."""
    for pattern in _KITS:
        if match := pattern.search(text):
            told = {name: int(value) for name, value in match.groupdict().items() if value}
            count = told.get("count", 1)
            if count:
                return count, told.get("each") or told["all"] / count
    return None


def _transfers_per_s(text: str) -> float | None:
    """Return the speed that a line of memory states, or that its part number stands for."""
    if match := _SPEED.search(text):
        known = next(int(each) for each in match.groups() if each)
        return known * 1e6 / (8 if match[3] else 1)  # PC5-48000 counts bytes, eight a transfer
    for word in re.findall(r"[\w-]*\d[\w-]*", text):
        facts = module_facts(word.upper()) if len(word) > len("DDR5-6000") else None
        if facts is not None and facts.transfers_per_s:
            return facts.transfers_per_s
    return None


def _sizes(text: str) -> list[_Size]:
    found = []
    for match in _SIZE.finditer(text):
        count = int(match["before"] or match["after"] or 0)
        if match["unit"] == "g" and not count:  # 2.5G is a network
            continue
        unit = f"{match['unit']}b" if match["unit"] == "g" else match["unit"]
        found.append(_Size(_number(match["number"], unit), unit, count, match.start()))
    return found


def _number(text: str, unit: str) -> float:
    """Return the number in "1.92", "1,92", "2.000" (GB, so two thousand)."""
    groups = re.split(r"[.,]", text)
    if len(groups) > 1 and unit[0] == "g" and all(len(each) == 3 for each in groups[1:]):
        return float("".join(groups))
    return float(".".join((groups[0], "".join(groups[1:]))) if len(groups) > 1 else text)


def _disk_bytes(size: _Size) -> float:
    factors = {"tb": 1e12, "gb": 1e9, "tib": 2.0**40, "gib": 2.0**30}
    return size.number * factors[size.unit]


def _count(text: str, is_counted_at: int | None = None) -> int:
    """Return how many of it a line asks for; what is counted there is a size, not the part."""
    before = _BEFORE.match(text)
    if before and (is_counted_at is None or before.start(1) != is_counted_at):
        return max(1, int(before[1]))
    if said := _SAID.search(text):
        return max(1, next(int(each) for each in said.groups() if each))
    after = re.search(r"\sx\s?(\d{1,2})$", text)
    return max(1, int(after[1])) if after and "pci" not in text else 1
