from __future__ import annotations

import csv
import io

import msgspec
import pytest

from app.report import report
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import Loss, mark
from experiments.core.tables import to_csv
from experiments.core.units import show
from experiments.engine import messages
from experiments.inside_a_core.ilp.experiment import ChainTime
from machine.processor.counters import EVENTS, KNOWN_REFUSALS, Counts

ENGLISH = words.load("en")
ILP = Catalogue().load("ilp")
FINDING = messages.FindingSent(message="several_at_once", values={"add_gain": 4.0}, limits=[])


def row(chains, cycles, *, operations=1_000, ran=1.0, loss=None, repeat=0):
    """Return a row whose sample took `cycles` an operation, as the processor counted."""
    counts = Counts(
        events={"cycles": round(cycles * (operations or 1)), "branch_misses": 0},
        operations=operations,
        running_fraction=ran,
    )
    plain = ChainTime(
        operation="add",
        chains=chains,
        repeat=repeat,
        operation_s=1e-9,
        cycles=1.0,
        per_cycle=1.0,
    )
    return mark(plain, loss, counts)


def told(*rows, finding=FINDING, experiment=ILP):
    finished = messages.Finished(outcome=messages.Outcome.COMPLETED, finding=finding)
    return report(ENGLISH, experiment, finished, tables={"steps": rows}, quick=False)


def numbers(shown):
    return {value.label: value.shown for value in shown.values}


def test_what_the_processor_counted_confirms_the_cause():
    shown = told(row(1, 2.0), row(1, 3.0), row(1, 2.5), row(4, 0.5), row(8, 0.75))

    assert "0.50 (add" in shown.because
    assert "2.5 (add" in shown.because  # the median of three
    assert shown.because.startswith(ENGLISH.say("ilp.because.several_at_once", FINDING.values))
    assert "2.5 (add" in numbers(shown)["cycles per operation"]


def test_without_an_event_of_its_own_it_stands_among_the_values_alone():
    bare = msgspec.structs.replace(ILP, confirmed_by="")
    shown = told(row(1, 2.0), row(4, 0.5), experiment=bare)

    assert "2 (add" not in shown.because
    assert "2 (add" in numbers(shown)["cycles per operation"]


def test_one_way_has_one_number_and_a_disturbed_sample_none():
    shown = told(row(1, 2.0), row(4, 9.0, loss=Loss(0.5, 1)))

    assert numbers(shown)["cycles per operation"] == "2"
    assert "9" not in shown.because


def test_counts_of_samples_are_not_said_to_be_of_operations():
    label = ENGLISH.say("counted.per_operation", {"event": ENGLISH.say("counted.cycles")})
    shown = numbers(told(row(1, 2.0), row(4, 70_000, operations=0)))

    assert label in numbers(told(row(1, 2.0)))
    assert label not in shown
    assert any("70000" in each for each in shown.values())


def test_counters_that_took_turns_are_told_of():
    label = ENGLISH.say("counted.shared")

    assert numbers(told(row(1, 2.0, ran=0.4), row(1, 2.0)))[label] == show(0.4, "fraction")
    assert label not in numbers(told(row(1, 2.0)))


def test_a_run_without_counts_says_what_it_said_before():
    (plain,) = [mark(ChainTime(**msgspec.structs.asdict(row(1, 2.0))), None)]
    shown = told(plain)

    assert shown.because == ENGLISH.say("ilp.because.several_at_once", FINDING.values)
    assert len(shown.values) == len(FINDING.values)


def test_a_finding_without_a_cause_is_not_confirmed():
    unsure = messages.FindingSent(message="cannot_tell", values={}, limits=[])

    assert told(row(1, 2.0), row(4, 0.5), finding=unsure).because == ""


def test_the_file_has_all_counts_with_their_operations():
    plain = ChainTime(**msgspec.structs.asdict(row(2, 1.0)))
    head, first, second = csv.reader(io.StringIO(to_csv([row(1, 2.0), plain], ChainTime)))

    assert dict(zip(head, first, strict=True)).items() >= {
        ("cycles", "1.0"),
        ("counted_cycles", "2000"),
        ("counted_operations", "1000"),
    }
    assert second[-1] == ""
    assert "counted" not in to_csv([plain], ChainTime)


@pytest.mark.parametrize("name", [*EVENTS, "about", "per_sample"])
def test_each_event_has_words(name):
    assert ENGLISH.has(f"counted.{name}")


@pytest.mark.parametrize("why", KNOWN_REFUSALS)
def test_each_known_refusal_has_its_remedy(why):
    assert ENGLISH.has(f"notes.no_counters_{why}")
