"""Evidence about accelerators on Windows and macOS.

LIMIT: follows the documentation; not yet tested on real machines. On Windows, a card without a
screen and without a driver is not seen.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Iterable

from machine.doctor.cards import VENDORS, computes
from machine.doctor.evidence import Card, Evidence, Nvml, Surroundings, Torch, Vendor
from machine.gpus.windows import Adapter, adapters
from machine.system.asking import output

_NUMBERS = r"PCI\\VEN_([0-9A-F]{4})&(?:DEV_([0-9A-F]{4}))?"


def gather(
    python: str,
    environment: dict[str, str],
    *,
    nvml: Callable[[], Nvml],
    probe: Callable[[str], Torch],
    list_adapters: Callable[[], list[Adapter]] = adapters,
) -> Evidence:
    """Return the evidence of this machine."""
    is_mac = sys.platform == "darwin"
    cards = mac_cards(_is_apple_silicon()) if is_mac else windows_cards(list_adapters())
    has_nvidia = any(card.vendor is Vendor.NVIDIA for card in cards)
    answered = None if is_mac else nvml()
    if answered is not None and answered.devices and not has_nvidia:  # a card without a screen
        cards += (Card(vendor=Vendor.NVIDIA, name="NVIDIA"),)
        has_nvidia = True
    return Evidence(
        surroundings=Surroundings(
            system="macos" if is_mac else "windows",
            release=platform.mac_ver()[0] if is_mac else platform.version(),
            architecture="arm64" if is_mac and cards else platform.machine(),
            environment=environment,
        ),
        cards=cards,
        nvml=answered if has_nvidia else None,
        torch=probe(python),
    )


def mac_cards(is_apple_silicon: bool) -> tuple[Card, ...]:
    """Return the GPU of Apple's chips; PyTorch no longer supports those of older Macs."""
    if not is_apple_silicon:
        return ()
    return (Card(vendor=Vendor.APPLE, name="Apple GPU"),)


def windows_cards(listed: Iterable[Adapter]) -> tuple[Card, ...]:
    """Return the cards of display adapters, each once despite several outputs."""
    found: dict[str, Card] = {}
    for adapter in listed:
        match = re.match(_NUMBERS, adapter.device_id, re.IGNORECASE)
        vendor = VENDORS.get(int(match[1], 16)) if match else None
        if vendor is not None:
            number = int(match[2], 16) if match and match[2] else None
            does = computes(adapter.name, number)
            is_intel = vendor is Vendor.INTEL
            card = Card(
                vendor=vendor,
                name=adapter.name,
                device_id=number,
                only_draws=is_intel and not does,
                is_unlisted=is_intel and does is None,
            )
            found.setdefault(adapter.device_id, card)
    return tuple(found.values())


def _is_apple_silicon() -> bool:
    """Ask the kernel, because a Python under Rosetta reports an Intel Mac."""
    return output("/usr/sbin/sysctl", "-n", "hw.optional.arm64", within_s=2).strip() == "1"
