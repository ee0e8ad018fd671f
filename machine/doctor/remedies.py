"""Commands that repair drivers and PyTorch, for each distribution and the chosen Python.

Sources. Builds of PyTorch: `PYTORCH_RELEASES_CODE_CC` in torch/cuda/__init__.py and
PYTORCH_ROCM_ARCH in .ci/docker/manywheel/build.sh, both of PyTorch 2.13; indexes:
https://pytorch.org/get-started/locally/ and previous-versions/. Which driver runs which CUDA:
https://docs.nvidia.com/deploy/cuda-compatibility/, minor version compatibility: a driver runs its
own and every older major version of CUDA.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping

from machine.doctor.evidence import Evidence, Torch, Vendor
from machine.doctor.queries import driver_cuda, is_contained

DRIVERS_PAGE = "https://www.nvidia.com/drivers"
JETSON_PAGE = (
    "https://docs.nvidia.com/deeplearning/frameworks/install-pytorch-jetson-platform/index.html"
)
AMD_WINDOWS_PAGE = "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/"
INTEL_PAGE = "https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html"
REBOOT = "sudo reboot"
LOG = "sudo dmesg | grep -E 'NVRM|Xid|nvidia'"

_INDEX = "https://download.pytorch.org/whl/"
_BLACKWELL, _TURING = (10, 0), (7, 5)  # the first compute capability of each

# The architectures in ROCm builds of PyTorch.
AMD_TARGETS = frozenset(
    f"gfx{number}"
    for number in (
        *("900", "906", "908", "90a", "942", "950", "1030", "1100", "1101", "1102", "1103"),
        *("1150", "1151", "1200", "1201"),
    )
)
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
    if evidence.surroundings.system == "windows":
        return (DRIVERS_PAGE,)
    if evidence.surroundings.wsl:
        return (DRIVERS_PAGE, "wsl --shutdown")
    if is_contained(evidence):  # its host may be of another distribution
        return (DRIVERS_PAGE,)
    return _nearest(evidence, _DRIVER, (DRIVERS_PAGE,))


def build_driver(evidence: Evidence) -> tuple[str, ...]:
    """Return how to build NVIDIA's driver for the running kernel, and load it."""
    build = _nearest(evidence, _BUILD, ("sudo dkms autoinstall",))
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
    install = _nearest(evidence, {"debian": apt, "ubuntu": apt, "rhel": dnf, "fedora": dnf}, ())
    return (*install, "sudo systemctl enable --now nvidia-fabricmanager", log)


def restart_container(evidence: Evidence) -> str:
    """Return how to restart the container around this program."""
    return {
        "kubernetes": "kubectl delete pod POD",
        "podman": "podman restart CONTAINER",
        "lxc": "lxc restart CONTAINER",
    }.get(evidence.surroundings.container or "", "docker restart CONTAINER")


def _nearest(
    evidence: Evidence, known: Mapping[str, tuple[str, ...]], otherwise: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the entry of the distribution, or of the nearest one that it is like."""
    names = evidence.surroundings.distributions
    return next((known[name] for name in names if name in known), otherwise)


def as_typed(command: str, evidence: Evidence) -> str:
    """Return a command as typed on this system; those for a container's host say so."""
    if evidence.surroundings.system == "windows":
        for start, instead in _ON_WINDOWS.items():
            if command.startswith(start):
                return instead + command.removeprefix(start)
        return command
    if evidence.surroundings.wsl:
        return _IN_WSL.get(command, command)
    is_of_host = command.startswith(_OF_HOST) and is_contained(evidence)
    return f"{command}  # on the host" if is_of_host else command


_ON_WINDOWS = {
    LOG: "Get-WinEvent -LogName System | Where-Object ProviderName -eq nvlddmkm",
    REBOOT: "Restart-Computer",
    "unset ": "Remove-Item Env:",
    "kill ": "Stop-Process -Id ",
    "sudo ": "",
}
_IN_WSL = {LOG: "sudo dmesg | grep -i dxg", REBOOT: "wsl --shutdown  # in Windows"}
_OF_HOST = (
    *("journalctl ", "sudo dmesg", "sudo reboot", "sudo systemctl", "sudo modprobe"),
    *("sudo nvidia-modprobe", "sudo nvidia-smi"),
)


def rebuild_initramfs(evidence: Evidence) -> str:
    """Return how to rebuild the initramfs, so that modprobe.d applies from the boot on."""
    names = evidence.surroundings.distributions
    return next((_INITRAMFS[name] for name in names if name in _INITRAMFS), "sudo dracut --force")


def install_torch(evidence: Evidence, vendor: Vendor) -> tuple[str, ...]:
    """Return how to install a PyTorch for this vendor into the chosen Python."""
    torch = evidence.torch or Torch(python=sys.executable)
    if vendor is Vendor.NVIDIA and evidence.surroundings.board is not None:
        return (JETSON_PAGE,)
    if vendor is Vendor.AMD and (
        evidence.surroundings.system == "windows" or evidence.surroundings.wsl
    ):
        return (AMD_WINDOWS_PAGE,)
    if torch.installer == "conda" and vendor is Vendor.NVIDIA:
        return ("conda install -c conda-forge pytorch-gpu",)
    index = _index(evidence, vendor)
    return (_install(torch, index),)


def reinstall_torch(torch: Torch) -> tuple[str, ...]:
    """Return how to reinstall a damaged PyTorch."""
    if torch.installer == "conda":
        return ("conda install --force-reinstall pytorch",)
    return (_install(torch, None, is_there=True),)


def _install(torch: Torch, index: str | None, *, is_there: bool | None = None) -> str:
    python = quoted(torch.python)
    names = " ".join(("torch", *torch.companions))
    again = not torch.is_missing if is_there is None else is_there
    where = f" --index-url {_INDEX}{index}" if index else ""
    if torch.installer == "uv":
        return f"uv pip install --python {python}{' --reinstall' if again else ''} {names}{where}"
    # Without this, pip keeps an installed CPU build.
    how = " --upgrade --force-reinstall" if again else ""
    return f"{python} -m pip install{how} {names}{where}"


def _index(evidence: Evidence, vendor: Vendor) -> str | None:
    if vendor is Vendor.AMD:
        return "rocm7.2"
    if vendor is Vendor.INTEL:
        return "xpu"
    return _cuda_index(evidence) if vendor is Vendor.NVIDIA else None


def _cuda_index(evidence: Evidence) -> str:
    """Return the newest build that suits both the driver and the oldest GPU."""
    driver = driver_cuda(evidence)
    targets = capabilities(evidence)
    oldest, newest = min(targets, default=_TURING), max(targets, default=_TURING)
    if driver is not None and driver < (12, 0):
        return "cu118"
    if driver is not None and driver >= (13, 0) and oldest >= _TURING:
        return "cu130"
    return "cu128" if newest >= _BLACKWELL else "cu126"


def capabilities(evidence: Evidence) -> list[tuple[int, int]]:
    """Return the compute capabilities of the NVIDIA GPUs."""
    devices = evidence.nvml.devices if evidence.nvml is not None else ()
    found = [device.capability for device in devices if device.capability]
    for device in evidence.torch.devices if evidence.torch is not None and not found else ():
        major, dot, minor = (device.target or "").partition(".")
        if dot and major.isdecimal() and minor.isdecimal():
            found.append((int(major), int(minor)))
    return found


def quoted(path: str) -> str:
    """Return a path quoted for a command line."""
    if sys.platform == "win32":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)
