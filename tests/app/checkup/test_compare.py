import pytest

from app.checkup.compare import compare
from app.checkup.in_words import compared_lines, pair_text
from experiments.checkup.result import Word
from experiments.core import words
from tests.app.checkup.made import bandwidth, checkup, disturbed, fact, measured


@pytest.fixture(scope="module")
def said():
    return words.load()


def test_the_same_machine_twice_has_nothing_changed(said):
    compared = compare(checkup(bandwidth(seed=1)), checkup(bandwidth(seed=2)))
    assert compared.changed == ()
    assert compared.changes == ()
    assert next(iter(compared_lines(said, compared))) == said.say(
        "checkup.compared.nothing", {"date": "2026-11-20 10:00"}
    )


def test_half_the_bandwidth_is_told_with_its_interval(said):
    compared = compare(checkup(bandwidth()), checkup(bandwidth(20e9, word=Word.LOOK)))
    (pair,) = compared.changed
    assert pair.ratio.low < 0.5 < pair.ratio.high
    text = pair_text(said, pair)
    assert "0.5" in text.ratio
    assert text.title == said.say("checkup.rules.memory-bandwidth.title")


def test_a_new_word_is_a_change_without_a_number():
    before, now = checkup(fact()), checkup(fact(word=Word.PROBLEM, reason="recent", count=3))
    assert [pair.row.rule for pair in compare(before, now).changed] == ["kernel-log"]


def test_two_ways_of_knowing_nothing_are_no_change():
    hidden = fact(word=Word.UNCHECKED, reason="unreadable", why="x", how="y")
    late = fact(word=Word.UNCHECKED, reason="not_run")
    none = fact(rule="gpu-errors", word=Word.ABSENT, reason="no_gpu")
    assert compare(checkup(hidden), checkup(late)).changed == ()
    assert compare(checkup(fact()), checkup(fact(), none)).changed == ()
    assert len(compare(checkup(fact()), checkup(late)).changed) == 1


def test_parts_that_nobody_expected_are_a_change_all_the_same():
    before, now = (
        checkup(fact(rule="devices", word=Word.UNCHECKED, reason="recorded", cores=cores))
        for cores in (8, 6)
    )
    assert len(compare(before, now).changed) == 1


def test_versions_that_differ_stand_beside_it(said):
    machine = {"os": {"release": "6.12.0"}}
    compared = compare(checkup(), checkup(machine=machine))
    assert [(c.key, c.before, c.now) for c in compared.changes] == [("kernel", "6.1.0", "6.12.0")]
    assert any("6.1.0" in line and "6.12.0" in line for line in compared_lines(said, compared))


OTHERWISE = {
    "rule_version": checkup(bandwidth(20e9, version=2)),
    "settings": checkup(bandwidth(20e9), measurements=[measured(params={"rounds": 2})]),
    "disturbed": checkup(disturbed(20e9)),
}


@pytest.mark.parametrize(("refusal", "now"), OTHERWISE.items())
def test_what_was_measured_otherwise_is_refused(refusal, now, said):
    compared = compare(checkup(bandwidth()), now)
    assert compared.changed == ()
    assert [pair.refusal for pair in compared.refused] == [refusal]
    assert any(
        said.say(f"checkup.compared.{refusal}") in line for line in compared_lines(said, compared)
    )


def test_another_version_of_the_experiment_is_refused():
    newer = checkup(bandwidth(20e9), measurements=[measured(version=3)])
    assert [pair.refusal for pair in compare(checkup(bandwidth()), newer).refused] == ["settings"]


def test_sizes_that_follow_free_memory_are_alike():
    smaller = measured(params={"rounds": 5, "array_bytes": 2**28 - 4096})
    compared = compare(checkup(bandwidth()), checkup(bandwidth(20e9), measurements=[smaller]))
    assert len(compared.changed) == 1


def test_a_row_that_only_one_has_is_told(said):
    compared = compare(checkup(bandwidth()), checkup(bandwidth(), fact()))
    (pair,) = compared.changed
    assert pair_text(said, pair).ratio == said.say("checkup.compared.only_now")


def test_another_machine_is_named(said):
    other = checkup(machine={"fingerprint": "zzz", "cpu": {"model": "Another"}}, name="lab 3")
    assert "lab 3" in next(iter(compared_lines(said, compare(other, checkup()))))


def test_what_is_fine_counts_anew_each_time_and_has_not_changed():
    """Products that were all right, the reach of a log: other numbers, no news."""
    before, now = (
        checkup(fact("identical", reason="none_differ", part="cpu", products=n)) for n in (50, 60)
    )
    assert compare(before, now).changed == ()


def test_another_count_of_what_is_not_fine_has_changed():
    before, now = (
        checkup(fact("memory-errors", Word.LOOK, "corrected", "memory", corrected=n))
        for n in (1, 9)
    )
    assert len(compare(before, now).changed) == 1


def test_sizes_beyond_all_numbers_are_compared():
    size = {"array_bytes": 10**400}  # a stranger's
    one = checkup(measurements=[measured(params=size)])
    assert compare(one, one).refused == ()
