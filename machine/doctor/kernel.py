"""Evidence about the kernel: loaded and installed drivers, and what disables them.

LIMIT: only the kernel's log, which needs root, shows whether a module's signature was refused. So
Secure Boot and an installed module that is not loaded must suffice as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from machine.doctor.evidence import Kernel
from machine.doctor.library_files import NVIDIA_FOLDERS
from machine.system.kernel_log import matching
from machine.system.linux import read_bytes, read_text

MODULES = ("nvidia", "nvidia_uvm", "nouveau", "nova_core", "amdgpu", "i915", "xe", "vfio_pci")
_FILE = re.compile(r"/(nvidia(?:-current)?|nouveau|amdgpu|i915|xe)\.ko\b")  # -current is Debian's
# What nvidia.ko says of a card that it does not drive (kernel-open/nvidia/nv-pci.c, nv.c).
_LEGACY = re.compile(r"NVRM: +supported through the NVIDIA (\d{3})\.xx Legacy drivers")
_NEEDS_OPEN = re.compile(r"NVRM: .*requires use of the NVIDIA open kernel modules")
_FOLDERS = ("lib/modules", "usr/lib/modules", "run/booted-system/kernel-modules/lib/modules")
_CONFIGURED = ("etc", "run", "usr/local/lib", "usr/lib", "lib")

# UEFI specification 2.10, section 3.3; the file system puts four bytes of attributes before it.
_SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_ATTRIBUTES_BYTES = 4


def read_kernel(root: Path) -> Kernel:
    """Return the state of the drivers. A container mostly lacks the files of modules."""
    release = read_text(root / "proc/sys/kernel/osrelease")
    listed = {line.split(" ")[0] for line in (read_text(root / "proc/modules") or "").splitlines()}
    modules = dict(_module_files(root))
    here = modules.get(release or "")
    elsewhere = frozenset[str]().union(*modules.values())
    return Kernel(
        release=release,
        loaded=frozenset(
            name for name in MODULES if name in listed or (root / "sys/module" / name).is_dir()
        ),
        built=here,
        built_elsewhere=elsewhere - (here or frozenset()),
        blacklisted=_blacklisted(root),
        removing_rule=_removing_rule(root),
        secure_boot=_secure_boot(root),
        nvidia_version=_nvidia_version(root),
        is_open=_is_open(root),
    )


def with_log(kernel: Kernel, root: Path | None) -> Kernel:
    """Return the kernel with what its log says of cards that NVIDIA's driver ignores.

    Takes up to 10 s if two commands hang. Adds nothing if the user may not read the log.
    """
    branches = [int(found[1]) for found in matching(_LEGACY, root)]
    needs_open = bool(matching(_NEEDS_OPEN, root))
    return replace(kernel, told_branch=min(branches, default=None), told_open=needs_open)


def read_libraries(root: Path) -> tuple[str, ...]:
    """Return the versions of NVIDIA's installed libraries, from their file names."""
    found = {
        file.name.removeprefix("libnvidia-ml.so.")
        for folder in NVIDIA_FOLDERS
        for file in root.glob(f"{folder}/libnvidia-ml.so.*")
    }
    return tuple(sorted(version for version in found if "." in version))


def _module_files(root: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each kernel's release, and the drivers installed for it."""
    for folder in _FOLDERS:
        for place in sorted(root.glob(f"{folder}/*")):
            lists = [read_text(place / name) for name in ("modules.dep", "modules.builtin")]
            paths = [line.partition(":")[0] for text in lists for line in (text or "").splitlines()]
            if paths:
                found = _FILE.findall("\n".join(f"/{path}" for path in paths))
                yield place.name, frozenset(name.removesuffix("-current") for name in found)


def _configuration(root: Path, folder: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of configuration files; one in /etc overrides its namesakes."""
    seen = set()
    for base in _CONFIGURED:
        for file in sorted((root / base / folder).glob(f"*{suffix}")):
            if file.name not in seen:
                seen.add(file.name)
                yield f"/{file.relative_to(root)}", read_text(file) or ""


def _blacklisted(root: Path) -> dict[str, str]:
    """Return the blacklisted drivers, and the file that blacklists each."""
    found: dict[str, str] = {}
    command = read_text(root / "proc/cmdline") or ""
    for names in re.findall(r"(?:^|\s)(?:modprobe|module)[._]blacklist=(\S+)", command):
        for name in names.split(","):
            found[name.replace("-", "_")] = "/proc/cmdline"
    pattern = r"^\s*(?:blacklist\s+(\S+)|install\s+(\S+)\s+/\S*/(?:false|true))\s*$"
    for path, text in _configuration(root, "modprobe.d", ".conf"):
        for first, second in re.findall(pattern, text, re.MULTILINE):
            found.setdefault((first or second).replace("-", "_"), path)
    return {name: path for name, path in found.items() if name in MODULES}


def _removing_rule(root: Path) -> str | None:
    """Return the udev rule that removes NVIDIA's card from the bus at each boot.

    prime-select, envycontrol and others write it, to save energy with integrated graphics alone.
    """
    for path, text in _configuration(root, "udev/rules.d", ".rules"):
        for line in text.splitlines():
            is_rule = "0x10de" in line and not line.lstrip().startswith("#")
            if is_rule and re.search(r'ATTR\{remove\}="1"', line) and "0x03" in line:
                return path
    return None


def _secure_boot(root: Path) -> bool | None:
    if not (root / "sys/firmware/efi").is_dir():
        return False if (root / "sys/firmware").is_dir() else None
    value = (read_bytes(root / _SECURE_BOOT) or b"")[_ATTRIBUTES_BYTES:]
    return value == b"\x01" if value else None


def _is_open(root: Path) -> bool | None:
    """Return whether NVIDIA's running modules are the open ones, by their own words."""
    text = read_text(root / "proc/driver/nvidia/version")
    return None if text is None else "Open Kernel Module" in text


def _nvidia_version(root: Path) -> str | None:
    """Return the version of the running driver, which may differ from the installed one."""
    told = read_text(root / "sys/module/nvidia/version")
    if told:
        return told
    text = read_text(root / "proc/driver/nvidia/version") or ""
    found = re.search(r"Kernel Module\s+(?:for \S+\s+)?(\d+(?:\.\d+)+)", text)
    return found[1] if found else None
