"""Commands that install PyTorch into the chosen Python, or into one for which there is a build.

Sources:

- Builds of PyTorch: `PYTORCH_RELEASES_CODE_CC` in torch/cuda/__init__.py and PYTORCH_ROCM_ARCH in
  .ci/docker/manywheel/build.sh, both of PyTorch 2.13.
- Indexes: https://pytorch.org/get-started/locally/ and previous-versions/.
- CUDA by driver: https://docs.nvidia.com/deploy/cuda-compatibility/, minor version compatibility. A
  driver runs its own and every older major version of CUDA.
- Builds by Python: RELEASE.md of PyTorch, and the classifiers of PyTorch 2.13.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from msgspec.structs import replace

from machine.doctor.evidence import Evidence, Interpreter, Torch, Vendor
from machine.system.adding import PROGRAM, Keeper, adding, adding_by_make, wheel
from machine.system.adding import quoted as quoted

JETSON_PAGE = (
    "https://docs.nvidia.com/deeplearning/frameworks/install-pytorch-jetson-platform/index.html"
)
AMD_WINDOWS_PAGE = "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/"
INTEL_PAGE = "https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html"
_INDEX = "https://download.pytorch.org/whl/"
_BLACKWELL, _TURING = (10, 0), (7, 5)  # the first compute capability of each

AMD_BUILDS_PAGE = "https://github.com/ROCm/TheRock/blob/main/RELEASES.md"
# The architectures in ROCm builds of PyTorch 2.13, of its index for ROCm 7.2.
AMD_TARGETS = frozenset(
    f"gfx{number}"
    for number in (
        *("900", "906", "908", "90a", "942", "950", "1030", "1100", "1101", "1102", "1103"),
        *("1150", "1151", "1200", "1201"),
    )
)
# The newest of each family that LLVM knew in November 2026 (AMDGPUUsage, "Processors"), as numbers.
_NEWEST_TARGETS = {"9": 0x50, "10": 0x36, "11": 0x72, "12": 0x51}
# The oldest and the newest Python for which an index has builds; its older builds count too.
_NEWEST = (3, 15)
_PYTHONS: dict[str | None, tuple[tuple[int, int], tuple[int, int]]] = {
    "cu118": ((3, 8), (3, 13)),  # up to PyTorch 2.7
    "cu126": ((3, 9), _NEWEST),
    "cu129": ((3, 9), _NEWEST),
    "xpu": ((3, 9), _NEWEST),
    None: ((3, 8), _NEWEST),
}
_OTHERWISE = ((3, 10), _NEWEST)
PYTHONS_PAGE = "https://www.python.org/downloads/"
_NEW = "torch-env"  # a new environment


def install_torch(evidence: Evidence, vendor: Vendor) -> tuple[str, ...]:
    """Return how to install a PyTorch for this vendor into the chosen Python."""
    torch = evidence.torch or Torch(python=sys.executable)
    if vendor is Vendor.NVIDIA and evidence.surroundings.board is not None:
        return (JETSON_PAGE,)
    if vendor is Vendor.AMD and (
        evidence.surroundings.system == "windows" or evidence.surroundings.wsl
    ):
        return (AMD_WINDOWS_PAGE,)
    if torch.installer == Keeper.NOTHING:  # the program anew, in an environment of pipx
        there = replace(torch, installer="pipx", prefix=PROGRAM, is_missing=True)
        return (f"pipx install {quoted(wheel())}", _install(there, _index(evidence, vendor)))
    if torch.installer == "conda" and vendor is Vendor.NVIDIA:
        return (f"conda install{_into(torch)} -c conda-forge pytorch-gpu",)
    index = _index(evidence, vendor)
    if lacks_build(evidence, vendor):
        return _with_another_python(evidence, vendor)
    return (_install(torch, index),)


def lacks_build(evidence: Evidence, vendor: Vendor | None) -> bool:
    """Is there no PyTorch for this vendor that the chosen Python could run?"""
    torch = evidence.torch
    if torch is None or torch.python_version is None or torch.installer == "conda":
        return False
    oldest, newest = suiting(evidence, vendor)
    is_cpython = torch.implementation in (None, "cpython")
    return not is_cpython or not oldest <= _release(torch.python_version) <= newest


def suiting(evidence: Evidence, vendor: Vendor | None) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the oldest and the newest Python with a PyTorch for this vendor."""
    return _PYTHONS.get(_index(evidence, vendor), _OTHERWISE)


def pythons_with_build(evidence: Evidence, vendor: Vendor | None) -> list[Interpreter]:
    """Return the other Pythons of this machine that have a build, the newest first."""
    oldest, newest = suiting(evidence, vendor)
    suited = [each for each in evidence.pythons if oldest <= _release(each.version) <= newest]
    return sorted(suited, key=lambda each: _release(each.version), reverse=True)


