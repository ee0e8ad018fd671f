from __future__ import annotations

import random

import msgspec
import pytest

from app.runs.comparison import (
    ComparedValue,
    cautions,
    cells,
    compare,
    footnotes,
    in_one_place,
    of_one_mind,
)
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.inside_a_core.simd.experiment import Params as Numbers
from experiments.memory.burst_random.experiment import Params
from experiments.python_at_work.false_sharing.experiment import DISTANCES_BYTES, Increment
from experiments.python_at_work.false_sharing.experiment import Params as Increments
from tests.app.recordings import NOISE, burst, ladder, made
from tests.cases import in_one
from tests.experiments.machines import MIB
from tests.shipped import SHIPPED

ENGLISH = words.load("en")
BURST = Catalogue().load("burst-random")
FALSE_SHARING = Catalogue().load("false-sharing")


@pytest.fixture
def recorded(tmp_path):
    """Return a function from a made run to the recording that is read from its file."""
    return lambda made: read(made.write(tmp_path / f"{made.run}.coreopsis.jsonl"))


def said(compared):
    return list(cautions(ENGLISH, BURST, compared))


def verdicts(compared):
    return {value.name: value.verdict for value in compared.values}


def test_a_run_whose_file_was_changed_is_cautioned(tmp_path, recorded):
    whole, path = burst(), tmp_path / "changed.coreopsis.jsonl"
    path.write_bytes(burst().data.replace(b'"repeat":3', b'"repeat":4'))

    (told,) = said(compare(BURST, recorded(whole), read(path)))

    assert told.startswith("The file of B was changed")


def test_a_run_does_not_differ_from_itself(recorded):
    run = recorded(burst())
    compared = compare(BURST, run, run)

    assert compared.params == {}
    assert set(verdicts(compared).values()) <= {"same", None}
    assert verdicts(compared)["random_s"] == "same"
    assert {value.ratio for value in compared.values if value.verdict} == {1.0}
    assert {value.name for value in compared.values} == run.finished.finding.values.keys()


@in_one("path", SHIPPED.values(), ids=SHIPPED)
def test_the_recording_of_every_experiment_can_be_compared_with_itself(path):
    run = read(path)
    found = verdicts(compare(Catalogue().load(run.started.experiment), run, run))

    assert found
    assert set(found.values()) <= {"same", "unclear", "too_few", None}


def test_a_run_beside_busy_programs_is_named_as_such(recorded):
    quiet, beside = burst(), burst(1.5)
    note = messages.Note(key="machine_was_busy", values={"others_fraction": 0.56})
    disturbed = (*beside.lines[:-1], messages.encode(note), beside.lines[-1])
    busy = msgspec.structs.replace(beside, lines=disturbed)

    told = said(compare(BURST, recorded(quiet), recorded(busy)))

    assert told == ["During B, other programs used 56 % of the processors."]


def test_a_note_of_another_program_without_its_number_disturbs_no_comparison(recorded):
    beside = burst(1.5)
    note = messages.Note(key="machine_was_busy", values={})
    foreign = msgspec.structs.replace(
        beside, lines=(*beside.lines[:-1], messages.encode(note), beside.lines[-1])
    )

    assert compare(BURST, recorded(burst()), recorded(foreign)).disturbed == {}


def test_a_fact_is_no_measurement_and_gets_no_verdict(recorded):
    compared = compare(BURST, recorded(burst()), recorded(burst(1.5)))

    size = next(value for value in compared.values if value.name == "size_bytes")
    assert (size.ratio, size.verdict) == (None, None)


def increments(line_bytes=64):
    """Return 21 rounds of two cores that disturb each other up to that many bytes apart.

    With 0 bytes the rounds scatter, so that the result is unclear.
    """
    rows, chance = [], random.Random(0)
    for repeat in range(21):
        for distance in DISTANCES_BYTES:
            taken_s = (2e-8 if distance < line_bytes else 2.7e-9) * (1 + repeat / 1000)
            taken_s *= 1 if line_bytes else chance.lognormvariate(0, 0.7)
            rows.append(
                Increment(
                    pair="unknown",
                    distance_bytes=distance,
                    repeat=repeat,
                    increment_s=taken_s,
                    together_per_s=2 / taken_s,
                )
            )
    return made("false-sharing", Increments(), rows)


def changed(row, **cells):
    return msgspec.structs.replace(row, row={**row.row, **cells})


def test_what_follows_from_all_rounds_together_is_not_said_to_have_too_few(recorded):
    run = recorded(increments())
    compared = compare(Catalogue().load("false-sharing"), run, run)
    found = {value.name: value for value in compared.values}

    assert verdicts(compared)["slowdown"] == "same"
    seen = found["line_bytes_seen"]  # takes several rounds to be seen at all
    assert (seen.a, seen.b, seen.ratio, seen.verdict) == (64, 64, None, None)


