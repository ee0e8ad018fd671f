from __future__ import annotations

import re
import time

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.teaching.motion import Hold, Travel
from experiments.kernels.simd_sums import widest_bits
from experiments.memory.roofline import experiment as roofline
from experiments.memory.roofline import kernels as flops
from experiments.memory.roofline import lesson
from experiments.memory.roofline.arms import (
    MOVERS,
    READ,
    Peak,
    Point,
    Rate,
    bandwidths,
    plausible,
    with_rate,
)  # fmt: skip
from experiments.memory.roofline.experiment import Params, analyse
from experiments.memory.roofline.known_kernels import DEGREES, works
from experiments.tools.arrays import Team, spread_out
from machine.inspect import inspect
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import MIB, machine
from tests.experiments.memory import lessons_of_roofline as lessons

AGREED = {"peak_cpu_flop_per_s", "peak_cpu_bytes_per_s", "ridge_cpu_flop_per_byte"}

PARAMS = Params(array_bytes=128 * MIB, threads=4)
NOISE = (0.9, 1.1, 1.0)


def tables(*, peak=100e9, slope=20e9, triad=0.6, matmul=0.9, matmul_at=85.0, read=1.0):
    """Return rows whose triad and product reach these shares of the roof."""
    points = {("triad", 1 / 12): triad * slope / 12, ("matmul", matmul_at): matmul * peak}
    points["polynomial", 16.0] = 0.95 * peak
    peaks = {("fp64", 4): peak, ("fp64", 1): peak / 4, ("fp32", 4): 2 * peak, ("fp32", 1): peak / 2}
    timed = [
        Point(kernel=name, repeat=turn, flop_per_byte=x, flop_per_s=rate * factor)
        for (name, x), rate in points.items()
        for turn, factor in enumerate(NOISE)
    ]
    return {
        "points": [*timed, Point(kernel="roof", repeat=0, flop_per_byte=5.0, flop_per_s=peak)],
        "peaks": [
            Peak(precision=name, cores=cores, repeat=turn, flop_per_s=rate * factor)
            for (name, cores), rate in peaks.items()
            for turn, factor in enumerate(NOISE)
        ],
        "rates": [
            *(
                Rate(kernel=READ, repeat=turn, bytes_per_s=slope * factor * read)
                for turn, factor in enumerate(NOISE)
            ),
            *(row for point in timed for row in with_rate(point) if isinstance(row, Rate)),
        ],
    }


def test_the_ridge_is_where_slope_and_peak_meet():
    found = analyse(PARAMS, tables(), machine())

    assert found.message == "both_sides"
    assert found.values["peak_cpu_flop_per_s"] == 100e9
    assert found.values["peak_cpu_bytes_per_s"] == 20e9
    assert found.values["ridge_cpu_flop_per_byte"] == 5
    assert found.values["triad_roof_fraction"] == pytest.approx(0.6)
    assert found.values["matmul_roof_fraction"] == pytest.approx(0.9)
    assert found.values["all_cores_fp32_flop_per_s"] == 200e9
    assert found.values["one_core_fp64_flop_per_s"] == 25e9
    assert "above_the_roof" not in found.limits


def test_matrices_that_are_too_small_to_be_beyond_the_ridge_are_not_said_to_be():
    assert analyse(PARAMS, tables(matmul_at=2.0, matmul=0.3), machine()).message == (
        "all_on_the_slope"
    )


def test_no_loop_moves_data_faster_than_the_slope():
    found = analyse(PARAMS, tables(triad=1.2), machine())

    assert found.values["peak_cpu_bytes_per_s"] == pytest.approx(24e9)
    assert found.values["triad_roof_fraction"] == pytest.approx(1)
    assert "triad_is_the_slope" in found.limits
    assert "above_the_roof" not in found.limits


def test_one_lucky_measurement_raises_no_roof():
    measured = tables()
    once = Rate(kernel=READ, repeat=3, bytes_per_s=60e9)
    rates = [*measured["rates"], once]
    found = analyse(PARAMS, {**measured, "rates": rates}, machine())

    assert found.values["peak_cpu_bytes_per_s"] == pytest.approx(20e9, rel=0.05)


