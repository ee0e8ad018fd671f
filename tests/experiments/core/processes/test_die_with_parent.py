"""A killed process takes along the processes that it started, without any help."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest

from experiments.core.processes.die_with_parent import tied
from tests import ROOT
from tests.processes import TOKEN, living, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="seen on Linux only")

SLEEP = "echo there; exec sleep 60"
STARTS = {
    "a program": f"subprocess.Popen(tied(['/bin/sh', '-c', {SLEEP!r}]))",
    "a fork": (
        "multiprocessing.get_context('fork').Process(target=call_tied, "
        "args=(os.getpid(), exec, "
        "'import time; print(\"there\", flush=True); time.sleep(60)')).start()"
    ),
    "its own child": (
        "subprocess.Popen(tied([sys.executable, '-c', 'import subprocess;"
        " from experiments.core.processes.die_with_parent import tied;"
        f' subprocess.run(tied(["/bin/sh", "-c", "{SLEEP}"]))\']))'
    ),
}


@pytest.fixture
def token(monkeypatch) -> Iterator[str]:
    token = uuid.uuid4().hex
    monkeypatch.setenv(TOKEN, token)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    yield token
    for pid in living(token):
        os.kill(pid, 9)


@pytest.mark.parametrize("how", STARTS)
def test_a_killed_process_takes_along_what_is_tied_to_it(how, token):
    code = (
        "import multiprocessing, os, subprocess, sys, time\n"
        "from experiments.core.processes.die_with_parent import call_tied, tied\n"
        f"{STARTS[how]}\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"there\n"
        assert len(living(token)) == (3 if how == "its own child" else 2)
        parent.kill()

        assert until(lambda: not living(token), 20.0)


def test_what_asks_too_late_ends_at_once():
    long_gone = subprocess.Popen(["/bin/true"])
    long_gone.wait()
    command = tied(["/bin/echo", "alive"])
    command[command.index(str(os.getpid()))] = str(long_gone.pid)

    said = subprocess.run(command, capture_output=True)

    assert (said.returncode, said.stdout) == (1, b"")


def test_a_tied_program_is_the_process_that_was_started():
    with subprocess.Popen(tied(["/bin/cat"]), stdin=-1, stdout=-1) as process:
        said, _ = process.communicate(b"heard")
        assert said == b"heard"
    assert process.returncode == 0
