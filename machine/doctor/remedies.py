"""Commands that repair drivers, by the card's generation and the distribution; where each is typed.

Sources for the packages of each branch, as of November 2026: the AUR and the news of Arch Linux of
2025-12-20; RPM Fusion's Howto/NVIDIA; nixpkgs, nvidia-x11; Debian's packages of 12 (535) and 13
(550).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from machine.doctor.evidence import Evidence, Vendor
from machine.doctor.generations import Generation, generation

T = TypeVar("T")

DRIVERS_PAGE = "https://www.nvidia.com/drivers"
REBOOT = "sudo reboot"
LOG = "sudo dmesg | grep -E 'NVRM|Xid|nvidia'"

# How each distribution installs NVIDIA's driver. Debian needs the component non-free, Fedora the
# repository RPM Fusion; the page in front explains how to enable them.
_DRIVER = {
    "pop": ("sudo apt install system76-driver-nvidia", REBOOT),
    "ubuntu": ("sudo ubuntu-drivers install", REBOOT),
    "debian": (
        "https://wiki.debian.org/NvidiaGraphicsDrivers",
        "sudo apt install linux-headers-$(uname -r) nvidia-driver nvidia-smi libcuda1",
        REBOOT,
    ),
    "rhel": ("https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/", REBOOT),
    "fedora": (
        "https://rpmfusion.org/Howto/NVIDIA",
        "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda",  # the latter for CUDA
        REBOOT,
    ),
    "arch": ("sudo pacman -S nvidia-open nvidia-utils", REBOOT),
    "suse": ("https://en.opensuse.org/SDB:NVIDIA_drivers", REBOOT),
    "nixos": ("https://wiki.nixos.org/wiki/NVIDIA",),
}
# The same for cards that only an older branch serves. Ubuntu's command above looks at the card.
_LEGACY = {
    "ubuntu": _DRIVER["ubuntu"],
    "fedora": (
        "https://rpmfusion.org/Howto/NVIDIA",
        "sudo dnf install akmod-nvidia-{branch}xx xorg-x11-drv-nvidia-{branch}xx-cuda",
        REBOOT,
    ),
    "arch": ("https://aur.archlinux.org/packages/nvidia-{branch}xx-dkms", REBOOT),
    "nixos": (
        "hardware.nvidia.open = false;  # in configuration.nix",
        "hardware.nvidia.package = config.boot.kernelPackages.nvidiaPackages.legacy_{branch};",
        "sudo nixos-rebuild switch",
        REBOOT,
    ),
}
LEGACY_PAGE = "https://www.nvidia.com/en-us/drivers/unix/legacy-gpu/"
# The newest driver that a distribution's own packages bring, where that lags behind.
_PACKAGED = {"debian": 550}
_GUIDE = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"
_NEWER = {"debian": (_GUIDE, "sudo apt install nvidia-open", REBOOT)}
# Builds a driver for the running kernel. Arch removes an old kernel's files, so it must reboot.
_BUILD = {
    "debian": ("sudo apt install linux-headers-$(uname -r)", "sudo dkms autoinstall"),
    "ubuntu": ("sudo apt install linux-headers-$(uname -r)", "sudo dkms autoinstall"),
    "fedora": ("sudo akmods --force",),
    "arch": (REBOOT,),
}
_INITRAMFS = {
    "debian": "sudo update-initramfs -u",
    "ubuntu": "sudo update-initramfs -u",
    "arch": "sudo mkinitcpio -P",
}


def install_driver(evidence: Evidence) -> tuple[str, ...]:
    """Return how to install or update NVIDIA's driver."""
    if evidence.surroundings.wsl:
        return (DRIVERS_PAGE, "wsl --shutdown")
    # The host of a container may be of another distribution.
    if evidence.is_contained or evidence.surroundings.system == "windows":
        return (DRIVERS_PAGE,)
    if branch := branch_of(evidence):
        known = dict(_LEGACY)
        if branch >= _PACKAGED["debian"]:  # its packages are of that branch, or before
            known["debian"] = _DRIVER["debian"]
        commands = nearest(evidence, known, (LEGACY_PAGE, REBOOT))
        return tuple(command.replace("{branch}", str(branch)) for command in commands)
    if packaged_too_old(evidence):
        return nearest(evidence, _NEWER, (DRIVERS_PAGE,))
    return nearest(evidence, _DRIVER, (DRIVERS_PAGE,))


def generations(evidence: Evidence) -> list[Generation]:
    """Return the known generations of NVIDIA's cards, the oldest first."""
    cards = (card for card in evidence.cards if card.vendor is Vendor.NVIDIA)
    found = (generation(card.name, card.device_id) for card in cards)
    return sorted((each for each in found if each), key=lambda each: each.first)


def branch_of(evidence: Evidence) -> int | None:
    """Return the branch that the oldest card needs: by the kernel's log, else by its generation."""
    last = [each.last for each in generations(evidence) if each.last]
    return evidence.kernel.told_branch or min(last, default=None)


def packaged_too_old(evidence: Evidence) -> int | None:
    """Return the newest driver of the distribution's packages, if it is older than the card."""
    newest = max((each.first for each in generations(evidence)), default=0)
    packaged = nearest(evidence, dict.fromkeys(_DRIVER) | _PACKAGED, None)
    return packaged if packaged and packaged < newest else None


