"""How is the main memory laid out: its size, its sticks and its nodes?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from experiments.declare import Part
from widgets.map.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.labels import Labels, Titles
from widgets.theme import STEP

GAP, PAD = 2 * STEP, 2 * STEP
FEW_MODULES, MOST_NODES = 4, 16  # more modules are counted, more nodes told in the panel only


class MemoryArea:
    """Lays out the memory in a given width."""

    def __init__(self, labels: Labels, measure: Measure) -> None:
        self._labels, self._measure = labels, measure
        self._bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP
        self._line = math.ceil(measure.line(Letters.DETAIL))
        self._titles, self._lines = labels.memory()
        memory, numa = labels.machine.memory, labels.machine.numa
        few = len(memory.modules) <= FEW_MODULES
        self._modules = [labels.module(module) for module in memory.modules] if few else []
        self._nodes = [labels.node(node) for node in numa[:MOST_NODES]] if len(numa) > 1 else []

    def height(self, width: float) -> float:
        """Return how high it is."""
        tiles = [self._tiles_height(titles, width) for titles in (self._modules, self._nodes)]
        lines = len(self._lines) * self._line
        inside = sum(height + GAP for height in tiles if height)
        return self._bar + lines + inside + (PAD if lines or inside else 0)

    def place(self, x: float, y: float, width: float) -> Iterator[Box]:
        """Yield the boxes."""
        rect = Rect(x, y, width, self.height(width))
        yield Box(
            id="memory",
            kind=Kind.MEMORY,
            rect=rect,
            part=Part.MEMORY,
            titles=self._titles,
            lines=self._lines,
        )
        y += self._bar + len(self._lines) * self._line
        for kind, titles in ((Kind.MODULE, self._modules), (Kind.NODE, self._nodes)):
            if titles:
                y += GAP if self._lines or kind is Kind.NODE else 0
                for place, box in enumerate(self._tile_rects(titles, rect.inset(PAD), y)):
                    yield self._tile(kind, place, titles[place], box)
                y += self._tiles_height(titles, width)

    def _tile(self, kind: Kind, place: int, titles: Titles, rect: Rect) -> Box:
        machine = self._labels.machine
        is_node = kind is Kind.NODE
        return Box(
            id=f"{kind}:{machine.numa[place].id if is_node else place}",
            kind=kind,
            rect=rect,
            parent="memory",
            part=Part.MEMORY,
            titles=titles,
            threads=machine.numa[place].threads if is_node else (),
            members=(place,),
            is_dashed=not is_node and not machine.memory.modules[place].size_bytes,
        )

    def _columns(self, titles: Sequence[Titles], width: float) -> int:
        """Return how many tiles stand side by side: with full titles if two rows suffice."""
        inner = width - 2 * PAD
        for choice in (0, 1, -1):
            wide = max(
                self._measure.width(t[min(choice, len(t) - 1)], Letters.DETAIL) for t in titles
            )
            fit = max(1, int((inner + GAP) // (wide + 2 * PAD + GAP)))
            rows = math.ceil(len(titles) / fit)
            if rows <= 2 or choice == -1:
                return math.ceil(len(titles) / rows)
        return 1

    def _tiles_height(self, titles: Sequence[Titles], width: float) -> float:
        if not titles:
            return 0
        rows = math.ceil(len(titles) / self._columns(titles, width))
        return rows * self._bar + (rows - 1) * GAP

    def _tile_rects(self, titles: Sequence[Titles], inner: Rect, y: float) -> Iterator[Rect]:
        columns = self._columns(titles, inner.width + 2 * PAD)
        each = (inner.width - (columns - 1) * GAP) / columns
        for place in range(len(titles)):
            across, down = place % columns, place // columns
            yield Rect(
                inner.x + across * (each + GAP), y + down * (self._bar + GAP), each, self._bar
            )
