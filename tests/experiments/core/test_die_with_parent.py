"""Whoever starts a process and is killed takes it along, without anybody's help."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest

from experiments.core import die_with_parent
from experiments.core.die_with_parent import tied
from tests import ROOT
from tests.processes import TOKEN, living, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="seen on Linux only")

STARTS = {
    "a program": "subprocess.Popen(tied(['/bin/sleep', '60']))",
    "a fork": (
        "multiprocessing.get_context('fork').Process("
        "target=call_tied, args=(os.getpid(), time.sleep, 60)).start()"
    ),
    "its own child": (
        "subprocess.Popen(tied([sys.executable, '-c', 'import subprocess;"
        " from experiments.core.die_with_parent import tied;"
        ' subprocess.run(tied(["/bin/sleep", "60"]))\']))'
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
        "from experiments.core.die_with_parent import call_tied, tied\n"
        f"{STARTS[how]}\n"
        "time.sleep(60)"
    )
    count = 3 if how == "its own child" else 2
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        assert until(lambda: len(living(token)) == count)
        # As the programs that they become: the kernel keeps the wish.
        assert until(lambda: not any(die_with_parent.__file__ in s for s in living(token).values()))
        parent.kill()

    assert until(lambda: not living(token))


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