def build_driver(evidence: Evidence) -> tuple[str, ...]:
    """Return how to build NVIDIA's driver for the running kernel, and load it."""
    build = nearest(evidence, _BUILD, ("sudo dkms autoinstall",))
    return build if REBOOT in build else (*build, "sudo modprobe nvidia")


def start_fabric_manager(evidence: Evidence) -> tuple[str, ...]:
    """Return how to start the fabric manager, whose version must match the driver's."""
    log = "journalctl -u nvidia-fabricmanager"
    if evidence.has_fabric_manager:
        return ("sudo systemctl restart nvidia-fabricmanager", log)
    version = (evidence.nvml.driver if evidence.nvml is not None else None) or ""
    major = version.partition(".")[0] or "VERSION"
    apt = (f"sudo apt install nvidia-fabricmanager-{major}",)
    dnf = ("sudo dnf install nvidia-fabric-manager",)
    install = nearest(evidence, {"debian": apt, "ubuntu": apt, "rhel": dnf, "fedora": dnf}, ())
    return (*install, "sudo systemctl enable --now nvidia-fabricmanager", log)


def pass_to_container(evidence: Evidence, vendor: Vendor | None) -> tuple[str, ...]:
    """Return how to pass the cards to the container around this program."""
    container = evidence.surroundings.container
    if container == "kubernetes":
        names = {Vendor.NVIDIA: "nvidia.com/gpu", Vendor.AMD: "amd.com/gpu"}
        name = names.get(vendor or Vendor.OTHER, "gpu.intel.com/i915")
        return (f"resources: {{limits: {{{name}: 1}}}}",)
    if container == "lxc":
        return ("lxc config device add CONTAINER gpu gpu",)
    program = "podman" if container == "podman" else "docker"
    if vendor is Vendor.NVIDIA:
        how = "--device nvidia.com/gpu=all" if program == "podman" else "--gpus all"
        return (f"{program} run {how} ...",)
    both = "--device /dev/kfd --device /dev/dri" if vendor is Vendor.AMD else "--device /dev/dri"
    return (f"{program} run {both} --group-add render ...",)


def restart_container(evidence: Evidence) -> str:
    """Return how to restart the container around this program."""
    return {
        "kubernetes": "kubectl delete pod POD",
        "podman": "podman restart CONTAINER",
        "lxc": "lxc restart CONTAINER",
    }.get(evidence.surroundings.container or "", "docker restart CONTAINER")


def nearest(evidence: Evidence, known: Mapping[str, T], otherwise: T) -> T:
    """Return the entry of the distribution, or of the nearest one that it is like."""
    names = evidence.surroundings.distributions
    return next((known[name] for name in names if name in known), otherwise)


def log_of(vendor: Vendor | None) -> str:
    """Return how to read what the kernel says about a vendor's cards."""
    return _LOGS.get(vendor, "sudo dmesg | tail -n 50")


def holders_of(evidence: Evidence, vendor: Vendor | None) -> str:
    """Return how to see which programs use a vendor's cards."""
    if vendor is Vendor.NVIDIA:
        return "nvidia-smi"
    paths = [node.path for node in evidence.nodes_of(vendor)] or ["/dev/dri/renderD*"]
    return f"sudo fuser -v {' '.join(paths)}"


def as_typed(command: str, evidence: Evidence) -> str:
    """Return a command as typed on this system; those for the host around it say so."""
    around = evidence.surroundings
    if around.system == "windows":
        for start, instead in _ON_WINDOWS.items():
            if command.startswith(start):
                return instead + command.removeprefix(start)
        return command
    if around.wsl and command.startswith(_RESTARTS_WSL):
        return "wsl --shutdown  # on the host (Windows)"
    if around.wsl and command.startswith(("wsl ", "sudo nvidia-smi")):
        return f"{command.removeprefix('sudo ')}  # on the host (Windows)"
    if around.wsl and command.startswith("sudo dmesg"):
        command = "sudo dmesg | grep -i dxg"
    if evidence.is_contained and command.startswith(_OF_HOST):
        typed, _, note = command.partition("  # ")
        return f"{typed}  # on the host{f', {note}' if note else ''}"
    return command


_LOGS: dict[Vendor | None, str] = {
    Vendor.NVIDIA: LOG,
    Vendor.AMD: "sudo dmesg | grep -E 'amdgpu|kfd'",
    Vendor.INTEL: "sudo dmesg | grep -E 'i915|xe|drm'",
}
_ON_WINDOWS = {
    LOG: "Get-WinEvent -LogName System | Where-Object ProviderName -eq nvlddmkm",
    REBOOT: "Restart-Computer",
    "unset ": "Remove-Item Env:",
    "kill ": "Stop-Process -Id ",
    "sudo ": "",
}
# Modules of Windows' driver are not loaded in WSL: all of WSL is restarted instead.
_RESTARTS_WSL = (REBOOT, "sudo modprobe", "sudo nvidia-modprobe", "echo 'options ")
# A container has neither the kernel, nor the services, nor the process numbers of its host.
_OF_HOST = (
    *("sudo ", "printf ", "echo 'options ", "journalctl ", "docker ", "podman ", "lxc "),
    *("kill ", "nvidia-smi", "lspci"),
)


def rebuild_initramfs(evidence: Evidence) -> str:
    """Return how to rebuild the initramfs, so that modprobe.d applies from the boot on."""
    return nearest(evidence, _INITRAMFS, "sudo dracut --force")
