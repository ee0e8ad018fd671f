from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest

from app.synthetic_load import KnownLoad
from tests.processes import until

PATIENCE_S = 10.0


@pytest.fixture
def load():
    load = KnownLoad()
    yield load
    load.stop()


def family(process: psutil.Process, count: int) -> list[psutil.Process]:
    """Return the first of the processes and the others that it starts, once they are there."""
    assert until(lambda: len(process.children()) >= count - 1 or not process.is_running())
    return [process, *process.children()]


def own(load: KnownLoad) -> psutil.Process:
    process = load._process  # noqa: SLF001  (only it knows)
    assert process is not None
    return psutil.Process(process.pid)


def all_gone(processes) -> bool:
    """Wait for their end. A zombie has ended: until it is reaped, the other load would burn."""
    return until(lambda: not any(map(lives, processes)), PATIENCE_S)


def lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_as_many_processes_compute_as_were_wanted(load):
    load.start(2)

    processes = family(own(load), 2)

    assert load.count == 2
    assert until(lambda: all(process.cpu_times().user > 0.05 for process in processes))
    assert load.count == 2


@pytest.mark.skipif(os.name != "posix", reason="niceness is POSIX")
def test_they_give_way_to_the_window(load):
    load.start(2)

    processes = family(own(load), 2)

    assert until(lambda: [process.nice() for process in processes] == [10, 10])


def test_stopped_they_are_all_gone(load):
    load.start(3)
    processes = family(own(load), 3)

    load.stop()

    assert load.count == 0
    assert all_gone(processes)


def test_another_load_takes_the_place_of_the_first(load):
    load.start(2)
    first = family(own(load), 2)

    load.start(1)

    assert load.count == 1
    assert all_gone(first)


def test_they_end_by_themselves(load):
    load.start(2, seconds=0.2)
    processes = family(own(load), 1)

    assert all_gone(processes)
    assert load.count == 0


def test_none_outlives_a_program_that_was_killed():
    code = "from app.synthetic_load import KnownLoad; l = KnownLoad(); l.start(3)\n"
    code += "print(l._process.pid); "
    with subprocess.Popen(
        [sys.executable, "-c", code + "import time; time.sleep(60)"],
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        processes = family(psutil.Process(int(program.stdout.readline())), 3)
        program.kill()

    assert all_gone(processes)


def test_to_stop_what_does_not_run_is_nothing(load):
    load.stop()
    load.stop()
    assert load.count == 0
