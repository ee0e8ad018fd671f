from __future__ import annotations

import os
import sys
import threading
import time

import psutil
import pytest

from experiments.core.bench import StopRequested
from experiments.core.problems import UserError
from experiments.core.processes import killed_cpu_time
from experiments.tools.interpreters import Interpreter

OWN = [sys.executable, "-P"]
JOBS = """
import time
from experiments.tools.serving import serve

def sleep(request):
    time.sleep(request["wall_s"])
    return request

serve({"sleep": sleep})
"""
LONG = {"arm": "sleep", "wall_s": 60.0}
SHORT = {**LONG, "wall_s": 0.001}


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a Python; all are closed at the end."""
    script = tmp_path / "jobs.py"
    script.write_text(JOBS)
    started = []

    def one(command=OWN, check_stop=lambda: None):
        started.append(Interpreter("3.99", command, script, check_stop))
        return started[-1]

    yield one
    for python in started:
        python.close()


def child():
    """Return the only child of the tests that runs the script of jobs."""
    living = (c for c in psutil.Process().children() if c.status() != psutil.STATUS_ZOMBIE)
    (found,) = (c for c in living if c.cmdline()[-1].endswith("jobs.py"))
    return found


def test_requests_are_answered_in_their_order(start):
    python = start()

    for wall_s in (0.001, 0.003):
        python.ask(**{**SHORT, "wall_s": wall_s})

    assert [python.answer()["wall_s"] for _ in range(2)] == [0.001, 0.003]


def test_a_python_that_dies_in_the_middle_of_a_job_is_told_by_its_name(start):
    python = start()
    python.ask(**SHORT)
    python.answer()
    python.ask(**LONG)

    os.kill(child().pid, 9)

    with pytest.raises(UserError) as caught:
        python.answer()
    assert caught.value.problem.key == "interpreter_died"
    assert caught.value.problem.values == {"name": "3.99"}


def test_a_python_that_ends_at_once_is_told_too(start):
    python = start([sys.executable, "-c", "raise SystemExit(1)"])
    python._process.wait()  # noqa: SLF001  (it must be gone before it is asked)

    python.ask(**SHORT)

    with pytest.raises(UserError) as caught:
        python.answer()
    assert caught.value.problem.key == "interpreter_died"


def test_closing_in_the_middle_of_a_job_leaves_nothing(start):
    before = set(threading.enumerate())
    python = start()
    python.ask(**SHORT)
    python.answer()
    python.ask(**LONG)
    pid = child().pid

    started_s = time.monotonic()
    python.close()

    assert not psutil.pid_exists(pid)
    assert set(threading.enumerate()) == before
    assert time.monotonic() - started_s < 30  # far less than the job


def test_what_its_children_used_is_remembered_though_it_never_waited_for_them(tmp_path):
    script = tmp_path / "jobs.py"
    script.write_text(
        "import subprocess, sys\n"
        "input()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    python = Interpreter("3.99", OWN, script, lambda: None)
    python.ask()
    child, before_s = psutil.Process(python.answer()), killed_cpu_time.used_s()
    while child.cpu_times().user < 0.2:
        time.sleep(0.01)
    python.ask()
    python.close()

    gone, _ = psutil.wait_procs([child], timeout=10)
    assert gone == [child]
    assert killed_cpu_time.used_s() - before_s >= 0.2


def test_closing_twice_is_no_error(start):
    python = start()
    python.close()
    python.close()


def test_a_stop_is_seen_while_waiting_for_an_answer(start):
    looks = []

    def check_stop():
        looks.append(time.monotonic())
        if len(looks) > 3:
            raise StopRequested

    python = start(check_stop=check_stop)
    python.ask(**LONG)

    with pytest.raises(StopRequested):
        python.answer()
    assert len(looks) == 4
