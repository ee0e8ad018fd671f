from __future__ import annotations

import pytest

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Finding
from experiments.core.judging.comparing import Outcome, beside_load
from experiments.core.judging.disturbed import MOSTLY_DISTURBED
from experiments.core.judging.statistics import CANNOT_TELL, spreads, unsure
from experiments.core.judging.trust import (
    UNTOLD,
    Trust,
    as_trusted,
    is_told,
    taken_fraction,
    weigh,
)
from experiments.core.units import show
from experiments.core.words import fill
from experiments.engine import messages
from experiments.engine.recording import read
from tests.cases import in_one

NOISE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0)  # round to round


def note(key="machine_was_busy", **values):
    return messages.Note(key=key, values=values)


def pair(ratio, busy_cores=lambda _: 1):
    """The spread of one way, `ratio` times another, and of that other."""
    samples = [("other", of, n) for n, of in enumerate(NOISE)]
    samples += [("one", ratio * of, n) for n, of in enumerate(reversed(NOISE))]
    found = spreads(samples, busy_cores)
    return found["one"], found["other"]


def outcome(ratio, taken, busy_cores=lambda _: 1):
    one, other = pair(ratio, busy_cores)
    with beside_load(1 / (1 - taken)):
        return one.against(other).outcome


@pytest.mark.parametrize(
    ("ratio", "taken", "is_said"), [(1.0, 0.0, True), (1.0, 0.2, False), (1.4, 0.2, True)]
)
def test_that_one_is_no_lower_is_said_beside_load_only_of_what_lies_beyond_it(
    ratio, taken, is_said
):
    one, other = pair(ratio)
    with beside_load(1 / (1 - taken)):
        assert one.is_no_lower(other) is is_said


@in_one(
    ("ratio", "taken", "said"),
    [
        (1.2, 0.0, Outcome.DIFFERS),
        (1.2, 0.1, Outcome.DIFFERS),  # 1.11 at most by load
        (1.2, 0.2, Outcome.UNKNOWN),  # 1.25
        (1 / 1.2, 0.2, Outcome.UNKNOWN),
        (2.2, 0.5, Outcome.DIFFERS),
        (1.9, 0.5, Outcome.UNKNOWN),
        (258.0, 0.9, Outcome.DIFFERS),
        (1.0, 0.5, Outcome.SAME),
    ],
)
def test_an_effect_stands_beyond_what_load_can_do(ratio, taken, said):
    assert outcome(ratio, taken) is said


def test_an_effect_stands_that_load_works_against():
    def cores(way):
        return 2 if way == "one" else 1

    def rates(way):
        return -cores(way)

    assert outcome(1 / 1.2, 0.4, cores) is Outcome.DIFFERS  # quicker, although on two cores
    assert outcome(1.2, 0.4, cores) is Outcome.UNKNOWN  # slower: that may be the load
    assert outcome(1.2, 0.4, rates) is Outcome.DIFFERS  # the higher rate
    assert outcome(1 / 1.2, 0.4, rates) is Outcome.UNKNOWN


def found(ratio):
    def analyse():
        one, other = pair(ratio)
        return Finding(unsure((one, other)) or "slower", {"one_s": 1.234, "workers": 2})

    return analyse


@pytest.mark.parametrize(
    ("ratio", "taken", "message", "trust"),
    [
        (1.3, 0.0, "slower", Trust.SOLID),
        (1.3, 0.15, "slower", Trust.BUSY),
        (1.3, 0.4, CANNOT_TELL, Trust.DISTURBED),
    ],
)
def test_a_run_is_solid_busy_or_disturbed(ratio, taken, message, trust):
    finding, found_trust = weigh(found(ratio), taken)

    assert (finding.message, found_trust) == (message, trust)
    assert is_told(message, trust) is (trust is not Trust.DISTURBED and message not in UNTOLD)


def test_a_run_without_a_quiet_sample_is_disturbed_on_any_machine():
    assert weigh(lambda: Finding(MOSTLY_DISTURBED), 0.0)[1] is Trust.DISTURBED


def test_a_quiet_machine_that_cannot_tell_is_not_disturbed():
    assert weigh(lambda: Finding(CANNOT_TELL), 0.0)[1] is Trust.SOLID


def test_a_count_stands_beside_any_load():
    assert weigh(lambda: Finding("lost", {"lost_fraction": 0.5}), 0.9)[1] is Trust.BUSY


def test_what_others_took_is_that_of_programs_and_of_the_host():
    busy = note(others_fraction=0.2, stolen_fraction=0.1)

    assert taken_fraction([note("machine_was_quiet", others_fraction=0.04), busy]) == pytest.approx(
        0.3
    )
    assert taken_fraction([note("machine_was_quiet", others_fraction=0.04)]) == 0
    assert taken_fraction([note("time_was_stolen", stolen_fraction=0.1)]) == pytest.approx(0.1)
    assert 0 < taken_fraction([note(others_fraction=7.0, stolen_fraction="?")]) < 1  # a stranger's


def test_numbers_of_a_busy_run_are_rough_where_load_changes_them():
    values = {
        "one_s": 0.2468,
        "gain": 1.936,
        "workers": 4,
        "array_bytes": 2**30,
        "lost_fraction": 0.51,
    }
    rough = as_trusted(values, Trust.BUSY)

    assert show(rough["one_s"], "s") == "about 250 ms"
    assert show(rough["gain"], "ratio") == "about 1.9×"
    assert show(as_trusted({"one_s": 0.96e-9}, Trust.BUSY)["one_s"], "s") == "about 0.96 ns"
    assert fill("about {one_s}, {gain}", rough) == "about 250 ms, about 1.9×"
    assert show(as_trusted({"slowdown": 257.6}, Trust.BUSY)["slowdown"], "ratio") == "about 260×"
    assert show(rough["workers"]) == "4"
    assert show(rough["array_bytes"], "bytes") == "1 GiB"
    assert show(rough["lost_fraction"], "fraction") == "51 %"
    assert as_trusted(values, Trust.SOLID) == values


SHIPPED = [each.id for each in Catalogue() if Catalogue().recording(each.id) is not None]


@in_one("name", SHIPPED)
def test_more_load_never_makes_a_run_claim_more(name):
    """Of each run that comes along, with the load of others written into it."""
    catalogue = Catalogue()
    experiment, recording = catalogue.load(name), read(catalogue.recording(name))
    params = experiment.params
    unclear: set[str] = set()
    for taken in (0.1, 0.2, 0.4, 0.8):
        busy = note(others_fraction=taken)
        events = (
            *(e for e in recording.events if "machine_was" not in getattr(e, "key", "")),
            busy,
        )
        found = type(recording)(recording.started, events, recording.finished, (), recording.rows)
        finding = found.finding(experiment)
        assert finding is not None, params
        assert finding.trust is not Trust.SOLID
        assert unclear <= {*finding.unclear} or finding.message in UNTOLD, (taken, finding)
        unclear = {*finding.unclear}
