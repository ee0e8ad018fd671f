"""Layout of one core: the parts that instructions and data pass, from the front end to the L2."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from experiments.core.declare import Part
from experiments.core.words import Words
from machine.model import Machine, caches_of, usable_threads
from widgets.map.layout.boxes import Box, Kind, Layout, Letters, Measure, Rect, Wire, wrapped
from widgets.map.layout.cores import CACHE_PARTS, cache_box
from widgets.map.layout.labels import Labels
from widgets.map.layout.layout import bearing
from widgets.style.theme import STEP

CLOSE = "close-core"
GAP, PAD = 4 * STEP, 2 * STEP
NUMBERS = 3  # lines kept free for measured numbers
TALLER = 1.5  # at most, where there is room
THICK = 3.0
NOWHERE = Rect(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Row:
    """Parts side by side, each with its share of the width."""

    boxes: Sequence[Box]
    shares: Sequence[float]


def core_of(machine: Machine, threads: Sequence[int]) -> tuple[int, ...]:
    """Return all threads of the core that these belong to, in order; () where it is unknown."""
    known = {thread.id: thread for thread in machine.cpu.threads_list}
    first = known.get(threads[0]) if threads else None
    if first is None:
        return ()
    if first.core is None:
        return (first.id,)
    return tuple(sorted(t.id for t in known.values() if t.core == first.core))


def measured_core(machine: Machine) -> tuple[int, ...]:
    """Return the threads of the core that experiments measure; () where none may be used."""
    usable = usable_threads(machine)
    return core_of(machine, [usable[-1].id]) if usable else ()


def lay_out_core(
    machine: Machine,
    words: Words,
    measure: Measure,
    width: float,
    height: float,
    threads: tuple[int, ...],
) -> Layout:
    """Return the inside of the core with these threads, for a room of this size."""
    return _Inside(machine, words, measure, threads).lay_out(width, height)


class _Inside:
    """One core, part by part."""

    def __init__(
        self, machine: Machine, words: Words, measure: Measure, threads: tuple[int, ...]
    ) -> None:
        self._machine, self._words, self._measure = machine, words, measure
        self._labels, self._ids = Labels(words, machine), threads
        self._threads = [t for t in machine.cpu.threads_list if t.id in threads]
        self._bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP

    def lay_out(self, width: float, height: float) -> Layout:
        rows = list(self._rows())
        least = [self._least(row, width) for row in rows]
        room = height - self._bar - GAP * len(rows)
        stretch = min(TALLER, max(1.0, room / sum(least)))
        y: float = self._bar + GAP
        placed = []
        for row, high in zip(rows, least, strict=True):
            placed.append(list(self._placed(row, y, width, math.floor(high * stretch))))
            y = placed[-1][-1].rect.bottom + GAP
        boxes = [*self._head(width), *itertools.chain(*placed)]
        boxes = bearing(self._machine, boxes) if self._is_measured() else boxes
        return Layout(boxes=tuple(boxes), wires=tuple(_wires(placed)), width=width, height=y - GAP)

    def _is_measured(self) -> bool:
        """Return whether the numbers of experiments hold for a core of this kind."""
        here = {thread.kind for thread in self._threads}
        measured = set(measured_core(self._machine))
        return here == {t.kind for t in self._machine.cpu.threads_list if t.id in measured}

    def _head(self, width: float) -> Iterator[Box]:
        """Yield the core's name, the tiles of its threads, and what closes it."""
        say, number = self._words.say, self._threads[0].core
        name = say("map.core_of", {"thread": self._ids[0]})
        if number is not None:
            name = say("map.core", {"number": number})
        close = say("map.close_core")
        wide = self._measure.width(close, Letters.TITLE) + 4 * STEP
        head = Rect(0, 0, width - wide - GAP, self._bar)
        yield Box(
            id=f"open:{self._ids[0]}",
            kind=Kind.OPEN_CORE,
            rect=head,
            part=Part.CORES,
            titles=(say("map.core_opened", {"name": name}),),
            threads=self._ids,
        )
        tile = self._measure.width("0" * len(str(max(self._ids))), Letters.NUMBER) + 4 * STEP
        left = head.right - STEP - (tile + STEP) * len(self._ids)
        for place, thread in enumerate(self._threads):
            yield Box(
                id=f"thread:{thread.id}",
                kind=Kind.THREAD,
                rect=Rect(left + place * (tile + STEP), STEP, tile, self._bar - 2 * STEP),
                parent=f"open:{self._ids[0]}",
                part=Part.CORES,
                titles=(str(thread.id),),
                threads=(thread.id,),
                is_dashed=thread.online is False,
            )
        yield Box(
            id=CLOSE,
            kind=Kind.FOLD,
            rect=Rect(head.right + GAP, 0, wide, self._bar),
            titles=(close,),
            is_dashed=True,
        )

    def _rows(self) -> Iterator[_Row]:
        front, ports = self._unit(Part.FRONT_END), self._unit(Part.PORTS)
        instructions = [self._cache(place) for place in self._places("instruction", 1)]
        yield _Row((*instructions[:1], front), (1, 2) if instructions else (1,))
        yield _Row((ports,), (1,))
        first = [self._cache(place) for place in self._places("", 1)]
        if not first:
            name = self._words.say("map.cache_level", {"level": 1})
            title = self._words.say("map.cache_unsized", {"name": name})
            first = [replace(self._unit(Part.L1), titles=(title, name))]
        yield _Row((first[0], self._unit(Part.TRANSLATION)), (1, 1))
        yield _Row((self._unit(Part.FILL_BUFFERS),), (1,))
        for place in self._places("", 2)[:1]:
            yield _Row((self._cache(place),), (1,))

    def _places(self, kind: str, level: int) -> list[int]:
        """Return the caches of a level that this core reads, as indices."""
        caches = self._machine.cpu.caches
        if not kind:
            near = caches_of(self._machine, self._ids[0])
            return [caches.index(cache) for cache in near if cache.level == level]
        return [
            place
            for place, cache in enumerate(caches)
            if (cache.kind, cache.level) == (kind, level) and self._ids[0] in cache.threads
        ]

    def _unit(self, part: Part) -> Box:
        name = self._words.say(f"parts.{part}")
        return Box(
            id=part.value,
            kind=Kind.UNIT,
            rect=NOWHERE,
            part=part,
            titles=(name[:1].upper() + name[1:],),
            threads=self._ids,
        )

    def _cache(self, place: int) -> Box:
        cache = self._machine.cpu.caches[place]
        box = cache_box((place,), cache.threads, self._labels, NOWHERE, None)
        if cache.kind != "instruction":
            return replace(box, part=CACHE_PARTS.get(cache.level or 0))
        titles = tuple(
            self._words.say("map.for_instructions", {"cache": title}) for title in box.titles
        )
        return replace(box, part=None, titles=(*titles, *box.titles))

    # --- places --------------------------------------------------------------------------------

    def _widths(self, row: _Row, width: float) -> list[float]:
        room = width - GAP * (len(row.boxes) - 1)
        return [room * share / sum(row.shares) for share in row.shares]

    def _lines(self, box: Box, width: float) -> tuple[str, ...]:
        if box.part is Part.L2:
            return ()
        text = self._words.say(f"map.about_{box.part or 'instructions'}")
        return wrapped(text, width - 2 * PAD, self._measure)

    def _least(self, row: _Row, width: float) -> float:
        """Return the least height of a row: titles, explanations, and a few numbers."""
        is_unit = any(box.kind is Kind.UNIT for box in row.boxes)
        each = zip(row.boxes, self._widths(row, width), strict=True)
        lines = max(len(self._lines(box, wide)) for box, wide in each) + NUMBERS * is_unit
        return self._bar + math.ceil(lines * self._measure.line(Letters.DETAIL)) + PAD * is_unit

    def _placed(self, row: _Row, y: float, width: float, high: float) -> Iterator[Box]:
        x = 0.0
        for box, wide in zip(row.boxes, self._widths(row, width), strict=True):
            yield replace(box, rect=Rect(x, y, wide, high), lines=self._lines(box, wide))
            x += wide + GAP


def _wires(rows: Sequence[Sequence[Box]]) -> Iterator[Wire]:
    """Yield the ways between the parts: across in a row, and down along the main ones."""
    for row in rows:
        for one, other in itertools.pairwise(row):
            y = one.rect.centre[1]
            yield _wire(one, other, ((one.rect.right, y), (other.rect.x, y)))
    main = [next(box for box in row if box.part not in (None, Part.TRANSLATION)) for row in rows]
    for one, other in itertools.pairwise(main):
        x = min(one.rect.centre[0], other.rect.centre[0])
        yield _wire(one, other, ((x, one.rect.bottom), (x, other.rect.y)))


def _wire(one: Box, other: Box, points: tuple[tuple[float, float], ...]) -> Wire:
    return Wire(name=f"{one.id}-{other.id}", points=points, thickness=THICK, box=other.id)
