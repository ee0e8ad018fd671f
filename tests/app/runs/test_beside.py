from __future__ import annotations

import msgspec
import pytest

from app.runs.beside import verdict_of
from app.runs.comparison import compare
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.problems import UserError
from experiments.engine.recording import read
from tests.app.recordings import NOISE, burst

ENGLISH = words.load("en")
BURST = Catalogue().load("burst-random")
ROUNDS = (1.0, 1.3, 0.9, 1.2, 1.1, 0.95, 1.25, 1.05)  # of a machine that others slow down at times
SOME = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def raced(tmp_path):
    """Return a function for the verdict on a copy that takes `factor` times as long."""

    def race(factor, noise=ROUNDS, copy_noise=None, pair=SOME, version=BURST.version):
        def of_copy(started):
            return msgspec.structs.replace(
                started, experiment="my-burst", pair=pair, experiment_version=version
            )

        a = burst(noise=noise, run=SOME, change=lambda s: msgspec.structs.replace(s, pair=SOME))
        b = burst(factor, noise=copy_noise or noise, change=of_copy)
        both = [
            read(made.write(tmp_path / f"{letter}.coreopsis.jsonl"))
            for letter, made in (("a", a), ("b", b))
        ]
        compared = compare(BURST, *both)
        return verdict_of(ENGLISH, BURST, compared), compared

    return race


def test_what_slows_a_round_slows_both_and_hides_no_difference(raced):
    said, compared = raced(1.2)

    assert {v.verdict for v in compared.values if v.name == "random_s"} == {"higher"}
    assert said.startswith("Your copy is 1.2 times slower: ")


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (1.0, ENGLISH.say("beside.same")),
        (1.03, ENGLISH.say("beside.same")),
        (0.5, "Your copy is 2 times faster: "),
        (2.0, "Your copy is 2 times slower: "),
        (5.8, "Your copy is 5.8 times slower: "),
    ],
)
def test_the_verdict_is_one_sentence(raced, factor, says):
    said, _ = raced(factor)

    assert said.startswith(says)
    assert said.count(".") - said.count(".8") == 1


def test_where_the_rounds_scatter_nobody_can_tell_and_no_difference_is_not_said(raced):
    said, _ = raced(1.1, noise=ROUNDS, copy_noise=ROUNDS[::-1])

    assert said.startswith("Cannot tell")


def test_a_difference_below_five_per_cent_is_claimed_by_no_sentence(raced):
    said, compared = raced(1.03, noise=(1.0,) * 8, copy_noise=NOISE[:4] * 2)

    assert "slower" not in said
    assert {value.verdict for value in compared.values} - {None}


def test_runs_of_two_experiments_that_are_no_pair_are_not_compared(raced):
    with pytest.raises(UserError) as refused:
        raced(1.0, pair="another")
    assert refused.value.problem.key == "not_comparable_experiment"


def test_a_pair_of_two_versions_is_not_compared(raced):
    with pytest.raises(UserError) as refused:
        raced(1.0, version=99)
    assert refused.value.problem.key == "not_comparable_version"
