"""The environment of the processes that are started: our packages, caches, and nothing that tunes.

A variable that some shell, cluster or image has set would change the measurement unnoticed. So the
variables of the measuring libraries are cleared here, in one place, for every process that
measures. Variables that a program needs to run at all are kept, and those that choose devices or
places.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[3]
INSTALLED = ("site-packages", "dist-packages", "_internal")  # the last one in a frozen folder
# What torch and its compilers keep among the temporary files or in the home unless told otherwise.
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "torch", "TRITON_CACHE_DIR": "triton"}
CLEARED = "COREOPSIS_CLEARED"  # the names that were cleared, for the record of the run

# How the names of variables begin that set threads, memory, clocks or code: of Numba, OpenMP and
# its makers, BLAS and FFT, Python, NumPy, torch and its compilers, CUDA, ROCm, SYCL, NCCL, glibc.
_TUNING = (
    *("NUMBA_", "OMP_", "GOMP_", "KMP_", "LIBOMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_"),
    *("VECLIB_", "NUMEXPR_", "TBB_", "DNNL_", "ONEDNN_", "ATEN_", "NPY_", "NUMPY_", "PYTHON"),
    *("TORCH", "PYTORCH_", "TRITON_", "CUDA_", "CUBLAS_", "CUDNN_", "NVIDIA_TF32_", "NCCL_"),
    *("HIP_", "ROCR_", "HSA_", "ROCBLAS_", "HIPBLASLT_", "MIOPEN_", "AMD_", "GPU_", "RCCL_"),
    *("SYCL_", "UR_", "MALLOC_", "MIMALLOC_", "JEMALLOC_", "GLIBC_TUNABLES", "LD_"),
    "DYLD_INSERT_LIBRARIES",
)
_KEPT = frozenset(
    (
        *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES"),
        *("ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "TORCH_CUDA_ARCH_LIST"),
        "HSA_OVERRIDE_GFX_VERSION",  # without it, ROCm runs on some of AMD's cards not at all
        "KMP_DUPLICATE_LIB_OK",  # without it, two copies of OpenMP end the process
        *("MKL_THREADING_LAYER", "MKL_SERVICE_FORCE_INTEL"),  # the same for MKL
        "OPENBLAS_CORETYPE",  # without it, OpenBLAS crashes in some virtual machines
        *("NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_NET"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONSAFEPATH"),
        *("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONUTF8", "PYTHONIOENCODING"),
        *("PYTHONCOERCECLOCALE", "PYTHONLEGACYWINDOWSSTDIO", "PYTHONEXECUTABLE"),
        "PYTHONUNBUFFERED",
    )
)
_PLACES = ("_PATH", "_HOME", "_ROOT", "_DIR", "_DIRECTORY")  # how names of places end
_PLACES_OF_VERSIONS = "CUDA_PATH_V"  # on Windows
_TOLD = ("_VERSION", "_SHA256", "_URL")  # what images of containers say of themselves


def own_environment() -> dict[str, str]:
    """Return this environment without what tunes, with our packages on the module path, and caches.

    The processes start with `-P`, so without the path they would find only what is installed.
    Nothing else of `sys.path` is handed on: a run may start another Python, which has its own
    libraries. Within a run nothing more is cleared: what is set there, the run has set itself.
    """
    kept = dict(os.environ)
    if CLEARED not in kept:
        names = tuning(kept)
        kept = {name: value for name, value in kept.items() if name not in names}
        kept[CLEARED] = ",".join(names)
    before = kept.get("PYTHONPATH", "")
    paths = [path for path in before.split(os.pathsep) if path]
    if ROOT.name not in INSTALLED:
        paths = [str(ROOT), *(path for path in paths if path != str(ROOT))]
    module_path = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
    return {**own_caches(), **kept, **module_path}


def tuning(names: Iterable[str]) -> list[str]:
    """Return the variables among these that would change a measurement, in order."""
    return sorted(
        name
        for name in names
        if _is_theirs(name)
        and name not in _KEPT
        and not name.endswith(_PLACES)
        and not name.startswith(_PLACES_OF_VERSIONS)
    )


def _is_theirs(name: str) -> bool:
    """Is it a variable of a library that measures, and sets anything?"""
    return name in _KEPT or (name.startswith(_TUNING) and not name.endswith(_TOLD))


def recorded(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of those libraries that a process has, as a run may keep them.

    A value that is a place or a serial number could name a person. Only "(set)" is kept of it.
    Variables that every process gets from `own_environment` are left out.
    """
    own = {**own_caches(), "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
    return {
        name: "(set)" if any(sign in value for sign in ("/", "\\", "GPU-", "MIG-")) else value
        for name, value in sorted(environment.items())
        if _is_theirs(name) and value != own.get(name)
    }


def cleared(environment: Mapping[str, str]) -> list[str]:
    """Return the variables that were cleared for a process."""
    return [name for name in environment.get(CLEARED, "").split(",") if name]


def own_caches() -> dict[str, str]:
    """Return where libraries keep what they compiled; nothing where no such folder can be made."""
    import platformdirs

    from machine.system.adding import is_frozen

    folder = platformdirs.user_cache_path("coreopsis", appauthor=False)
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    if not (there.is_dir() and os.access(there, os.W_OK)):
        return {}
    # Numba keeps it beside the kernels; a frozen folder is to stay as it was unpacked.
    names = CACHES | ({"NUMBA_CACHE_DIR": "numba"} if is_frozen() else {})
    return {variable: str(folder / name) for variable, name in names.items()}
