"""Where is the evidence read? Linux's /proc, /sys and /dev, NVML, and the PyTorch in question.

Windows and macOS tell less, and need less: there a driver is whole or not there.
"""

from __future__ import annotations

import os
import platform
import re
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from machine.doctor import other_systems
from machine.doctor.cards import read_amd, read_bus
from machine.doctor.evidence import Card, Evidence, Node, Nvml, Surroundings, Torch, Vendor
from machine.doctor.kernel import read_kernel, read_libraries
from machine.doctor.nvml import ask_nvml
from machine.doctor.torch_probe import examine
from machine.facts import Notes
from machine.system.linux import read_text
from machine.system.virtualization import read_container, read_virtualization

# What chooses, hides or renames devices.
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
)
_FABRIC_MANAGER = "nv-fabricmanage"  # the kernel cuts names after 15 letters

Access = Callable[[Path, int], bool]


def gather(
    root: Path = Path("/"),
    *,
    python: str = sys.executable,
    environment: Mapping[str, str] = os.environ,
    nvml: Callable[[], Nvml] = ask_nvml,
    probe: Callable[[str], Torch] = examine,
    access: Access = os.access,
) -> Evidence:
    """Return what can be known of this machine, or of the recorded one below `root`.

    May block for as long as NVML and the PyTorch of `python` are given. NVML is left alone where
    every card of NVIDIA sleeps, since it would wake them.
    """
    if sys.platform != "linux" and root == Path("/"):
        return other_systems.gather(python, chosen(environment), nvml=nvml, probe=probe)
    surroundings = _surroundings(root, environment)
    bus, kernel = read_bus(root), read_kernel(root)
    cards = bus.cards or _off_the_bus(root, surroundings)
    awake = [c for c in cards if c.vendor is Vendor.NVIDIA and c.runtime_status != "suspended"]
    # Asked while its driver is not loaded, NVML would load it.
    is_loaded = "nvidia" in kernel.loaded or (root / "dev/nvidiactl").exists()
    is_loaded = is_loaded or any(card.address is None for card in awake)
    # A sandbox may hide the bus or the card on it, and all files: then NVML alone knows what it
    # lets through. Where no card is seen there is none that it could wake.
    is_asked = (awake and is_loaded) or not cards
    answered = nvml() if is_asked and surroundings.board is None else None
    if not cards and answered is not None:
        seen = answered.devices
        cards = tuple(Card(vendor=Vendor.NVIDIA, name=each.name or "NVIDIA") for each in seen)
        answered = answered if cards else None
    return Evidence(
        surroundings=surroundings,
        cards=cards,
        displays=bus.displays,
        kernel=kernel,
        nodes=_nodes(root, access),  # after NVML, which may make them
        libraries=read_libraries(root),
        nvml=answered,
        nvswitches=bus.nvswitches,
        has_fabric_manager=_has_fabric_manager(root, surroundings),
        amd=read_amd(root),
        torch=probe(python),
    )


def chosen(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that choose devices; an empty one hides all, so it counts."""
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
        # The kernel of version 2 says "microsoft-standard-WSL2", the imitation of 1 "Microsoft".
        wsl=(1 if (release or "").endswith("-Microsoft") else 2)
        if virtualization == "wsl"
        else None,
        has_dxg=(root / "dev/dxg").exists(),
        has_wsl_cuda=(root / "usr/lib/wsl/lib/libcuda.so.1").exists(),
        board=_board(root),
        user=user,
        groups=groups,
        account_groups=account_groups,
        environment=chosen(environment),
    )


def _off_the_bus(root: Path, surroundings: Surroundings) -> tuple[Card, ...]:
    """Return a card that /sys does not show.

    Windows shares its own with WSL, a Jetson's is a part of its chip, and a sandbox may hide all
    but the files below /dev.
    """
    if surroundings.board is not None:
        return (Card(vendor=Vendor.NVIDIA, name=surroundings.board),)
    if surroundings.has_wsl_cuda or (root / "dev/nvidiactl").exists():
        return (Card(vendor=Vendor.NVIDIA, name="NVIDIA"),)
    if (root / "dev/kfd").exists():
        return (Card(vendor=Vendor.AMD, name="AMD"),)
    return ()


def _board(root: Path) -> str | None:
    """Return the name of a board with NVIDIA's own chip, by its device tree."""
    tree = root / "sys/firmware/devicetree/base"
    is_tegra = "nvidia,tegra" in (read_text(tree / "compatible") or "")
    return (read_text(tree / "model") or "NVIDIA Jetson") if is_tegra else None


def _distributions(root: Path) -> tuple[str, ...]:
    """Return such as ("linuxmint", "ubuntu", "debian")."""
    text = read_text(root / "etc/os-release") or ""
    found = [re.search(rf'^{name}="?([^"\n]*)', text, re.MULTILINE) for name in ("ID", "ID_LIKE")]
    return tuple(name for match in found if match for name in match[1].split())


def _account() -> tuple[str | None, frozenset[str], frozenset[str]]:
    """Return the user, the groups of this process, and those that a new login would have."""
    import pwd

    try:
        user = pwd.getpwuid(os.getuid())
    except KeyError:  # a number without a name, as containers have
        return None, frozenset(map(_group, os.getgroups())), frozenset()
    later = os.getgrouplist(user.pw_name, user.pw_gid)
    return user.pw_name, frozenset(map(_group, os.getgroups())), frozenset(map(_group, later))


def _group(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _nodes(root: Path, access: Access) -> tuple[Node, ...]:
    """Return the files through which drivers are spoken to; none is opened, that could wake one."""
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
    """Look for its process; a container does not show those of its host."""
    if surroundings.container not in (None, "none"):
        return None
    return any(read_text(path) == _FABRIC_MANAGER for path in root.glob("proc/[0-9]*/comm"))
