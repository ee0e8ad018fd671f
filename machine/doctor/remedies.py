"""Which commands mend it? In the words of the distribution, and for the Python in question.

The builds of PyTorch: `PYTORCH_RELEASES_CODE_CC` in torch/cuda/__init__.py and PYTORCH_ROCM_ARCH in
.ci/docker/manywheel/build.sh, both of PyTorch 2.13; the indexes are those of
https://pytorch.org/get-started/locally/ and previous-versions/.
Which driver runs which CUDA: https://docs.nvidia.com/deploy/cuda-compatibility/, minor version
compatibility: any driver of a CUDA's major version or a newer one.
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
AMD_PAGE = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/"
AMD_WINDOWS_PAGE = "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/"
INTEL_PAGE = "https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html"
REBOOT = "sudo reboot"
LOG = "sudo dmesg | grep -E 'NVRM|Xid|nvidia'"

_INDEX = "https://download.pytorch.org/whl/"
_BLACKWELL, _TURING = (10, 0), (7, 5)  # the first compute capability of each

# What the ROCm builds of PyTorch hold code for.
AMD_TARGETS = frozenset(
    f"gfx{number}"
    for number in (
        *("900", "906", "908", "90a", "942", "950", "1030", "1100", "1101", "1102", "1103"),
        *("1150", "1151", "1200", "1201"),
    )
)
# How each distribution gets NVIDIA's driver. Debian's needs the component non-free, Fedora's the
# repository RPM Fusion; how these are switched on stands on the page that comes first.
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
        "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda",  # the latter for all but pictures
        REBOOT,
    ),
    "arch": ("sudo pacman -S nvidia-open nvidia-utils", REBOOT),
    "suse": ("https://en.opensuse.org/SDB:NVIDIA_drivers", REBOOT),
    "nixos": ("https://wiki.nixos.org/wiki/NVIDIA",),
}
# What builds a driver for the kernel that runs. Arch has removed the old kernel's files by then.
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
    """Return what brings NVIDIA's driver, or a newer one."""
    if evidence.surroundings.system == "windows":
        return (DRIVERS_PAGE,)
    if evidence.surroundings.wsl:
        return (DRIVERS_PAGE, "wsl --shutdown")
    if is_contained(evidence):  # its host may be of another distribution
        return (DRIVERS_PAGE,)
    return _nearest(evidence, _DRIVER, (DRIVERS_PAGE,))


def build_driver(evidence: Evidence) -> tuple[str, ...]:
    """Return what builds NVIDIA's driver for the kernel that runs, and loads it."""
    build = _nearest(evidence, _BUILD, ("sudo dkms autoinstall",))
    return build if REBOOT in build else (*build, "sudo modprobe nvidia")


def start_fabric_manager(evidence: Evidence) -> tuple[str, ...]:
    """Return what sets up the switches between GPUs. Its version has to be that of the driver."""
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
    """Return what starts the container anew that the program runs in."""
    return {
        "kubernetes": "kubectl delete pod POD",
        "podman": "podman restart CONTAINER",
        "lxc": "lxc restart CONTAINER",
    }.get(evidence.surroundings.container or "", "docker restart CONTAINER")


def _nearest(
    evidence: Evidence, known: Mapping[str, tuple[str, ...]], otherwise: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what is known of the distribution, or of the nearest that it is like."""
    names = evidence.surroundings.distributions
    return next((known[name] for name in names if name in known), otherwise)


def as_typed(command: str, evidence: Evidence) -> str:
    """Return a command as it is typed where this program runs, or with the place where it is."""
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


def rebuild_early_system(evidence: Evidence) -> str:
    """Return what makes a change of modprobe.d hold from the first second of the next start."""
    names = evidence.surroundings.distributions
    return next((_INITRAMFS[name] for name in names if name in _INITRAMFS), "sudo dracut --force")


def install_torch(evidence: Evidence, vendor: Vendor) -> tuple[str, ...]:
    """Return what brings a PyTorch for this machine's accelerator into the Python in question."""
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
    """Return what makes a damaged PyTorch whole."""
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
    # The build for processors satisfies pip, which then changes nothing.
    how = " --upgrade --force-reinstall" if again else ""
    return f"{python} -m pip install{how} {names}{where}"


def _index(evidence: Evidence, vendor: Vendor) -> str | None:
    if vendor is Vendor.AMD:
        return "rocm7.2"
    if vendor is Vendor.INTEL:
        return "xpu"
    return _cuda_index(evidence) if vendor is Vendor.NVIDIA else None


def _cuda_index(evidence: Evidence) -> str:
    """Return the newest build that both the driver and the oldest GPU take."""
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
    """Return a path as it is typed into a command."""
    if sys.platform == "win32":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)