def test_a_run_that_was_stopped_says_why_it_has_no_roof():
    measured = tables()
    stopped = [point for point in measured["points"] if point.kernel != "roof"]

    assert "roof_not_drawn" not in analyse(PARAMS, measured, machine()).limits
    assert "roof_not_drawn" in analyse(PARAMS, {**measured, "points": stopped}, machine()).limits


def test_what_is_read_from_the_caches_again_and_again_raises_no_slope():
    found = analyse(PARAMS, tables(matmul_at=2.0, matmul=0.5), machine())

    assert found.values["peak_cpu_bytes_per_s"] == 20e9


def test_a_point_above_the_flat_part_is_suspect():
    assert "above_the_roof" in analyse(PARAMS, tables(matmul=1.2), machine()).limits
    assert "above_the_roof" not in analyse(PARAMS, tables(), machine()).limits


def test_what_is_read_before_writing_is_told_where_the_triad_lies_below_the_roof():
    below, near = (analyse(PARAMS, tables(triad=share), machine()) for share in (0.7, 0.97))

    assert "write_allocate_not_counted" in below.limits
    assert "write_allocate_not_counted" not in near.limits


def test_a_triad_that_is_held_against_itself_is_said_to_be():
    limits = analyse(PARAMS, tables(triad=0.7, read=0.6), machine()).limits

    assert "triad_is_the_slope" in limits
    assert "write_allocate_not_counted" not in limits
    assert "triad_is_the_slope" not in analyse(PARAMS, tables(), machine()).limits


def test_all_cores_that_make_less_than_one_are_said_to_draw_a_false_roof():
    measured = tables()
    false = [
        replace(peak, flop_per_s=97.6e9 if peak.cores == 1 else 82.8e9)
        for peak in measured["peaks"]
    ]

    assert "all_cores_below_one" in analyse(PARAMS, {**measured, "peaks": false}, machine()).limits
    assert "all_cores_below_one" not in analyse(PARAMS, measured, machine()).limits


def peak_of(cores, flop_per_s, precision="fp64"):
    return Peak(precision=precision, cores=cores, repeat=0, flop_per_s=flop_per_s)


@in_one(
    ("samples", "kept"),
    [
        ((150e9,), 150e9),
        ((96e9,), 96e9),  # two siblings on one core make about as much as one of them
        ((82.8e9, 190e9), 190e9),
        ((82.8e9, 70e9, 190e9), 190e9),
        ((82.8e9, 70e9, 81e9), 81e9),  # twice at most; then it is said
    ],
)
def test_all_cores_that_make_less_than_one_are_timed_again(samples, kept):
    left = list(samples)
    before = [peak_of(1, 97.6e9), peak_of(1, 300e9, "fp32"), peak_of(2, 300e9)]

    assert plausible(lambda: peak_of(2, left.pop(0)), before) == peak_of(2, kept)
    assert left == []


def test_one_core_and_a_first_sample_are_taken_as_they_are():
    assert plausible(lambda: peak_of(1, 1e9), [peak_of(1, 97.6e9)]) == peak_of(1, 1e9)
    assert plausible(lambda: peak_of(2, 1e9), [peak_of(2, 97.6e9)]) == peak_of(2, 1e9)


def test_a_run_times_all_cores_again_where_they_make_less_than_one(monkeypatch):
    disturbed, taken = iter([False, True, True, False, False, False]), []

    def peaks(_team):
        def of_one(_steps):
            return 1.0

        def of_all(_steps):
            taken.append(3.0 if next(disturbed, False) else 0.5)
            return taken[-1]

        for cores, taken_s in ((1, of_one), (2, of_all)):
            yield (
                taken_s,
                1,
                lambda repeat, rate, cores=cores: replace(
                    peak_of(cores, rate * 1e9), repeat=repeat
                ),
            )

    none = lambda *_: iter(())  # noqa: E731
    monkeypatch.setattr(roofline, "peaks", peaks)
    monkeypatch.setattr(roofline, "rates", none)
    monkeypatch.setattr(roofline, "points", none)
    monkeypatch.setattr(roofline, "batch", lambda *_, **__: 1)
    monkeypatch.setattr(roofline, "_roof", none)
    monkeypatch.setattr(roofline, "Team", lambda _bench, threads, *_, **__: threads)
    params = Params(array_bytes=8 * MIB, threads=2, rounds=4)
    rows = [r for r in roofline.measure(params, Bench(machine())) if isinstance(r, Peak)]

    assert 3.0 in taken
    assert {row.flop_per_s for row in rows if row.cores == 2} == {2e9}
    assert len(rows) == 8


