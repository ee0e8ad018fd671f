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

from machine.doctor.facts import Facts, Torch, Vendor

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
# How each distribution gets NVIDIA's driver: Debian from non-free, Fedora from RPM Fusion.
_DRIVER = {
    "pop": "sudo apt install system76-driver-nvidia",
    "ubuntu": "sudo ubuntu-drivers install",
    "debian": "sudo apt install nvidia-driver",
    "fedora": "sudo dnf install akmod-nvidia",
    "arch": "sudo pacman -S nvidia-open",
}
_INITRAMFS = {
    "debian": "sudo update-initramfs -u",
    "ubuntu": "sudo update-initramfs -u",
    "arch": "sudo mkinitcpio -P",
}


def install_driver(facts: Facts) -> tuple[str, ...]:
    """Return what brings NVIDIA's driver, or a newer one."""
    if facts.surroundings.system == "windows":
        return (DRIVERS_PAGE,)
    if facts.surroundings.wsl:
        return (DRIVERS_PAGE, "wsl --shutdown")
    for name in facts.surroundings.distributions:
        if name in _DRIVER:
            return (_DRIVER[name], REBOOT)
    return (DRIVERS_PAGE,)


def rebuild_early_system(facts: Facts) -> str:
    """Return what makes a change of modprobe.d hold from the first second of the next start."""
    names = facts.surroundings.distributions
    return next((_INITRAMFS[name] for name in names if name in _INITRAMFS), "sudo dracut --force")


def install_torch(facts: Facts, vendor: Vendor) -> tuple[str, ...]:
    """Return what brings a PyTorch for this machine's accelerator into the Python in question."""
    torch = facts.torch or Torch(python=sys.executable)
    if vendor is Vendor.NVIDIA and facts.surroundings.board is not None:
        return (JETSON_PAGE,)
    if vendor is Vendor.AMD and (facts.surroundings.system == "windows" or facts.surroundings.wsl):
        return (AMD_WINDOWS_PAGE,)
    if torch.installer == "conda" and vendor is Vendor.NVIDIA:
        return ("conda install -c conda-forge pytorch-gpu",)
    index = _index(facts, vendor)
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


def _index(facts: Facts, vendor: Vendor) -> str | None:
    if vendor is Vendor.AMD:
        return "rocm7.2"
    if vendor is Vendor.INTEL:
        return "xpu"
    return _cuda_index(facts) if vendor is Vendor.NVIDIA else None


def _cuda_index(facts: Facts) -> str:
    """Return the newest build that both the driver and the oldest GPU take."""
    driver = driver_cuda(facts)
    targets = capabilities(facts)
    oldest, newest = min(targets, default=_TURING), max(targets, default=_TURING)
    if driver is not None and driver < (12, 0):
        return "cu118"
    if driver is not None and driver >= (13, 0) and oldest >= _TURING:
        return "cu130"
    return "cu128" if newest >= _BLACKWELL else "cu126"


def driver_cuda(facts: Facts) -> tuple[int, int] | None:
    """Return the newest CUDA that the driver runs."""
    if facts.nvml is not None and facts.nvml.cuda:
        return facts.nvml.cuda
    return facts.torch.driver_cuda if facts.torch is not None else None


def capabilities(facts: Facts) -> list[tuple[int, int]]:
    """Return the compute capabilities of the NVIDIA GPUs."""
    devices = facts.nvml.devices if facts.nvml is not None else ()
    found = [device.capability for device in devices if device.capability]
    for device in facts.torch.devices if facts.torch is not None and not found else ():
        major, dot, minor = (device.target or "").partition(".")
        if dot and major.isdecimal() and minor.isdecimal():
            found.append((int(major), int(minor)))
    return found


def quoted(path: str) -> str:
    """Return a path as it is typed into a command."""
    if sys.platform == "win32":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)