def _release(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _with_another_python(evidence: Evidence, vendor: Vendor | None) -> tuple[str, ...]:
    """Return how to make an environment of a Python that has a build."""
    suited = pythons_with_build(evidence, vendor)
    if not suited:
        return (PYTHONS_PAGE,)
    folder = "Scripts" if sys.platform == "win32" else "bin"
    python = os.path.join(_NEW, folder, "python")
    torch = replace(evidence.torch or Torch(python=""), python=python, is_missing=True)
    make = f"{quoted(suited[0].path)} -m venv {_NEW}"
    return (make, _install(replace(torch, installer="pip"), _index(evidence, vendor)))


def _into(torch: Torch) -> str:
    return f" -p {quoted(torch.prefix)}" if torch.prefix else ""


def add_torch(torch: Torch) -> str:
    """Return how to add a PyTorch to an environment that has none, on a machine without GPU."""
    if torch.installer == "make":
        return adding_by_make()
    if torch.installer == Keeper.NOTHING:
        return adding("torch", Keeper.NOTHING, python=torch.python, prefix=Path(torch.prefix or ""))
    return _install(replace(torch, is_missing=True), None)


def reinstall_torch(torch: Torch) -> tuple[str, ...]:
    """Return how to reinstall a damaged PyTorch."""
    if torch.installer == "conda":
        return (f"conda install{_into(torch)} --force-reinstall pytorch",)
    return (_install(torch, None, is_there=True),)


def uninstall_torch(torch: Torch) -> str:
    """Return how to remove the PyTorch that is loaded."""
    python, prefix = quoted(torch.python), torch.prefix or ""
    if torch.installer == "conda" and (torch.file or "").startswith(prefix):
        return f"conda remove{_into(torch)} pytorch"
    if torch.installer == "uv":
        return f"uv pip uninstall --python {python} torch"
    return f"{python} -m pip uninstall torch"


def empty_cache(torch: Torch) -> str:
    """Return how to free the room that downloaded packages take."""
    ways = {"uv": "uv cache clean", "conda": "conda clean --all"}
    return ways.get(torch.installer, f"{quoted(torch.python)} -m pip cache purge")


def rename(path: str) -> str:
    """Return how to give a file another name."""
    folder, name = os.path.split(path)
    return f"mv {quoted(path)} {quoted(os.path.join(folder, f'my_{name}'))}"


def _install(torch: Torch, index: str | None, *, is_there: bool | None = None) -> str:
    python = quoted(torch.python)
    names = " ".join(("torch", *torch.companions))
    again = not torch.is_missing if is_there is None else is_there
    where = f" --index-url {_INDEX}{index}" if index else ""
    if torch.installer == "uv":
        return f"uv pip install --python {python}{' --reinstall' if again else ''} {names}{where}"
    if torch.installer == "pipx":
        name = quoted(os.path.basename(torch.prefix or ""))
        return f"pipx inject {name}{' --force' if again else ''} {names}{where}"
    # Without this, pip keeps an installed CPU build.
    how = " --upgrade --force-reinstall" if again else ""
    return f"{python} -m pip install{how} {names}{where}"


def _index(evidence: Evidence, vendor: Vendor | None) -> str | None:
    if vendor is Vendor.AMD:
        return "rocm7.2"
    if vendor is Vendor.INTEL:
        return "xpu"
    return _cuda_index(evidence) if vendor is Vendor.NVIDIA else None


def _cuda_index(evidence: Evidence) -> str:
    """Return the newest build that suits the driver, the oldest GPU and the Python."""
    driver, torch = evidence.driver_cuda, evidence.torch
    has_later = _release((torch and torch.python_version) or "") != (3, 9)  # cu130 needs 3.10
    targets = capabilities(evidence)
    oldest, newest = min(targets, default=_TURING), max(targets, default=_TURING)
    if driver is not None and driver < (12, 0):
        return "cu118"
    if driver is not None and driver >= (13, 0) and oldest >= _TURING:
        return "cu130" if has_later else "cu129"
    return "cu129" if newest >= _BLACKWELL else "cu126"


def capabilities(evidence: Evidence) -> list[tuple[int, int]]:
    """Return the compute capabilities of the NVIDIA GPUs."""
    found = [gpu.capability for gpu in evidence.gpus if gpu.capability]
    for device in evidence.torch_devices if not found else ():
        major, dot, minor = (device.target or "").partition(".")
        if dot and major.isdecimal() and minor.isdecimal():
            found.append((int(major), int(minor)))
    return found


def is_newer_target(target: str) -> bool:
    """Is a target of AMD, such as gfx1251, newer than what is known here?"""
    match = re.fullmatch(r"gfx(\d+)([0-9a-f]{2})", target)
    newest = _NEWEST_TARGETS.get(match[1]) if match else None
    if match is None or newest is None:
        return match is None or int(match[1]) > max(map(int, _NEWEST_TARGETS))
    return int(match[2], 16) > newest
