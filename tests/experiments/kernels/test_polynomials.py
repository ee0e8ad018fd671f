from __future__ import annotations

import re

import numpy as np
import pytest

from experiments.kernels import polynomials as module
from experiments.kernels.polynomials import DEGREE, FLOP, NUMBERS, numbers, polynomials
from tests.experiments.kernel_checks import check_kept, check_twice_takes_twice, kernels_of


@pytest.mark.parametrize("laps", [0, 1, 3])
def test_each_lap_adds_a_polynomial_of_every_number(laps):
    points = numbers()
    wanted = laps * 0.5 * sum(np.polyval([0.5] * (DEGREE + 1), points))

    assert polynomials(points, laps) == pytest.approx(wanted, rel=1e-9)


def test_the_operations_are_those_that_are_counted():
    assert FLOP == NUMBERS * 2 * (DEGREE + 1)
    assert numbers().nbytes <= 16 * 1024


def test_no_lap_is_left_out_and_the_loop_is_kept_on_disk():
    points = numbers()
    polynomials(points, 1)

    check_twice_takes_twice(lambda laps: polynomials(points, laps), 2_000)
    check_kept(kernels_of(module))


def test_several_numbers_are_computed_by_one_instruction():
    from numba import njit

    loose = polynomials.targetoptions["fastmath"]
    copy = njit(polynomials.signatures, nogil=True, fastmath=loose)(polynomials.py_func)
    (text,) = copy.inspect_asm().values()
    assert re.search(r"v?mulpd|vfmadd\d+pd|fmla", text)
