"""Layout of the GPUs: with multiprocessors if they fit, then with less detail, then folded.

Beside them stand their direct links: NVLink, or the NVLink switch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from experiments.core.declare import Part
from machine.bus import pcie
from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect
from widgets.map.layout.cores import fold_box
from widgets.map.layout.labels import Labels
from widgets.style.theme import STEP

GAP, PAD = 2 * STEP, 2 * STEP
CELL, CELL_GAP = 2 * STEP, 3  # a multiprocessor
BAR_SHARE = 0.5  # of the width, for the bar of memory use; the bandwidth stands beside it
LINES_PX = 6 * STEP  # between the GPUs and their direct links


@dataclass(frozen=True, slots=True)
class GpuStyle:
    """Detail of each GPU besides its title and memory."""

    cells: bool = False
    lines: bool = False


STYLES = (
    GpuStyle(cells=True, lines=True),
    GpuStyle(lines=True),
    GpuStyle(),
)


class Gpus:
    """Lays out the GPUs; `shared` are the PCIe switches on their paths, by GPU address."""

    def __init__(
        self,
        labels: Labels,
        measure: Measure,
        unfolded: frozenset[str],
        shared: Mapping[str, str],
    ) -> None:
        self._labels, self._measure, self._machine = labels, measure, labels.machine
        self._is_unfolded = "fold:gpus" in unfolded
        self._title = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP
        self._head = self._title + STEP  # of a box with content below the title
        self._line = math.ceil(measure.line(Letters.DETAIL))
        self._least = linked_height(measure)
        if shared:  # a switch with one GPU has its name written upwards
            word = measure.width(labels.switch()[-1], Letters.TITLE)
            self._least = max(self._least, math.ceil(word) + 2 * STEP)
        gpus = self._machine.gpus
        groups = [shared.get(gpu.pci_address or "", str(n)) for n, gpu in enumerate(gpus)]
        # GPUs behind one switch stand side by side.
        self._order = sorted(range(len(gpus)), key=lambda n: groups.index(groups[n]))
        self._is_joined = bool(self._machine.nvswitch) or any(
            link.nvlinks for link in self._machine.gpu_links
        )

    def place(self, x: float, y: float, width: float, height: float) -> list[Box]:
        """Return the boxes from (x, y) down, `height` high if possible."""
        beside = self._title + LINES_PX if self._is_joined else 0
        inner = width - beside
        style, most = self._style(inner, height)
        order = self._order if self._is_unfolded else self._order[:most]
        boxes: list[Box] = []
        for place in order:
            found = self._gpu(place, Rect(x, y, inner, self._height(place, inner, style)), style)
            boxes += found
            y = found[0].rect.bottom + GAP
        if self._is_joined:
            top = boxes[0].rect.y
            boxes.append(
                Box(
                    id="nvlink",
                    kind=Kind.NVLINK,
                    rect=Rect(x + width - self._title, top, self._title, y - GAP - top),
                    part=Part.NVLINK,
                    titles=self._labels.nvlink(),
                    is_upright=True,
                )
            )
        if most < len(self._order):
            boxes.append(self._fold(len(self._order) - most, Rect(x, y, inner, self._title)))
        return boxes

    def _fold(self, hidden: int, rect: Rect) -> Box:
        count = 0 if self._is_unfolded else hidden
        gpus = (self._machine.gpus[n] for n in self._order[-hidden:])
        lacks = not self._is_unfolded and any(pcie.narrowed_gpu(self._machine, gpu) for gpu in gpus)
        box = fold_box("gpus", count, "map.more_gpus", self._labels, rect, None)
        return replace(box, needs_look=lacks)

    def _style(self, width: float, height: float) -> tuple[GpuStyle, int]:
        """Return the detail of each GPU, and how many GPUs are shown."""
        high: list[float] = []
        for style in STYLES:
            high = [self._height(n, width, style) for n in self._order]
            if sum(high) + (len(high) - 1) * GAP <= height:
                return style, len(high)
        most = int((height - self._title) // (max(high) + GAP))
        return STYLES[-1], max(1, most)

    def _height(self, place: int, width: float, style: GpuStyle) -> float:
        gpu = self._machine.gpus[place]
        if not style.lines:
            return max(self._title + self._line + 2 * STEP, self._least)
        height: float = self._head
        if style.cells and gpu.sms:
            height += cell_grid(gpu.sms, width - 2 * PAD)[0] * (CELL + CELL_GAP) - CELL_GAP + PAD
        height += self._line + STEP + PAD
        height += len(self._labels.gpu_lines(gpu)) * (self._line + STEP)
        height += (self._line + STEP + STEP) * bool(gpu.mig_instances)
        return max(height, self._least)

    def _gpu(self, place: int, rect: Rect, style: GpuStyle) -> list[Box]:
        gpu = self._machine.gpus[place]
        inner, y = rect.inset(PAD), rect.y + (self._head if style.lines else self._title)
        grid = None
        if style.cells and gpu.sms:
            rows = cell_grid(gpu.sms, inner.width)[0]
            grid = Rect(inner.x, y, inner.width, rows * (CELL + CELL_GAP) - CELL_GAP)
            y = grid.bottom + PAD
        bar = Rect(inner.x, y, inner.width * BAR_SHARE, self._line + STEP)
        y = bar.bottom + STEP
        lines = self._labels.gpu_lines(gpu) if style.lines else ()
        name = f"gpu:{gpu.index}"
        peaks = self._machine.peaks.get("gpus", {}).get(str(gpu.index), {})
        box = Box(
            id=name,
            kind=Kind.GPU,
            rect=rect,
            part=Part.GPU,
            titles=self._labels.gpu(gpu),
            lines=lines,
            lines_y=y,
            states=self._labels.gpu_states(gpu),
            members=(place,),
            cells=gpu.sms or 0 if grid else 0,
            grid=grid,
            bar=bar,
            bar_titles=self._labels.gpu_memory(gpu),
            ceiling=peaks.get("memory", {}).get("bytes_per_s"),
            is_dashed=gpu.visible is False,
        )
        if not style.lines or not gpu.mig_instances:
            return [box]
        y += len(lines) * (self._line + STEP)
        return [box, *self._slices(place, inner._replace(y=y, height=self._line + STEP), name)]

    def _slices(self, place: int, rect: Rect, parent: str) -> Iterator[Box]:
        gpu = self._machine.gpus[place]
        count = len(gpu.mig_instances)
        each = (rect.width - (count - 1) * STEP) / count
        for number in range(count):
            yield Box(
                id=f"slice:{gpu.index}:{number}",
                kind=Kind.SLICE,
                rect=rect._replace(x=rect.x + number * (each + STEP), width=each),
                parent=parent,
                part=Part.GPU,
                titles=self._labels.slice(gpu, number),
                members=(place, number),
            )


def linked_height(measure: Measure) -> float:
    """Return the height of a box that has two lines of text at its link."""
    return 2 * (math.ceil(measure.line(Letters.VALUE)) + 2 * STEP)


def cell_grid(count: int, width: float) -> tuple[int, int]:
    """Return rows and columns for `count` small tiles in this width."""
    across = max(1, int((width + CELL_GAP) // (CELL + CELL_GAP)))
    rows = math.ceil(count / across)
    return rows, math.ceil(count / rows)