@pytest.mark.parametrize("missing", ["points", "peaks", "rates"])
def test_a_roof_in_part_is_called_so(missing):
    found = analyse(PARAMS, {**tables(), missing: []}, machine())

    assert found.message == "roof_in_part"


def test_before_all_cores_were_timed_there_is_no_peak_and_no_ridge():
    measured = tables()
    measured["peaks"] = [peak for peak in measured["peaks"] if peak.cores == 1]
    found = analyse(PARAMS, measured, machine())

    assert found.message == "roof_in_part"
    assert "one_core_fp64_flop_per_s" in found.values
    assert not {
        "all_cores_fp64_flop_per_s", "peak_cpu_flop_per_s", "ridge_cpu_flop_per_byte"
    } & found.values.keys()  # fmt: skip


def test_arrays_that_the_caches_help_with_are_named():
    assert "partly_in_cache" not in analyse(PARAMS, tables(), machine()).limits
    small = replace(PARAMS, array_bytes=127 * MIB)
    assert "partly_in_cache" in analyse(small, tables(), machine()).limits
    assert "partly_in_cache" in analyse(PARAMS, tables(), Machine()).limits


def test_the_limit_of_the_memory_modules_is_told():
    found = analyse(PARAMS, tables(), machine(peak_bytes_per_s=38.4e9))

    assert found.values["memory_limit_bytes_per_s"] == 38.4e9


def test_a_small_run_ends_with_the_roof_over_its_points(small_run):
    run = small_run("roofline").tables()
    roof = [row for row in run["points"] if row.kernel == "roof"]
    others = [row for row in run["points"] if row.kernel != "roof"]

    assert len(roof) == 3
    assert roof == sorted(roof, key=lambda row: row.flop_per_byte)
    assert roof[0].flop_per_byte < min(row.flop_per_byte for row in others)
    assert roof[-1].flop_per_byte > max(row.flop_per_byte for row in others)
    assert roof[1].flop_per_s == pytest.approx(roof[2].flop_per_s)
    slope = roof[1].flop_per_s / roof[1].flop_per_byte
    assert slope == pytest.approx(max(bandwidths(run["rates"]).values()))
    assert {row.kernel for row in run["rates"]} == {READ, *MOVERS}


# --- the kernels --------------------------------------------------------------------------------


def assembly(kernel) -> str:
    """Compile a fresh copy (one from the disk cache has no assembly) and return what it became."""
    from numba import njit

    copy = njit(kernel.signatures, nogil=True)(kernel.py_func)
    (text,) = copy.inspect_asm().values()
    return text


def check_doubles(call, small, large):
    """Does twice the work take twice the time of the processor? A busy machine gets some tries."""

    def least_s(count):
        taken = []
        for _ in range(7):
            start_s = time.thread_time()
            call(count)
            taken.append(time.thread_time() - start_s)
        return min(taken)

    for _ in range(5):
        ratio = least_s(large) / least_s(small)
        if 0.7 * large / small < ratio < 1.4 * large / small:
            return
    pytest.fail(f"twice the work took {ratio:.2f} times as long")


@pytest.mark.parametrize("bits", [32, 64])
def test_the_multiply_adds_are_all_made_and_as_vectors(bits):
    width = widest_bits()
    spin = flops.spin(bits, width)
    lanes, many, steps = width // bits, flops.chains(width), 5

    wanted = 0.0
    for chain in range(many):
        x = 1.0 + 0.5 * chain
        for _ in range(steps):
            x = x * 0.5 + 1.0
        wanted += x * lanes
    assert spin(1.0, 0.5, steps) == pytest.approx(wanted, rel=1e-5)
    assert flops.spin_flop(bits, width, steps) == 2 * many * lanes * steps
    if flops.has_multiply_add() and not flops.IS_ARM:
        register = {128: "xmm", 256: "ymm", 512: "zmm"}[width]
        packed = re.findall(rf"vfmadd\w+p[sd]\s.*%{register}", assembly(spin))
        assert len(packed) >= many
    check_doubles(lambda count: spin(1.0, 0.5, count), 100_000, 200_000)


