from __future__ import annotations

import time

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.teaching.motion import Hold, Travel
from experiments.kernels import chains, streams
from experiments.memory.stream import experiment as stream
from experiments.memory.stream import lesson
from experiments.memory.stream.experiment import KERNELS, CachedMove, Move, Params, analyse
from experiments.memory.stream.loaded import LEVELS, Loaded, measure_loaded
from experiments.tools import arrays
from experiments.tools.arrays import ARRAYS, Team, cache_count, counts, spread_out
from machine.inspect import inspect
from machine.model import Cache, Machine, last_level_cache_bytes
from tests.cases import in_one
from tests.experiments.doubling import takes_twice_as_long
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.memory import lessons_of_stream as lessons

AGREED = {
    "copy_bytes_per_s", "scale_bytes_per_s", "add_bytes_per_s", "triad_bytes_per_s",
    "read_bytes_per_s", "threads_for_90_percent", "peak_fraction",
}  # fmt: skip

PARAMS = Params(array_bytes=256 * MIB, threads=4)
NOISE = (1.0, 1.01, 0.99)


def moves(rates, kinds=(Move,)):
    """Return rows whose triad runs at `rates[threads]`, the others a little slower."""
    return [
        kind(threads=n, kernel=k, repeat=turn, bytes_per_s=rate * noise * (k == "triad" or 0.9))
        for kind in kinds
        for n, rate in rates.items()
        for k in KERNELS
        for turn, noise in enumerate(NOISE)
    ]


def tables(rates, loaded=()):
    return {"moves": moves(rates), "cached": moves(rates, (CachedMove,)), "loaded": list(loaded)}


def under_load(idle_s=100e-9, busiest_s=300e-9):
    return [
        Loaded(level=level, repeat=turn, load_bytes_per_s=level * 5e9, latency_s=latency_s * factor)
        for level, latency_s in ((LEVELS[0], idle_s), (LEVELS[-1], busiest_s))
        for turn, factor in enumerate(NOISE)
    ]


@in_one(
    ("rates", "message", "full"),
    [
        ({1: 10e9, 2: 19e9, 3: 20e9, 4: 20e9}, "full_before_all", 2),
        ({1: 10e9, 2: 20e9, 4: 40e9}, "still_rising", 4),
        ({1: 18.4e9, 4: 20e9}, "one_nearly_fills", 1),
        ({1: 19.6e9, 4: 20e9}, "one_is_enough", 1),  # the same within 5 %
        ({1: 20e9, 4: 20e9}, "one_is_enough", 1),
        ({1: 20e9, 4: 10e9}, "one_is_enough", 1),
        ({1: 20e9}, "one_thread_alone", 1),
        ({1: 10e9, 2: 17.9e9, 4: 20e9}, "adds_less", 4),
        ({1: 10e9, 2: 17.9e9}, "adds_less", 2),
        ({1: 10e9, 2: 18.1e9}, "still_rising", 2),
    ],
)
def test_the_thread_count_from_which_the_pipe_is_full_is_found(rates, message, full):
    found = analyse(PARAMS, tables(rates), machine())

    assert found.message == message
    assert found.values["threads_for_90_percent"] == full
    assert found.values["triad_bytes_per_s"] == pytest.approx(1.01 * max(rates.values()))


@in_one(
    ("rates", "message"),
    [
        ({1: (9e9, 10e9, 21e9), 2: (20e9, 22e9, 24e9)}, "cannot_tell"),
        ({1: (20e9, 21e9, 22e9), 2: (20e9, 10e9, 24e9)}, "cannot_tell"),
        ({1: (9e9, 9e9, 9e9), 2: (15e9, 16e9, 17e9), 4: (16e9, 17e9, 20e9)}, "cannot_tell"),
        ({1: (10e9, 10e9), 2: (20e9, 20e9)}, "too_few_rounds"),
    ],
)
def test_what_nobody_can_tell_is_neither_a_gain_nor_the_same(rates, message):
    rows = [
        Move(threads=n, kernel="triad", repeat=turn, bytes_per_s=rate)
        for n, each in rates.items()
        for turn, rate in enumerate(each)
    ]

    found = analyse(PARAMS, {**tables({}), "moves": rows}, machine())

    assert found.message == message
    assert found.unclear == ("threads_for_90_percent",)


