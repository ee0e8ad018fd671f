"""How is laid out what hangs on the processor: GPUs, NVLink, disks and networks?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from experiments.declare import Part
from machine.model import missing_of
from widgets.map.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.labels import Labels
from widgets.theme import STEP

GAP, PAD = 2 * STEP, 2 * STEP
MOST_TILES = 6  # disks, or networks
CELL, CELL_GAP = 2 * STEP, 3  # a multiprocessor of a GPU
TRUNK = 5 * STEP  # beside the GPUs, for the lines of NVLink


class Devices:
    """Lays out the devices in a column; the GPUs that do not fit its height are folded."""

    def __init__(self, labels: Labels, measure: Measure, unfolded: frozenset[str]) -> None:
        self._labels, self._measure, self._machine = labels, measure, labels.machine
        self._unfolded = unfolded
        self._bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP
        self._line = math.ceil(measure.line(Letters.DETAIL))
        self._linked = linked_height(measure)
        self._nvlinks = [link for link in self._machine.gpu_links if link.nvlinks]

    def place(self, x: float, y: float, width: float, height: float) -> list[Box]:
        """Return the boxes of a column that should not be higher than `height`."""
        below = list(self._below(x, 0, width))
        left = height - (below[-1].rect.bottom + GAP if below else 0)
        boxes = list(self._gpus(x, y, width, left))
        down = (boxes[-1].rect.bottom + GAP) if boxes else y
        return boxes + list(self._below(x, down, width))

    # --- GPUs ----------------------------------------------------------------------------------

    def _gpus(self, x: float, y: float, width: float, height: float) -> Iterator[Box]:
        gpus = self._machine.gpus
        if not gpus:
            yield self._no_gpu(x, y, width)
            return
        inner = width - (TRUNK if self._nvlinks else 0)
        if self._nvlinks:
            height -= self._bar + GAP
        shows_cells, most = self._gpu_style(inner, height)
        is_unfolded = "fold:gpus" in self._unfolded
        for place, gpu in enumerate(gpus if is_unfolded else gpus[:most]):
            titles, lines = self._labels.gpu(gpu)
            high = self._gpu_height(place, inner, shows_cells=shows_cells)
            yield Box(
                id=f"gpu:{gpu.index}",
                kind=Kind.GPU,
                rect=Rect(x, y, inner, high),
                part=Part.GPU,
                titles=titles,
                lines=lines,
                members=(place,),
                cells=(gpu.sms or 0) if shows_cells else 0,
            )
            y += high + GAP
        if most < len(gpus):
            count = len(gpus) - most
            yield Box(
                id="fold:gpus",
                kind=Kind.FOLD,
                rect=Rect(x, y, inner, self._bar),
                titles=self._labels.fold_back()
                if is_unfolded
                else self._labels.fold("map.more_gpus", count),
                is_dashed=True,
            )
            y += self._bar + GAP
        if self._nvlinks:
            yield Box(
                id="nvlink",
                kind=Kind.NVLINK,
                rect=Rect(x, y, width, self._bar),
                part=Part.NVLINK,
                titles=self._labels.nvlink(self._nvlinks),
            )

    def _gpu_style(self, width: float, height: float) -> tuple[bool, int]:
        """Return whether multiprocessors are drawn, and how many GPUs are shown."""
        count = len(self._machine.gpus)
        high: list[float] = []
        for shows_cells in (True, False):
            high = [self._gpu_height(n, width, shows_cells=shows_cells) for n in range(count)]
            if sum(high) + (count - 1) * GAP <= height:
                return shows_cells, count
        most = int((height - self._bar) // (max(high, default=0.0) + GAP))
        return False, max(1, most)

    def _gpu_height(self, place: int, width: float, *, shows_cells: bool) -> float:
        gpu = self._machine.gpus[place]
        lines = len(self._labels.gpu(gpu)[1])
        height = self._bar + lines * self._line + (PAD if lines else 0)
        if shows_cells and gpu.sms:
            height += cell_grid(gpu.sms, width - 2 * PAD)[0] * (CELL + CELL_GAP) + PAD - CELL_GAP
        return max(height, self._linked) if gpu.pci_address else height

    def _no_gpu(self, x: float, y: float, width: float) -> Box:
        titles, text = self._labels.no_gpu()
        lines = self._wrapped(text, width - 2 * PAD)
        height = self._bar + len(lines) * self._line + PAD
        return Box(
            id="no-gpu",
            kind=Kind.UNREAD,
            rect=Rect(x, y, width, height),
            part=Part.GPU,
            titles=titles,
            lines=lines,
            path="gpus",
            is_dashed=True,
        )

    # --- disks and networks --------------------------------------------------------------------

    def _below(self, x: float, y: float, width: float) -> Iterator[Box]:
        """Yield disks with a link, each in a row of its own, then all else side by side."""
        machine, labels = self._machine, self._labels
        tiles: list[Box] = []
        for place, disk in enumerate(machine.storage[:MOST_TILES]):
            box = Box(
                id=f"disk:{place}",
                kind=Kind.DISK,
                rect=Rect(x, y, width, self._linked),
                part=Part.STORAGE,
                titles=labels.disk(disk),
                lines=(disk.kind,) if disk.kind and disk.pci_address else (),
                members=(place,),
            )
            if disk.pci_address:
                yield box
                y = box.rect.bottom + GAP
            else:
                tiles.append(box)
        for place, interface in enumerate(machine.network[:MOST_TILES]):
            titles = labels.network(interface)
            rect, members = Rect(x, y, width, self._bar), (place,)
            tiles.append(
                Box(
                    id=f"network:{place}",
                    kind=Kind.NETWORK,
                    rect=rect,
                    titles=titles,
                    members=members,
                )
            )
        for name, part, titles in (
            ("storage", Part.STORAGE, labels.no_storage()),
            ("network", None, labels.no_network()),
        ):
            if missing_of(machine, name):
                rect = Rect(x, y, width, self._bar)
                tiles.append(
                    Box(
                        id=name,
                        kind=Kind.UNREAD,
                        rect=rect,
                        part=part,
                        titles=titles,
                        path=name,
                        is_dashed=True,
                    )
                )
        yield from self._side_by_side(tiles, x, y, width)

    def _side_by_side(self, tiles: list[Box], x: float, y: float, width: float) -> Iterator[Box]:
        half = (width - GAP) / 2 - 2 * PAD
        fit = all(self._measure.width(box.titles[0], Letters.TITLE) <= half for box in tiles)
        across = 2 if len(tiles) > 2 or (len(tiles) == 2 and fit) else 1
        each = (width - (across - 1) * GAP) / across
        for place, box in enumerate(tiles):
            left, top = x + place % across * (each + GAP), place // across * (self._bar + GAP)
            yield replace(box, rect=Rect(left, y + top, each, self._bar))

    def _wrapped(self, text: str, width: float) -> tuple[str, ...]:
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self._measure.width(longer, Letters.DETAIL) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return tuple(lines)


def linked_height(measure: Measure) -> float:
    """Return how high a box must be for the two lines of text at its link."""
    return 2 * (math.ceil(measure.line(Letters.VALUE)) + 2 * STEP)


def cell_grid(count: int, width: float) -> tuple[int, int]:
    """Return in how many rows and columns small tiles of at least their own height stand."""
    across = max(1, int((width + CELL_GAP) // (CELL + CELL_GAP)))
    rows = math.ceil(count / across)
    return rows, math.ceil(count / rows)


def trunk_x(boxes: Sequence[Box]) -> float | None:
    """Return where the lines of NVLink run down, beside the GPUs; None where there are none."""
    bar = next((box for box in boxes if box.kind is Kind.NVLINK), None)
    return None if bar is None else bar.rect.right - TRUNK / 2