def test_without_multiply_add_it_is_two_instructions(monkeypatch):
    spin = flops.spin(64, 128)  # what is kept on disk is with it
    monkeypatch.setattr(flops, "has_multiply_add", lambda: False)
    text = assembly(spin)

    assert "fma" not in text
    assert "mulpd" in text or "fmul" in text


@in_one("degree", DEGREES)
def test_a_polynomial_is_that_polynomial(degree):
    points = np.random.default_rng(1).random(2048)
    total = flops.polynomial(degree, widest_bits())(points, 3)

    coefficients = [flops.WEIGHT] * (degree + 1)
    wanted = 3 * flops.WEIGHT * np.polyval(coefficients, points).sum()
    assert total == pytest.approx(wanted, rel=1e-9)


def test_the_scalar_product_and_the_mean_of_neighbours_are_right():
    numbers = np.random.default_rng(2)
    a, b = numbers.random(1000), numbers.random(1000)
    assert flops.dot(a, b, 2) == pytest.approx(2 * float(a @ b))

    grid, result = numbers.random((8, 16)), np.zeros((8, 16))
    flops.stencil(grid, result, 1)
    around = grid[1:-1, 1:-1] + grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
    assert np.allclose(result[1:-1, 1:-1], around / 5)
    assert not result[0].any()
    assert not result[:, 0].any()


def test_every_work_counts_its_operations_and_bytes():
    here = inspect()
    team = Team(Bench(here), spread_out(here)[:1], 8 * MIB, huge=False)
    found = {work.kernel: work for work in works(team, 0, (4,))}
    size = 8 * MIB // 8

    assert found["triad"].flop_per_byte == 1 / 12
    assert found["dot"].flop_per_byte == 1 / 8
    assert found["stencil"].flop_per_byte == pytest.approx(5 / 16, rel=0.02)
    assert found["polynomial"].flop_per_byte == 10 / 8
    rows = 1024
    assert found["matmul"].flop == 2 * rows**3
    assert found["matmul"].moved_bytes == 24 * rows**2
    assert found["dot"].moved_bytes == 16 * size


@in_one("kernel", ["triad", "dot", "stencil", "polynomial"])
def test_twice_the_laps_take_twice_as_long(kernel):
    here = inspect()
    team = Team(Bench(here), spread_out(here)[:1], 8 * MIB, huge=False)
    work = next(work for work in works(team, 0, (16,)) if work.kernel == kernel)
    work.laps(1)

    check_doubles(work.laps, 4, 8)


# --- the lesson ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("ridge", "option"), [(5.0, 1), (0.05, 0), (None, None)])
def test_the_side_of_the_triad_is_that_of_its_place_before_the_ridge(ridge, option):
    run = lessons.made("both_sides")
    kept = {key: value for key, value in run.values.items() if not key.startswith("ridge")}
    ridges = {} if ridge is None else {"ridge_cpu_flop_per_byte": ridge}

    assert lesson.side_of_the_triad(replace(run, values=kept | ridges)) == option


def test_the_loop_with_the_least_work_for_each_byte_is_to_be_clicked():
    assert lesson.lowest_on_the_slope(lessons.made("both_sides")).names == ("triad",)


def test_pieces_come_at_the_slope_and_are_computed_at_the_flat_part():
    triad, beyond = lesson.motion(lessons.made("both_sides"), None).scenes

    def lengths(scene, kind):
        return [each.end_s - each.start_s for each in scene.events if isinstance(each, kind)]

    comes_s, piece = 24 / lessons.SLOPE, 24 / lessons.PEAK
    assert lengths(triad, Travel) == pytest.approx([comes_s] * len(lengths(triad, Travel)))
    assert lengths(triad, Hold)[0] == pytest.approx(piece * lessons.TRIAD_AT)
    assert lengths(beyond, Hold)[:6] == pytest.approx([piece * 16] * 6)  # past twice the ridge
    assert len(lengths(triad, Travel)) > 2 * len(lengths(beyond, Travel))
