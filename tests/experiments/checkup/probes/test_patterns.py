from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.checkup.probes.patterns import kernels
from experiments.checkup.probes.patterns.experiment import (
    EXPERIMENT,
    PATTERNS,
    USUAL_BYTES,
    Params,
    Pass,
    Wrong,
    analyse,
    measure,
)
from experiments.checkup.probes.patterns.memory import HostMemory, checked
from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.sizes import MIB
from machine.inspect import inspect
from tests.cases import in_one
from tests.experiments.kernel_checks import check_kept
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows
from tests.experiments.tables import in_tables

AGREED = {"wrong_words", "memory_bytes", "memory_fraction", "checked_bytes"}
AGREED_COLUMNS = {
    "passes": {"pattern", "inverted", "region", "repeat", "checked_bytes", "wrong_words"},
    "wrong": {"pattern", "inverted", "region", "repeat", "offset_bytes", "flipped"},
}

SMALL = Params(size_bytes=4 * MIB)


def passes(wrong=0):
    return [
        Pass(
            pattern=pattern,
            inverted=inverted,
            region=region,
            repeat=0,
            checked_bytes=64 * MIB,
            wrong_words=wrong if (pattern, region) == ("chess", 2) and inverted else 0,
        )
        for pattern in PATTERNS
        for inverted in (False, True)
        for region in range(4)
    ]


def found(rows, here=None, params=SMALL):
    return analyse(params, {"passes": rows, "wrong": []}, here or machine())


def test_memory_that_gives_everything_back_is_said_to():
    finding = found(passes())

    assert finding.message == "all_came_back"
    assert finding.values["wrong_words"] == 0
    assert finding.values["memory_bytes"] == 256 * MIB
    assert finding.values["checked_bytes"] == 8 * 256 * MIB
    assert finding.values["memory_fraction"] == pytest.approx(256 / (16 * 1024))
    assert "partly_in_cache" not in finding.limits


def test_a_single_wrong_word_is_enough():
    finding = found(passes(wrong=1))

    assert finding.message == "words_are_wrong"
    assert finding.values["wrong_words"] == 1


def test_memory_that_the_caches_hold_is_told_of():
    large = machine(caches=(32 * 1024, MIB, 300 * MIB))
    assert "partly_in_cache" in found(passes(), large).limits


def test_nothing_read_back_is_not_good():
    assert found([]).message == "nothing_measured"


def test_a_quarter_of_the_free_memory_at_most(free_memory):
    free_memory(2**40)
    assert EXPERIMENT.defaults(machine()).size_bytes == USUAL_BYTES
    free_memory(1024 * MIB)
    assert EXPERIMENT.defaults(machine()).size_bytes == 256 * MIB


# --- the patterns -------------------------------------------------------------------------------


def written(kind, words=1000, first=0, key=3):
    memory = np.zeros(words, dtype=np.uint64)
    kernels.write(memory, kind, first, key)
    return memory


@in_one("kind", range(len(PATTERNS)))
def test_a_pattern_is_read_back_then_inverted_and_read_back(kind):
    memory = written(kind, first=2 * 1000)
    before = memory.copy()

    assert checked(2, memory, kind, 3, inverted=False).wrong_words == 0
    assert (memory == ~before).all()
    assert checked(2, memory, kind, 3, inverted=True).wrong_words == 0
    assert (memory == ~before).all()


def test_the_patterns_are_what_they_are_called():
    walking, address, chess, random = (written(kind) for kind in range(4))

    assert {int(word).bit_count() for word in walking} == {1}
    assert {int(word).bit_length() for word in walking} == set(range(1, 65))
    assert (address == np.arange(1000)).all()
    assert set(chess.tolist()) == {0x5555555555555555}
    assert len(set(random.tolist())) == 1000
    bits = sum(int(word).bit_count() for word in random) / 64_000
    assert bits == pytest.approx(0.5, abs=0.01)


@in_one("kind", range(len(PATTERNS)))
@in_one("inverted", [False, True])
def test_any_flipped_bit_is_found_with_its_place(kind, inverted):
    for bit in (0, 31, 63):
        memory = written(kind)
        if inverted:
            memory = ~memory
        memory[617] ^= np.uint64(1 << bit)

        told = checked(0, memory, kind, 3, inverted=inverted)

        assert told.wrong_words == 1
        assert told.first == ((617 * 8, 1 << bit),)
        assert told.size_bytes == 8000


def test_many_wrong_words_are_all_counted_and_the_first_told():
    memory = written(1)
    memory[100:900] ^= np.uint64(6)
    told = checked(0, memory, 1, 3, inverted=False)

    assert told.wrong_words == 800
    assert told.first == tuple((8 * place, 6) for place in range(100, 108))


def test_the_loops_let_go_of_the_lock_and_are_kept_on_disk():
    check_kept([kernels.write, kernels.check])


# --- the run ------------------------------------------------------------------------------------


def tables_of(params=SMALL, bench=None):
    return in_tables(EXPERIMENT, measure(params, bench or Bench(inspect())))


