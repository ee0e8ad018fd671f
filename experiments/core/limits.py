"""Limits that an error came from: of the shell (`ulimit`) and of memory that processes share."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator

from experiments.core.problems import Problem
from machine.system.linux import process_limit

KIB = 1024
_NO_MEMORY = re.compile("failed to map segment|cannot allocate memory|can't start new thread", re.I)
# What torch says when a worker cannot hand a batch over: it could not write, or the system killed
# it by a bus error, as full shared memory does.
_NO_SHARED = re.compile(r"/torch_[^\n]*no space left|out of shared memory", re.IGNORECASE)
SHARED_MEMORY = "/dev/shm"
_NO_FILES = re.compile(re.escape(os.strerror(errno.EMFILE)), re.I)


def limit_problem(error: BaseException) -> Problem | None:
    """Return the sentence that names the limit behind an error, None where there is no such."""
    for each in _chain(error):
        if isinstance(each, RuntimeError | OSError) and _NO_SHARED.search(str(each)):
            return Problem("shared_memory_full", {"free_bytes": shared_memory_bytes() or 0})
        number = each.errno if isinstance(each, OSError) else None
        is_other = isinstance(each, ImportError | RuntimeError)  # of a library that was not loaded
        if number == errno.EMFILE or (is_other and _NO_FILES.search(str(each))):
            return Problem("limit_of_files", {"count": process_limit("RLIMIT_NOFILE")})
        lacks_memory = isinstance(each, MemoryError) or number == errno.ENOMEM
        limit_bytes = process_limit("RLIMIT_AS")
        if limit_bytes and (lacks_memory or (is_other and _NO_MEMORY.search(str(each)))):
            values = {"limit": f"{limit_bytes // KIB}", "limit_bytes": limit_bytes}
            return Problem("limit_of_memory", values)
    return None


def shared_memory_bytes() -> int | None:
    """Return how much is free where Linux keeps shared memory; None on other systems."""
    try:
        return shutil.disk_usage(SHARED_MEMORY).free
    except OSError:
        return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and what it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
