"""Runs a command in a network of its own, and writes down each packet that would leave the machine.

Started as root of its name spaces: `unshare --net --mount python -m tests.alone OUT COMMAND...`.
There is nothing but loopback, and everything is routed into it. /etc/hosts is empty, without even
127.0.0.1, and the name server never answers.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.platform != "linux":
    raise ImportError("Name spaces of Linux.")

SERVER = "192.0.2.53"  # an address for documentation, which nobody has
FILES = {
    "/etc/hosts": "",
    "/etc/resolv.conf": f"nameserver {SERVER}\noptions timeout:1 attempts:1\n",
    "/etc/nsswitch.conf": "hosts: files dns\n",
}
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCADDRT = 0x8913, 0x8914, 0x890B
IFF_UP, RTF_UP = 0x1, 0x1
ETH_P_ALL, SO_ATTACH_FILTER = 0x3, 26
# Packets of IPv4 whose address is not 127.*, and of IPv6 other than to ::1: (code, jt, jf, k).
LEAVING = (
    (0x28, 0, 0, 12), (0x15, 0, 2, 0x0800),
    (0x30, 0, 0, 30), (0x15, 4, 3, 127),
    (0x15, 0, 3, 0x86DD),
    (0x20, 0, 0, 38), (0x15, 1, 0, 0),
    (0x06, 0, 0, 0xFFFF), (0x06, 0, 0, 0),
)  # fmt: skip


class Route(ctypes.Structure):
    """`struct rtentry` of <linux/route.h>."""

    _fields_ = (
        ("pad1", ctypes.c_ulong),
        ("target", ctypes.c_char * 16),
        ("gateway", ctypes.c_char * 16),
        ("mask", ctypes.c_char * 16),
        ("flags", ctypes.c_ushort),
        ("pad2", ctypes.c_short),
        ("pad3", ctypes.c_ulong),
        ("pad4", ctypes.c_void_p),
        ("metric", ctypes.c_short),
        ("device", ctypes.c_char_p),
        ("mtu", ctypes.c_ulong),
        ("window", ctypes.c_ulong),
        ("round_trip", ctypes.c_ushort),
    )


def main(out: str, command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder, opened() as capture:
        for name, text in FILES.items():
            if os.path.exists(name):
                file = Path(folder, Path(name).name)
                file.write_text(text)
                file.chmod(0o644)
                mount = ["mount", "--bind", str(file), os.path.realpath(name)]
                subprocess.run(mount, check=True)
        code = subprocess.run(command).returncode
        Path(out).write_text(json.dumps(seen(capture)))
        for name in FILES:
            if os.path.exists(name):
                subprocess.run(["umount", os.path.realpath(name)], check=True)
    return code


def opened() -> socket.socket:
    """Bring loopback up, route everything there, and return what captures what would leave."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_one:
        request = fcntl.ioctl(any_one, SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", request)[1] | IFF_UP
        fcntl.ioctl(any_one, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags))
        everywhere = struct.pack("=H14x", socket.AF_INET)
        route = Route(flags=RTF_UP, device=b"lo")
        for name in ("target", "gateway", "mask"):
            ctypes.memmove(ctypes.addressof(route) + getattr(Route, name).offset, everywhere, 16)
        fcntl.ioctl(any_one, SIOCADDRT, route)
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in LEAVING))
    capture.setsockopt(
        socket.SOL_SOCKET,
        SO_ATTACH_FILTER,
        struct.pack("HL", len(LEAVING), ctypes.addressof(program)),
    )
    capture.setblocking(False)
    return capture


def seen(capture: socket.socket) -> list[str]:
    """Return where the captured packets went."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            packet = capture.recv(65536)
            kind = struct.unpack_from("!H", packet, 12)[0]
            family, at, size = (
                (socket.AF_INET, 30, 4) if kind == 0x800 else (socket.AF_INET6, 38, 16)
            )
            address = socket.inet_ntop(family, packet[at : at + size])
            found.append(f"{address}: {packet[at + size : at + size + 80]!r}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
