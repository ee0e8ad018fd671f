"""Which way do two GPUs reach each other by PCIe, in the words of `nvidia-smi topo -m`?

Read off the PCI tree, for GPUs whose driver cannot be asked. Source of the words: the legend of
`nvidia-smi topo --matrix`.
"""

from __future__ import annotations

from machine.bus import pcie
from machine.devices import PciDevice


def path(pci: tuple[PciDevice, ...], a: str | None, b: str | None) -> str | None:
    """Return PIX, PXB, PHB, NODE or SYS for two addresses, None where the tree does not tell."""
    first, second = pcie.way(pci, a), pcie.way(pci, b)
    if not first or not second or None in (roots := (first[-1].parent, second[-1].parent)):
        return None
    above, others = _off_card(first), _off_card(second)
    common = {bridge.address for bridge in above} & {bridge.address for bridge in others}
    if common:
        # A switch is a port towards the processor, with ports towards the devices below it.
        below = max(sum(d.address not in common for d in way) for way in (above, others))
        return "PIX" if below <= 1 else "PXB"
    if roots[0] == roots[1]:
        return "PHB"
    nodes = first[0].numa_node, second[0].numa_node
    if None in nodes:
        return None
    return "NODE" if nodes[0] == nodes[1] else "SYS"


def _off_card(way: list[PciDevice]) -> list[PciDevice]:
    """Return the bridges above the card: AMD and Intel put a switch of their own on some."""
    maker, above = way[0].vendor_id, way[1:]
    while len(above) > 1 and above[0].vendor_id == maker is not None:
        above = above[1:]
    return above
