from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.shelves import homes
from experiments.core.teaching.lesson_run import Guess
from experiments.core.teaching.lessons import taught
from experiments.core.teaching.motion import Count, Pointed, Travel
from experiments.memory.cache_ladder import experiment as cache_ladder
from experiments.memory.cache_ladder.experiment import (
    HUGE,
    IN_A_ROW,
    RANDOM,
    Params,
    Step,
    analyse,
    measure,
    sizes,
)
from experiments.memory.cache_ladder.lesson import largest_step
from experiments.tools.buffers import Buffer
from experiments.tools.core_clock import Clock
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.memory.lessons_of_cache_ladder import RUNS

AGREED = {
    "l1_latency_s", "l2_latency_s", "l3_latency_s", "memory_latency_s", "memory_over_l1",
    "memory_huge_latency_s", "translation_fraction",
}  # fmt: skip
AGREED_COLUMNS = {"steps": {"size_bytes", "order", "latency_s"}}

PARAMS = Params(largest_bytes=256 * MIB)


def latency(size: int) -> float:
    """A ladder as a textbook draws it, and a little longer with each size."""
    step = (
        1e-9 if size <= 32 * KIB else 4e-9 if size <= MIB else 12e-9 if size <= 32 * MIB else 9e-8
    )
    return step * (1 + size / GIB)


def tables(*, largest=256 * MIB, rounds=2, orders=(RANDOM, IN_A_ROW), only=lambda size: True):
    return {
        "steps": [
            Step(
                size_bytes=size,
                order=order,
                repeat=repeat,
                latency_s=(latency(size) if order == RANDOM else 1e-9) * (1 + repeat),
            )
            for repeat in range(rounds)
            for size in sizes(Params(largest_bytes=largest))
            for order in orders
            if only(size)
        ]
    }


def test_the_ladder_is_climbed_from_the_first_cache_to_memory():
    found = analyse(PARAMS, tables(), machine())

    assert found.message == "ladder_climbed"
    assert found.values["memory_over_l1"] == pytest.approx(
        found.values["memory_latency_s"] / found.values["l1_latency_s"]
    )
    assert found.values["in_a_row_latency_s"] == pytest.approx(1e-9)
    assert {name: found.values[f"{name}_bytes"] for name in ("l1", "l2", "l3")} == {
        "l1": 32 * KIB,
        "l2": MIB,
        "l3": 32 * MIB,
    }


def test_latencies_are_read_in_cycles_of_the_clock_of_most_rounds():
    clocks = [Clock(repeat=turn, core_hz=hz) for turn, hz in enumerate((4e9, 5e9, 1e9))]
    found = analyse(PARAMS, tables() | {"clocks": clocks}, machine())

    assert found.message == "ladder_climbed_in_cycles"
    assert found.values["core_hz"] == 4e9
    for level in ("l1", "l2", "l3", "memory"):
        latency_s = found.values[f"{level}_latency_s"]
        assert found.values[f"{level}_latency_cycles"] == pytest.approx(latency_s * 4e9)
    assert "no_clock" not in found.limits


def test_a_level_that_was_not_measured_has_no_cycles():
    small = tables(only=lambda size: size <= 16 * KIB) | {"clocks": [Clock(repeat=0, core_hz=4e9)]}
    cycles = [n for n in analyse(PARAMS, small, machine()).values if n.endswith("_cycles")]

    assert cycles == ["l1_latency_cycles"]


def test_without_a_clock_there_are_no_cycles_and_it_is_said():
    found = analyse(PARAMS, tables(), machine())

    assert not [name for name in found.values if name.endswith("_cycles")]
    assert "no_clock" in found.limits


def test_a_level_passes_over_a_peak_and_the_peak_is_told():
    disturbed = tables()
    disturbed["steps"] = [
        replace(step, latency_s=1e-6) if step.size_bytes == 16 * MIB else step
        for step in disturbed["steps"]
    ]
    found = analyse(PARAMS, disturbed, machine())
    next_bytes = min(s.size_bytes for s in disturbed["steps"] if s.size_bytes > 16 * MIB)

    assert found.values["l3_latency_s"] == latency(next_bytes)
    assert "spike" in found.limits


def test_a_peak_between_the_levels_is_said_to_be_somebody_else():
    ordered = sorted({step.size_bytes for step in tables()["steps"]})
    peak = next(size for size in ordered if size > 16 * MIB)
    disturbed = tables()
    disturbed["steps"] = [
        replace(step, latency_s=1e-6) if step.size_bytes == peak else step
        for step in disturbed["steps"]
    ]

    assert "spike" not in analyse(PARAMS, tables(), machine()).limits
    assert "spike" in analyse(PARAMS, disturbed, machine()).limits


