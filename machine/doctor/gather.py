"""Gathers the evidence from Linux's /proc, /sys and /dev, from NVML, and from the chosen PyTorch.

Windows and macOS report less and need less, because their drivers either work or are missing.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from machine.doctor import other_systems
from machine.doctor.cards import read_amd, read_bus
from machine.doctor.evidence import (
    Card,
    Evidence,
    Interpreter,
    Node,
    Nvml,
    Surroundings,
    Torch,
    Vendor,
)
from machine.doctor.kernel import read_kernel, read_libraries, with_log
from machine.doctor.library_files import short_nvidia
from machine.doctor.nvml import ask_nvml
from machine.doctor.torch_probe import examine
from machine.doctor.torch_remedies import lacks_build
from machine.facts import Notes
from machine.system import pythons
from machine.system.linux import confined, fields, read_text
from machine.system.virtualization import read_container, read_virtualization

# Variables that choose, hide or rename devices, libraries and packages.
_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "ZE_AFFINITY_MASK",
    "ONEAPI_DEVICE_SELECTOR",
    "SLURM_JOB_ID",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
)
_FABRIC_MANAGER = "nv-fabricmanage"  # the kernel keeps 15 characters of a name

Access = Callable[[Path, int], bool]


def other_pythons() -> tuple[Interpreter, ...]:
    """Return the Pythons of this machine. Takes 2 s at most."""
    own = Interpreter(version=platform.python_version(), path=os.path.realpath(sys.executable))
    found = (Interpreter(version=each.version, path=each.path) for each in pythons.find())
    return (own, *found)


def gather(
    root: Path = Path("/"),
    *,
    python: str = sys.executable,
    environment: Mapping[str, str] = os.environ,
    nvml: Callable[[], Nvml] = ask_nvml,
    probe: Callable[[str], Torch] = examine,
    access: Access = os.access,
    others: Callable[[], tuple[Interpreter, ...]] = other_pythons,
) -> Evidence:
    """Return the evidence of this machine, or of the recorded one below `root`.

    May block until NVML and the PyTorch of `python` time out. NVML is not asked while every card
    of NVIDIA sleeps, because it would wake them.
    """
    if sys.platform != "linux" and root == Path("/"):
        there = other_systems.gather(python, chosen(environment), nvml=nvml, probe=probe)
        return _with_others(there, others)
    with confined(root):
        surroundings = _surroundings(root, environment)
        bus, kernel = read_bus(root), read_kernel(root)
        ignored = [c for c in bus.cards if c.vendor is Vendor.NVIDIA and not c.driver]
        if ignored and "nvidia" in kernel.loaded:
            kernel = with_log(kernel, None if root == Path("/") else root)
        cards = bus.cards or _off_the_bus(root, surroundings)
        awake = [c for c in cards if c.vendor is Vendor.NVIDIA and c.runtime_status != "suspended"]
        # NVML would load a driver that is not loaded.
        is_loaded = "nvidia" in kernel.loaded or (root / "dev/nvidiactl").exists()
        is_loaded = is_loaded or any(card.address is None for card in awake)
        # A sandbox may hide the bus, the card and all files; then only NVML knows the card. Without
        # a visible card, there is none that NVML could wake.
        is_asked = (awake and is_loaded) or not cards
        answered = nvml() if is_asked and surroundings.board is None else None
        if not cards and answered is not None:
            seen = answered.devices
            cards = tuple(Card(vendor=Vendor.NVIDIA, name=each.name or "NVIDIA") for each in seen)
            answered = answered if cards or answered.trouble else None
        evidence = Evidence(
            surroundings=surroundings,
            cards=cards,
            displays=bus.displays,
            kernel=kernel,
            nodes=_nodes(root, access),  # after NVML, which may create them
            libraries=read_libraries(root),
            short_libraries=short_nvidia(root),
            nvml=answered,
            nvswitches=bus.nvswitches,
            has_fabric_manager=_has_fabric_manager(root, surroundings),
            amd=read_amd(root),
            torch=probe(python),
        )
    return _with_others(evidence, others)


def _with_others(evidence: Evidence, others: Callable[[], tuple[Interpreter, ...]]) -> Evidence:
    """Return the evidence, with the other Pythons if there is no build for the chosen one."""
    is_needed = any(lacks_build(evidence, card.vendor) for card in evidence.cards)
    return replace(evidence, pythons=others()) if is_needed else evidence


def chosen(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that choose devices, also empty ones, which hide all devices."""
    return {name: environment[name] for name in _VARIABLES if name in environment}


