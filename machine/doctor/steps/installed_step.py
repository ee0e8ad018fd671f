"""Steps about the room for PyTorch, and whether the chosen Python can import one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from machine.doctor.evidence import GPU_MAKERS, Evidence, Outcome, Torch, Vendor
from machine.doctor.torch_remedies import (
    INTEL_PAGE,
    add_torch,
    empty_cache,
    install_torch,
    lacks_build,
    pythons_with_build,
    quoted,
    reinstall_torch,
    rename,
    suiting,
    uninstall_torch,
)
from machine.doctor.verdicts import Verdict, fine, look, wrong
from machine.system.adding import Keeper

_NO_ROOM = re.compile(r"no space left on device|disk quota exceeded|errno (28|122)\b", re.I)
_NO_MEMORY = re.compile(r"bad_alloc|cannot allocate memory|failed to map|MemoryError", re.I)
# What the loader of libraries says if one of another version was found.
_OTHER_LIBRARY = re.compile(r"undefined symbol|\.so\b|version `")
# A crash by such an instruction; and NumPy, which looks before.
_ILLEGAL = re.compile(r"signal 4$|SIGILL|illegal instruction|machine doesn't support", re.I)
_SHOW_ALL = (
    "qm set VMID --cpu host  # on the host, with Proxmox",
    "virsh edit GUEST  # on the host, with libvirt: <cpu mode='host-passthrough'/>",
)
How = Callable[..., Verdict]


def disk(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether PyTorch has room on the disks; None if it has."""
    torch = evidence.torch
    if torch is None:
        return None
    said = next(filter(_NO_ROOM.search, (torch.import_problem or "", torch.problem or "")), None)
    is_needed = said or torch.version is None or (vendor and not torch.built_for(vendor))
    how = wrong if vendor is not None and is_needed and not evidence.has_computed else look
    see = "Get-Volume" if evidence.surroundings.system == "windows" else "df -h"
    commands = (see, empty_cache(torch))
    for room in torch.full:
        return how("disk_full", *commands, folder=room.folder, free_bytes=room.free_bytes)
    return how("disk_ran_out", *commands, said=said) if said else None


