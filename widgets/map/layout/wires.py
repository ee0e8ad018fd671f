"""Course and thickness of the links between boxes. Thickness is bandwidth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.core.declare import Part
from experiments.presentation.grouped import grouped
from machine.bus import pcie
from machine.devices import Link, PciDevice
from widgets.map.layout.boxes import Box, Kind, Letters, Measure, Rect, Wire
from widgets.map.layout.device_labels import Titles
from widgets.map.layout.gpus import linked_height
from widgets.map.layout.labels import Labels
from widgets.style.theme import STEP

THICKEST, THINNEST = 12.0, 1.5
FULL_BYTES_PER_S = 63e9  # PCIe 5 x16 is the thickest
USUAL_RATE = "88.8 of 88.8 GB/s"  # below the name of a link with a known ceiling


def thickness(bytes_per_s: float | None) -> float:
    """Return the thickness of a link; the thinnest if its bandwidth is unknown."""
    if bytes_per_s is None:
        return THINNEST
    return max(THINNEST, THICKEST * min(1.0, bytes_per_s / FULL_BYTES_PER_S))


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The link between a device and the processor: PCIe, or something faster."""

    titles: Titles
    path: str
    ceiling: float | None = None
    needs_look: bool = False
    address: str | None = None
    part: Part = Part.PCIE