def test_every_region_is_read_back_twice_with_every_pattern():
    tables = tables_of(replace(SMALL, rounds=2))
    rows = tables["passes"]
    regions = {row.region for row in rows}

    assert {(r.pattern, r.inverted, r.region, r.repeat) for r in rows} == {
        (pattern, inverted, region, turn)
        for pattern in PATTERNS
        for inverted in (False, True)
        for region in regions
        for turn in range(2)
    }
    assert {sum(r.checked_bytes for r in rows if r.region == each) for each in regions} == {
        2 * 2 * len(PATTERNS) * 4 * MIB // len(regions)
    }
    assert tables["wrong"] == []
    assert found(rows).message == "all_came_back"


def test_a_bit_that_flips_in_memory_is_found_by_the_run(monkeypatch):
    """The bit flips where memory would lose it: between writing and reading."""
    write, left = HostMemory.write, [True]

    def losing(self, group, kind, key):
        write(self, group, kind, key)
        if kind == PATTERNS.index("address") and left:
            left.clear()
            self.regions[0][77] ^= np.uint64(1 << 40)

    monkeypatch.setattr(HostMemory, "write", losing)
    tables = tables_of()

    assert tables["wrong"] == [
        Wrong(
            pattern="address",
            inverted=False,
            region=0,
            repeat=0,
            offset_bytes=77 * 8,
            flipped="0000010000000000",
        )
    ]
    assert analyse(SMALL, tables, machine()).message == "words_are_wrong"


def test_a_bit_that_is_stuck_is_found_in_one_of_the_two_passes(monkeypatch):
    check = HostMemory.check

    def stuck(self, group, kind, key, *, inverted):
        self.regions[0][5] |= np.uint64(1 << 9)
        return check(self, group, kind, key, inverted=inverted)

    monkeypatch.setattr(HostMemory, "check", stuck)
    rows = tables_of(replace(SMALL, patterns=("chess",)))["passes"]

    assert sum(row.wrong_words for row in rows) == 1


@in_one("size_bytes", [MIB, 3 * MIB, 7 * MIB, 50 * MIB])
def test_nearly_all_that_was_asked_for_is_tested(size_bytes):
    memory = HostMemory(Bench(machine(cores=6)), size_bytes)

    assert 0.5 * size_bytes < memory.size_bytes <= size_bytes
    assert sum(words.nbytes for words in memory.regions.values()) == memory.size_bytes
    assert memory.groups * 6 >= len(memory.regions)


def test_it_can_be_stopped_between_two_groups():
    stop_after_rows(EXPERIMENT, Params(size_bytes=8 * MIB, rounds=1000), 3)


# --- on a GPU -----------------------------------------------------------------------------------


@pytest.fixture
def gpu(monkeypatch):
    pytest.importorskip("torch")
    from experiments.checkup.probes.patterns import memory
    from tests.experiments.fake_gpu import fake_gpu

    monkeypatch.setattr(memory, "LARGEST_BYTES", MIB)
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


ON_GPU = Params(device="cuda:0", size_bytes=3 * MIB)


def bench_of(gpu):
    return Bench(machine(gpus=1), clock=gpu.clock)


def test_a_gpus_memory_is_read_back_too(gpu):
    tables = tables_of(ON_GPU, bench_of(gpu))

    assert {row.region for row in tables["passes"]} == {0, 1, 2}
    assert len(tables["passes"]) == 3 * 2 * len(PATTERNS)
    finding = found(tables["passes"], params=ON_GPU)
    assert finding.message == "all_came_back"
    assert finding.values["memory_bytes"] == 3 * MIB
    assert "memory_fraction" not in finding.values


@pytest.mark.parametrize("kind", range(len(PATTERNS)))
def test_a_bit_that_flips_on_a_gpu_is_found(gpu, monkeypatch, kind):
    from experiments.checkup.probes.patterns.memory import GpuMemory

    write, left = GpuMemory.write, [True]

    def losing(self, group, kind_now, key):
        write(self, group, kind_now, key)
        if kind_now == kind and group == 1 and left:
            left.clear()
            self.regions[1][9] ^= -(2**63)

    monkeypatch.setattr(GpuMemory, "write", losing)
    tables = tables_of(ON_GPU, bench_of(gpu))

    (wrong,) = tables["wrong"]
    assert (wrong.pattern, wrong.region, wrong.inverted) == (PATTERNS[kind], 1, False)
    assert (wrong.offset_bytes, wrong.flipped) == (72, "8000000000000000")


def test_no_more_than_a_gpu_has_free_is_taken_and_that_is_said(gpu):
    gpu.free_bytes = 5 * MIB
    items = list(measure(replace(ON_GPU, size_bytes=64 * MIB), bench_of(gpu)))

    assert Note("memory_cut", {"size_bytes": 3 * MIB}) in items


def test_of_a_full_gpu_one_word_is_asked_for(gpu):
    """Then PyTorch says that its memory is out, and no sum stumbles."""
    from experiments.checkup.probes.patterns.memory import WORD_BYTES, GpuMemory
    from experiments.devices.device import Device

    gpu.free_bytes = 0
    memory = GpuMemory(Device("cuda:0", bench_of(gpu)), MIB)
    assert memory.is_cut
    assert memory.size_bytes == WORD_BYTES