@pytest.mark.parametrize(("level", "size"), [("l1", 16 * KIB), ("l2", 512 * KIB), ("l3", 16 * MIB)])
def test_a_level_is_read_off_at_half_of_it(level, size):
    found = analyse(PARAMS, tables(), machine())

    assert found.values[f"{level}_latency_s"] == latency(size)


def test_a_level_is_read_off_at_the_largest_size_below_half_where_half_was_not_measured():
    odd = tables(only=lambda size: size not in (16 * KIB, 512 * KIB))
    found = analyse(PARAMS, odd, machine())

    below = [size for size in sizes(PARAMS) if size < 16 * KIB]
    assert found.values["l1_latency_s"] == latency(max(below))


def test_the_best_repeat_counts():
    rows = tables()
    rows["steps"].append(Step(size_bytes=16 * KIB, order=RANDOM, repeat=9, latency_s=5e-10))
    rows["steps"].append(Step(size_bytes=16 * KIB, order=RANDOM, repeat=9, latency_s=5e-3))

    assert analyse(PARAMS, rows, machine()).values["l1_latency_s"] == 5e-10


def test_memory_is_the_largest_size():
    found = analyse(PARAMS, tables(), machine())

    assert found.values["memory_latency_s"] == latency(max(sizes(PARAMS)))


@pytest.mark.parametrize(("largest", "is_told"), [(64 * MIB, False), (128 * MIB, True)])
def test_memory_is_at_least_four_last_caches(largest, is_told):
    found = analyse(PARAMS, tables(largest=largest), machine())

    assert ("memory_latency_s" in found.values) is is_told
    assert ("no_memory_latency" in found.limits) is not is_told
    assert found.message == ("ladder_climbed" if is_told else "ladder_in_part")


def test_a_sweep_that_ends_early_tells_what_it_reached():
    found = analyse(PARAMS, tables(largest=MIB), machine())

    assert {"l1_latency_s", "l2_latency_s"} <= found.values.keys()
    assert not {"l3_latency_s", "memory_latency_s", "memory_over_l1"} & found.values.keys()
    assert {"no_l3_latency", "no_memory_latency"} <= set(found.limits)


def test_a_level_is_not_read_off_within_the_one_before():
    small_l2 = machine(caches=(32 * KIB, 48 * KIB, 32 * MIB))

    found = analyse(PARAMS, tables(), small_l2)

    assert "l2_latency_s" not in found.values
    assert "no_l2_latency" in found.limits


def test_a_cache_that_nobody_knows_is_named_and_has_no_value():
    found = analyse(PARAMS, tables(), machine(caches=(32 * KIB, None, None)))

    assert {"no_l2_cache_known", "no_l3_cache_known"} <= set(found.limits)
    assert not {"l2_latency_s", "l3_latency_s", "l2_bytes"} & found.values.keys()
    assert found.message == "ladder_climbed"  # 256 MiB are memory on any machine


def test_on_a_machine_of_which_nothing_is_known_memory_is_still_told():
    found = analyse(PARAMS, tables(), Machine())

    assert found.message == "memory_alone"
    assert "memory_latency_s" in found.values
    assert {f"no_l{level}_cache_known" for level in (1, 2, 3)} <= set(found.limits)


def test_reads_in_a_row_are_told_of_the_largest_size_only():
    params = Params(largest_bytes=256 * MIB, points_per_octave=2, rounds=3)
    rows = [
        Step(size_bytes=size, order=order, repeat=0, latency_s=1e-9)
        for size in sizes(params)
        for order in (RANDOM, IN_A_ROW)
    ]

    whole = analyse(params, {"steps": rows, "clocks": []}, machine())
    early = analyse(params, {"steps": rows[:-2], "clocks": []}, machine())

    assert whole.values["in_a_row_latency_s"] == 1e-9
    assert "in_a_row_latency_s" not in early.values


def test_a_chain_in_a_row_alone_is_no_ladder():
    found = analyse(PARAMS, tables(orders=(IN_A_ROW,)), machine())

    assert found.message == "nothing_read_off"
    assert not any(name.endswith("latency_s") for name in found.values)