class Wiring:
    """Connects devices to their packages, through the switches they share."""

    def __init__(self, labels: Labels, measure: Measure, shared: Mapping[str, PciDevice]) -> None:
        self._labels, self._machine = labels, labels.machine
        self._pci = {device.address: n for n, device in enumerate(self._machine.pci)}
        self._shared = shared
        self._height = linked_height(measure)
        self._switch = math.ceil(measure.line(Letters.TITLE)) + 2 * STEP if shared else 0
        self._label_width = self._needed_width(measure)
        # between the devices and their links
        self.width = self._label_width + (self._switch + 2 * STEP if shared else 0)

    def connect(
        self,
        processor: Sequence[Box],
        devices: Sequence[Box],
        area: Rect,
        *,
        is_beside: bool,
    ) -> tuple[list[Box], list[Wire]]:
        """Return the labels of the links, the switches, and the lines to the devices."""
        ends = [(box, joint) for box in devices if (joint := self._joint(box))]
        gpus = ((self._shared.get(j.address or ""), box) for box, j in ends if box.kind is Kind.GPU)
        shared = grouped((hop.address, box) for hop, box in gpus if hop is not None)
        switches = [(self._switch_box(address, boxes), boxes) for address, boxes in shared.items()]
        over = {device.id: switch for switch, on_it in switches for device in on_it}
        labels, wires = [], [*self._nvlinks(devices)]
        rooted: list[tuple[str | None, Wire]] = []  # with the address at their end
        for switch, on_it in switches:
            entry = switch.rect.x, switch.rect.centre[1]
            wire = replace(_wire(switch, (entry,)), name=f"up:{switch.id}")
            rooted.append((self._machine.gpus[on_it[0].members[0]].pci_address, wire))
        for box, joint in ends:
            label, end = self._label(box, joint), (box.rect.x, box.rect.centre[1])
            labels.append(label)
            if box.id in over:
                wires.append(_wire(label, ((over[box.id].rect.right, end[1]), end)))
            else:
                rooted.append((joint.address, _wire(label, ((label.rect.x, end[1]), end))))
        rooted.sort(key=lambda one: one[1].points[0][1])
        wires += self._from_processor(rooted, processor, area, is_beside=is_beside)
        return [*(switch for switch, _ in switches), *labels], wires

    # --- labels --------------------------------------------------------------------------------

    def _joint(self, box: Box) -> Joint | None:
        """Return the link of a device to the processor, None if it has none."""
        if box.kind is Kind.DISK and box.is_linked:
            address = self._machine.storage[box.members[0]].pci_address
            return self._pcie(address) if self._link(address) else None
        if box.kind is not Kind.GPU:
            return None
        gpu = self._machine.gpus[box.members[0]]
        path = f"gpus[{box.members[0]}]"
        if gpu.c2c_bytes_per_s or gpu.unified_memory:
            return Joint(
                titles=self._labels.joint(gpu),
                path=f"{path}.c2c_bytes_per_s",
                ceiling=gpu.c2c_bytes_per_s,
                part=Part.NVLINK,
            )
        found = self._pcie(gpu.pci_address, is_gpu=True)
        if found is not None and gpu.link and not self._link(gpu.pci_address):
            return Joint(
                titles=self._labels.link(gpu.link),
                path=f"{path}.link",
                ceiling=gpu.link.peak_bytes_per_s,
                needs_look=pcie.narrowed_gpu(self._machine, gpu) is not None,
                address=gpu.pci_address,
            )
        return found

    def _pcie(self, address: str | None, *, is_gpu: bool = False) -> Joint | None:
        """Return a PCIe link; if its path is narrower, a GPU's is marked and a disk's is not."""
        if address is None:
            return None
        link = self._link(address)
        place = self._pci.get(address)
        titles, ceiling = self._labels.link(link), link.peak_bytes_per_s if link else None
        way = pcie.narrower_way(self._machine, address, link) if is_gpu else None
        if way is not None:
            titles = self._labels.held_up(titles, way)
        return Joint(
            titles=titles,
            path="pci" if place is None else f"pci[{place}].link",
            ceiling=ceiling if way is None else way,
            needs_look=bool(pcie.narrowed(self._machine, address, link) or way),
            address=address,
        )

    def _link(self, address: str | None) -> Link | None:
        place = self._pci.get(address or "")
        return None if place is None else self._machine.pci[place].link

    def _label(self, box: Box, joint: Joint) -> Box:
        middle, half = box.rect.centre[1], self._height / 2
        return Box(
            id=f"link:{box.id}",
            kind=Kind.LINK,
            rect=Rect(box.rect.x - self._label_width, middle - half, self._label_width, 2 * half),
            part=joint.part,
            titles=joint.titles,
            ceiling=joint.ceiling,
            needs_look=joint.needs_look,
            path=joint.path,
            members=box.members,
        )

    def _needed_width(self, measure: Measure) -> float:
        """Return the width of the labels with their signs; 0 if there are none."""
        here = Rect(0, 0, 0, 0)
        boxes = [
            Box(id="", kind=Kind.GPU, rect=here, members=(n,))
            for n in range(len(self._machine.gpus))
        ]
        boxes += [
            Box(id="", kind=Kind.DISK, rect=here, members=(n,), is_linked=True)
            for n in range(len(self._machine.storage))
        ]
        sign = measure.line(Letters.VALUE) + STEP
        widths = [0.0]
        for joint in map(self._joint, boxes):
            if joint is not None:
                title = measure.width(joint.titles[0], Letters.VALUE)
                widths.append(title + 2 * sign * joint.needs_look)
                if joint.ceiling:
                    widths.append(measure.width(USUAL_RATE, Letters.VALUE))
        widest = max(widths)
        return math.ceil(widest + 4 * STEP) if widest else 0.0

    def _switch_box(self, address: str, boxes: Sequence[Box]) -> Box:
        top, place = boxes[0].rect.y, self._pci[address]
        link = self._machine.pci[place].link
        return Box(
            id=f"switch:{address}",
            kind=Kind.SWITCH,
            rect=Rect(
                boxes[0].rect.x - self._label_width - self._switch,
                top,
                self._switch,
                boxes[-1].rect.bottom - top,
            ),
            part=Part.PCIE,
            titles=self._labels.switch(),
            path=f"pci[{place}].link",
            ceiling=link.peak_bytes_per_s if link else None,
            needs_look=pcie.is_narrow(link),
            is_upright=True,
        )

    # --- lines ---------------------------------------------------------------------------------

    def _from_processor(
        self,
        rooted: Sequence[tuple[str | None, Wire]],
        processor: Sequence[Box],
        area: Rect,
        *,
        is_beside: bool,
    ) -> Iterator[Wire]:
        """Yield the lines, starting at a package, spread along its side."""
        sources = ((self._source(address, processor, area), wire) for address, wire in rooted)
        for source, wires in grouped(sources).items():
            ends = [wire.points[0][1] for wire in wires]
            widths = [wire.thickness for wire in wires]
            for wire, y in zip(wires, _beginnings(source, ends, widths), strict=True):
                start = (source.right, y) if is_beside else (area.x + 2 * STEP, area.bottom)
                yield replace(wire, points=(start, *wire.points))

    def _source(self, address: str | None, processor: Sequence[Box], area: Rect) -> Rect:
        """Return the package of a device, or all of them if it is unknown."""
        way = pcie.way(self._machine.pci, address)
        number = next((hop.numa_node for hop in way if hop.numa_node is not None), None)
        near = {t for node in self._machine.numa if node.id == number for t in node.threads}
        for box in processor:
            if box.kind is Kind.PACKAGE and near & set(box.threads):
                return Rect(area.x, box.rect.y, area.width, box.rect.height)
        return area

    def _nvlinks(self, devices: Sequence[Box]) -> Iterator[Wire]:
        """Yield the lines from GPUs to their direct links."""
        trunk = next((box for box in devices if box.kind is Kind.NVLINK), None)
        for box in devices:
            if trunk is None or box.kind is not Kind.GPU:
                continue
            gpu = self._machine.gpus[box.members[0]]
            if self._labels.nvlinks_of(gpu):
                y = box.rect.centre[1]
                yield Wire(
                    name=f"nvlink:{gpu.index}",
                    points=((box.rect.right, y), (trunk.rect.x, y)),
                    thickness=thickness(self._labels.nvlink_bytes_per_s(gpu)),
                    box="nvlink",
                )


def _wire(box: Box, points: tuple[tuple[float, float], ...]) -> Wire:
    """Return the line of a link or a switch."""
    return Wire(
        name=box.id,
        points=points,
        thickness=thickness(box.ceiling),
        box=box.id,
        needs_look=box.needs_look,
    )


def _beginnings(source: Rect, ends: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return where lines start at the side of a package: level with their ends if possible."""
    margin = 2 * STEP
    found: list[float] = []
    below = source.bottom - margin - sum(widths) - STEP * len(widths)  # room for the rest
    lowest = source.y + margin
    for end, width in zip(ends, widths, strict=True):
        below += width + STEP
        y = max(lowest + width / 2, min(end, max(lowest + width / 2, below - width / 2)))
        found.append(y)
        lowest = y + width / 2 + STEP
    return found
