from __future__ import annotations

import itertools
import os

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.judging.statistics import CANNOT_TELL, TOO_FEW, spread
from experiments.core.teaching.motion import Hold, Pointed, Travel
from experiments.memory.banks_mlp import experiment as banks_mlp
from experiments.memory.banks_mlp import lesson
from experiments.memory.banks_mlp.experiment import (
    Params,
    Read,
    Together,
    analyse,
    in_step,
    measure,
)
from experiments.tools import core_clock
from experiments.tools.buffers import Buffer
from experiments.tools.core_clock import Clock
from experiments.tools.long_chain import COUNTS, LongChain, power_of_two, read_s
from machine.inspect import inspect
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.memory import lessons_of_banks_mlp as lessons

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
    tables = {"reads": rows, "together": [], "clocks": clock}
    return analyse(params or Params(), tables, here or machine())


def textbook(chains):
    """Ten under way at most; the best is 16 chains by a hair."""
    return max(150e-9 / chains, 15e-9) * (0.999 if chains == 16 else 1)


def test_many_reads_are_under_way_at_once():
    finding = found(reads(textbook))

    assert finding.message == "many_under_way"
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


def noisy(noise_of_count):
    return [
        replace(read, latency_s=read.latency_s * noise_of_count(read.chains)[read.repeat])
        for read in reads(textbook, noise=(1.0,) * 6)
    ]


@in_one(
    ("rows", "message"),
    [
        (reads(textbook), "many_under_way"),
        (reads(lambda _chains: 150e-9), "no_gain"),
        (reads(lambda chains: 150e-9 * chains), "no_gain"),
        (noisy(lambda n: (1, 0.1, 9, 0.2, 30, 1) if n > 1 else (1, 9, 0.1, 5, 1, 3)), CANNOT_TELL),
        (reads(textbook, noise=(1.0, 1.1)), TOO_FEW),
    ],
    ids=["faster", "the same", "slower", "noise", "two rounds"],
)
def test_a_gain_is_told_the_same_is_told_and_what_nobody_can_tell_is_said(rows, message):
    finding = found(rows)

    assert finding.message == message
    is_clear = message not in (CANNOT_TELL, TOO_FEW)
    assert finding.unclear == (() if is_clear else ("parallelism", "bytes_in_flight"))


def test_the_best_of_many_by_luck_is_no_gain():
    lucky, others = (0.61, 0.64, 0.71, 0.79, 0.83), (1.3, 0.9, 1.1, 0.8, 1.2)
    alone = spread((1.0,) * 5)

    def rows(of_eight):
        return [
            replace(read, latency_s=150e-9 * noise)
            for read in reads(textbook, noise=(1.0,) * 5)
            for noise in [
                1.0 if read.chains == 1 else (of_eight if read.chains == 8 else others)[read.repeat]
            ]
        ]

    assert spread(lucky).is_below(alone)  # had it been the only one
    assert found(rows(lucky)).message == CANNOT_TELL
    assert found(rows([each / 4 for each in lucky])).message == "many_under_way"


def test_a_line_that_still_falls_at_its_end_is_a_limit():
    assert "no_floor_reached" in found(reads(lambda chains: 150e-9 / chains)).limits


def test_no_more_reads_are_told_under_way_than_there_are_chains():
    def with_a_slow_one(chains):
        return 500e-9 if chains == 1 else textbook(chains)

    values = found(reads(with_a_slow_one)).values

    assert values["one_chain_s"] / values["best_s"] > 30
    assert values["parallelism"] == values["best_chains"] == 16
    assert values["bytes_in_flight"] == 16 * 64
    assert "more_than_chains" in found(reads(with_a_slow_one)).limits
    assert "more_than_chains" not in found(reads(textbook)).limits


def test_each_number_of_chains_is_timed_for_about_the_same_time(monkeypatch):
    timed: dict[int, list[int]] = {}

    class Counted(LongChain):
        def stretches(self, count, steps):
            timed.setdefault(count, []).append(steps)
            return (count,)

    clock = [0.0]

    def walk_all(steps, places):  # a read takes 100 ns in one chain, ten fit side by side
        (chains,) = places
        clock[0] += 100e-9 * steps * chains / min(chains, 10)

    monkeypatch.setattr(banks_mlp, "LongChain", Counted)
    monkeypatch.setattr("experiments.kernels.many_chains.walk_all", walk_all)
    bench = Bench(inspect(), clock=lambda: clock[0])
    monkeypatch.setattr(core_clock, "clocks", lambda *_: iter(()))
    rows = list(measure(Params(memory_bytes=MIB, rounds=1), bench))

    assert {row.chains for row in rows if isinstance(row, Read)} == set(COUNTS)
    took_s = {n: 100e-9 * steps[-1] * n / min(n, 10) for n, steps in timed.items()}
    assert max(took_s.values()) < 1.5 * min(took_s.values())


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
    assert banks_mlp.EXPERIMENT.defaults(machine()).memory_bytes == 256 * MIB
    assert (
        banks_mlp.EXPERIMENT.defaults(machine(caches=(2**15, MIB, 384 * MIB))).memory_bytes
        == 2 * GIB
    )
    free_memory(300 * MIB)
    assert banks_mlp.EXPERIMENT.defaults(machine()).memory_bytes == 128 * MIB