def _surroundings(root: Path, environment: Mapping[str, str]) -> Surroundings:
    is_live = root == Path("/")
    virtualization = read_virtualization(root, Notes())
    release = read_text(root / "proc/sys/kernel/osrelease")
    user, groups, account_groups = _account() if is_live else (None, frozenset(), frozenset())
    return Surroundings(
        system="linux",
        release=release,
        architecture=platform.machine() if is_live else None,
        distributions=_distributions(root),
        virtualization=virtualization,
        container=read_container(root, Notes(), is_live=is_live),
        # The kernel of WSL 2 says "microsoft-standard-WSL2", the emulated one of WSL 1 "Microsoft".
        wsl=(1 if (release or "").endswith("-Microsoft") else 2)
        if virtualization == "wsl"
        else None,
        has_dxg=(root / "dev/dxg").exists(),
        has_wsl_cuda=(root / "usr/lib/wsl/lib/libcuda.so.1").exists(),
        has_avx=_has_avx(root),
        board=_board(root),
        user=user,
        groups=groups,
        account_groups=account_groups,
        environment=chosen(environment),
    )


def _off_the_bus(root: Path, surroundings: Surroundings) -> tuple[Card, ...]:
    """Return a card that /sys does not show.

    WSL uses Windows' card, and a Jetson's GPU is part of its chip. A sandbox may hide everything
    but the files below /dev.
    """
    if surroundings.board is not None:
        return (Card(vendor=Vendor.NVIDIA, name=surroundings.board),)
    if surroundings.has_wsl_cuda or (root / "dev/nvidiactl").exists():
        return (Card(vendor=Vendor.NVIDIA, name="NVIDIA"),)
    if (root / "dev/kfd").exists():
        return (Card(vendor=Vendor.AMD, name="AMD"),)
    return ()


def _has_avx(root: Path) -> bool | None:
    """Return whether the processor shows AVX; None where it is no x86."""
    flags = fields(read_text(root / "proc/cpuinfo")).get("flags")
    return None if flags is None else "avx" in flags.split()


def _board(root: Path) -> str | None:
    """Return the name of a board with NVIDIA's system on a chip, by its device tree."""
    tree = root / "sys/firmware/devicetree/base"
    is_tegra = "nvidia,tegra" in (read_text(tree / "compatible") or "")
    return (read_text(tree / "model") or "NVIDIA Jetson") if is_tegra else None


def _distributions(root: Path) -> tuple[str, ...]:
    """Return ids such as ("linuxmint", "ubuntu", "debian")."""
    text = read_text(root / "etc/os-release") or ""
    found = [re.search(rf'^{name}="?([^"\n]*)', text, re.MULTILINE) for name in ("ID", "ID_LIKE")]
    return tuple(name for match in found if match for name in match[1].split())


def _account() -> tuple[str | None, frozenset[str], frozenset[str]]:
    """Return the user, the groups of this process, and the groups after a new login."""
    name, now, later = None, list[int](), list[int]()
    if sys.platform != "win32":
        import pwd

        now = os.getgroups()
        with contextlib.suppress(KeyError):  # a user id without a name, as in containers
            user = pwd.getpwuid(os.getuid())
            name, later = user.pw_name, os.getgrouplist(user.pw_name, user.pw_gid)
    return name, frozenset(map(_group, now)), frozenset(map(_group, later))


def _group(number: int) -> str:
    if sys.platform != "win32":
        import grp

        with contextlib.suppress(KeyError):  # a number without a name
            return grp.getgrgid(number).gr_name
    return str(number)


def _nodes(root: Path, access: Access) -> tuple[Node, ...]:
    """Return the drivers' device files. None is opened: this could wake a card."""
    folder = root / "dev"
    patterns = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm", "kfd", "dri/renderD*")
    found = []
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        try:
            status = path.stat()
        except OSError:
            continue
        found.append(
            Node(
                path=f"/{path.relative_to(root)}",
                is_usable=access(path, os.R_OK | os.W_OK),
                group=_group(status.st_gid),
                mode=stat.S_IMODE(status.st_mode),
            )
        )
    return tuple(found)


def _has_fabric_manager(root: Path, surroundings: Surroundings) -> bool | None:
    """Look for its process; None in a container, which hides the host's processes."""
    if surroundings.container not in (None, "none"):
        return None
    return any(read_text(path) == _FABRIC_MANAGER for path in root.glob("proc/[0-9]*/comm"))
