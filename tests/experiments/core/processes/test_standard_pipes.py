"""The standard pipes that a process keeps, and a reader that has gone."""

import errno
import os
import subprocess
import sys

import pytest

from experiments.core.processes import standard_pipes

TAKES = """
import os, subprocess, sys
from experiments.core.processes.standard_pipes import take_input, take_output
commands, events = take_input(), take_output()
print("printed")
subprocess.run([sys.executable, "-c", "import sys; print('child read', repr(sys.stdin.read()))"])
os.write(events, os.read(commands, 100) + repr(sys.stdin.read()).encode())
"""


def test_the_taken_pipes_are_out_of_the_reach_of_prints_and_children():
    ended = subprocess.run(
        [sys.executable, "-c", TAKES], input=b"command\n", capture_output=True, check=True
    )
    assert ended.stdout == b"command\n''"
    assert ended.stderr.split() == [b"printed", b"child", b"read", b"''"]


@pytest.mark.parametrize(
    ("number", "system", "is_gone"),
    [
        (errno.EPIPE, "linux", True),
        (errno.EPIPE, "win32", True),
        (errno.EINVAL, "win32", True),
        (errno.EINVAL, "linux", False),
        (errno.ENOSPC, "win32", False),
    ],
)
def test_a_reader_that_has_gone_has_one_name_on_every_system(number, system, is_gone, monkeypatch):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match=os.strerror(number)) as raised:
        standard_pipes.write(1, b"x")
    assert isinstance(raised.value, BrokenPipeError) is is_gone