def with_huge(huge_s, rounds=6, noise=(1.0, 1.02, 0.99, 1.01, 1.0, 0.98)):
    rows = tables()
    largest = max(step.size_bytes for step in rows["steps"])
    rows["steps"] = [step for step in rows["steps"] if step.size_bytes < largest]
    rows["steps"] += [
        Step(size_bytes=largest, order=order, repeat=turn, latency_s=latency_s * factor)
        for turn, factor in enumerate(noise[:rounds])
        for order, latency_s in ((RANDOM, 100e-9), (HUGE, huge_s))
    ]
    return rows


def test_what_looking_small_pages_up_costs_is_told_beside_the_latency_through_small_pages():
    found = analyse(PARAMS, with_huge(72e-9), machine())

    assert found.values["memory_latency_s"] == pytest.approx(98e-9)
    assert found.values["memory_huge_latency_s"] == pytest.approx(0.98 * 72e-9)
    assert found.values["translation_fraction"] == pytest.approx(0.28)
    assert "pages_take_a_share" in found.limits
    assert found.unclear == ()


def test_pages_that_cost_nothing_are_said_to_cost_nothing():
    found = analyse(PARAMS, with_huge(99e-9), machine())

    assert "pages_cost_nothing" in found.limits
    assert "pages_take_a_share" not in found.limits
    assert found.unclear == ()


def test_of_noise_no_share_of_the_pages_is_told():
    noisy = with_huge(72e-9)
    noisy["steps"] = [
        replace(step, latency_s=step.latency_s * (1, 3, 0.3, 2, 0.5, 4)[step.repeat])
        if step.order == HUGE
        else step
        for step in noisy["steps"]
    ]
    for rows in (noisy, with_huge(72e-9, rounds=2)):
        found = analyse(PARAMS, rows, machine())

        assert found.unclear == ("translation_fraction",)
        assert not {"pages_take_a_share", "pages_cost_nothing"} & {*found.limits}


def test_where_huge_pages_were_not_had_or_not_wanted_that_is_said():
    without = replace(PARAMS, huge_pages=False)

    assert "no_huge_latency" in analyse(PARAMS, tables(), machine()).limits
    assert "page_translation_included" in analyse(without, tables(), machine()).limits
    for key in ("no_huge_latency", "page_translation_included"):
        assert key not in analyse(PARAMS, with_huge(72e-9), machine()).limits


@pytest.mark.parametrize(("given", "orders"), [(1.0, 3), (0.5, 2), (None, 2)])
def test_a_line_is_named_after_huge_pages_only_where_the_system_gave_them(
    given, orders, monkeypatch
):
    monkeypatch.setattr(cache_ladder, "huge_pages_fraction", lambda _buffer: given)
    monkeypatch.setattr(cache_ladder, "step_s", lambda *_, **__: 1e-9)
    params = Params(largest_bytes=8 * MIB, rounds=7)
    steps = [r for r in measure(params, Bench(machine())) if isinstance(r, Step)]

    assert len({step.order for step in steps}) == orders
    assert {s.size_bytes for s in steps if s.order == HUGE} <= {2 * MIB, 4 * MIB, 8 * MIB}
    # For the comparison of the pages the largest size is walked in every round.
    for order in {step.order for step in steps}:
        ours = [step for step in steps if step.order == order]
        assert [s.repeat for s in ours if s.size_bytes == 8 * MIB] == [*range(7)]
        assert {s.repeat for s in ours if s.size_bytes < 8 * MIB} == {0, 5}


def test_the_second_line_walks_through_huge_pages_and_the_others_do_not(monkeypatch):
    walked = {}

    def step_s(buffer, size_bytes, bench, *, turn, at_random):
        walked.setdefault(id(buffer), (buffer, set()))[1].add(at_random)
        return 1e-9

    def buffer(size_bytes, *, huge=False):
        made = Buffer(size_bytes, huge=huge)
        made.is_huge = huge
        return made

    monkeypatch.setattr(cache_ladder, "Buffer", buffer)
    monkeypatch.setattr(cache_ladder, "huge_pages_fraction", lambda _buffer: 1.0)
    monkeypatch.setattr(cache_ladder, "step_s", step_s)
    list(measure(Params(largest_bytes=4 * MIB, rounds=1), Bench(machine())))

    by_pages = {made.is_huge: orders for made, orders in walked.values()}
    assert by_pages == {True: {True}, False: {True, False}}


def test_the_sizes_are_whole_lines_that_double_evenly():
    ladder = sizes(Params(largest_bytes=64 * MIB, points_per_octave=4))

    assert ladder[0] == 4 * KIB
    assert ladder[-1] == 64 * MIB
    assert all(size % 64 == 0 for size in ladder)
    assert ladder == sorted(set(ladder))
    assert [size for size in ladder if size & (size - 1) == 0] == [
        2**bits for bits in range(12, 27)
    ]


