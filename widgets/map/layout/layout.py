"""Layout of a whole machine, at most as large as its room if possible.

The first style that fits is used: large with caches beside the cores, then smaller ones, then
folded ones. If none fits, the map is larger than the room.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from experiments.core.words import Words
from machine.model import Machine, caches_of, usable_threads
from widgets.map.layout.boxes import BEARING, Box, Kind, Layout, Letters, Measure, Rect
from widgets.map.layout.device_labels import shared_hops
from widgets.map.layout.devices import Devices
from widgets.map.layout.labels import Labels
from widgets.map.layout.memory import MemoryArea
from widgets.map.layout.processor import Processor
from widgets.map.layout.styles import LARGE, Style, styles
from widgets.map.layout.tree import packages, private_caches, switched_off
from widgets.map.layout.wires import Wiring
from widgets.style.theme import STEP

GAP = 3 * STEP  # between the areas
CURVE = 12 * STEP  # width in which a link curves to its height
BESIDE_FROM = 40.0  # least width for devices beside the processor, in lines of text
DEVICES_SHARE, DEVICES_LEAST, DEVICES_MOST = 0.3, 15.0, 28.0  # of the width; in lines of text
HOST_SHARE = 0.7  # of the height, with the devices below
LARGER = (1.25, 1.1)
MANY = 8  # from this many on, only one of several like boxes asks for its number


def lay_out(
    machine: Machine,
    words: Words,
    measure: Measure,
    width: float,
    height: float,
    unfolded: frozenset[str] = frozenset(),
) -> Layout:
    """Return the map of a machine for a room of this size; `unfolded` parts are shown whole."""
    return Plan(machine, words, measure, unfolded).lay_out(width, height)


def lay_out_comfortably(
    machine: Machine,
    words: Words,
    measure: Measure,
    width: float,
    height: float,
    unfolded: frozenset[str] = frozenset(),
) -> Layout:
    """Return a map for a room of this size; a small machine is enlarged, none reduced.

    If not even a folded map fits, it is higher than the room.
    """
    plan = Plan(machine, words, measure, frozenset())
    found = plan.lay_out(width, height)
    scale = _comfortable_scale(plan, found, width, height)
    if scale == 1.0 and not unfolded:
        return found
    return Plan(machine, words, measure, unfolded).lay_out(width / scale, height / scale)


def _comfortable_scale(plan: Plan, found: Layout, width: float, height: float) -> float:
    for scale in LARGER:
        if found.height > height / scale:  # narrower, it can only be higher
            continue
        larger = plan.lay_out(width / scale, height / scale)
        is_alike = larger.is_roomy if found.is_roomy else larger.style == found.style
        if is_alike and larger.height <= height / scale and _detail(larger) == _detail(found):
            return scale
    return 1.0


def _detail(layout: Layout) -> tuple[int, ...]:
    """Return the amount of detail."""
    boxes = layout.boxes
    return len(boxes), sum(bool(box.grid) for box in boxes), sum(bool(box.bar) for box in boxes)


class Plan:
    """Everything that does not depend on the size of the room."""

    def __init__(
        self, machine: Machine, words: Words, measure: Measure, unfolded: frozenset[str]
    ) -> None:
        self._machine, self._measure, self._unfolded = machine, measure, unfolded
        self._labels = Labels(words, machine)
        self._nodes = packages(machine)
        self._choices = styles(self._nodes) if self._nodes else []
        self._summary = private_caches(self._nodes)
        self._in_style = functools.cache(self._styled)
        self._is_small = LARGE[0] in self._choices
        shared = shared_hops(machine)
        self._wiring = Wiring(self._labels, measure, shared)
        switches = {address: hop.address for address, hop in shared.items()}
        self._devices = Devices(self._labels, measure, unfolded, switches)
        self._bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP

    def lay_out(self, width: float, height: float) -> Layout:
        """Return the map for a room of this size.

        Devices stand beside the processor, since links need the space between. Devices without
        links stand below it, if the style stays large.
        """
        is_wide = width >= BESIDE_FROM * self._measure.line(Letters.TITLE)
        if is_wide and not self._wiring.width:
            below = self._lay_out(width, height, is_beside=False)
            if below.is_roomy and below.height <= height:
                return below
        return self._lay_out(width, height, is_beside=is_wide)

    def _lay_out(self, width: float, height: float, *, is_beside: bool) -> Layout:
        line = self._measure.line(Letters.TITLE)
        links_width = self._wiring.width
        gap = links_width + CURVE if links_width else GAP
        if is_beside:
            column = DEVICES_SHARE * width
            column = min(max(column, DEVICES_LEAST * line), DEVICES_MOST * line)
            left = width - column - gap
            host, style = self._host(left, height)
            hanging = self._devices.place(left + gap, 0, column, height)
        else:
            host, style = self._host(width, height * HOST_SHARE)
            indent = gap if links_width else 0
            top = _bottom(host) + GAP
            room = max(height - top, height * (1 - HOST_SHARE))
            hanging = self._devices.place(indent, top, width - indent, room)
        processor = [box for box in host if box.kind is not Kind.MEMORY]
        area = _bounds(processor if is_beside else host)
        names, wires = self._wiring.connect(processor, hanging, area, is_beside=is_beside)
        boxes = bearing(self._machine, [*host, *names, *hanging])
        return Layout(
            boxes=tuple(boxes),
            wires=tuple(wires),
            width=max(width, *(box.rect.right for box in boxes)),
            height=_bottom(boxes),
            is_roomy=style == 0 or (self._is_small and style < len(LARGE)),
            style=style,
        )

    def _host(self, width: float, height: float) -> tuple[list[Box], int]:
        """Return processor and memory, and their style."""
        memory, off = MemoryArea(self._labels, self._measure), switched_off(self._machine)
        left = height - GAP - memory.height(width) - (self._bar + GAP if off else 0)
        boxes, style = self._processor(width, left)
        if off:
            boxes.append(
                Box(
                    id="off",
                    kind=Kind.OFF,
                    rect=Rect(0, _bottom(boxes) + GAP, width, self._bar),
                    titles=self._labels.off(off),
                    threads=tuple(thread.id for thread in off),
                    is_dashed=True,
                )
            )
        return [*boxes, *memory.place(0, _bottom(boxes) + GAP, width)], style

    def _processor(self, width: float, height: float) -> tuple[list[Box], int]:
        if not self._nodes:
            return [self._unknown_processor(width)], 0
        choices = self._choices
        best = math.inf, choices[-1], False
        # Links begin at each package, so packages are stacked where that fits.
        turns = (True, False) if self._machine.gpus else (False,)
        for style, one_column in ((style, turn) for style in choices for turn in turns):
            folded = self._in_style(style, frozenset())
            needed = folded.height(width, one_column=one_column)
            best = min(best, (needed, style, one_column), key=lambda choice: choice[0])
            if needed <= height:
                break
        _, style, one_column = best
        chosen = self._in_style(style, self._unfolded)
        while math.isinf(chosen.height(width, one_column=one_column)):
            width *= 1.25  # wider than the room
        return chosen.place(width, one_column=one_column), choices.index(style)

    def _styled(self, style: Style, unfolded: frozenset[str]) -> Processor:
        """Return the processor in a style; it remembers its heights for every room."""
        summary = {} if style.shows_caches else self._summary
        return Processor(self._nodes, style, self._labels, self._measure, unfolded, summary)

    def _unknown_processor(self, width: float) -> Box:
        titles, lines = self._labels.unknown_processor()
        high = self._bar + len(lines) * self._measure.line(Letters.DETAIL) + 2 * STEP
        rect = Rect(0, 0, width, math.ceil(high))
        return Box(id="processor", kind=Kind.PACKAGE, rect=rect, titles=titles, lines=lines)


def bearing(machine: Machine, boxes: Sequence[Box]) -> list[Box]:
    """Mark the boxes that a number is true of; of many alike, let one ask for it.

    Numbers of a core are measured on the last usable thread, and shown on like cores.
    """
    usable = usable_threads(machine)
    near = caches_of(machine, usable[-1].id) if usable else []
    measured = {cache.level: cache.size_bytes for cache in near}
    count = Counter(box.part for box in boxes if box.kind in BEARING)
    asked = set()
    found = []
    for box in boxes:
        bears = box.kind in BEARING
        if box.kind is Kind.CACHE and measured:
            caches = [machine.cpu.caches[place] for place in box.members]
            bears = any(measured.get(c.level, c.size_bytes) == c.size_bytes for c in caches)
        asks = bears and (count[box.part] <= MANY or box.part not in asked)
        if box.kind is Kind.PACKAGE or (box.parent or "").startswith("core:"):
            bears = asks  # the same in all of them: once is enough
        asked |= {box.part} if asks else set()
        found.append(replace(box, bears_value=True, asks=asks) if bears else box)
    return found


def _bottom(boxes: Sequence[Box]) -> float:
    return max((box.rect.bottom for box in boxes), default=0.0)


def _bounds(boxes: Sequence[Box]) -> Rect:
    x = min(box.rect.x for box in boxes)
    y = min(box.rect.y for box in boxes)
    right = max(box.rect.right for box in boxes)
    return Rect(x, y, right - x, _bottom(boxes) - y)
