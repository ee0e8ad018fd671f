from __future__ import annotations

import importlib
import pathlib
import sys
from itertools import takewhile

import msgspec
import numpy as np
import pytest

from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Note, specs
from experiments.tools.buffers import (
    HUGE_PAGE_BYTES,
    Buffer,
    huge_pages_fraction,
    huge_pages_told,
)
from machine.inspect import inspect
from tests.experiments.machines import MIB

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


def resident_bytes() -> int:
    """Return how much private memory of this process is really there."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


@linux
@pytest.mark.parametrize("huge", [False, True])
def test_a_buffer_is_really_there_before_anything_is_read_from_it(huge):
    before = resident_bytes()

    buffer = Buffer(64 * MIB, huge=huge)

    assert resident_bytes() - before >= 0.98 * buffer.size_bytes


def test_a_buffer_has_the_size_asked_for_and_lies_on_a_huge_page_boundary():
    for size in (64, 4096, 3 * MIB + 64):
        buffer = Buffer(size)

        assert buffer.words.nbytes == buffer.size_bytes == size
        assert buffer.words.dtype == np.uint64
        assert int(buffer.address) % HUGE_PAGE_BYTES == 0
        assert int(buffer.address) == buffer.words.ctypes.data


def test_a_buffer_holds_ones_not_the_shared_page_of_zeros():
    assert Buffer(MIB).words.sum() == MIB // 8


@linux
def test_small_pages_are_small():
    assert huge_pages_fraction(Buffer(8 * MIB)) == 0.0


@linux
def test_huge_pages_are_asked_for():
    chosen = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not chosen.exists() or "[never]" in chosen.read_text():
        pytest.skip("the system gives no huge pages")

    assert huge_pages_fraction(Buffer(16 * MIB, huge=True)) > 0.5


@linux
def test_more_memory_than_there_is_is_a_memory_error():
    with pytest.raises(MemoryError):
        Buffer(2**46)


def test_a_part_lies_inside_the_buffer_and_elsewhere_each_turn():
    buffer = Buffer(9 * MIB)

    parts = [buffer.part(3 * MIB, turn) for turn in range(8)]

    for words, address in parts:
        assert words.nbytes == 3 * MIB
        assert address == words.ctypes.data
        assert int(buffer.address) <= address <= int(buffer.address) + 6 * MIB
    assert len({address for _, address in parts}) == 4
    assert buffer.part(9 * MIB, 5)[1] == int(buffer.address)


def test_what_the_system_gave_is_told():
    (given,) = huge_pages_told(0.98)
    (refused,) = huge_pages_told(0.25)

    assert given == Note("huge_pages_given", {"on_huge_fraction": 0.98})
    assert refused == Note("huge_pages_refused", {"on_huge_fraction": 0.25})
    assert list(huge_pages_told(None)) == []


@pytest.mark.parametrize(
    "experiment",
    [each for each in Catalogue() if "huge_pages" in specs(each.params)],
    ids=lambda experiment: experiment.id,
)
@pytest.mark.parametrize(("asked", "told"), [(True, ["huge_pages_refused"]), (False, [])])
def test_a_run_says_how_much_of_it_the_system_gave(experiment, asked, told, monkeypatch):
    module = importlib.import_module(experiment.params.__module__)
    monkeypatch.setattr(module, "huge_pages_told", lambda _fraction: huge_pages_told(0.1))
    here = inspect()
    smallest = experiment.smallest(experiment.params_for(here, quick=True))
    params = msgspec.structs.replace(smallest, huge_pages=asked)

    begun = takewhile(lambda item: isinstance(item, Note), module.measure(params, Bench(here)))

    assert [note.key for note in begun if "huge" in note.key] == told
