from __future__ import annotations

import itertools
import os

import pytest

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.memory.banks_mlp import experiment as banks_mlp
from experiments.memory.banks_mlp.experiment import COUNTS, Params, Read, analyse, measure, read_s
from experiments.tools import core_clock
from experiments.tools.buffers import Buffer
from experiments.tools.core_clock import Clock
from experiments.tools.long_chain import LongChain, power_of_two
from machine.inspect import inspect
from machine.model import Machine
from tests.experiments.machines import GIB, KIB, MIB, machine

AGREED = {"one_chain_s", "best_s", "parallelism", "bytes_in_flight"}
AGREED_COLUMNS = {"reads": {"chains", "latency_s"}}

NOISE = (1.0, 1.02, 0.98)
CLOCK = [Clock(repeat=turn, core_hz=hz) for turn, hz in enumerate((3.0e9, 1.1e9, 3.9e9))]


def reads(of_count, noise=NOISE):
    return [
        Read(
            chains=chains,
            repeat=turn,
            latency_s=of_count(chains) * factor,
            asked_bytes=64 * chains,
            line_bytes_per_s=64 / (of_count(chains) * factor),
        )
        for chains in COUNTS
        for turn, factor in enumerate(noise)
    ]


def found(rows, clock=CLOCK, here=None, params=None):
    tables = {"reads": rows, "clocks": clock}
    return analyse(params or Params(), tables, here or machine())


def textbook(chains):
    """Ten under way at most; the best is 16 chains by a hair."""
    return max(150e-9 / chains, 15e-9) * (0.999 if chains == 16 else 1)


def test_many_reads_are_under_way_at_once():
    finding = found(reads(textbook))

    assert finding.message == "many_under_way_in_cycles"
    assert finding.values["one_chain_s"] == pytest.approx(150e-9)
    assert finding.values["best_s"] == pytest.approx(15e-9, rel=0.01)
    assert finding.values["best_chains"] == 16
    assert finding.values["parallelism"] == pytest.approx(10, rel=0.01)
    assert finding.values["bytes_in_flight"] == pytest.approx(640, rel=0.01)
    assert "no_floor_reached" not in finding.limits


def test_latencies_are_read_in_cycles_of_the_undisturbed_clock():
    values = found(reads(textbook)).values

    assert values["core_hz"] == 3.0e9
    assert values["one_chain_cycles"] == pytest.approx(450)


def test_without_a_clock_there_are_no_cycles_and_it_is_said():
    finding = found(reads(textbook), clock=[])

    assert finding.message == "many_under_way"
    assert not [name for name in finding.values if name.endswith("_cycles")]
    assert "no_clock" in finding.limits


def test_no_gain_is_claimed_where_spreads_overlap():
    for rows in (reads(lambda _chains: 150e-9), reads(textbook, noise=(0.1, 1.0, 12.0))):
        assert found(rows).message == "one_at_a_time"
        assert found(rows).unclear == ("parallelism", "bytes_in_flight")
    assert found(reads(textbook)).unclear == ()


def test_a_line_that_still_falls_at_its_end_is_a_limit():
    assert "no_floor_reached" in found(reads(lambda chains: 150e-9 / chains)).limits


def test_more_under_way_than_there_are_chains_is_explained():
    def faster_beside_others(chains):
        return textbook(chains) * (0.8 if chains > 1 else 1)

    assert "more_than_chains" in found(reads(faster_beside_others)).limits
    assert "more_than_chains" not in found(reads(textbook)).limits


def test_one_count_alone_is_not_compared():
    for rows in ([], [r for r in reads(textbook) if r.chains == 1],
                 [r for r in reads(textbook) if r.chains > 1]):  # fmt: skip
        finding = found(rows)
        assert finding.message == "nothing_to_compare"
        assert finding.values == {}


@pytest.mark.parametrize(
    ("here", "is_said"),
    [(machine(), False), (machine(caches=(32 * KIB, MIB, 128 * MIB)), True), (Machine(), True)],
)
def test_memory_of_less_than_four_last_caches_is_partly_answered_from_there(here, is_said):
    assert ("partly_in_cache" in found(reads(textbook), here=here).limits) is is_said


def test_the_default_leaves_half_of_the_free_memory(free_memory):
    free_memory(100 * GIB)
    assert banks_mlp.defaults(machine()).memory_bytes == 256 * MIB
    assert banks_mlp.defaults(machine(caches=(2**15, MIB, 384 * MIB))).memory_bytes == 2 * GIB
    free_memory(300 * MIB)
    assert banks_mlp.defaults(machine()).memory_bytes == 128 * MIB


def test_a_system_that_pins_no_threads_still_measures_and_says_so(monkeypatch):
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    items = list(measure(Params(memory_bytes=MIB, rounds=1), Bench(inspect())))

    assert Note("not_pinned") in items
    assert {i.chains for i in items if isinstance(i, Read)} == set(COUNTS)


def test_a_processor_whose_clock_cannot_be_counted_yields_none(monkeypatch):
    monkeypatch.setattr("experiments.kernels.clock.COUNTS_CYCLES", False)

    assert list(core_clock.clocks(Bench(inspect()), 0)) == []


def test_the_clock_is_that_of_a_processor():
    (clock,) = core_clock.clocks(Bench(inspect()), 3)

    assert clock.repeat == 3
    assert 0.3e9 < clock.core_hz < 8e9


# --- the long chain ------------------------------------------------------------------------------


def test_walks_never_meet_within_a_lap():
    bench, nodes = Bench(machine(caches=(2**15, 2**18, 2**20))), 2**10
    buffer = Buffer(nodes * 64)
    chain = LongChain(buffer, bench)
    starts = [place for count in (1, 3, 4) for place in chain.stretches(count, 128)]
    seen = []
    for start in starts:
        place = int(start)
        for _ in range(128):
            seen.append(place)
            place = int(buffer.words[(place - int(buffer.address)) // 8])

    assert len(set(seen)) == len(seen) == nodes
    assert chain.stretches(1, 1)[0] == starts[0]  # the next lap


def test_more_chains_share_the_same_reads():
    chain = LongChain(Buffer(MIB), Bench(machine()))
    times = [read_s(chain, chains, 40_000, Bench(inspect())) for chains in COUNTS]

    assert all(1e-10 < time_s < 1e-5 for time_s in times)


def test_each_walk_follows_one_of_its_own_kind_that_is_not_timed(monkeypatch):
    from experiments.kernels import many_chains

    told = []
    monkeypatch.setattr(many_chains, "walk_all", lambda steps, places: told.append(set(places)))

    class Watch(Bench):
        def time(self, work):
            told.append("timed")
            work()
            return 1.0

    read_s(LongChain(Buffer(MIB), Bench(machine())), 3, 300, Watch(machine()))
    before, timed, after = told
    assert timed == "timed"
    assert len(before) == len(after) == 3
    assert before.isdisjoint(after)


@pytest.mark.parametrize(
    ("size", "power"), [(1, 1), (2, 2), (3, 2), (MIB, MIB), (MIB - 1, MIB // 2)]
)
def test_the_power_of_two_is_no_larger(size, power):
    assert power_of_two(size) == power


def test_the_counts_of_the_plot_are_those_that_are_compiled():
    from experiments.kernels import many_chains

    assert many_chains.COUNTS == COUNTS
    assert all(a < b for a, b in itertools.pairwise(COUNTS))
