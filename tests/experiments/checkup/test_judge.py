from __future__ import annotations

import functools
import math
import random
from collections import Counter
from collections.abc import Callable

import pytest

from experiments.checkup.checks import rows_of
from experiments.checkup.evidence import Ran
from experiments.checkup.judge import CONFIRMED, against, is_steady, timed
from experiments.checkup.probes.sustained.experiment import Work
from experiments.checkup.result import Word
from experiments.checkup.rules import Source, rules
from tests.cases import in_one
from tests.experiments.checkup.cases.performs import sweep
from tests.experiments.checkup.made import BUSY, baseline, evidence, ran, rule, workstation

ROUNDS, MORE_RUNS = 5, 3  # of a quick run; how often what scatters is measured again
FEW = 0.05  # of the trials
NOISE = 0.05
Sample = Callable[[], float]


def noisy(usual: float, chance: random.Random, noise: float = NOISE) -> Sample:
    return lambda: usual * math.exp(chance.gauss(0.0, noise))


def spiky(usual: float, chance: random.Random) -> Sample:
    """One sample in seven takes 40 % longer on average: what other programs do."""

    def sample() -> float:
        slower = 1.0 + chance.expovariate(1 / 0.4) if chance.random() < 1 / 7 else 1.0
        return usual * math.exp(chance.gauss(0.0, 0.02)) / slower

    return sample


@functools.cache
def stream_run() -> Ran:
    return ran("stream", (), workstation())


def judged(name: str, source: Source, sample: Sample, expected: float | list[float]):
    """The row of a checkup: measured again where it scatters, or before it goes red."""
    judge, here, run = rule(name), evidence(workstation()), stream_run()
    samples: list[list[float]] = []
    while True:
        samples.append([sample() for _ in range(ROUNDS)])
        row = timed(
            judge,
            here,
            [run] * len(samples),
            samples,
            "bytes/s",
            expected={source: expected},
        )
        is_settled = is_steady(row.samples) and row.reason != "unconfirmed"
        if is_settled or len(samples) > MORE_RUNS:
            return row


def words(name: str, source: Source, make, usual: float, expected, *, trials: int):
    chance = random.Random(20260504)
    sample = make(usual, chance)
    return Counter(
        judged(name, source, sample, expected() if callable(expected) else expected).word
        for _ in range(trials)
    )


def earlier(make, rounds: int = 4 * ROUNDS):
    """Samples of an earlier checkup of a machine that does what is expected."""
    sample = make(1.0, random.Random(7))
    return lambda: [sample() for _ in range(rounds)]


@pytest.mark.parametrize(("make", "trials"), [(noisy, 600), (spiky, 200)])
def test_a_machine_that_does_what_is_expected_is_never_a_problem_and_seldom_one_to_look_at(
    make, trials
):
    found = words("memory-bandwidth", Source.BASELINE, make, 1.0, earlier(make), trials=trials)

    assert found[Word.PROBLEM] == 0
    assert found[Word.LOOK] <= FEW * trials


@pytest.mark.parametrize(("make", "few"), [(noisy, FEW), (spiky, 2 * FEW)])
def test_a_machine_a_good_way_above_a_line_does_not_flap(make, few):
    found = words("memory-bandwidth", Source.CEILING, make, 0.8, 1.0, trials=500)

    assert found[Word.PROBLEM] == 0
    assert found[Word.LOOK] <= few * 500


@pytest.mark.parametrize("make", [noisy, spiky])
@pytest.mark.parametrize(
    ("name", "source"),
    [(r.id, s) for r in rules().rule for s in r.limits if r.stage == "performs"],
)
def test_half_of_what_is_expected_is_never_fine_and_red_where_the_rule_says_so(name, source, make):
    floor = rule(name).limits[source].floor
    usual = min(0.5, 0.85 * floor)

    found = words(name, source, make, usual, earlier(make), trials=100)

    assert found[Word.FINE] == 0
    assert found[Word.PROBLEM] >= 95


def test_no_line_of_a_rule_turns_a_machine_red_that_does_what_is_expected():
    for each in rules().rule:
        for source in each.limits:
            found = words(each.id, source, noisy, 1.0, earlier(noisy), trials=50)
            assert found[Word.PROBLEM] == 0, (each.id, source)


def test_a_slow_result_is_red_only_after_a_second_run():
    judge, here = rule("memory-bandwidth"), evidence(workstation())
    run, slow = ran("stream", (), workstation()), [0.4, 0.41, 0.39]

    def row(runs: int):
        expected = {Source.CEILING: 1.0}
        return timed(judge, here, [run] * runs, [slow] * runs, "bytes/s", expected=expected)

    assert [row(n).reason for n in range(1, CONFIRMED)] == ["unconfirmed"]
    assert (row(CONFIRMED).word, row(CONFIRMED).reason) == (Word.PROBLEM, "low")


