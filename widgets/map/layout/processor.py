"""Layout of packages, dies and shared caches around groups of cores, as low as possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from experiments.core.declare import Part
from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.layout.cores import ALMOST, GAP, Cores, cache_box, fold_box, shown
from widgets.map.layout.labels import Labels
from widgets.map.layout.styles import Style
from widgets.map.layout.tree import Node
from widgets.style.theme import STEP

PAD = 2 * STEP  # inside frames


class Processor:
    """Lays out the packages of a machine in one style.

    `summary` are the private caches, where cores do not show their own.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        style: Style,
        labels: Labels,
        measure: Measure,
        unfolded: frozenset[str],
        summary: Mapping[int, tuple[int, ...]],
    ) -> None:
        self._labels, self._measure = labels, measure
        self._style, self._unfolded = style, unfolded
        highest = max(thread for node in nodes for thread in node.threads)
        self._cores = Cores(style, labels, measure, unfolded, highest)
        self._bar = self._cores.bar
        self._head = self._bar + STEP  # of a frame
        self._cache = round(self._bar * style.bar)  # height of a shared cache
        self._shown, self._hidden = shown("packages", nodes, style.most_packages, unfolded)
        self._summary = summary
        self._known: dict[tuple[object, float], float] = {}
        self._shapes: dict[Node, object] = {}
        self._boxes: list[Box] = []

    def height(self, width: float, *, one_column: bool = False) -> float:
        """Return the height of all packages; infinite if this style does not fit the width."""
        bars = (self._hidden is not None) + bool(self._summary)
        return self._flow(self._shown, width, one_column)[1] + bars * (GAP + self._bar)

    def place(self, width: float, *, one_column: bool = False) -> list[Box]:
        """Return the boxes, parents first."""
        self._boxes = []
        bottom = self._place_flow(self._shown, Rect(0, 0, width, 0), None, one_column)
        if self._hidden is not None:
            bar = Rect(0, bottom + GAP, width, self._bar)
            text = "map.more_packages"
            self._boxes.append(fold_box("packages", self._hidden, text, self._labels, bar, None))
            bottom = bar.bottom
        self._place_summary(bottom + GAP, width)
        return self._boxes

    # --- heights -------------------------------------------------------------------------------

    def _flow(
        self, nodes: Sequence[Node], width: float, one_column: bool = False
    ) -> tuple[int, float]:
        """Return the number of columns at which these nodes are lowest, and that height."""
        columns = {math.ceil(len(nodes) / rows) for rows in range(1, len(nodes) + 1)}
        choices = [1] if one_column else sorted(columns, reverse=True)
        heights = ((count, self._flow_height(nodes, width, count)) for count in choices)
        return min(heights, key=lambda choice: choice[1])

    def _flow_height(self, nodes: Sequence[Node], width: float, columns: int) -> float:
        each = (width - (columns - 1) * GAP) / columns
        return sum(
            max(self._height(node, each) for node in nodes[at : at + columns]) + GAP * (at > 0)
            for at in range(0, len(nodes), columns)
        )

    def _height(self, node: Node, width: float) -> float:
        key = self._shape(node), round(width, 3)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._computed_height(node, width)
        return known

    def _computed_height(self, node: Node, width: float) -> float:
        titles = self._labels.of(node)
        least = self._measure.width(titles[-1], Letters.TITLE) + 2 * PAD if titles else 0
        if width + ALMOST < least:
            return math.inf
        inner = width - 2 * PAD if node.kind else width
        if node.children:
            children, hidden = self._children(node)
            height = self._flow(children, inner)[1]
            height += 0 if hidden is None else GAP + self._bar
        else:
            height = self._cores.height(node.cores, inner)
        if node.kind:
            height += self._head + PAD
        if node.cache is not None:
            height += GAP + self._cache
        return height

    def _shape(self, node: Node) -> object:
        """Return the same for nodes of equal height, the usual case."""
        known = self._shapes.get(node)
        if known is None:
            titles = self._labels.of(node)
            inside = [self._shape(child) for child in self._children(node)[0]] or [
                self._cores.is_unfolded(node.cores),
                *((len(core.threads), tuple(core.caches)) for core in node.cores),
            ]
            title = len(titles[-1]) if titles else 0
            known = self._shapes[node] = (
                node.kind,
                node.cache is None,
                title,
                len(node.children),
                tuple(inside),
            )
        return known

    # --- places --------------------------------------------------------------------------------

    def _place_flow(
        self, nodes: Sequence[Node], rect: Rect, parent: str | None, one_column: bool = False
    ) -> float:
        """Place nodes from the top of `rect`; return where they end."""
        columns, _ = self._flow(nodes, rect.width, one_column)
        each = (rect.width - (columns - 1) * GAP) / columns
        y = rect.y
        for at in range(0, len(nodes), columns):
            row = nodes[at : at + columns]
            height = max(self._height(node, each) for node in row)
            for place, node in enumerate(row):
                self._place(node, Rect(rect.x + place * (each + GAP), y, each, height), parent)
            y += height + GAP
        return y - GAP

    def _place(self, node: Node, rect: Rect, parent: str | None) -> None:
        if node.kind:
            parent = self._place_frame(node.kind, node, rect, parent)
            inner, top = rect.inset(PAD), rect.y + self._head
            rect = Rect(inner.x, top, inner.width, inner.bottom - top)
        if node.children:
            self._place_children(node, rect, parent)
        else:
            self._boxes += self._cores.place(node.cores, rect, parent)
        if node.cache is not None:
            bar = Rect(rect.x, rect.bottom - self._cache, rect.width, self._cache)
            cache = cache_box((node.cache,), node.threads, self._labels, bar, parent)
            self._boxes.append(cache)

    def _place_children(self, node: Node, rect: Rect, parent: str | None) -> None:
        children, hidden = self._children(node)
        bottom = self._place_flow(children, rect, parent)
        if hidden is not None:
            cores = sum(len(child.cores) for child in node.children[len(children) :])
            bar = Rect(rect.x, bottom + GAP, rect.width, self._bar)
            name, text = _groups_name(node), "map.more_cores"
            self._boxes.append(fold_box(name, cores, text, self._labels, bar, parent))

    def _children(self, node: Node) -> tuple[Sequence[Node], int | None]:
        most = self._style.most_groups
        return shown(_groups_name(node), node.children, most, self._unfolded)

    def _place_frame(self, kind: Kind, node: Node, rect: Rect, parent: str | None) -> str:
        name = f"{kind}:{node.cores[0].threads[0].id}"
        self._boxes.append(
            Box(
                id=name,
                kind=kind,
                rect=rect,
                parent=parent,
                part=Part.CORES if kind is Kind.PACKAGE else None,
                titles=self._labels.of(node),
                threads=node.threads,
            )
        )
        return name

    def _place_summary(self, y: float, width: float) -> None:
        count, caches = len(self._summary), self._labels.machine.cpu.caches
        for place, (level, places) in enumerate(self._summary.items()):
            each = (width - (count - 1) * GAP) / count
            served = tuple(sorted({thread for p in places for thread in caches[p].threads}))
            bar = Rect(place * (each + GAP), y, each, self._bar)
            titles = self._labels.private_caches(level, places)
            self._boxes.append(cache_box(places, served, self._labels, bar, None, titles))


def _groups_name(node: Node) -> str:
    return f"groups:{node.cores[0].threads[0].id}:{len(node.cores)}"
