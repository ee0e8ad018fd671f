"""Names of PCI devices, from pci.ids or from small lists of makers and kinds.

The kernel knows only numbers. Most systems install pci.ids, which has the names. Without it, the
lists here name the makers that matter and the kinds of devices.

Source: https://pci-ids.ucw.cz (numbers of makers, devices and classes), 2026-08-22.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from machine.system.linux import read_bytes

_PLACES = (
    "usr/share/misc/pci.ids",  # Debian
    "usr/share/hwdata/pci.ids",  # Fedora, Arch
    "usr/share/pci.ids",
    "usr/local/share/pci.ids",
    "var/lib/pciutils/pci.ids",  # update-pciids
    "run/current-system/sw/share/pci.ids",  # NixOS
)
_LIMIT_BYTES = 2**24  # unpacked: ten times what the list has
_BUILT_IN = "a small list of makers and kinds in this program: there is no pci.ids here"
MAKERS = {
    0x1000: "Broadcom",
    0x1002: "AMD",
    0x1014: "IBM",
    0x1022: "AMD",
    0x102B: "Matrox",
    0x1077: "QLogic",
    0x106B: "Apple",
    0x10B5: "PLX",
    0x10DE: "NVIDIA",
    0x10EC: "Realtek",
    0x10EE: "Xilinx",
    0x1179: "Toshiba",
    0x11F8: "Microchip",
    0x126F: "Silicon Motion",
    0x1344: "Micron",
    0x1414: "Microsoft",
    0x144D: "Samsung",
    0x14C3: "MediaTek",
    0x14E4: "Broadcom",
    0x15AD: "VMware",
    0x15B3: "Mellanox",
    0x15B7: "SanDisk",
    0x168C: "Qualcomm Atheros",
    0x17CB: "Qualcomm",
    0x1987: "Phison",
    0x19E5: "Huawei",
    0x1A03: "ASPEED",
    0x1AE0: "Google",
    0x1AF4: "Red Hat",
    0x1B21: "ASMedia",
    0x1B36: "Red Hat",
    0x1B4B: "Marvell",
    0x1BB1: "Seagate",
    0x1C5C: "SK hynix",
    0x1CC1: "ADATA",
    0x1D0F: "Amazon",
    0x1D6A: "Aquantia",
    0x1D95: "Graphcore",
    0x1DA3: "Habana Labs",
    0x1E0F: "KIOXIA",
    0x1E52: "Tenstorrent",
    0x1E60: "Hailo",
    0x2646: "Kingston",
    0x8086: "Intel",
    0xC0A9: "Micron/Crucial",
}
_KINDS = {
    0x0100: "SCSI controller",
    0x0101: "IDE controller",
    0x0104: "RAID controller",
    0x0106: "SATA controller",
    0x0107: "SAS controller",
    0x0108: "NVMe controller",
    0x0180: "storage controller",
    0x0200: "Ethernet controller",
    0x0207: "InfiniBand controller",
    0x0280: "network controller",
    0x0300: "VGA controller",
    0x0302: "3D controller",
    0x0380: "display controller",
    0x0403: "audio device",
    0x0502: "CXL memory",
    0x0600: "host bridge",
    0x0601: "ISA bridge",
    0x0604: "PCI bridge",
    0x0680: "bridge",
    0x0880: "system peripheral",
    0x0B40: "co-processor",
    0x0C03: "USB controller",
    0x0C05: "SMBus controller",
    0x0C06: "InfiniBand controller",
    0x1101: "performance counters",
    0x1200: "processing accelerator",
}


class PciNames:
    """Names from the pci.ids below `root`, or built-in ones; `source` says which."""

    def __init__(self, root: Path) -> None:
        self._text, self.source = "", _BUILT_IN
        self._sections: dict[int, str] = {}
        for place in _PLACES:
            data = read_bytes(root / place) or _unpacked(read_bytes(root / f"{place}.gz") or b"")
            if data:
                self._text, self.source = data.decode(errors="replace"), f"/{place}"
                return

    def name(self, vendor_id: int | None, device_id: int | None, class_id: int | None) -> str:
        """Return maker and device, as far as they are known; "" if neither is."""
        section = self._section(vendor_id)
        maker = MAKERS.get(vendor_id or 0) or section.partition("\n")[0]
        device = section.partition(f"\n\t{device_id or 0:04x}  ")[2].partition("\n")[0]
        kind = device or _KINDS.get((class_id or 0) >> 8) or ("device" if maker else "")
        return f"{maker} {kind}".strip()

    def _section(self, vendor_id: int | None) -> str:
        """Return the lines of one maker; its number is cut from the first line."""
        if vendor_id is None or not self._text:
            return ""
        if vendor_id not in self._sections:
            _, _, rest = self._text.partition(f"\n{vendor_id:04x}  ")
            end = re.search(r"\n[^\t#\n]", rest)
            self._sections[vendor_id] = rest[: end.start()] if end else rest
        return self._sections[vendor_id]


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _LIMIT_BYTES)
    except zlib.error:
        return b""
