"""Steps about the chosen PyTorch: its build, visible devices and GPU code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from machine.doctor.evidence import GPU_MAKERS, Evidence, Torch, Vendor
from machine.doctor.hiding import choosers, hidden_by
from machine.doctor.remedies import install_driver
from machine.doctor.torch_remedies import (
    AMD_BUILDS_PAGE,
    AMD_TARGETS,
    capabilities,
    install_torch,
    is_newer_target,
    quoted,
)
from machine.doctor.verdicts import Verdict, fine, look, wrong

# Jetsons and others: only their own code.
_BOARDS = {(5, 3), (6, 2), (7, 2), (8, 7), (10, 1)}
_THOR_BEFORE, _THOR = (10, 1), (11, 0)  # CUDA 13 numbers it anew
_OLDEST_SERVED = (5, 0)  # no present build has code below this compute capability
# These families share their machine code, so they can pass for the version that PyTorch has.
_GENERIC = {
    "gfx9-generic": ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
    "gfx9-4-generic": ("gfx94", "gfx950"),
    "gfx10-1-generic": ("gfx101",),
    "gfx10-3-generic": ("gfx103",),
    "gfx11-generic": ("gfx110", "gfx115"),
    "gfx12-generic": ("gfx120",),
}
_OVERRIDES = {"gfx103": "10.3.0", "gfx110": "11.0.0", "gfx115": "11.5.1"}


def build(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether PyTorch was built for this vendor's accelerators, or for none."""
    torch = evidence.torch
    if torch is None:
        return None
    if vendor is None:
        gpus = torch.built_for_any(GPU_MAKERS)
        if not torch.version or not gpus:
            return None
        return look("torch_without_card", version=torch.version, built_for=gpus)
    if vendor is Vendor.APPLE and torch.architecture not in (None, "arm64"):
        command = f"{quoted(torch.python)} -c 'import platform; print(platform.machine())'"
        return wrong("python_translated", command, python=torch.python)
    own, version = torch.built_for(vendor), torch.version or "?"
    if own:
        return fine("build_suits", version=version, built_for=own)
    commands = install_torch(evidence, vendor)
    if other := torch.built_for_any():
        return wrong("build_for_others", *commands, version=version, built_for=other)
    return wrong("build_for_processors", *commands, version=version, python=torch.python)


def cuda(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the driver runs the CUDA that PyTorch was built with."""
    driver, torch = evidence.driver_cuda, evidence.torch
    if driver is None or torch is None or not torch.cuda:
        return None
    knows = _dotted(driver)
    if evidence.is_driver_too_old:
        commands = (*install_driver(evidence), *install_torch(evidence, Vendor.NVIDIA))
        return wrong("driver_too_old", *commands, driver=knows, built=torch.cuda)
    return fine("driver_new_enough", driver=knows, built=torch.cuda)


def visible(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the environment hides devices."""
    around = evidence.surroundings.environment
    name = hidden_by(evidence, vendor)
    if name is not None and "SLURM_JOB_ID" in around and around[name] in ("", "NoDevFiles"):
        return wrong("hidden_by_slurm", "srun --gpus=1 ...", name=name, value=around[name])
    if name is not None:
        return wrong("hidden", f"unset {name}", name=name, value=around[name])
    chosen = choosers(evidence, vendor)
    if not chosen:
        return None
    return fine("chosen", name=chosen[0], value=around[chosen[0]])


def architecture(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether PyTorch has code for this generation of GPUs."""
    torch = evidence.torch
    if torch is None or not torch.targets:
        return None
    if vendor is Vendor.AMD:
        return _amd_architecture(evidence, torch)
    if vendor is not Vendor.NVIDIA:
        return None
    found = capabilities(evidence)
    for capability in found:
        if runs_on(torch.targets, capability):
            continue
        told = {"capability": _dotted(capability), "built": ", ".join(torch.targets)}
        if capability < _OLDEST_SERVED:
            return wrong("too_old_for_all", **told)
        commands = install_torch(evidence, vendor)
        if capability > max(_numbers(target)[:2] for target in torch.targets):
            return wrong("too_new_for_torch", *commands, **told)
        return wrong("too_old_for_torch", *commands, **told)
    listed = ", ".join(sorted({_dotted(capability) for capability in found}))
    return fine("code_suits", capability=listed) if found else None


def runs_on(targets: Sequence[str], capability: tuple[int, int]) -> bool:
    """Does code for `targets`, such as sm_86 or compute_90, run on a GPU of that capability?

    Machine code (sm) runs on its own and later numbers of its generation. Intermediate code
    (compute) is compiled for all later GPUs; with an f, only within its generation. With an a,
    either runs on exactly that number. Source: CUDA C++ Programming Guide, binary and PTX
    compatibility; for the boards, DEVICE_REQUIREMENT in torch/cuda/__init__.py of PyTorch 2.13.
    """
    for target in targets:
        major, minor, letter = _numbers(target)
        if (major, minor) == _THOR_BEFORE and capability == _THOR:
            suits = True
        elif letter == "a":
            suits = (major, minor) == capability
        elif target.startswith("compute") and not letter:
            suits = (major, minor) <= capability
        else:
            is_early_enough = minor == capability[1] or (
                minor < capability[1] and capability not in _BOARDS
            )
            suits = major == capability[0] and is_early_enough
        if suits:
            return True
    return False


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


def _numbers(target: str) -> tuple[int, int, str]:
    """Return (9, 0, "a") for sm_90a; the last digit is the minor number."""
    match = re.search(r"_(\d+)(\d)([af]?)$", target)
    return (int(match[1]), int(match[2]), match[3]) if match else (0, 0, "")


def _generic(target: str) -> set[str]:
    """Return the names of code for the whole family of a target, as LLVM has them since 19."""
    return {name for name, start in _GENERIC.items() if target.startswith(start)}


def _amd_architecture(evidence: Evidence, torch: Torch) -> Verdict | None:
    around = evidence.surroundings.environment
    built = {target.partition(":")[0] for target in torch.targets}
    own = {device.target for device in evidence.amd}
    own |= {d.target for d in torch.devices if d.target}
    if not own:
        return None
    listed = ", ".join(sorted(own))
    if "HSA_OVERRIDE_GFX_VERSION" in around:
        return fine("override_set", value=around["HSA_OVERRIDE_GFX_VERSION"], targets=listed)
    if any(target in built or built & _generic(target) for target in own):
        return fine("amd_code_suits", targets=listed)
    (first, *_) = sorted(own)
    held = ", ".join(sorted(built))
    if first in AMD_TARGETS:
        return wrong("amd_too_new_for_torch", *install_torch(evidence, Vendor.AMD), target=first,
                     built=held)  # fmt: skip
    if is_newer_target(first):
        return wrong("amd_newer_than_known", AMD_BUILDS_PAGE, target=first, built=held)
    override = next((v for start, v in _OVERRIDES.items() if first.startswith(start)), None)
    if override:
        command = f"export HSA_OVERRIDE_GFX_VERSION={override}"
        return wrong("amd_override", command, target=first, built=held)
    return wrong("amd_without_code", AMD_BUILDS_PAGE, target=first, built=held)
