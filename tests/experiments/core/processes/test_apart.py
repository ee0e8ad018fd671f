"""A pipe that is heard in a thread, so that Ctrl-C is heard meanwhile."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from experiments.core.processes.apart import Aside


@pytest.fixture
def piped():
    """Return the two ends of a pipe."""
    reads, writes = os.pipe()
    with open(reads, "rb") as of_reads, open(writes, "wb", buffering=0) as of_writes:
        yield of_reads, of_writes


def test_lines_come_in_order_and_after_the_last_there_is_nothing_for_ever(piped):
    reads, writes = piped
    aside = Aside(reads)
    writes.write(b"one\ntwo\n")
    writes.close()

    assert [aside.readline(99) for _ in range(4)] == [b"one\n", b"two\n", b"", b""]
    aside.close()
    assert aside.readline(99) == b""


def test_it_reads_only_what_is_asked_for_so_that_a_full_pipe_slows_the_other_end_down():
    asked = []
    reads = SimpleNamespace(readline=lambda most: asked.append(most) or b"line\n", close=list)
    aside = Aside(reads)
    for _ in range(3):
        aside.readline(99)

    time.sleep(0.1)
    assert asked == [99] * 3
    aside.close()


def test_a_signal_is_heard_while_nothing_comes(piped):
    """Also on Windows, whose reads wait on: the wait itself is cut into short ones."""
    reads, writes = piped
    aside = Aside(reads)
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(time.monotonic()))
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)  # of another thread: it interrupts no read
        time.sleep(0.3)
        writes.write(b"line\n")

    timer = threading.Timer(0.1, interrupt)
    timer.start()
    try:
        assert aside.readline(99) == b"line\n"
    finally:
        signal.signal(signal.SIGINT, before)
        timer.join()
        aside.close()
    assert 0 <= heard[0] - sent[0] < 0.25


def test_a_pipe_that_cannot_be_read_is_one_that_has_ended(piped):
    reads, _ = piped
    aside = Aside(reads)
    reads.close()
    assert aside.readline(99) == b""
