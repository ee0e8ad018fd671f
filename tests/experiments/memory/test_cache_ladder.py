from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.memory.cache_ladder import experiment as cache_ladder
from experiments.memory.cache_ladder.experiment import (
    IN_A_ROW,
    RANDOM,
    Params,
    Step,
    analyse,
    sizes,
)
from experiments.tools.core_clock import Clock
from machine.model import Machine
from tests.experiments.machines import GIB, KIB, MIB, machine

AGREED = {"l1_latency_s", "l2_latency_s", "l3_latency_s", "memory_latency_s", "memory_over_l1"}
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

    assert found.message == "ladder_in_part"
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

    assert found.message == "ladder_in_part"
    assert not any(name.endswith("latency_s") for name in found.values)


def test_small_pages_are_a_limit_and_huge_ones_are_not():
    huge = Params(largest_bytes=256 * MIB, huge_pages=True)

    assert "page_translation_included" in analyse(PARAMS, tables(), machine()).limits
    assert "page_translation_included" not in analyse(huge, tables(), machine()).limits


def test_the_sizes_are_whole_lines_that_double_evenly():
    ladder = sizes(Params(largest_bytes=64 * MIB, points_per_octave=4))

    assert ladder[0] == 4 * KIB
    assert ladder[-1] == 64 * MIB
    assert all(size % 64 == 0 for size in ladder)
    assert ladder == sorted(set(ladder))
    assert [size for size in ladder if size & (size - 1) == 0] == [
        2**bits for bits in range(12, 27)
    ]


@pytest.mark.parametrize("points", [1, 4, 16])
@pytest.mark.parametrize("largest", [MIB, MIB + 1, 3 * MIB, 100 * MIB, 4 * 480 * MIB])
def test_the_last_size_is_the_largest_asked_for(largest, points):
    ladder = sizes(Params(largest_bytes=largest, points_per_octave=points))

    assert ladder[-1] == largest // 64 * 64
    assert ladder[-2] < 0.991 * ladder[-1]


def test_the_default_reaches_memory_within_half_of_what_is_free(free_memory):
    free_memory(100 * GIB)
    assert cache_ladder.defaults(machine()).largest_bytes == 256 * MIB
    large = machine(caches=(32 * KIB, MIB, 384 * MIB))
    assert cache_ladder.defaults(large).largest_bytes == 4 * 384 * MIB

    free_memory(GIB)
    assert cache_ladder.defaults(large).largest_bytes == GIB // 2
    free_memory(KIB)
    assert cache_ladder.defaults(machine()).largest_bytes == MIB
    free_memory(None)
    assert cache_ladder.defaults(Machine()).largest_bytes == 256 * MIB


def seen(latency_of, here, without=None):
    rows = [
        Step(size_bytes=size, order=RANDOM, repeat=0, latency_s=latency_of(size))
        for size in sizes(PARAMS)
        if size != without
    ]
    return analyse(PARAMS, {"steps": rows}, here)


def small_part(size):
    """Of 32 MiB that are told, 3 MiB are had."""
    return latency(size) if size <= 3 * MIB else 9e-8 * (0.6 if size < 64 * MIB else 1)


def with_slow_pages(size):
    """As small_part; in much memory, looking pages up takes more time than the memory itself."""
    return small_part(size) if size < 128 * MIB else 25e-8


def with_a_lucky_size(size):
    """As small_part; at one size far beyond, somebody else left the cache alone for a moment."""
    return latency(size) if size == 8 * MIB else small_part(size)


def slow_throughout(size):
    return latency(size) if size <= MIB else 8e-8 if size <= 32 * MIB else 9e-8


@pytest.mark.parametrize("latency_of", [small_part, with_slow_pages, with_a_lucky_size])
@pytest.mark.parametrize(
    "here", [machine(virtualization="kvm"), replace(machine(), container="docker")]
)
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


@pytest.mark.parametrize(("huge", "told"), [(False, "still_rising"), (True, "still_rising_huge")])
def test_what_still_rises_is_put_on_the_pages_that_there_were(huge, told):
    rows = tables()
    largest = max(step.size_bytes for step in rows["steps"])
    rows["steps"] = [
        replace(step, latency_s=2 * step.latency_s) if step.size_bytes == largest else step
        for step in rows["steps"]
    ]
    found = analyse(replace(PARAMS, huge_pages=huge), rows, machine())

    assert {"still_rising", "still_rising_huge"} & {*found.limits} == {told}


@pytest.mark.parametrize(("far_s", "is_told"), [(0.9, False), (1.4, True)])
def test_a_curve_that_still_rises_at_its_end_is_told(far_s, is_told):
    def rises(size):
        return latency(size) * (far_s if size > 128 * MIB else 1)

    assert ("still_rising" in seen(rises, machine()).limits) is is_told
