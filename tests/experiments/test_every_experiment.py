"""Laws of every experiment, those of the checkup too, and of those yet to come."""

from __future__ import annotations

import importlib
import math
import re

import msgspec
import pytest

from experiments.core import words
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Part, specs
from experiments.core.laws import code, declared, ran, texts
from experiments.core.parameters import from_json, from_text, to_json, to_text
from experiments.core.rules import PROBE, broken_rules
from experiments.core.shelves import PROBES, SHELVES, homes
from experiments.engine import messages, recording
from machine.inspect import inspect
from machine.memory.host import available_bytes
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.own_tests import own_tests

ALL = Catalogue((*SHELVES, PROBES))
HOMES = homes((*SHELVES, PROBES))
EXPERIMENTS = list(ALL)
ENGLISH = words.load("en")
MACHINES = {
    "this one": inspect(),
    "a laptop": machine(cores=8, threads_per_core=2),
    "a large server": machine(cores=64, caches=(48 * KIB, 2 * MIB, 384 * MIB), nodes=2, gpus=2),
    "one core": machine(cores=1, caches=(32 * KIB, 256 * KIB, None)),
    "nothing known": Machine(),
}


# Findings without a cause: nobody can tell, or one side alone was measured.
NO_CAUSE = {
    "activations": {"cpu_in_cache", "gpu_in_cache"},
    "bottleneck": {"mostly_idle"},
    "crossover": {"cores_alone"},
    "gpu-or-not": {"cpu_alone", "cpu_alone_at_this", "cpu_estimated"},
    "sustained": {"too_short"},
}

every = in_one("experiment", EXPERIMENTS, ids=lambda e: e.id)
each_measured = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)


def hold(problems):
    """Fail with a sentence for each law that is broken, as `coreopsis check` says it."""
    said = [ENGLISH.say(f"problems.{each.key}", each.values) for each in problems]
    assert not said, "\n".join(said)


def is_shown(experiment) -> bool:
    """Do people see it? The probes' results are read by the checkup alone."""
    return experiment.shelf != PROBE


# --- the declaration ----------------------------------------------------------------------------


@every
def test_the_id_is_the_name_of_the_folder_and_it_has_tests_with_the_agreed_values(experiment):
    home = HOMES[experiment.id]

    assert importlib.import_module(home.module).EXPERIMENT is experiment
    assert home.folder.name.replace("_", "-") == experiment.id
    assert home.folder.parent.name.replace("_", "-") == experiment.shelf

    names = [value.name for value in experiment.values]
    tests = own_tests(experiment)

    assert getattr(tests, "AGREED", set()) <= set(names)
    for table, columns in getattr(tests, "AGREED_COLUMNS", {}).items():
        assert columns <= specs(experiment.tables[table]).keys()


@every
def test_it_keeps_the_rules_that_a_users_own_must_keep_too(experiment):
    for here in MACHINES.values():
        hold(broken_rules(experiment, ENGLISH, here))


# --- the words ----------------------------------------------------------------------------------


@every
def test_its_code_and_its_words_belong_together_and_time_is_left_to_the_bench(experiment):
    home, without = HOMES[experiment.id].folder, NO_CAUSE.get(experiment.id, set())
    verdicts = texts.verdicts(experiment, ENGLISH)

    hold([
        *code.said_and_worded(experiment, ENGLISH),
        *code.words_left_over(experiment, ENGLISH),
        *code.beside_the_bench((home / "experiment.py").read_text("utf-8")),
        *(each for each in verdicts if each.values.get("finding") not in without),
        *texts.placeholders(experiment, ENGLISH),
        *texts.sentences(experiment, ENGLISH),
    ])  # fmt: skip


@every
def test_what_is_read_first_and_done_next_exists(experiment):
    if not is_shown(experiment):
        assert not experiment.keys
        assert experiment.next is None
        return
    hold(declared.keys(experiment, ENGLISH))
    hold(declared.what_is_next(experiment, ENGLISH, MACHINES["a laptop"], HOMES))


@every
def test_what_is_read_first_has_its_mark_in_the_recording(experiment):
    path = HOMES[experiment.id].folder / "recording.jsonl.gz"
    if not path.exists():
        pytest.skip("it comes without a recording")
    recorded = recording.read(path)
    finding = recorded.finding(experiment)
    told = [key for key in experiment.keys if key.value in finding.values]

    assert told
    assert len(told) == len(experiment.keys) or Part.GPU in experiment.parts  # recorded without
    hold(ran.unmarked(experiment, finding, recorded.tables(experiment)))


# --- the parameters -----------------------------------------------------------------------------


@every
def test_the_defaults_are_sent_and_typed_as_what_they_are(experiment):
    for name, here in MACHINES.items():
        for quick in (False, True):
            params = experiment.params_for(here, quick=quick)
            typed = {
                key: to_text(getattr(params, key), spec.unit)
                for key, spec in specs(experiment.params).items()
            }

            assert from_json(experiment.params, to_json(params), here) == params, name
            again = from_text(params, typed, here)
            for key in typed:
                sent = getattr(params, key)
                is_number = isinstance(sent, float | int)
                expected = pytest.approx(sent, rel=0.0051) if is_number else sent
                assert getattr(again, key) == expected, name


@every
def test_how_many_rounds_it_takes_stands_in_its_code_alone_and_in_its_budget(experiment):
    said = experiment.quick.__doc__ or ""
    assert not re.search(r"\b(two|three|four|five|ten|\d+)( \w+)? (rounds|times)\b", said)
    for path in HOMES[experiment.id].folder.glob("*.py"):
        text = path.read_text("utf-8")
        loops = re.findall(r"(?m)^\s+while .*\b(?:seconds\(|rounds\b).*:$", text)
        assert not loops, f"{path}: what is cut to the time is declared as its budget"


@every
def test_a_full_run_takes_half_a_minute_at_most_a_quick_one_five_seconds_and_half_the_memory(
    experiment,
):
    free_bytes = available_bytes() or 8 * GIB
    for here in MACHINES.values():
        hold(declared.runs(experiment, ENGLISH, here, free_bytes))


# --- the run ------------------------------------------------------------------------------------


@each_measured
def test_a_small_run_yields_rows_that_say_and_tell_what_they_should(experiment, small_run):
    hold(
        each
        for each in ran.broken(small_run(experiment.id), ENGLISH, held=messages.HELD)
        if is_shown(experiment) or not each.values.get("keys", "").startswith("choices.")
    )


@every
def test_a_single_point_can_be_sent_and_yields_rows_of_its_tables(experiment):
    if experiment.live is None:
        pytest.skip("it has no single points")
    here = MACHINES["this one"]
    first = experiment.live.params()
    assert from_json(experiment.live.params, to_json(first), here) == first
    measure = experiment.live.prepare(Bench(here))

    rows = [row for _ in range(2) for row in measure(first)]

    assert rows
    assert {type(row) for row in rows} <= set(experiment.tables.values())
    for row in rows:
        assert all(math.isfinite(v) for v in msgspec.structs.astuple(row) if not isinstance(v, str))


@every
def test_nothing_measured_is_no_error(experiment):
    empty = {name: [] for name in experiment.tables}
    for here in MACHINES.values():
        params = experiment.params_for(here, quick=False)
        hold(ran.of_finding(experiment, ENGLISH, experiment.analyse(params, empty, here)))


@each_measured
def test_any_part_of_a_run_can_be_analysed(experiment, small_run):
    hold(ran.of_parts(small_run(experiment.id), ENGLISH, MACHINES.values()))
