"""Comparisons seldom raise a false alarm, and find what is there: simulated."""

from __future__ import annotations

import math
import random

import pytest

from experiments.core.judging.comparing import Outcome, family, paired, unpaired
from tests.cases import in_one

RUNS = 1000
NOISE = 0.05
AT_MOST = 0.02  # of comparisons, for a level of 0.01


def normal(chance: random.Random, _: float) -> float:
    return 1 + chance.gauss(0, NOISE)


def log_normal(chance: random.Random, _: float) -> float:
    return math.exp(chance.gauss(0, NOISE))


def spikes(chance: random.Random, _: float) -> float:
    longer = chance.expovariate(1 / 0.4) if chance.random() < 0.15 else 0.0
    return normal(chance, 0) * (1 + longer)


def drift(chance: random.Random, done: float) -> float:
    return normal(chance, 0) * (1 + 0.3 * done)


NOISES = [normal, log_normal, spikes, drift]


def samples(noise, chance, rounds, times=1.0) -> list[float]:
    return [times * noise(chance, round_ / rounds) for round_ in range(rounds)]


def share(outcome, noise, rounds, times=1.0, compare=paired):
    """Return how often that comes out, where one way takes `times` as long as the other."""
    chance = random.Random(rounds)
    found = (
        compare(samples(noise, chance, rounds, times), samples(noise, chance, rounds)).outcome
        for _ in range(RUNS)
    )
    return sum(each is outcome for each in found) / RUNS


@in_one("rounds", [3, 4, 5, 6, 7])
def test_few_rounds_have_the_interval_of_student(rounds):
    from scipy import stats  # a second of every process that collects the tests

    chance = random.Random(rounds)
    for level in (0.01, 0.001):
        ones, others = samples(normal, chance, rounds, 1.05), samples(normal, chance, rounds)
        logs = [math.log(one / other) for one, other in zip(ones, others, strict=True)]
        wanted = stats.ttest_1samp(logs, 0).confidence_interval(1 - level)

        found = paired(ones, others, level=level)
        assert (found.low, found.high) == pytest.approx(
            (math.exp(wanted.low), math.exp(wanted.high)), rel=1e-6
        )


@pytest.mark.parametrize("compare", [paired, unpaired])
@pytest.mark.parametrize("rounds", [3, 5, 8, 13])
@pytest.mark.parametrize("noise", NOISES)
def test_what_is_the_same_is_seldom_said_to_differ(noise, rounds, compare):
    assert share(Outcome.DIFFERS, noise, rounds, compare=compare) <= AT_MOST


@pytest.mark.parametrize("noise", [normal, log_normal, drift])
def test_a_difference_of_a_tenth_is_found_from_ten_rounds_on(noise):
    assert share(Outcome.DIFFERS, noise, 10, times=1.1) >= 0.7
    assert share(Outcome.DIFFERS, noise, 13, times=1.1) >= 0.85


def test_spikes_hide_a_difference_until_there_are_many_rounds():
    assert share(Outcome.DIFFERS, spikes, 21, times=1.1) >= 0.6


@in_one("rounds", [4, 5])
@in_one("noise", NOISES)
def test_a_quick_run_finds_what_is_large(noise, rounds):
    assert share(Outcome.DIFFERS, noise, rounds, times=4.0) >= 0.95


@pytest.mark.parametrize("rounds", [5, 8, 13])
def test_many_comparisons_together_raise_a_false_alarm_as_seldom_as_one(rounds):
    chance = random.Random(rounds)
    alarms = 0
    for _ in range(RUNS // 4):
        base, *ways = (samples(normal, chance, rounds) for _ in range(11))
        found = family({place: (way, base) for place, way in enumerate(ways)})
        alarms += any(each.outcome is Outcome.DIFFERS for each in found.values())
    assert alarms / (RUNS // 4) <= 2 * AT_MOST  # of so few, by chance


def test_in_a_family_the_clear_ones_are_found():
    base = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0]
    twice = [2 * each for each in base[::-1]]
    found = family({"same": (base[::-1], base), "twice": (twice, base)})

    assert list(found) == ["same", "twice"]
    assert found["twice"].outcome is Outcome.DIFFERS
    assert found["twice"].ratio == pytest.approx(2.0, rel=0.02)
    assert found["same"].outcome is Outcome.SAME


@pytest.mark.parametrize("rounds", [8, 12, 25])
def test_the_exact_distributions_are_those_of_scipy(rounds):
    from scipy import stats

    chance = random.Random(rounds)
    for _ in range(200):
        ones = samples(normal, chance, rounds, 1.05)
        others = samples(normal, chance, rounds)
        logs = [math.log(one / other) for one, other in zip(ones, others, strict=True)]
        by_rounds = stats.wilcoxon(logs, method="exact").pvalue <= 0.01
        by_runs = stats.mannwhitneyu(ones, others, method="exact").pvalue <= 0.01
        assert (paired(ones, others, within=0).outcome is Outcome.DIFFERS) == by_rounds
        assert (unpaired(ones, others, within=0).outcome is Outcome.DIFFERS) == by_runs


@pytest.mark.parametrize("compare", [paired, unpaired])
def test_an_interval_holds_the_estimate_and_turns_with_the_two(compare):
    chance = random.Random(1)
    for rounds in (3, 7, 8, 61, 300):
        ones, others = samples(normal, chance, rounds, 1.2), samples(normal, chance, rounds)
        found, turned = compare(ones, others), compare(others, ones)
        assert found.low <= found.ratio <= found.high
        assert turned.ratio == pytest.approx(1 / found.ratio)
        assert (turned.low, turned.high) == pytest.approx((1 / found.high, 1 / found.low))
        assert (found.is_above, turned.is_above) == (True, False)


@in_one("compare", [paired, unpaired])
@in_one(
    ("ones", "others", "outcome"),
    [
        ([], [], Outcome.UNKNOWN),
        ([1.0, 1.0], [9.0, 9.0], Outcome.UNKNOWN),
        ([1.0] * 3, [1.0] * 3, Outcome.SAME),
        ([0.0] * 5, [0.0] * 5, Outcome.SAME),
        ([0.0] * 5, [90.0, 100.0, 95.0, 105.0, 98.0], Outcome.DIFFERS),
        ([1.0, 50.0, 2.0, 9.0], [3.0, 1.0, 70.0, 2.0], Outcome.UNKNOWN),
        ([1e-300] * 4, [1e300] * 4, Outcome.DIFFERS),
    ],
)
def test_samples_of_every_kind_have_an_outcome(compare, ones, others, outcome):
    assert compare(ones, others).outcome is outcome


def test_rounds_of_one_way_alone_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        paired([1.0, 2.0, 3.0], [1.0, 2.0])
