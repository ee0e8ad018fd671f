"""A run's temporary files and shared memory: however it ends, nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.engine import guardian
from experiments.engine.sweep import sweep
from machine.system import scratch
from tests.experiments.engine.runs import kill
from tests.processes import until

if sys.platform != "linux":
    pytest.skip("seen on Linux only", allow_module_level=True)

WORK = """
import os, tempfile, time
from pathlib import Path
from machine.system.scratch import note_shared_memory
from experiments.tools.training import worker_context

folder = Path(tempfile.mkdtemp(), "deep")
folder.mkdir()
(folder / "file").touch()
(folder / "link").symlink_to("/")
with worker_context() as context:
    kept = context.Semaphore()
    note_shared_memory()
    Path(f"/dev/shm/torch_{os.getpid()}_1_2").touch()
    print(os.getpid(), flush=True)
    END
"""


@pytest.fixture
def base(monkeypatch) -> Iterator[Path]:
    """Return a temporary folder with a short path: that of pytest is too long for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def run(base) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], int]]]:
    """Return what starts a guardian over work that writes, and waits until it has written."""
    started = []

    def start(end: str = "time.sleep(60)") -> tuple[subprocess.Popen[bytes], int]:
        command = guardian.command([sys.executable, "-c", WORK.replace("END", end)])
        process = subprocess.Popen(command, stdin=-1, stdout=-1, process_group=0)
        started.append(process)
        return process, int(process.stdout.readline())

    yield start
    for process in started:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def left(base: Path, *pids: int) -> list[str]:
    """Return what is left in the folder, and in the shared memory of these processes, by name."""
    names = [path.name for path in base.iterdir()]
    starts = tuple(
        each for pid in pids for each in (f"sem.{scratch.PREFIX}{pid}-", f"torch_{pid}_")
    )
    return names + [name for name in os.listdir("/dev/shm") if name.startswith(starts)]


ENDS: dict[str, Callable[[subprocess.Popen[bytes], int], object]] = {
    "the worker is killed": lambda process, worker: os.kill(worker, signal.SIGKILL),
    "the guardian is told to go": lambda process, worker: process.terminate(),
    "the application has gone": lambda process, worker: process.stdin.close(),
}


@pytest.mark.parametrize("how", ENDS)
def test_nothing_is_left_by_any_end_that_leaves_the_guardian_alive(how, run, base):
    process, worker = run()
    (folder,) = left(base)[:1]
    pids = process.pid, worker
    assert sorted(left(base, *pids))[1].startswith(f"sem.{folder}-")
    assert len(left(base, *pids)) == 3  # the folder, a semaphore, and memory of torch
    ENDS[how](process, worker)
    process.wait()
    assert left(base, *pids) == []


def test_a_run_that_ends_by_itself_leaves_nothing(run, base):
    process, worker = run("pass")
    process.wait()
    assert left(base, process.pid, worker) == []


def test_what_a_killed_guardian_left_is_removed_at_the_next_start_and_no_more(run, base):
    dead, worker = run()
    living, other = run()
    pids = dead.pid, worker, living.pid, other
    assert len(left(base, *pids)) == 6
    kill(dead.pid, worker)
    dead.wait()
    assert len(left(base, *pids)) > 3  # Python's own tracker may have the semaphore by now

    assert until(lambda: sweep() or len(left(base, *pids)) == 3)
    assert left(base, dead.pid, worker) == left(base)


@pytest.mark.parametrize("letters", [scratch.SHORT, 3 * scratch.SHORT])
def test_sockets_of_a_run_have_paths_that_are_short_enough(letters, base, monkeypatch):
    place = base / "x".ljust(letters - len(str(base)) - 1, "x")
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    code = (
        "from multiprocessing.connection import arbitrary_address\n"
        "from experiments.tools.training import worker_context\n"
        "with worker_context(): print(arbitrary_address('AF_UNIX'))"
    )
    command = guardian.command([sys.executable, "-c", code])
    with subprocess.Popen(command, stdin=-1, stdout=-1) as process:
        said = process.stdout.read().decode().strip()
    assert scratch.PREFIX in said
    assert len(said) < 104


def test_a_folder_of_the_same_name_is_made_anew_where_another_program_removes_it(base):
    folder, lock = scratch.make()
    scratch.sweep()
    assert Path(folder).is_dir()
    os.close(lock)
    scratch.sweep()
    assert not Path(folder).exists()


def test_what_is_not_ours_stays(base):
    (base / "precious").mkdir()
    (base / "precious/file").touch()
    (base / f"{scratch.PREFIX}link").symlink_to(base / "precious")
    (base / f"{scratch.PREFIX}file").touch()
    scratch.sweep()
    assert (base / "precious/file").exists()
    assert len(list(base.iterdir())) == 3


def test_a_run_without_any_place_for_a_folder_runs_without(monkeypatch):
    monkeypatch.setattr(os, "mkdir", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    assert scratch.make() is None
