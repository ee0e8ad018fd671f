"""Where do the links between boxes run, and how thick are they? Thickness is bandwidth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from experiments.declare import Part
from machine.devices import Link
from widgets.map.boxes import Box, Kind, Letters, Measure, Rect, Wire
from widgets.map.devices import linked_height, trunk_x
from widgets.map.labels import Labels, is_narrow
from widgets.theme import STEP

THICKEST, THINNEST = 12.0, 1.5
FULL_BYTES_PER_S = 63e9  # PCIe 5 with 16 lanes is drawn the thickest
NVLINK_THICKNESS = 3.0


def thickness(link: Link | None) -> float:
    """Return how thick a link is drawn; the thinnest where its bandwidth is not known."""
    if link is None or link.peak_bytes_per_s is None:
        return THINNEST
    return max(THINNEST, THICKEST * min(1.0, link.peak_bytes_per_s / FULL_BYTES_PER_S))


class Wiring:
    """Connects the devices to the packages they hang on."""

    def __init__(self, labels: Labels, measure: Measure) -> None:
        self._labels, self._machine = labels, labels.machine
        self._pci = {device.address: device for device in self._machine.pci}
        self.label_width = self._needed_width(measure)
        self._height = linked_height(measure)

    def connect(
        self,
        processor: Sequence[Box],
        devices: Sequence[Box],
        area: Rect,
        *,
        is_beside: bool,
    ) -> tuple[list[Box], list[Wire]]:
        """Return the labels of the links and the lines from `area` to the devices."""
        ends = [(box, address) for box in devices if (address := self._address(box))]
        sources = [self._source(address, processor, area) for _, address in ends]
        labels, wires = [], []
        for place, (box, address) in enumerate(ends):
            source = sources[place]
            turn, turns = sources[:place].count(source), sources.count(source)
            start = source.right, source.y + (turn + 1) / (turns + 1) * source.height
            end = box.rect.x, box.rect.centre[1]
            knee = box.rect.x - self.label_width, end[1]
            if not is_beside:  # but below
                start = area.x + 2 * STEP, area.bottom
            device = self._pci.get(address)
            link = device.link if device else None
            half = self._height / 2
            label = Box(
                id=f"link:{box.id}",
                kind=Kind.LINK,
                rect=Rect(knee[0], end[1] - half, self.label_width, 2 * half),
                part=Part.PCIE,
                titles=self._labels.link(link),
                needs_look=is_narrow(link),
                path=f"pci[{self._machine.pci.index(device)}].link" if device else "pci",
                members=box.members,
            )
            labels.append(label)
            wires.append(
                Wire(
                    points=(start, knee, end),
                    thickness=thickness(link),
                    box=label.id,
                    needs_look=is_narrow(link),
                )
            )
        return labels, [*wires, *_nvlink_wires(devices)]

    def _needed_width(self, measure: Measure) -> float:
        """Return how wide the labels must be, with a sign beside them; 0 where there are none."""
        gpus, disks = self._machine.gpus, self._machine.storage
        addresses = [*(gpu.pci_address for gpu in gpus), *(disk.pci_address for disk in disks)]
        if not any(addresses):
            return 0.0
        devices = [self._pci.get(address) for address in addresses if address]
        links = [device.link if device else None for device in devices]
        sign = measure.line(Letters.VALUE) + STEP
        widths = [
            measure.width(self._labels.link(link)[0], Letters.VALUE) + 2 * sign * is_narrow(link)
            for link in links
        ]
        return math.ceil(max(widths) + 4 * STEP)

    def _address(self, box: Box) -> str | None:
        if box.kind is Kind.GPU:
            return self._machine.gpus[box.members[0]].pci_address
        if box.kind is Kind.DISK:
            return self._machine.storage[box.members[0]].pci_address
        return None

    def _source(self, address: str, processor: Sequence[Box], area: Rect) -> Rect:
        """Return the package that a device hangs on, or all of them where nobody tells."""
        device = self._pci.get(address)
        number = device.numa_node if device else None
        near = {t for node in self._machine.numa if node.id == number for t in node.threads}
        for box in processor:
            if box.kind is Kind.PACKAGE and near & set(box.threads):
                return Rect(area.x, box.rect.y, area.width, box.rect.height)
        return area


def _nvlink_wires(devices: Sequence[Box]) -> Iterator[Wire]:
    x = trunk_x(devices)
    for box in devices:
        if x is not None and box.kind is Kind.GPU:
            y = box.rect.centre[1]
            bar = next(other.rect.y for other in devices if other.kind is Kind.NVLINK)
            yield Wire(
                points=((box.rect.right, y), (x, y), (x, bar)),
                thickness=NVLINK_THICKNESS,
                box="nvlink",
            )
