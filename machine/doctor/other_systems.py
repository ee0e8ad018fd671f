"""What can be known of accelerators on Windows and macOS?

LIMIT: written after the documentation; not yet seen on real machines. On Windows, a card that draws
no screen and has no driver is not seen.
"""

from __future__ import annotations

import ctypes
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

from machine.doctor.cards import VENDORS, computes
from machine.doctor.evidence import Card, Evidence, Nvml, Surroundings, Torch, Vendor


def gather(
    python: str,
    environment: dict[str, str],
    *,
    nvml: Callable[[], Nvml],
    probe: Callable[[str], Torch],
) -> Evidence:
    """Return the evidence of this machine."""
    is_mac = sys.platform == "darwin"
    cards = mac_cards(_is_apple_silicon()) if is_mac else windows_cards(_adapters())
    has_nvidia = any(card.vendor is Vendor.NVIDIA for card in cards)
    answered = None if is_mac else nvml()
    if answered is not None and answered.devices and not has_nvidia:  # one that draws no screen
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
    """Return the GPU of Apple's own chips; those of older Macs PyTorch no longer serves."""
    if not is_apple_silicon:
        return ()
    return (Card(vendor=Vendor.APPLE, name="Apple GPU"),)


def windows_cards(adapters: Iterable[tuple[str, str]]) -> tuple[Card, ...]:
    r"""Return the cards of display adapters, given as name and PCI\VEN_10DE&DEV_2684&SUBSYS_...

    An adapter is listed once for each screen it could drive.
    """
    found: dict[str, Card] = {}
    for name, device in adapters:
        match = re.match(r"PCI\\VEN_([0-9A-F]{4})&", device, re.IGNORECASE)
        vendor = VENDORS.get(int(match[1], 16)) if match else None
        if vendor is not None:
            only_draws = vendor is Vendor.INTEL and not computes(name)
            found.setdefault(device, Card(vendor=vendor, name=name, only_draws=only_draws))
    return tuple(found.values())


def _is_apple_silicon() -> bool:
    """Ask the kernel: a Python that is translated by Rosetta believes to be on an Intel Mac."""
    command = ["/usr/sbin/sysctl", "-n", "hw.optional.arm64"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=2, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return said.stdout.strip() == "1"


class _DisplayDevice(ctypes.Structure):
    """DISPLAY_DEVICEW of wingdi.h."""

    _fields_ = (
        ("cb", ctypes.c_uint32),
        ("DeviceName", ctypes.c_wchar * 32),
        ("DeviceString", ctypes.c_wchar * 128),
        ("StateFlags", ctypes.c_uint32),
        ("DeviceID", ctypes.c_wchar * 128),
        ("DeviceKey", ctypes.c_wchar * 128),
    )


def _adapters() -> Iterator[tuple[str, str]]:
    """Yield name and PCI identity of the display adapters, by EnumDisplayDevicesW."""
    ask = ctypes.CDLL("user32").EnumDisplayDevicesW
    number, device = 0, _DisplayDevice()
    device.cb = ctypes.sizeof(device)
    while ask(None, number, ctypes.byref(device), 0):
        yield device.DeviceString, device.DeviceID
        number += 1
