"""The operating system, and the virtual machine and container that it runs in.

In a virtual machine, the host decides which caches, packages and clocks the system shows. The
surest signs are tried first; finding none proves nothing.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

from machine.facts import Notes, Reason
from machine.model import OperatingSystem
from machine.system.linux import exists, fields, read_text

_DMI = "sys/class/dmi/id"
_CLOCK_SOURCES = "sys/devices/system/clocksource/clocksource0/available_clocksource"

_MAKERS = {
    "qemu": "kvm",
    "amazon ec2": "kvm",
    "google compute engine": "kvm",
    "digitalocean": "kvm",
    "openstack": "kvm",
    "vmware": "vmware",
    "virtualbox": "virtualbox",
    "microsoft corporation virtual machine": "hyper-v",
    "parallels": "parallels",
    "xen": "xen",
    "bhyve": "bhyve",
    "apple virtualization": "apple",
}
_NO_RELEASE = Reason("There is no /proc/version.", "uname -r")
_NO_DISTRIBUTION = Reason(
    "There is no /etc/os-release with a name, or it was not recorded.", "cat /etc/os-release"
)
_NO_ARCHITECTURE = Reason("The architecture does not stand in /proc or /sys.", "uname -m")
_UNTOLD = Reason(
    "On this architecture the processor does not tell whether it is a virtual one.",
    "systemd-detect-virt --vm",
)
_NO_MARKS = Reason(
    "The marks of a container lie outside /proc and /sys, and were not recorded.",
    "systemd-detect-virt --container",
)
_CLOCKS = {"kvm-clock": "kvm", "hyperv": "hyper-v", "xen": "xen"}
_GROUPS = {
    "kubepods": "kubernetes",
    "libpod": "podman",
    "docker": "docker",
    "lxc": "lxc",
    "containerd": "containerd",
}
_MARKERS = {
    "run/secrets/kubernetes.io": "kubernetes",
    "var/run/secrets/kubernetes.io": "kubernetes",
    ".dockerenv": "docker",
    "run/.containerenv": "podman",
}


def read_system(root: Path, notes: Notes, *, is_live: bool) -> OperatingSystem:
    """Return the names of the kernel and the distribution."""
    notes.sources["os.kind"] = "/proc/version"
    release = read_text(root / "proc/sys/kernel/osrelease")
    version = (read_text(root / "proc/version") or "").split()
    if release is None and version[:2] == ["Linux", "version"]:
        release = version[2]
    # In a recorded tree, the file may be a link that leads out of the tree.
    distribution = read_text(root / "etc/os-release") if is_live else None
    named = re.search(r'^PRETTY_NAME="?([^"\n]*)', distribution or "", re.MULTILINE)
    return OperatingSystem(
        kind="linux",
        release=notes.found("os.release", release, "/proc/version", _NO_RELEASE),
        distribution=notes.found(
            "os.distribution", named[1] if named else None, "/etc/os-release", _NO_DISTRIBUTION
        ),
        architecture=notes.found(
            "os.architecture", platform.machine() if is_live else None, "uname -m", _NO_ARCHITECTURE
        ),
    )


def read_virtualization(root: Path, notes: Notes) -> str | None:
    """Return the hypervisor's name, "none" on bare metal, "unnamed" if it hides its name."""
    return notes.found("virtualization", *_virtualization(root), _UNTOLD)


def _virtualization(root: Path) -> tuple[str | None, str]:
    if "microsoft" in (read_text(root / "proc/version") or "").lower():
        return "wsl", "/proc/version"
    flags = fields(read_text(root / "proc/cpuinfo")).get("flags")
    if flags is not None and "hypervisor" not in flags.split():
        return "none", "/proc/cpuinfo"
    xen = read_text(root / "sys/hypervisor/type")
    if xen:
        return xen, "/sys/hypervisor/type"
    board = " ".join(read_text(root / _DMI / n) or "" for n in ("sys_vendor", "product_name"))
    if name := hypervisor_of(board):
        return name, f"/{_DMI}/sys_vendor, product_name"
    clocks = read_text(root / _CLOCK_SOURCES) or ""
    for clock, name in _CLOCKS.items():
        if clock in clocks:
            return name, f"/{_CLOCK_SOURCES}"
    return ("unnamed" if flags is not None else None), "/proc/cpuinfo"


def hypervisor_of(board: str) -> str | None:
    """Return the hypervisor that names itself as maker and model of the computer."""
    return next((name for maker, name in _MAKERS.items() if maker in board.lower()), None)


def read_container(root: Path, notes: Notes, *, is_live: bool) -> str | None:
    """Return the kind of container around this process, "none" if nothing hints at one."""
    value, source = _container(root)
    if value is None and is_live:
        value, source = "none", "no mark of a container, in the root folder or in /proc/self/cgroup"
    return notes.found("container", value, source, _NO_MARKS)


def _container(root: Path) -> tuple[str | None, str]:
    groups = read_text(root / "proc/self/cgroup") or ""
    for sign, name in _GROUPS.items():
        # "/docker/4b1f...", "docker-4b1f....scope", but not "docker.service", the engine itself.
        if re.search(rf"[/:]{sign}(?!\.service)", groups):
            return name, "/proc/self/cgroup"
    manager = read_text(root / "run/systemd/container")
    if manager:
        return manager, "/run/systemd/container"
    for marker, name in _MARKERS.items():
        if exists(root / marker):
            return name, f"/{marker}"
    # Hosts run it too, at /var/lib/lxcfs; only in a container it lies over /proc.
    if re.search(r"^lxcfs /proc/", read_text(root / "proc/mounts") or "", re.MULTILINE):
        return "lxc", "/proc/mounts"
    return None, ""