def installed(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the chosen Python has a PyTorch that can be imported.

    Without an accelerator, a problem is only worth a look.
    """
    torch = evidence.torch
    if torch is None:
        return None
    how = look if vendor is None else wrong
    python, said = torch.python, torch.detail or "nothing"
    if torch.outcome is Outcome.UNSTARTABLE:
        command = f"{quoted(python)} --version"
        return how("python_unstartable", command, python=python, said=said)
    if torch.stage == "start" and torch.outcome is Outcome.SILENT:
        return how("python_silent", f"{quoted(python)} --version", python=python)
    if torch.in_the_way:
        file = torch.in_the_way
        return how("torch_in_the_way", rename(file), file=file, python=python)
    # A folder without code, as an uninstallation leaves it, is no PyTorch.
    is_empty = torch.file is None and "has no attribute '__version__'" in (
        torch.import_problem or ""
    )
    if torch.is_missing or is_empty:
        return _missing(evidence, torch, vendor)
    if torch.version is None or torch.import_problem or torch.stage == "import":
        return _unloaded(evidence, torch, vendor, how)
    return _loaded(evidence, torch, vendor)


def _missing(evidence: Evidence, torch: Torch, vendor: Vendor | None) -> Verdict:
    python = torch.python
    if torch.installer == Keeper.NOTHING:
        if vendor is None:
            return fine("torch_not_in_folder", add_torch(torch))
        return wrong("torch_not_in_folder", *install_torch(evidence, vendor))
    if not lacks_build(evidence, vendor):
        if vendor is None:
            return fine("torch_missing_here", add_torch(torch), python=python)
        return wrong("torch_missing", *install_torch(evidence, vendor), python=python)
    version, name = torch.python_version or "?", "Python"
    if torch.implementation not in (None, "cpython"):
        name = (torch.implementation or "").capitalize()
    oldest, newest = (".".join(map(str, end)) for end in suiting(evidence, vendor))
    if vendor is None:
        return fine(
            "python_without_build_here", name=name, version=version, oldest=oldest, newest=newest
        )
    commands = install_torch(evidence, vendor)
    others = pythons_with_build(evidence, vendor)
    if not others:
        return wrong("python_without_build", *commands, name=name, version=version, oldest=oldest,
                     newest=newest)  # fmt: skip
    listed = ", ".join(f"{each.version} ({each.path})" for each in others[:3])
    return wrong("python_without_build_others", *commands, name=name, version=version,
                 oldest=oldest, newest=newest, others=listed)  # fmt: skip


def _unloaded(evidence: Evidence, torch: Torch, vendor: Vendor | None, how: How) -> Verdict:
    """Return why the PyTorch that is there cannot be loaded."""
    python, problem = torch.python, torch.import_problem
    said = problem or torch.detail or "nothing"
    again = reinstall_torch(torch)
    if vendor is not None and vendor in GPU_MAKERS:
        again = install_torch(evidence, vendor)
    if torch.short_file is not None:
        file, size_bytes = torch.short_file.path, torch.short_file.size_bytes
        packages = os.path.dirname(os.path.dirname(torch.file or ""))
        if file.startswith(packages):
            return how("torch_file_short", *again, file=file, size_bytes=size_bytes)
        command = f"ls -l {quoted(file)}"
        return how("other_file_short", command, file=file, size_bytes=size_bytes)
    if verdict := illegal_instruction(evidence, said, how, again):
        return verdict
    if torch.memory_limit_bytes and _NO_MEMORY.search(said):
        limit_bytes = torch.memory_limit_bytes
        return how("torch_without_memory", "ulimit -v unlimited", limit_bytes=limit_bytes)
    is_silent = torch.outcome is Outcome.SILENT
    if torch.foreign_library and not is_silent and (not problem or _OTHER_LIBRARY.search(problem)):
        command, file = _without_folder(evidence, torch), torch.foreign_library
        return how("foreign_library_offered", command, file=file, said=said)
    if torch.others and not is_silent:
        command, file = _without_first(evidence, torch), torch.file or ""
        return how("torch_hides_another", command, file=file, other=torch.others[0], said=said)
    if problem and "libze_loader" in problem:
        return how("level_zero_missing", INTEL_PAGE, said=problem)
    if problem:
        return how("torch_broken", *again, python=python, said=problem)
    if is_silent:
        command = f"{quoted(python)} -v -c 'import torch'"
        return how("torch_silent_loading", command, python=python)
    if torch.outcome is Outcome.CRASHED:
        return how("torch_crashes_loading", *again, python=python, said=said)
    return fine("torch_there", version="?", python=python)


def illegal_instruction(
    evidence: Evidence, said: str, how: How, again: tuple[str, ...]
) -> Verdict | None:
    """Judge whether PyTorch met an instruction that this processor lacks, or does not show."""
    around = evidence.surroundings
    if not _ILLEGAL.search(said):
        return None
    if around.has_avx is not False:
        python = evidence.torch.python if evidence.torch is not None else "?"
        return how("illegal_instruction", *again, python=python)
    if around.virtualization not in (None, "none"):
        return how("cpu_type_hides_avx", *_SHOW_ALL)
    return how("processor_without_avx")


def _loaded(evidence: Evidence, torch: Torch, vendor: Vendor | None) -> Verdict:
    """Return what is to be known about a PyTorch that could be loaded."""
    version, python = torch.version or "?", torch.python
    has_failed = torch.outcome is Outcome.CRASHED or any(d.problem for d in torch.devices)
    if torch.foreign_library:
        how = wrong if has_failed and vendor is not None else look
        command, file = _without_folder(evidence, torch), torch.foreign_library
        return how("foreign_library_loaded", command, file=file)
    if torch.others:
        how = wrong if vendor is not None and not torch.built_for(vendor) else look
        command, file = _without_first(evidence, torch), torch.file or ""
        return how("torch_twice", command, file=file, other=torch.others[0])
    if torch.beside:
        return look("torch_beside", rename(torch.beside), file=torch.beside)
    if vendor is None and not torch.built_for_any():
        return fine("torch_for_processors", version=version, python=python)
    return fine("torch_there", version=version, python=python)


def _without_folder(evidence: Evidence, torch: Torch) -> str:
    """Return how to take the foreign library's folder out of LD_LIBRARY_PATH."""
    folder = os.path.dirname(torch.foreign_library or "")
    listed = evidence.surroundings.environment.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    left = [each for each in listed if each and os.path.realpath(each) != os.path.realpath(folder)]
    if len(left) == len([each for each in listed if each]):  # it came in another way
        name = os.path.basename(torch.foreign_library or "")
        return f"LD_DEBUG=libs {quoted(torch.python)} -c 'import torch' 2>&1 | grep {name}"
    if not left:
        return "unset LD_LIBRARY_PATH"
    return f"export LD_LIBRARY_PATH={quoted(os.pathsep.join(left))}"


def _without_first(evidence: Evidence, torch: Torch) -> str:
    """Return how to remove the first of two: from PYTHONPATH, else from the Python."""
    listed = evidence.surroundings.environment.get("PYTHONPATH", "").split(os.pathsep)
    folder = os.path.dirname(os.path.dirname(torch.file or ""))
    if folder and folder in [each.rstrip(os.sep) for each in listed]:
        return "unset PYTHONPATH"
    return uninstall_torch(torch)
