"""What the lessons of this shelf hold a vote against, in runs made up."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.memory.cache_ladder import lesson as cache_ladder
from experiments.memory.cache_ladder.experiment import RANDOM, Params, Step
from experiments.memory.latency_numbers import lesson as latency_numbers
from tests.experiments.machines import GIB, KIB, MIB
from tests.experiments.memory import lessons_of_cache_ladder, lessons_of_latency_numbers


@pytest.mark.parametrize(
    ("ends", "option"),
    [
        ({4 * KIB: 1e-9, 256 * MIB: 1.1e-9}, 0),
        ({4 * KIB: 1e-9, MIB: 5e-9}, 1),
        ({4 * KIB: 1e-9, 256 * MIB: 1.3e-7}, 2),
        ({4 * KIB: 1e-9, 256 * MIB: 6.5e-5}, 3),  # as the data grew: 65,536 times
        ({4 * KIB: 1e-9, 256 * MIB: 2e-6}, None),  # far, yet by far not as the data grew
        ({4 * KIB: 1e-9}, None),
        ({}, None),
    ],
)
def test_a_vote_on_distance_is_judged_by_both_ends_of_the_line(ends, option):
    usual = lessons_of_cache_ladder.made("ladder_climbed", params=Params())
    steps = [
        Step(size_bytes=size, order=RANDOM, repeat=0, latency_s=took_s)
        for size, took_s in ends.items()
    ]
    run = replace(usual, tables={"steps": steps})

    assert cache_ladder.option_by_growth(run) == option


@pytest.mark.parametrize(
    ("process_s", "option"), [(1e-6, 0), (1e-5, 1), (1e-3, 2), (2e-2, 3), (None, None)]
)
def test_a_vote_on_a_process_is_judged_as_if_l1_took_a_second(process_s, option):
    values = {"l1_s": 1e-9} | ({} if process_s is None else {"process_s": process_s})
    run = lessons_of_latency_numbers.made("felt_in_seconds", values, memory_bytes=GIB)

    assert latency_numbers.option_by_process(run) == option
