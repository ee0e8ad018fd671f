"""The environment of the processes that are started: our packages, and a place for caches."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = ("site-packages", "dist-packages")
# What torch and its compilers keep among the temporary files or in the home unless told otherwise.
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "torch", "TRITON_CACHE_DIR": "triton"}


def own_environment() -> dict[str, str]:
    """Return this environment with the folder of our packages on the module path, and caches.

    The processes start with `-P`, so without it they would find only what is installed. Nothing
    else of `sys.path` is handed on: a run may start another Python, which has its own libraries.
    """
    before = os.environ.get("PYTHONPATH", "")
    paths = [path for path in before.split(os.pathsep) if path]
    if ROOT.name not in INSTALLED:
        paths = [str(ROOT), *(path for path in paths if path != str(ROOT))]
    module_path = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
    return {**own_caches(), **os.environ, **module_path}


def own_caches() -> dict[str, str]:
    """Return where torch keeps what it compiled; nothing where no such folder can be made."""
    import platformdirs

    folder = platformdirs.user_cache_path("coreopsis", appauthor=False)
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    if not (there.is_dir() and os.access(there, os.W_OK)):
        return {}
    return {variable: str(folder / name) for variable, name in CACHES.items()}
