"""The doctor's step about PCIe links that use fewer lanes than card and slot have."""

from __future__ import annotations

from machine.bus import pcie
from machine.devices import Link
from machine.doctor.evidence import Card, Evidence, Vendor
from machine.doctor.verdicts import Verdict, fine, look


def link(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge the lanes. A slower speed is no finding: idle links slow down."""
    links = [(card, found) for card in evidence.cards_of(vendor) if (found := _of(card, evidence))]
    told = [(card, found) for card, found in links if pcie.knows_lanes(found)]
    few = [(card, found) for card, found in told if pcie.shortfall(found) == "lanes"]
    if few:
        cards = ", ".join(
            f"{card.name} ({card.address}) {found.width} of {pcie.able(found)[1]}"
            for card, found in few
        )
        commands = (f"sudo lspci -vv -s {c.address} | grep -E 'LnkCap|LnkSta'" for c, _ in few)
        return look("fewer_lanes", *commands, cards=cards)
    if not told:
        return None
    return fine("all_lanes", lanes=", ".join(f"×{found.width}" for _, found in told))


def _of(card: Card, evidence: Evidence) -> Link | None:
    """Return the link as the kernel reports it, else as NVIDIA's driver does."""
    if card.link is not None and pcie.knows_lanes(card.link):
        return card.link
    return next((d.link for d in evidence.gpus if d.link and d.address == card.address), None)