def test_what_one_run_alone_found_stands_beside_nothing(recorded):
    experiment, hidden, plain = FALSE_SHARING, increments(line_bytes=0), increments()
    found = {v.name: v for v in compare(experiment, recorded(hidden), recorded(plain)).values}

    seen = found["line_bytes_seen"]
    assert (seen.a, seen.b, seen.ratio, seen.verdict) == (None, 64, None, None)
    assert cells(ENGLISH, experiment, seen) == ("", "64 B", "")


def test_what_is_no_clear_difference_is_neither_a_number_nor_divided_by(recorded):
    experiment, hidden, plain = FALSE_SHARING, increments(line_bytes=0), increments()
    found = {v.name: v for v in compare(experiment, recorded(hidden), recorded(plain)).values}

    slowdown = found["slowdown"]
    assert ("".join(slowdown.unclear), slowdown.ratio, slowdown.verdict) == ("A", None, "higher")
    assert cells(ENGLISH, experiment, slowdown) == (ENGLISH.say("verdicts.unclear"), "7.41×", "")


def test_two_that_are_no_clear_difference_do_not_differ(recorded):
    compared = compare(FALSE_SHARING, *(recorded(increments(line_bytes=0)) for _ in "AB"))

    assert verdicts(compared)["slowdown"] == "unclear"


def test_the_values_come_as_they_are_declared(recorded):
    run = recorded(increments())
    names = [value.name for value in compare(FALSE_SHARING, run, run).values]

    declared = [value.name for value in FALSE_SHARING.values]
    assert names == [name for name in declared if name in names]


def test_why_some_have_no_verdict_is_said_where_others_have_one(recorded):
    unjudged = ENGLISH.say("terminal.unjudged_means")
    other_params = Params(largest_bytes=2 * MIB, rounds=5, huge_pages=True)
    run, other = recorded(burst()), recorded(burst(2.0, params=other_params))

    assert unjudged in footnotes(ENGLISH, compare(BURST, run, run))
    assert footnotes(ENGLISH, compare(BURST, run, other)) == []


def test_what_was_measured_once_a_run_is_no_difference_beyond_noise():
    run = read(SHIPPED["diffusion"])
    drawn = [changed(row, at_s=2 * row.row["at_s"]) for row in run.rows["drawn"]]
    slower = msgspec.structs.replace(run, rows={**run.rows, "drawn": drawn})

    compared = compare(Catalogue().load("diffusion"), run, slower)
    found = {value.name: value for value in compared.values}["pictures_per_s"]

    assert found.b == found.a / 2
    assert (found.ratio, found.verdict) == (None, None)


def test_what_is_only_on_or_off_is_neither_higher_nor_so_many_times_another():
    run = read(SHIPPED["gil-threads"])
    timings = [changed(row, gil=False) for row in run.rows["timings"]]
    free = msgspec.structs.replace(run, rows={**run.rows, "timings": timings})

    compared = compare(Catalogue().load("gil-threads"), run, free)
    lock = {value.name: value for value in compared.values}["gil_enabled"]

    assert (lock.a, lock.b, lock.ratio, lock.verdict) == (1, 0, None, None)


def test_a_difference_beyond_noise_is_told_with_its_direction(recorded):
    run, slower = recorded(burst()), recorded(burst(1.5))

    there, back = verdicts(compare(BURST, run, slower)), verdicts(compare(BURST, slower, run))

    assert there["sequential_s"] == there["dependent_s"] == "higher"
    assert back["sequential_s"] == back["dependent_s"] == "lower"
    assert there["dependent_over_sequential"] in ("same", None)  # both became slower alike


def test_the_ratio_is_that_of_the_second_to_the_first(recorded):
    compared = compare(BURST, recorded(burst()), recorded(burst(2.0)))
    ratios = {value.name: value.ratio for value in compared.values}

    assert ratios["random_s"] == pytest.approx(2.0)


@in_one(
    ("time", "clock", "cycles"),
    [("same", "same", "unclear"), ("lower", "same", "lower"), ("same", "higher", "lower"),
     ("same", None, "unclear")],
)  # fmt: skip
def test_cycles_differ_only_where_time_or_clock_does(time, clock, cycles):
    told = {"l3_latency_s": time, "core_hz": clock, "l3_latency_cycles": "lower"}
    values = [ComparedValue(name, 1.0, 0.9, 0.9, verdict) for name, verdict in told.items()]

    assert {value.name: value.verdict for value in of_one_mind(values)} == {
        **told, "l3_latency_cycles": cycles,
    }  # fmt: skip


@in_one(
    ("a_mib", "b_mib", "is_compared"),
    [(6.0, 8.0, True), (6.0, 48.0, False), (6.0, None, False), (None, None, True)],
)
def test_what_was_read_off_at_sizes_far_apart_is_not_compared(a_mib, b_mib, is_compared):
    a, b = ({"l3_seen_bytes": mib * MIB} if mib else {} for mib in (a_mib, b_mib))
    values = [ComparedValue(name, 1.0, 0.2, 0.2, "lower") for name in ("l3_latency_s", "core_hz")]

    l3, clock = in_one_place(Catalogue().load("cache-ladder"), a, b, values)

    assert (l3.verdict, l3.ratio) == (("lower", 0.2) if is_compared else ("elsewhere", None))
    assert clock == values[1]