@in_one("points", [1, 4, 16])
@in_one("largest", [MIB, MIB + 1, 3 * MIB, 100 * MIB, 4 * 480 * MIB])
def test_the_last_size_is_the_largest_asked_for(largest, points):
    ladder = sizes(Params(largest_bytes=largest, points_per_octave=points))

    assert ladder[-1] == largest // 64 * 64
    assert ladder[-2] < 0.991 * ladder[-1]


def test_the_default_reaches_memory_within_half_of_what_is_free(free_memory):
    free_memory(100 * GIB)
    assert cache_ladder.EXPERIMENT.suited(machine()).largest_bytes == 256 * MIB
    large = machine(caches=(32 * KIB, MIB, 384 * MIB))
    assert cache_ladder.EXPERIMENT.suited(large).largest_bytes == 4 * 384 * MIB

    free_memory(GIB)
    small_and_huge = cache_ladder.EXPERIMENT.suited(large)
    assert small_and_huge.largest_bytes == GIB // 4  # for each kind of pages
    free_memory(KIB)
    assert cache_ladder.EXPERIMENT.suited(machine()).largest_bytes == MIB
    free_memory(None)
    assert cache_ladder.EXPERIMENT.suited(Machine()).largest_bytes == 256 * MIB


def seen(latency_of, here, without=None):
    rows = [
        Step(size_bytes=size, order=RANDOM, repeat=0, latency_s=latency_of(size))
        for size in sizes(PARAMS)
        if size != without
    ]
    return analyse(PARAMS, {"steps": rows}, here)


def small_part(size):
    """Of 32 MiB that are reported, 3 MiB can be had."""
    return latency(size) if size <= 3 * MIB else 9e-8 * (0.6 if size < 64 * MIB else 1)


def with_slow_pages(size):
    """As small_part; in much memory, looking pages up takes more time than the memory itself."""
    return small_part(size) if size < 128 * MIB else 25e-8


def with_a_lucky_size(size):
    """As small_part; at one size far beyond, the cache is free for a moment."""
    return latency(size) if size == 8 * MIB else small_part(size)


def slow_throughout(size):
    return latency(size) if size <= MIB else 8e-8 if size <= 32 * MIB else 9e-8


@in_one("latency_of", [small_part, with_slow_pages, with_a_lucky_size])
@in_one("here", [machine(virtualization="kvm"), replace(machine(), container="docker")])
def test_a_guest_that_gets_a_part_of_the_cache_is_told_so(here, latency_of):
    found = seen(latency_of, here)

    assert "part_of_l3" in found.limits
    assert found.values["l3_seen_bytes"] == max(s for s in sizes(PARAMS) if s <= 3 * MIB)
    assert found.values["l3_latency_s"] == latency(max(s for s in sizes(PARAMS) if s <= 1.5 * MIB))
    assert latency_of(int(found.values["l3_read_bytes"])) == found.values["l3_latency_s"]


def test_where_a_part_of_the_cache_ends_is_told_once_the_next_size_is_measured():
    after = min(size for size in sizes(PARAMS) if size > 3 * MIB)
    found = seen(small_part, machine(virtualization="kvm"), without=after)

    assert "end_of_l3_unknown" in found.limits
    assert "part_of_l3" not in found.limits
    assert not {"l3_seen_bytes", "l3_read_bytes", "l3_latency_s"} & found.values.keys()
    assert "l2_latency_s" in found.values


def test_the_part_of_a_cache_ends_where_reads_slow_down():
    def climbing(size):
        return 1.6 * latency(2 * MIB) if 3 * MIB < size <= 4 * MIB else small_part(size)

    found = seen(climbing, machine(virtualization="kvm"))

    assert small_part(64 * MIB) > 2 * climbing(4 * MIB)
    assert found.values["l3_seen_bytes"] == max(s for s in sizes(PARAMS) if s <= 3 * MIB)


@pytest.mark.parametrize("latency_of", [latency, slow_throughout])
def test_a_whole_cache_and_one_that_is_slow_throughout_are_no_part_of_one(latency_of):
    found = seen(latency_of, machine(virtualization="kvm"))

    assert "part_of_l3" not in found.limits
    assert "l3_seen_bytes" not in found.values


def test_a_machine_of_its_own_is_not_said_to_share_its_cache():
    assert "part_of_l3" not in seen(small_part, machine()).limits


