"""Layout of one group of cores: rows of cores, each with the tiles of its threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from experiments.core.declare import Part
from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.layout.device_labels import Titles
from widgets.map.layout.labels import Labels
from widgets.map.layout.styles import Style
from widgets.map.layout.tree import Core
from widgets.style.theme import STEP

GAP, HAIR = 2 * STEP, 2  # between boxes, and between threads of a core
MOST_ACROSS = 4  # threads of one core side by side
USUAL_VALUE = "88.8 ns"  # beside the name of a cache
ALMOST = 1e-6  # rounding error of divided widths
CACHE_PARTS = {1: Part.L1, 2: Part.L2, 3: Part.L3}
Item = TypeVar("Item")


class Cores:
    """Lays out groups of cores in one style; `highest` is the highest number of a thread."""

    def __init__(
        self,
        style: Style,
        labels: Labels,
        measure: Measure,
        unfolded: frozenset[str],
        highest: int,
    ) -> None:
        self._style, self._labels, self._measure = style, labels, measure
        self._unfolded = unfolded
        self.bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP  # height of one title
        self._row = math.ceil(measure.line(Letters.DETAIL)) + STEP
        number = measure.width("0" * len(str(highest)), Letters.NUMBER) + 2 * HAIR
        tile = math.ceil(style.tile * measure.line(Letters.NUMBER))
        self._tile = tile
        self._tile_width = max(tile, number) if style.shows_numbers else tile
        self._gap = GAP if style.shows_caches else STEP
        self._pad = STEP if style.shows_caches else HAIR

    def is_unfolded(self, cores: Sequence[Core]) -> bool:
        """Return whether the user unfolded this group."""
        return f"fold:{_name(cores)}" in self._unfolded

    def height(self, cores: Sequence[Core], width: float) -> float:
        """Return the height of a group; infinite if not even one core fits the width."""
        shown, hidden = self._shown(cores)
        columns = self._columns(shown, width)
        if not columns:
            return math.inf
        rows = math.ceil(len(shown) / columns)
        height = rows * self._core_height(shown) + (rows - 1) * self._gap
        return height + (0 if hidden is None else self._gap + self.bar)

    def place(self, cores: Sequence[Core], rect: Rect, parent: str | None) -> list[Box]:
        """Return the boxes of a group from the top of `rect`."""
        shown, hidden = self._shown(cores)
        columns, gap = max(1, self._columns(shown, rect.width)), self._gap
        each = (rect.width - (columns - 1) * gap) / columns
        height = self._core_height(shown)
        boxes: list[Box] = []
        for place, core in enumerate(shown):
            across, down = place % columns, place // columns
            x, y = rect.x + across * (each + gap), rect.y + down * (height + gap)
            boxes += self._core(core, Rect(x, y, each, height), parent)
        if hidden is not None:
            y = rect.y + math.ceil(len(shown) / columns) * (height + gap)
            bar = Rect(rect.x, y, rect.width, self.bar)
            boxes.append(
                fold_box(_name(cores), hidden, "map.more_cores", self._labels, bar, parent)
            )
        return boxes

    def _shown(self, cores: Sequence[Core]) -> tuple[Sequence[Core], int | None]:
        return shown(_name(cores), cores, self._style.most_cores, self._unfolded)

    def _columns(self, cores: Sequence[Core], width: float) -> int:
        """Return the number of cores per row, with rows as full as possible; 0 for none."""
        most = int((width + self._gap + ALMOST) // (self._core_width(cores) + self._gap))
        if most < 1:
            return 0
        return math.ceil(len(cores) / math.ceil(len(cores) / most))

    def _tiles_width(self, cores: Sequence[Core]) -> float:
        across, _ = _tiles(cores)
        return across * self._tile_width + (across - 1) * HAIR

    def _core_width(self, cores: Sequence[Core]) -> float:
        width = self._tiles_width(cores) + 2 * self._pad
        titles = [
            self._labels.cache(level, places)[0]
            for core in cores
            for level, places in core.caches.items()
        ]
        if self._style.shows_caches and titles:
            texts = (self._measure.width(title, Letters.DETAIL) for title in titles)
            width += max(texts) + self._measure.width(USUAL_VALUE, Letters.VALUE) + 4 * STEP
        return width

    def _core_height(self, cores: Sequence[Core]) -> float:
        _, down = _tiles(cores)
        height: float = down * self._tile + (down - 1) * HAIR
        if self._style.shows_caches:
            height = max(height, self._row * max(len(core.caches) for core in cores))
        return height + 2 * self._pad

    def _core(self, core: Core, rect: Rect, parent: str | None) -> list[Box]:
        name = f"core:{core.threads[0].id}"
        ids = tuple(sorted(core.ids))
        box = Box(id=name, kind=Kind.CORE, rect=rect, parent=parent, part=Part.CORES, threads=ids)
        inner = rect.inset(self._pad)
        if not self._style.shows_caches or not core.caches:
            return [box, *_threads(core, inner, name)]
        tiles = inner._replace(width=self._tiles_width([core]))
        x, row = tiles.right + STEP, self._row
        y = inner.y + (inner.height - row * len(core.caches)) / 2
        rows = [
            cache_box(places, ids, self._labels, Rect(x, y + n * row, inner.right - x, row), name)
            for n, places in enumerate(core.caches.values())
        ]
        return [box, *_threads(core, tiles, name), *rows]


def shown(
    name: str, items: Sequence[Item], most: int | None, unfolded: frozenset[str]
) -> tuple[Sequence[Item], int | None]:
    """Return the shown cores and how many are hidden; 0 if all are shown but could be folded."""
    if most is None or len(items) <= most:
        return items, None
    if f"fold:{name}" in unfolded:
        return items, 0
    return items[:most], len(items) - most


def cache_box(
    places: tuple[int, ...],
    threads: tuple[int, ...],
    labels: Labels,
    rect: Rect,
    parent: str | None,
    titles: Titles = (),
) -> Box:
    """Return the box of a cache, or of several alike."""
    level = labels.machine.cpu.caches[places[0]].level or 0
    return Box(
        id=f"cache:{places[0]}",
        kind=Kind.CACHE,
        rect=rect,
        parent=parent,
        part=CACHE_PARTS.get(level),
        titles=titles or labels.cache(level, places),
        threads=threads,
        members=places,
    )


def fold_box(
    name: str, hidden: int, key: str, labels: Labels, rect: Rect, parent: str | None
) -> Box:
    """Return the box that unfolds the hidden parts; with none hidden it folds them again."""
    return Box(
        id=f"fold:{name}",
        kind=Kind.FOLD,
        rect=rect,
        parent=parent,
        titles=labels.fold(key, hidden),
        is_dashed=True,
    )


def _threads(core: Core, rect: Rect, parent: str) -> list[Box]:
    """Return the tiles of the threads of a core, which fill `rect`."""
    across, down = _tiles([core])
    width = (rect.width - (across - 1) * HAIR) / across
    height = (rect.height - (down - 1) * HAIR) / down
    return [
        Box(
            id=f"thread:{thread.id}",
            kind=Kind.THREAD,
            rect=Rect(
                rect.x + place % across * (width + HAIR),
                rect.y + place // across * (height + HAIR),
                width,
                height,
            ),
            parent=parent,
            part=Part.CORES,
            titles=(str(thread.id),),
            threads=(thread.id,),
            is_dashed=thread.online is False,
        )
        for place, thread in enumerate(core.threads)
    ]


def _tiles(cores: Sequence[Core]) -> tuple[int, int]:
    """Return columns and rows of the thread tiles of a core."""
    most = max(len(core.threads) for core in cores)
    across = min(most, MOST_ACROSS)
    return across, math.ceil(most / across)


def _name(cores: Sequence[Core]) -> str:
    return f"cores:{cores[0].threads[0].id}"