@pytest.mark.parametrize(
    ("factor", "noise", "verdict"),
    [
        (1.03, 0.0, "same"),
        (1.03, 0.04, "unclear"),
        (1.2, 0.0, "higher"),
        (1.2, 0.5, "unclear"),
        (0.8, 0.01, "lower"),
    ],
)
def test_two_runs_differ_are_the_same_within_5_percent_or_nobody_can_tell(
    recorded, factor, noise, verdict
):
    rounds = [1 + noise * place for place in (-1, 1, 0, 0.5, -0.5)]
    a, b = (burst(each, noise=rounds) for each in (1.0, factor))

    assert verdicts(compare(BURST, recorded(a), recorded(b)))["random_s"] == verdict


def test_after_one_disturbed_round_of_few_nobody_can_tell(recorded):
    disturbed = burst(1.5, noise=(*NOISE[:4], 0.6))

    assert verdicts(compare(BURST, recorded(burst()), recorded(disturbed)))["random_s"] == "unclear"


@pytest.mark.parametrize(("rounds", "verdict"), [(1, "too_few"), (2, "too_few"), (3, "higher")])
def test_fewer_than_three_rounds_are_too_few_to_tell(recorded, rounds, verdict):
    run, slower = (burst(factor, noise=NOISE[:rounds]) for factor in (1.0, 2.0))

    assert verdicts(compare(BURST, recorded(run), recorded(slower)))["random_s"] == verdict


def test_one_other_parameter_may_be_what_makes_the_difference(recorded):
    other = burst(2.0, params=Params(largest_bytes=MIB, rounds=5, huge_pages=True))

    compared = compare(BURST, recorded(burst()), recorded(other))

    assert compared.params == {"huge_pages": (False, True)}
    assert verdicts(compared)["random_s"] == "higher"


def test_runs_with_other_parameters_stand_side_by_side_without_a_verdict(recorded):
    other = burst(2.0, params=Params(largest_bytes=2 * MIB, rounds=5, huge_pages=True))

    compared = compare(BURST, recorded(burst()), recorded(other))

    assert compared.params == {"largest_bytes": (MIB, 2 * MIB), "huge_pages": (False, True)}
    assert set(verdicts(compared).values()) == {None}
    assert compared.values


def test_a_run_that_ended_early_is_compared_by_what_it_has(recorded):
    made = burst()
    early = msgspec.structs.replace(made, run="early", lines=made.lines[: len(made.lines) // 2])

    compared = compare(BURST, recorded(made), recorded(early))

    assert "random_s" in verdicts(compared)
    assert said(compared)[0].startswith("B was cut short")


def test_that_runs_were_stopped_is_said_and_nothing_of_those_that_were_not(recorded):
    whole, stopped = recorded(burst()), recorded(burst(outcome="stopped"))

    assert said(compare(BURST, whole, whole)) == []
    assert said(compare(BURST, stopped, whole))[0].startswith("A was cut short")
    assert said(compare(BURST, stopped, stopped))[0].startswith("Both runs")


def test_other_settings_are_named_in_the_words_of_their_choices(recorded):
    experiment = Catalogue().load("simd")
    a, b = (recorded(made("simd", Numbers(numbers=each), [])) for each in ("float32", "float64"))

    told = list(cautions(ENGLISH, experiment, compare(experiment, a, b)))

    floats = "A 32-bit floating point, B 64-bit floating point"
    assert any(f"Numbers ({floats})" in each for each in told)


def test_a_run_without_values_has_nothing_in_common(recorded):
    made = burst()
    empty = msgspec.structs.replace(made, run="empty", lines=made.lines[:1])

    assert compare(BURST, recorded(made), recorded(empty)).values == ()


def test_runs_of_two_experiments_are_refused(recorded):
    with pytest.raises(UserError) as caught:
        compare(BURST, recorded(burst()), recorded(ladder()))

    assert caught.value.problem.key == "not_comparable_experiment"
    assert caught.value.problem.values == {"a": "burst-random", "b": "cache-ladder"}


def of_version(number, **params):
    def change(started):
        then = {**started.params, **params}
        return msgspec.structs.replace(started, experiment_version=number, params=then)

    return burst(change=change)


def test_runs_of_two_versions_are_refused(recorded):
    with pytest.raises(UserError) as caught:
        compare(BURST, recorded(of_version(0)), recorded(burst()))

    assert caught.value.problem.key == "not_comparable_version"


def test_runs_of_an_older_version_keep_what_they_found_and_are_not_judged(recorded):
    compared = compare(BURST, recorded(of_version(0)), recorded(of_version(0)))

    assert "random_s" in verdicts(compared)
    assert set(verdicts(compared).values()) == {None}


def test_a_setting_that_is_no_more_is_told_as_it_was_recorded(recorded):
    a, b = (recorded(of_version(0, colour=each)) for each in ("red", "blue"))

    assert "colour (A red, B blue)" in said(compare(BURST, a, b))[0]
