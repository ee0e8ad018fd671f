from __future__ import annotations

from experiments.core import declare
from experiments.core.declare import param
from experiments.core.sizes import fits, shrink


class Params(declare.Params):
    rounds: int = param(9, minimum=1, maximum=50)
    batch: int = param(32, minimum=1, maximum=1024, scale="log2")
    cells: int = param(1000, minimum=64, maximum=10_000)
    sample_s: float = param(0.2, minimum=0.01, maximum=1.0)


def seconds(params):
    return 1.0 + params.rounds * params.batch * params.cells * params.sample_s


def test_what_is_short_enough_stays():
    assert shrink(Params(), seconds, 1e9, rounds=3, batch=1) == Params()


def test_fields_are_cut_in_the_order_given_each_to_its_least():
    assert shrink(Params(), seconds, 0.5 * seconds(Params()), rounds=3, batch=1) == Params(rounds=4)
    assert shrink(Params(), seconds, 10_000, rounds=3, batch=1) == Params(rounds=3, batch=16)
    assert shrink(Params(), seconds, 0, rounds=3, batch=1) == Params(rounds=3, batch=1)


def test_sizes_are_halved():
    assert shrink(Params(), seconds, 0.3 * seconds(Params()), cells=64) == Params(cells=250)


def test_a_time_is_cut_to_what_is_left():
    found = shrink(Params(), seconds, 28_801, sample_s=0.01)

    assert found == Params(sample_s=0.1)
    assert shrink(Params(), seconds, 1, sample_s=0.01) == Params(sample_s=0.01)


def test_a_size_fits_a_share_of_the_free_memory(free_memory):
    free_memory(1000)
    assert fits(400, 0.5) == 400
    assert fits(600, 0.5) == 500

    free_memory(None)
    assert fits(600, 0.5) == 600
