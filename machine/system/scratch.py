"""The folder of a job's temporary files: who makes it, holds it, and removes it at the end.

The holder is the guardian of a run, or a process that asks a driver. It holds a lock on the folder.
A later program that gets the lock knows that the holder was killed, and removes the folder. Process
ids would mislead where several containers share the disk. Named semaphores of a run carry the
folder's name, and shared memory of torch is noted in it.

Standard library only, for the guardian's quick start. LIMIT: not on Windows.
"""

import os
import sys

VARIABLE = "COREOPSIS_SCRATCH"  # the folder, in the environment of all that a run starts
PREFIX = "coreopsis-run-"
SHORT = 30  # letters; a socket some 70 letters below it may have 104 on macOS
SHARED_MEMORY = "/dev/shm"
TORCH = "torch_"  # and a process id: how torch names shared memory, and how it is noted here


def make() -> tuple[str, int] | None:
    """Make a folder; return it with the descriptor that locks it. None where none can be made."""
    for base in _bases():
        for _ in range(3):  # another program's sweep may remove it before it is locked
            folder = f"{base}/{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
            try:
                os.mkdir(folder, 0o700)
                lock = _locked(folder)
            except OSError:
                break
            if lock is not None:
                return folder, lock
    return None


def environment(folder: str) -> dict[str, str]:
    """Return what lets every library put its temporary files there."""
    return {VARIABLE: folder, "TMPDIR": folder}


def semaphore_prefix() -> str | None:
    """Return how the names of semaphores begin that go with the run's folder; None without one."""
    folder = os.environ.get(VARIABLE)
    has_names = os.path.isdir(SHARED_MEMORY)  # elsewhere they are too short for this, and unseen
    return f"/{os.path.basename(folder)}" if folder and has_names else None


def note_shared_memory() -> None:
    """Note that this process may leave shared memory of torch, should it be killed."""
    if folder := os.environ.get(VARIABLE):
        with open(f"{folder}/{TORCH}{os.getpid()}", "w"):
            pass


def remove(folder: str) -> None:
    """Remove the folder, and the shared memory that belongs to it."""
    noted = (f"{name}_" for name in _names(folder) if name.startswith(TORCH))
    starts = (f"sem.{os.path.basename(folder)}-", *noted)
    for name in _names(SHARED_MEMORY):
        if name.startswith(starts):
            _unlink(f"{SHARED_MEMORY}/{name}")
    _remove_tree(folder)


def sweep() -> None:
    """Remove the folders of this user whose holder was killed."""
    for base in _bases():
        for name in _names(base):
            folder = f"{base}/{name}"
            if not name.startswith(PREFIX):
                continue
            try:
                lock = _locked(folder)
            except OSError:
                continue
            if lock is not None:
                remove(folder)
                os.close(lock)


def _bases() -> list[str]:
    """Return where the folder may lie, best first."""
    if os.name != "posix":
        return []
    own = os.environ.get("TMPDIR", "")
    places = [own, "/tmp"] if len(own) <= SHORT else ["/tmp", own]
    return [place for place in dict.fromkeys(places) if place and os.access(place, os.W_OK)]


def _locked(folder: str) -> int | None:
    """Lock a folder of this user; None if another has it, or if it has just been removed."""
    if sys.platform != "win32" and os.lstat(folder).st_uid == os.getuid():
        import fcntl

        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), os.lstat(folder)):
                return lock
        except OSError:
            pass
        os.close(lock)
    return None


def _remove_tree(folder: str) -> None:
    """Remove a folder; shutil would cost the guardian a third of its start."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _remove_tree(entry.path)
                else:
                    _unlink(entry.path)
        os.rmdir(folder)
    except OSError:
        pass  # what another user or a full disk keeps, the system's own clearing takes


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # another was quicker
