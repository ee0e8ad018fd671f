"""Layout of the devices: GPUs, NVLink, disks and networks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from experiments.core.declare import Part
from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect, wrapped
from widgets.map.layout.cores import fold_box, shown
from widgets.map.layout.gpus import GAP, PAD, Gpus, linked_height
from widgets.map.layout.labels import Labels
from widgets.style.theme import STEP

FEW_DISKS = 3  # up to this many, each has a line to the processor
MOST_TILES = 4  # of disks, and of networks; the rest is folded


class Devices:
    """Lays out the devices in a column; the GPUs that do not fit its height are folded."""

    def __init__(
        self,
        labels: Labels,
        measure: Measure,
        unfolded: frozenset[str],
        shared: Mapping[str, str],
    ) -> None:
        self._labels, self._measure, self._machine = labels, measure, labels.machine
        self._unfolded = unfolded
        self._gpus = Gpus(labels, measure, unfolded, shared)
        self._bar = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP
        self._line = math.ceil(measure.line(Letters.DETAIL))
        self._linked = linked_height(measure)

    def place(self, x: float, y: float, width: float, height: float) -> list[Box]:
        """Return the boxes of a column that should not be higher than `height`."""
        # Folded: unfolded ones push no GPU away.
        below = list(self._below(x, 0, width, frozenset()))
        left = height - (max(box.rect.bottom for box in below) + GAP if below else 0)
        if self._machine.gpus:
            boxes = self._gpus.place(x, y, width, left)
        else:
            boxes = [self._no_gpu(x, y, width)]
        down = max(box.rect.bottom for box in boxes) + GAP
        return boxes + list(self._below(x, down, width, self._unfolded))

    def _no_gpu(self, x: float, y: float, width: float) -> Box:
        titles, text = self._labels.no_gpu()
        lines = wrapped(text, width - 2 * PAD, self._measure)
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

    def _below(self, x: float, y: float, width: float, unfolded: frozenset[str]) -> Iterator[Box]:
        """Yield disks with links in rows of their own if they are few, the rest side by side."""
        disks = [self._disk(place) for place in range(len(self._machine.storage))]
        are_few = len(disks) <= FEW_DISKS
        rows = [box for box in disks if are_few and self._has_link(box)]
        for box in rows:
            yield replace(box, rect=Rect(x, y, width, self._linked), is_linked=True)
            y += self._linked + GAP
        tiles = [replace(box, lines=()) for box in disks if box not in rows]
        networks = [self._network(place) for place in range(len(self._machine.network))]
        for name, some, key in (
            ("disks", tiles, "map.more_disks"),
            ("networks", networks, "map.more_networks"),
        ):
            seen, hidden = shown(name, some, MOST_TILES, unfolded)
            placed = list(self._side_by_side(list(seen), x, y, width))
            yield from placed
            y = placed[-1].rect.bottom + GAP if placed else y
            if hidden is not None:
                rect = Rect(x, y, width, self._bar)
                yield fold_box(name, hidden, key, self._labels, rect, None)
                y = rect.bottom + GAP
        yield from self._side_by_side(list(self._lacking()), x, y, width)

    def _has_link(self, box: Box) -> bool:
        address = self._machine.storage[box.members[0]].pci_address
        return any(device.address == address and device.link for device in self._machine.pci)

    def _disk(self, place: int) -> Box:
        disk, labels = self._machine.storage[place], self._labels
        return Box(
            id=f"disk:{place}",
            kind=Kind.DISK,
            rect=Rect(0, 0, 0, 0),
            part=Part.STORAGE,
            titles=labels.disk(disk),
            lines=(disk.kind,) if disk.kind and disk.pci_address else (),
            members=(place,),
            ceiling=labels.disk_ceiling(disk),
        )

    def _network(self, place: int) -> Box:
        interface = self._machine.network[place]
        return Box(
            id=f"network:{place}",
            kind=Kind.NETWORK,
            rect=Rect(0, 0, 0, 0),
            titles=self._labels.network(interface),
            states=self._labels.network_states(interface),
            members=(place,),
            is_dashed=interface.is_up is False,
        )

    def _lacking(self) -> Iterator[Box]:
        """Yield boxes for missing kinds of devices."""
        for name, part, there in (
            ("storage", Part.STORAGE, self._machine.storage),
            ("network", None, self._machine.network),
        ):
            if not there:
                yield Box(
                    id=name,
                    kind=Kind.UNREAD,
                    rect=Rect(0, 0, 0, 0),
                    part=part,
                    titles=self._labels.none_found(name),
                    path=name,
                    is_dashed=True,
                )

    def _side_by_side(
        self, tiles: Sequence[Box], x: float, y: float, width: float
    ) -> Iterator[Box]:
        half = (width - GAP) / 2 - 2 * PAD
        fit = all(self._measure.width(box.titles[0], Letters.TITLE) <= half for box in tiles)
        across = 2 if len(tiles) > 2 or (len(tiles) == 2 and fit) else 1
        each = (width - (across - 1) * GAP) / across
        for place, box in enumerate(tiles):
            left, top = x + place % across * (each + GAP), place // across * (self._bar + GAP)
            yield replace(box, rect=Rect(left, y + top, each, self._bar))
