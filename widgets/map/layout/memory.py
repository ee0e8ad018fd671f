"""Layout of the main memory: its size, its modules and its NUMA nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from experiments.core.declare import Part
from experiments.core.units import show
from experiments.presentation.grouped import grouped
from machine.memory.nodes import host_nodes
from machine.model import MemoryModule
from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.layout.device_labels import Titles
from widgets.map.layout.labels import Labels
from widgets.style.theme import STEP

GAP, PAD = 2 * STEP, 2 * STEP
FEW_MODULES, MOST_NODES = 8, 16  # more modules are counted; more nodes are in the panel only
BAR_SHARE = 0.5  # of the width, for the bar of memory use; the bandwidth stands beside it


class MemoryArea:
    """Lays out the memory in a given width."""

    def __init__(self, labels: Labels, measure: Measure) -> None:
        self._labels, self._measure = labels, measure
        self._bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP
        self._head = self._bar + STEP
        self._line = math.ceil(measure.line(Letters.DETAIL))
        self._titles, self._lines = labels.memory()
        memory, numa = labels.machine.memory, labels.machine.numa
        host = {node.id for node in host_nodes(labels.machine.numa)}
        places = [place for place, node in enumerate(numa) if node.id in host]
        self._places = _alike(memory.modules, are_few=len(memory.modules) <= FEW_MODULES)
        self._modules = [labels.module(memory.modules[p[0]], len(p)) for p in self._places]
        self._node_places = places[:MOST_NODES] if len(places) > 1 else []
        self._nodes = [labels.node(numa[place]) for place in self._node_places]

    def height(self, width: float) -> float:
        """Return the height."""
        tiles = [self._tiles_height(titles, width) for titles in (self._modules, self._nodes)]
        lines = len(self._lines) * self._line
        inside = sum(height + GAP for height in tiles if height)
        return self._head + self._line + STEP + GAP + lines + inside

    def place(self, x: float, y: float, width: float) -> Iterator[Box]:
        """Yield the boxes."""
        rect, memory = Rect(x, y, width, self.height(width)), self._labels.machine.memory
        total = memory.total_bytes  # shown where its use is unknown
        yield Box(
            id="memory",
            kind=Kind.MEMORY,
            rect=rect,
            part=Part.MEMORY,
            titles=self._titles,
            lines=self._lines,
            lines_y=y + self._head + self._line + STEP + STEP,
            bar=Rect(x + PAD, y + self._head, BAR_SHARE * (width - 2 * PAD), self._line + STEP),
            bar_titles=() if total is None else (show(total, "bytes"),),
            ceiling=memory.peak_bytes_per_s,
        )
        y += self._head + self._line + STEP + len(self._lines) * self._line
        for kind, titles in ((Kind.MODULE, self._modules), (Kind.NODE, self._nodes)):
            if titles:
                y += GAP
                for place, box in enumerate(self._tile_rects(titles, rect.inset(PAD), y)):
                    yield self._tile(kind, place, titles[place], box)
                y += self._tiles_height(titles, width)

    def _tile(self, kind: Kind, place: int, titles: Titles, rect: Rect) -> Box:
        machine = self._labels.machine
        is_node = kind is Kind.NODE
        members = (self._node_places[place],) if is_node else self._places[place]
        return Box(
            id=f"{kind}:{machine.numa[members[0]].id if is_node else place}",
            kind=kind,
            rect=rect,
            parent="memory",
            part=Part.MEMORY,
            titles=titles,
            threads=machine.numa[members[0]].threads if is_node else (),
            members=members,
            is_dashed=not is_node and machine.memory.modules[members[0]].size_bytes == 0,
        )

    def _columns(self, titles: Sequence[Titles], width: float) -> int:
        """Return the number of columns: with full titles if two rows suffice."""
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


def _alike(modules: Sequence[MemoryModule], *, are_few: bool) -> list[tuple[int, ...]]:
    """Return the indices of modules: each alone, or like ones together."""
    if are_few:
        return [(place,) for place in range(len(modules))]
    keys = ((m.size_bytes, m.kind, m.transfers_per_s) for m in modules)
    groups = grouped((key, place) for place, key in enumerate(keys))
    return [tuple(places) for places in groups.values()]
