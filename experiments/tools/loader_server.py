"""Loaded first by the server that forks loaders' workers: it ties them and itself to the run.

Only what must be loaded in each of them stands here: a worker's start is measured.
"""

from __future__ import annotations

import os

from experiments.core.processes.die_with_parent import die_with
from machine.system.scratch import note_shared_memory

OWNER = "COREOPSIS_LOADER_OWNER"  # the process that starts the server, in the latter's environment

_loaded_by = os.getpid()
if os.environ.get(OWNER, str(_loaded_by)) != str(_loaded_by):
    die_with(int(os.environ[OWNER]))


def begin_worker(_number: int) -> None:
    """Tie this worker of a loader to the server that has forked it."""
    note_shared_memory()
    if _loaded_by != os.getpid():
        die_with(_loaded_by)