@in_one(
    ("copied", "message", "gains"),
    [
        ({1: 10e9, 4: 20e9}, "one_is_enough", True),
        ({1: 10e9, 4: 10.5e9}, "one_is_enough", False),  # beyond noise, but next to nothing
        ({1: 10e9}, "one_is_enough", False),  # stopped before
        ({1: 10e9, 4: 20e9}, "still_rising", False),
    ],
)
def test_a_triad_that_gains_nothing_is_not_all_loops(copied, message, gains):
    triad = {1: 10e9, 4: 10e9} if message == "one_is_enough" else {1: 10e9, 4: 40e9}
    rows = [
        *(row for row in moves(triad) if row.kernel == "triad"),
        *(row for row in moves(copied) if row.kernel == "copy"),
    ]

    found = analyse(PARAMS, {**tables({}), "moves": rows}, machine())

    assert found.message == message
    assert ("other_loops_gain" in found.limits) is gains


def test_the_share_of_the_limit_is_told_and_more_than_it_is_suspect():
    rows = tables({1: 10e9, 2: 20e9})

    below = analyse(PARAMS, rows, machine(peak_bytes_per_s=40e9))
    above = analyse(PARAMS, rows, machine(peak_bytes_per_s=15e9))

    assert below.values["peak_fraction"] == pytest.approx(0.505)
    assert "above_the_limit" not in below.limits
    assert "above_the_limit" in above.limits


def test_without_a_known_limit_no_share_is_told():
    found = analyse(PARAMS, tables({1: 10e9}), machine())

    assert "peak_fraction" not in found.values
    assert "no_peak_known" in found.limits


def test_latency_under_load_is_told_beside_the_idle_one():
    found = analyse(PARAMS, tables({1: 10e9}, under_load()), machine())

    assert found.values["idle_latency_s"] == pytest.approx(100e-9)
    assert found.values["loaded_latency_s"] == pytest.approx(300e-9)
    assert found.values["loaded_bytes_per_s"] == pytest.approx(LEVELS[-1] * 5e9)


def test_load_and_latency_are_those_of_the_point_in_the_plot():
    walks = [
        Loaded(level=LEVELS[-1], repeat=turn, load_bytes_per_s=rate, latency_s=latency_s)
        for turn, (rate, latency_s) in enumerate([(50e9, 160e-9), (57e9, 250e-9), (58e9, 180e-9)])
    ]
    walks += [  # which were over before the others had begun
        Loaded(level=LEVELS[-1], repeat=turn, load_bytes_per_s=0.0, latency_s=110e-9)
        for turn in range(3, 9)
    ]
    idle = Loaded(level=LEVELS[0], repeat=0, load_bytes_per_s=0.0, latency_s=100e-9)

    values = analyse(PARAMS, tables({1: 10e9}, [idle, *walks]), machine()).values

    assert (values["loaded_bytes_per_s"], values["loaded_latency_s"]) == (57e9, 180e-9)


def test_reads_under_one_load_that_scatter_are_named():
    def limits(level, times_s):
        walks = [
            Loaded(level=level, repeat=turn, load_bytes_per_s=level * 5e9, latency_s=s)
            for turn, s in enumerate(times_s)
        ]
        return analyse(PARAMS, tables({1: 10e9}, [*under_load(), *walks]), machine()).limits

    assert "loaded_scatters" not in limits(3, (150e-9, 160e-9, 220e-9))
    assert "loaded_scatters" in limits(3, (150e-9, 160e-9, 230e-9))


def test_latency_under_load_that_was_not_measured_is_named():
    def limits(**changes):
        return analyse(replace(PARAMS, **changes), tables({1: 10e9}), machine()).limits

    assert "no_loaded_latency" in limits(loaded=False)
    assert "no_loaded_latency" in limits(threads=1)
    assert "no_loaded_latency" not in limits()
    assert "loaded_not_reached" in limits()