def test_without_memory_measured_no_part_of_the_cache_is_told():
    rows = tables(largest=64 * MIB)

    assert "part_of_l3" not in analyse(PARAMS, rows, machine(virtualization="kvm")).limits


@pytest.mark.parametrize(("far_s", "is_told"), [(0.9, False), (1.4, True)])
def test_a_curve_that_still_rises_at_its_end_is_told(far_s, is_told):
    def rises(size):
        return latency(size) * (far_s if size > 128 * MIB else 1)

    assert ("still_rising" in seen(rises, machine()).limits) is is_told


# --- its lesson -----------------------------------------------------------------------------------


def sketched(*heights):
    return Guess(kind="sketch", at=heights)


def test_a_sketch_is_held_against_what_was_measured_of_it():
    lesson = taught(Catalogue().load("cache-ladder"), homes()["cache-ladder"])
    small = RUNS["memory_not_reached"]

    assert lesson.right(small) == [1e-9, 4e-9, None, None, None]
    assert lesson.judge(sketched(1e-9, 4e-9, 4e-9, 1e-6, 1e-6), small).is_sharp
    assert not lesson.judge(sketched(1e-9, 5e-8, 1e-6, 1e-8, 1e-7), small).is_right
    assert lesson.judge(sketched(*[1e-9] * 5), replace(small, tables={"steps": []})) is None


def test_a_load_moves_as_far_as_it_takes_and_the_pointed_size_chooses_it():
    lesson = taught(Catalogue().load("cache-ladder"), homes()["cache-ladder"])
    run = RUNS["pages_take_a_share"]  # 1 ns to L1, 4 ns up to 1 MiB, 100 ns beyond
    moved = lesson.motion(run)
    near, far = (
        next(event for event in scene.events if isinstance(event, Travel)) for scene in moved.scenes
    )
    assert (near.end_s, far.end_s, moved.duration_s) == (1e-9, 1e-7, 1e-7)
    assert (near.along[-1], far.along[-1]) == ("l1", "memory")
    counts = [event.at(1e-7) for event in moved.events() if isinstance(event, Count)]
    assert counts == [100, 1]

    for size, end_s in ((16 * KIB, 1e-9), (MIB, 4e-9), (64 * MIB, 1e-7)):
        sent = lesson.motion(run, Pointed(view="ladder", name=RANDOM, at=float(size)))
        assert sent.duration_s == end_s
    assert lesson.motion(run, Pointed(view="ladder", name=IN_A_ROW, at=float(MIB))) is None
    assert lesson.motion(RUNS["memory_not_reached"]) is None


@in_one(
    ("caches", "last"),
    [
        ((32 * KIB, MIB, 32 * MIB), 256 * MIB),
        ((32 * KIB, MIB, 384 * MIB), 1536 * MIB),
        ((32 * KIB, 2 * MIB), 256 * MIB),
        ((), 256 * MIB),
    ],
)
def test_a_prediction_is_drawn_at_the_caches_of_this_machine_and_beyond_them_all(caches, last):
    lesson = taught(Catalogue().load("cache-ladder"), homes()["cache-ladder"])
    here = machine(caches=caches)
    found = lesson.predict_on(here).points

    assert len(found) == len(lesson.words.predict.points)  # a kept guess still has all its heights
    assert [*found] == sorted(found)
    assert [*found[: len(caches)]] == [size // 2 for size in caches]
    assert found[-1] >= 4 * max(caches, default=0)  # 256 MiB is no memory where the L3 is larger
    assert found[-1] == last


def test_the_step_to_be_clicked_is_the_largest_and_not_the_first():
    run = RUNS["pages_take_a_share"]  # 1, 4 and 100 ns
    spot = largest_step(run)

    assert spot.low < MIB < spot.high
    assert not spot.low < 32 * KIB < spot.high


def test_the_share_of_the_pages_is_that_of_the_two_times_beside_it():
    rows = with_huge(72e-9, noise=(1.0, 1.4, 1.5, 1.3, 1.4, 1.6))
    values = analyse(PARAMS, rows, machine()).values
    share = 1 - values["memory_huge_latency_s"] / values["memory_latency_s"]

    assert values["translation_fraction"] == pytest.approx(share)


def test_the_last_step_is_the_way_across_the_chip_and_not_the_row_alone():
    lesson = taught(Catalogue().load("cache-ladder"), homes()["cache-ladder"])
    why = lesson.words.explain.why_not_double

    assert "crosses the chip" in why
    assert not why.startswith("Why is memory not twice as fast? Opening a row")