def test_a_system_that_pins_no_threads_still_measures_and_says_so(monkeypatch):
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    monkeypatch.setattr("experiments.tools.side_by_side.CAN_PIN", False)
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
    times = [
        read_s(chain, chains, 40_000 // chains // 4 * 4, Bench(inspect())) for chains in COUNTS
    ]

    assert all(1e-10 < time_s < 1e-5 for time_s in times)


def test_each_walk_follows_one_of_its_own_kind_that_is_not_timed(monkeypatch):
    from experiments.kernels import many_chains

    told = []
    monkeypatch.setattr(many_chains, "walk_all", lambda steps, places: told.append(set(places)))

    class Watch(Bench):
        def time(self, work, _operations=0):
            told.append("timed")
            work()
            return 1.0

    read_s(LongChain(Buffer(MIB), Bench(machine())), 3, 100, Watch(machine()))
    before, timed, after = told
    assert timed == "timed"
    assert len(before) == len(after) == 3
    assert before.isdisjoint(after)


@in_one(("size", "power"), [(1, 1), (2, 2), (3, 2), (MIB, MIB), (MIB - 1, MIB // 2)])
def test_the_power_of_two_is_no_larger(size, power):
    assert power_of_two(size) == power


def test_the_counts_of_the_plot_are_those_that_are_compiled():
    from experiments.kernels import many_chains

    assert many_chains.COUNTS == COUNTS
    assert all(a < b for a, b in itertools.pairwise(COUNTS))


# --- two cores, and the lesson -------------------------------------------------------------------


def test_two_cores_are_held_against_one():
    rows = [
        Together(on=on, repeat=turn, line_bytes_per_s=rate * noise)
        for on, rate in (("one_core", 1e10), ("two_cores", 1.8e10))
        for turn, noise in enumerate(NOISE)
    ]
    here = {"reads": reads(textbook), "together": rows, "clocks": CLOCK}
    alone = {**here, "together": rows[: len(NOISE)]}

    assert analyse(Params(), here, machine()).values["two_cores_gain"] == pytest.approx(1.8)
    assert "two_cores_gain" not in analyse(Params(), alone, machine()).values


def test_chains_are_in_step_up_to_where_a_step_takes_longer_than_one_alone():
    assert in_step(reads(textbook)) == 12  # of which ten leave at once, and two just after
    assert in_step(reads(lambda chains: 150e-9 / chains)) == max(COUNTS)
    assert in_step(reads(lambda _chains: 150e-9)) == 1
    assert in_step([]) == 0


@pytest.mark.parametrize(("of_four_s", "option"), [(4e-8, 2), (7e-8, 1), (1.5e-7, 0)])
def test_a_guess_of_four_chains_is_held_against_their_time(of_four_s, option):
    run = lessons.made("many_under_way", read_s=lambda n: of_four_s if n == 4 else 1.5e-7)

    assert lesson.option_by_four_chains(run) == option


def test_a_core_is_full_only_where_more_chains_bring_nothing_more():
    """A second core doubles the reads also where one still gains, or never did."""
    assert lesson.core_is_full(lessons.RUNS["in_cache"])
    assert not lesson.core_is_full(lessons.RUNS["still_in_step"])
    assert not lesson.core_is_full(lessons.RUNS["no_gain"])


def test_as_many_reads_travel_as_were_under_way_and_the_others_wait_for_one_read():
    run = lessons.RUNS["in_cache"]
    one, many = lesson.motion(run, None).scenes

    def of(scene, kind):
        return [event for event in scene.events if isinstance(event, kind)]

    first = [each for each in of(many, Travel) if each.start_s == 0]
    assert len(first) == run.values["parallelism"]
    assert {each.end_s - each.start_s for each in of(many, Travel)} == {150e-9}
    assert len([each for each in of(many, Hold) if each.start_s == 0]) == 32 - 10
    assert len(of(one, Travel)) == 2
    assert of(one, Hold) == []


def test_the_point_pointed_at_chooses_how_many_chains_walk():
    for at, travels in ((4.0, 8), (1.0, 4), (48.0, 20)):
        pointed = Pointed(view="time", at=at)
        _, many = lesson.motion(lessons.RUNS["in_cache"], pointed).scenes
        assert sum(isinstance(event, Travel) for event in many.events) == travels