@pytest.mark.parametrize(
    ("here", "cached", "is_told"),
    [("kvm", 21e9, True), ("kvm", 60e9, False), (None, 21e9, False)],
)
def test_a_guest_whose_cache_is_no_faster_than_memory_is_told_why(here, cached, is_told):
    rows = {**tables({1: 20e9}), "cached": moves({1: cached}, (CachedMove,))}

    limits = analyse(PARAMS, rows, machine(virtualization=here)).limits

    assert ("part_of_the_cache" in limits) is is_told


def test_a_stopped_run_does_not_say_that_the_cache_is_not_known():
    limits = analyse(PARAMS, {"moves": [], "cached": [], "loaded": []}, machine()).limits
    unknown = analyse(PARAMS, {"moves": [], "cached": [], "loaded": []}, Machine()).limits

    assert "cached_not_reached" in limits
    assert "no_cache_known" not in limits
    assert "no_cache_known" in unknown


@pytest.mark.parametrize(
    ("array_bytes", "here", "is_cached"),
    [
        (128 * MIB, machine(), False),
        (127 * MIB, machine(), True),
        (128 * MIB, Machine(), True),
    ],
)
def test_arrays_that_the_caches_help_with_are_named(array_bytes, here, is_cached):
    found = analyse(replace(PARAMS, array_bytes=array_bytes), tables({1: 10e9}), here)

    assert ("partly_in_cache" in found.limits) is is_cached


def test_nothing_measured_is_said_so():
    assert analyse(PARAMS, {"moves": [], "cached": [], "loaded": []}, machine()).message == (
        "nothing_moved"
    )


# --- the team ----------------------------------------------------------------------------------