def test_a_slow_first_run_that_no_other_confirms_is_no_problem():
    judge = rule("memory-bandwidth")
    first, others = [0.3, 0.31, 0.29, 0.3, 0.3], [0.8, 0.81, 0.79, 0.8, 0.8]

    words_ = [
        each.word
        for runs in range(1, MORE_RUNS + 1)
        for each in against(judge, Source.CEILING, first + others * runs, 1.0)
    ]

    assert Word.PROBLEM not in words_


def test_sixty_four_equal_cores_are_fine_though_the_slowest_is_judged():
    chance = random.Random(3)
    found = Counter()
    for _ in range(20):
        of = sweep(1.0, cores=64)()
        (run,) = of.runs["core-sweep", ""]
        rates = [
            type(row)(
                thread=row.thread,
                core=row.core,
                repeat=row.repeat,
                flop_per_s=row.flop_per_s * math.exp(chance.gauss(0.0, 0.01)),
            )
            for row in run.tables["rates"]
        ]
        again = ran("core-sweep", rates, workstation())
        (row,) = rows_of(rule("cores"), evidence(workstation(), again))
        found[row.word] += 1

    assert found == {Word.FINE: 20}


def test_two_samples_have_the_interval_of_what_was_seen():
    (found,) = against(rule("memory-bandwidth"), Source.CEILING, [0.6, 0.9], 1.0)

    assert (found.low, found.high, found.word) == (0.6, 0.9, Word.LOOK)


@in_one("expected", [None, 0, 0.0, -1.0, [], [1.0, 0.0, 2.0], [-1.0]])
def test_what_cannot_be_expected_is_no_expectation(expected):
    assert [*against(rule("memory-bandwidth"), Source.CEILING, [0.8] * 5, expected)] == []


def test_a_source_without_limits_is_no_expectation():
    assert [*against(rule("memory-bandwidth"), Source.ORDER, [0.8] * 5, 1.0)] == []


def test_samples_of_nothing_are_told_as_they_are():
    (found,) = against(rule("memory-bandwidth"), Source.CEILING, [0.0, 0.9, 0.9], 1.0)

    assert (found.low, found.high) == (0.0, 0.9)


def test_the_worst_of_several_expectations_counts():
    judge, samples = rule("memory-bandwidth"), [0.8, 0.81, 0.79]
    run = ran("stream", (), workstation())
    expected = {Source.CEILING: 1.0, Source.BASELINE: [1.0, 1.01, 0.99]}

    row = timed(judge, evidence(workstation()), [run], [samples], "bytes/s", expected=expected)

    assert [each.word for each in row.expected] == [Word.FINE, Word.LOOK]
    assert (row.word, row.reason) == (Word.LOOK, "below")


@in_one("kind", ["baseline", "references"])
@in_one(("noted", "sources"), [((), 1), ((BUSY,), 0)])
def test_what_others_disturbed_is_no_baseline_and_no_reference(kind, noted, sources):
    judge, run = rule("memory-bandwidth"), ran("stream", (), workstation(), notes=noted)
    before = evidence(workstation())
    row = timed(judge, before, [run], [[0.8, 0.81, 0.79]], "bytes/s", part="memory")
    earlier = baseline(row, here=workstation())
    known = {"baseline": earlier} if kind == "baseline" else {"references": [earlier]}
    quiet = ran("stream", (), workstation())

    now = timed(
        judge,
        evidence(workstation(), **known),
        [quiet],
        [[0.4, 0.41, 0.39]],
        "bytes/s",
        part="memory",
    )

    assert row.reason == (BUSY.key if noted else "no_expectation")
    assert (row.disturbance is None) == (not noted)
    assert len(now.expected) == sources


def test_a_low_result_that_stands_beside_the_load_is_no_baseline_either():
    judge, run = rule("memory-bandwidth"), ran("stream", (), workstation(), notes=[BUSY])
    expected = {Source.CEILING: 1.0}
    row = timed(judge, evidence(workstation()), [run] * 2, [[0.2, 0.21, 0.19]] * 2, "bytes/s",
                expected=expected)  # fmt: skip

    assert (row.word, row.reason, row.disturbance) == (Word.PROBLEM, "low", BUSY.key)


@pytest.mark.parametrize(("seconds", "noise"), [(60, 0.01), (1200, 0.05)])
def test_a_load_that_stays_as_fast_is_fine_also_where_it_is_long_and_noisy(seconds, noise):
    chance = random.Random(5)
    found = Counter()
    for _ in range(20):
        work = [
            Work(t_s=float(at), device="cpu", flop_per_s=math.exp(chance.gauss(0.0, noise)))
            for at in range(1, seconds + 1)
        ]
        here = evidence(workstation(), ran("sustained", work, workstation()))
        (row,) = rows_of(rule("sustained"), here)
        found[row.word] += 1

    assert found == {Word.FINE: 20}
