"""The shelf of the user's own experiments: the folders that `use` or the environment names."""

import os
from collections.abc import Sequence
from pathlib import Path

VARIABLE = "COREOPSIS_EXPERIMENTS"  # for the processes that a worker starts


def use(folders: Sequence[Path]) -> None:
    """Look for experiments in these folders, and in no others."""
    __path__[:] = [str(folder) for folder in folders]
    os.environ[VARIABLE] = os.pathsep.join(__path__)


def folders() -> list[Path]:
    """Return the folders that are looked into."""
    return [Path(path) for path in __path__]


__path__ = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