def two_caches(cores=8):
    """Return a machine whose cores share two last-level caches."""
    plain = machine(cores=cores, threads_per_core=2, caches=(32 * KIB, MIB))
    groups = [range(cores // 2), range(cores // 2, cores)]
    threads = [tuple(t for core in group for t in (core, core + cores)) for group in groups]
    shared = tuple(Cache(level=3, kind="unified", size_bytes=16 * MIB, threads=t) for t in threads)
    return replace(plain, cpu=replace(plain.cpu, caches=(*plain.cpu.caches, *shared)))


def test_threads_are_spread_over_the_caches_and_siblings_come_last():
    order = [thread.id for thread in spread_out(two_caches())]

    assert order[:4] == [0, 4, 1, 5]
    assert sorted(order[:8]) == list(range(8))
    assert cache_count(two_caches(), spread_out(two_caches())) == 2


def test_thread_counts_grow_by_halves_and_end_with_all():
    assert counts(1) == [1]
    assert counts(10) == [1, 2, 3, 4, 6, 8, 10]


def test_a_share_is_near_its_thread_and_large_enough_at_every_count():
    here = inspect()
    usable = spread_out(here)
    team = Team(Bench(here), usable, 8 * MIB, huge=False)

    for count in range(1, len(usable) + 1):
        for member in range(count):
            a, b, c = team.arrays(member, team.share_bytes(count))
            assert len(a) == len(b) == len(c) == team.share_bytes(count) // 8
            assert not np.shares_memory(a, b)
            assert not np.shares_memory(b, c)
            assert (a == 1.0).all()


def test_memory_of_a_team_stays_within_what_was_announced(monkeypatch):
    taken = []
    monkeypatch.setattr(arrays, "seconds_together", lambda _bench, jobs: [job() for _, job in jobs])
    monkeypatch.setattr(arrays, "Buffer", Taken(taken))
    here = two_caches()

    Team(Bench(here), spread_out(here), 64 * MIB, huge=False)

    announced = stream.memory_bytes(Params(array_bytes=64 * MIB, threads=16, loaded=False))
    assert sum(taken) <= announced + 16 * ARRAYS * arrays.SHIFT_BYTES


@pytest.mark.parametrize(("count", "neighbours"), [(1, 1), (2, 1), (3, 2), (4, 2)])
def test_the_cache_is_shared_by_the_fullest_of_its_groups(monkeypatch, count, neighbours):
    monkeypatch.setattr(arrays, "seconds_together", lambda _bench, jobs: [job() for _, job in jobs])
    monkeypatch.setattr(arrays, "Buffer", Taken([]))
    here = two_caches()
    team = Team(Bench(here), spread_out(here), 256 * MIB, huge=False)

    assert 0.9 < team.cached_bytes(count) * ARRAYS * neighbours / (16 * MIB / 2) <= 1


class Taken:
    """Stands in for the memory: notes its sizes."""

    def __init__(self, sizes):
        self.sizes = sizes

    def __call__(self, size_bytes, *, huge):
        self.sizes.append(size_bytes)
        return type("Nothing", (), {"words": np.zeros(1, dtype=np.uint64)})()


@in_one("cores", [1, 2, 16, 256])
def test_defaults_fit_machines_of_every_size(cores):
    here = machine(cores=cores, caches=(32 * KIB, MIB, 32 * MIB))
    params = stream.EXPERIMENT.suited(here)

    assert params.threads == cores
    assert stream.memory_bytes(params) <= 0.5 * 64 * GIB


# --- the loops ---------------------------------------------------------------------------------


@pytest.fixture
def three():
    return tuple(np.full(1000, value) for value in (2.0, 5.0, 0.0))


@pytest.mark.parametrize(
    ("loop", "result"), [("copy", 2.0), ("scale", 6.0), ("add", 7.0), ("triad", 17.0)]
)
def test_each_loop_computes_what_it_says(three, loop, result):
    getattr(streams, loop)(*three, 2)

    assert (three[2] == result).all()


def test_reading_sees_every_element(three):
    assert streams.read(*three, 1) == np.full(1000, 2.0).view(np.uint64).sum()


@in_one("loop", KERNELS)
def test_twice_the_laps_take_twice_the_time(loop):
    own = tuple(np.ones(10_000) for _ in range(ARRAYS))

    def took(laps):
        start = time.perf_counter()
        getattr(streams, loop)(*own, laps)
        return time.perf_counter() - start

    took(1)
    assert takes_twice_as_long(took, 500)


def test_a_chain_is_walked_on_under_each_load_so_that_no_cache_holds_what_comes(monkeypatch):
    stepped = []

    def walk(steps, place):
        stepped.append((place, steps))
        return place + steps

    class Alone:
        """A team of which only the walker works."""

        def __len__(self):
            return 2

        def share_bytes(self, _count):
            return KIB

        def arrays(self, _member, share_bytes):
            return (np.ones(share_bytes // 8),)

        def run(self, jobs):
            jobs[1]()

    monkeypatch.setattr(chains, "walk", walk)
    monkeypatch.setattr(chains, "link_random", lambda *_: 0)
    rows = [*measure_loaded(Alone(), 2, MIB, Bench(machine()), 2, 0.0)]

    assert len([row for row in rows if isinstance(row, Loaded)]) == 2 * len(LEVELS)
    ends = [place + steps for place, steps in stepped]
    assert [place for place, _ in stepped] == [0, *ends[:-1]]  # no line twice before the last one


def test_who_loads_the_memory_reads_all_of_its_array_before_it_begins_again(monkeypatch):
    read = []

    class OneReader:
        """A team whose reader stops after thrice its array."""

        def share_bytes(self, _count):
            return 16 * MIB

        def arrays(self, _member, share_bytes):
            return (np.ones(share_bytes // 8),)

        def run(self, jobs):
            if 0 in jobs:
                read.append([])
                over = jobs[0].args[0]
                monkeypatch.setattr(
                    streams,
                    "read_with_pauses",
                    lambda words, *_: (
                        read[-1].append((words.ctypes.data, words.nbytes)),
                        sum(n for _, n in read[-1]) < 48 * MIB or over.set(),
                    ),
                )
                jobs[0]()

    monkeypatch.setattr(chains, "link_random", lambda *_: 0)
    list(measure_loaded(OneReader(), 2, MIB, Bench(machine()), 1, 0.0))

    assert len(read) == len(LEVELS) - 1
    for places in read:
        laps = [place for place, _ in places].count(places[0][0])
        assert laps <= 4
        assert sum(size for _, size in {*places}) > 8 * MIB


def test_a_run_under_load_walks_through_more_than_every_cache(free_memory):
    free_memory(1000 * GIB)
    for here in (machine(), machine(cores=64, caches=(48 * KIB, 2 * MIB, 384 * MIB)), inspect()):
        full = stream.EXPERIMENT.suited(here)
        for params in (full, stream.EXPERIMENT.reduced(full)):
            cache_bytes = last_level_cache_bytes(here) or 0
            assert not params.loaded or params.array_bytes >= 4 * cache_bytes


def test_pauses_make_reading_slower():
    words = np.ones(64 * 512, dtype=np.uint64)

    def took(pause):
        start = time.perf_counter()
        streams.read_with_pauses(words, 512, pause)
        return time.perf_counter() - start

    took(0)
    assert min(took(2000) for _ in range(5)) > 5 * min(took(0) for _ in range(5))


# --- the lesson ----------------------------------------------------------------------------------


@in_one(
    ("line", "option"),
    [
        ({1: 1e10, 4: 1.05e10}, 0),
        ({1: 1e10, 2: 1.4e10}, 1),
        ({1: 1e10, 4: 3.5e10}, 1),
        ({1: 1e10, 4: 3.7e10}, 2),
        ({1: 1e10}, None),
    ],
)
def test_a_vote_is_held_against_what_all_threads_move_over_one(line, option):
    assert lesson.option_by_gain(lessons.made("adds_less", line=line)) == option


@pytest.mark.parametrize(
    ("line", "at"), [(lessons.FULL_AT_4, 4), (lessons.ONE, 1), ({1: 1e10, 2: 1.4e10}, 2)]
)
def test_the_first_number_of_threads_that_nearly_fills_the_memory_is_to_be_clicked(line, at):
    spot = lesson.nearly_full(lessons.made("adds_less", line=line))

    assert [threads for threads in line if spot.low <= threads <= spot.high] == [at]


def test_one_thread_leaves_the_channels_idle_as_much_as_it_moves_less():
    run = lessons.RUNS["full_before_all"]
    motion = lesson.motion(run, None)

    def busy_fraction(scene):
        held = [event for event in scene.events if isinstance(event, Hold)]
        return sum(each.end_s - each.start_s for each in held) / motion.duration_s

    one, every = motion.scenes
    assert busy_fraction(every) == pytest.approx(1.0)
    assert busy_fraction(one) == pytest.approx(1e10 / 3.2e10, abs=1 / 12)
    assert {event.along[-1] for event in every.events if isinstance(event, Travel)} == {
        "core0", "core1", "core2", "core3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("in_cache", "is_full"),
    [
        (lessons.IN_CACHE, True),  # each core gains there, and few of them in memory
        ({1: 2e10, 8: 6.4e10}, False),  # twice the data, yet the gain is that of memory
        ({}, False),
    ],
)
def test_more_data_from_a_cache_says_nothing_only_a_larger_gain_of_threads_does(in_cache, is_full):
    run = lessons.made("full_before_all", in_cache=in_cache)

    assert lesson.cores_could_more(run) is is_full


def test_a_single_fast_round_does_not_change_the_gain_of_threads():
    usual = lessons.made("full_before_all")
    fast = [replace(usual.tables["cached"][-1], repeat=n, bytes_per_s=1.6e11) for n in (1, 2)]
    fast.append(replace(fast[0], repeat=3, bytes_per_s=9e11))
    run = replace(usual, tables={**usual.tables, "cached": [*usual.tables["cached"], *fast]})

    assert lesson.numbers(run, None)["cached_most_over_one"] == pytest.approx(8)
