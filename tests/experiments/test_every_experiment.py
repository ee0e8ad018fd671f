"""What holds for every experiment, those of the checkup too, and for those yet to come."""

from __future__ import annotations

import functools
import importlib
import math
import random
import re

import msgspec
import pytest

from experiments.core import words
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Finding, Frame, Note, Part, Progress, specs
from experiments.core.parameters import from_json, from_text, to_json, to_text
from experiments.core.rules import broken_rules
from experiments.core.shelves import PROBES, SHELVES, homes
from experiments.engine import messages, recording
from machine.inspect import inspect
from machine.model import Machine
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.source import Said, matches, own_tests

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


UNITS = {"", "s", "bytes", "bytes/s", "flop/s", "hz", "per_s", "ratio", "watts", "celsius",
         "fraction", "switch"}  # fmt: skip

# Findings that have no cause: nobody can tell.
UNTOLD = (
    "cannot_tell", "nothing_to_", "too_few", "mostly_", "in_part", "processor_cannot_tell",
    "nothing_measured", "nothing_moved", "nothing_read_off", "roof_in_part", "scales_unclear",
    "grows_unclear", "cpu_in_cache", "gpu_in_cache", "nobody_tells", "cores_alone", "cpu_alone",
    "cpu_estimated",
)  # fmt: skip
MOST_VERDICT_WORDS, MOST_CAUSE_WORDS, MOST_KEYS = 12, 20, 3

NAMING = ("label", "series", "group", "row", "column")  # columns that name the marks of a view
PLACEHOLDER = re.compile(r"\{(\w+)\}")

pytestmark = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)


@functools.cache
def defaults(experiment_id: str) -> list[tuple]:
    """Return the name of each machine, the machine, and its full and its quick parameters."""
    params_for = ALL.load(experiment_id).params_for
    return [
        (name, here, params_for(here, quick=False), params_for(here, quick=True))
        for name, here in MACHINES.items()
    ]


def module_of(experiment):
    return importlib.import_module(HOMES[experiment.id].module)


def is_documented(experiment, name: str) -> bool:
    """Is it a declared value, or one of another Python (`serial_python_3_13_s`)?"""
    declared = {value.name for value in experiment.values}
    return name in declared or re.sub(r"_python_\d\w*(?=_s$)", "", name) in declared


def check_finding(experiment, finding):
    assert isinstance(finding, Finding)
    assert ENGLISH.has(f"{experiment.id}.findings.{finding.message}"), finding.message
    assert len(set(finding.limits)) == len(finding.limits)
    for key in finding.limits:
        assert ENGLISH.has(f"{experiment.id}.limits.{key}"), key
    said = ENGLISH.text(f"{experiment.id}.findings.{finding.message}")
    if ENGLISH.has(cause := f"{experiment.id}.because.{finding.message}"):
        said += ENGLISH.text(cause)
    named = {*PLACEHOLDER.findall(said)}
    assert {*finding.unclear} <= finding.values.keys() - named, said
    if experiment.keys:  # its findings are put as verdicts
        assert named <= finding.values.keys(), said
    for name, value in finding.values.items():
        assert is_documented(experiment, name), name
        assert isinstance(value, int | float), name
        assert not isinstance(value, bool), name
        assert math.isfinite(value), name


# --- the declaration ----------------------------------------------------------------------------


def test_the_id_is_the_name_of_the_folder(experiment):
    home = HOMES[experiment.id]

    assert module_of(experiment).EXPERIMENT is experiment
    assert home.folder.name.replace("_", "-") == experiment.id
    assert home.folder.parent.name.replace("_", "-") == experiment.shelf


def test_the_agreed_values_are_declared(experiment):
    names = [value.name for value in experiment.values]

    assert len(set(names)) == len(names)
    tests = own_tests(experiment)
    assert getattr(tests, "AGREED", set()) <= set(names)
    for table, columns in getattr(tests, "AGREED_COLUMNS", {}).items():
        assert columns <= specs(experiment.tables[table]).keys()


def test_it_keeps_the_rules_that_a_users_own_must_keep_too(experiment):
    for name, here in MACHINES.items():
        assert broken_rules(experiment, ENGLISH, here) == [], name


# --- the words ----------------------------------------------------------------------------------


def test_everything_that_analyse_can_say_has_words_and_no_word_is_left_over(experiment):
    said = Said(module_of(experiment))
    findings = {key.rpartition(".")[2] for key in ENGLISH.keys(f"{experiment.id}.findings.")}
    limits = {key.rpartition(".")[2] for key in ENGLISH.keys(f"{experiment.id}.limits.")}

    assert said.messages == findings
    assert [p for p in said.limits if not any(matches(key, p) for key in limits)] == []
    assert [key for key in limits if not any(matches(key, p) for p in said.limits)] == []


def test_a_finding_is_a_short_verdict_with_its_cause(experiment):
    if not experiment.keys:
        pytest.skip("its findings are not yet put so")
    findings = {key.rpartition(".")[2] for key in ENGLISH.keys(f"{experiment.id}.findings.")}
    causes = {key.rpartition(".")[2] for key in ENGLISH.keys(f"{experiment.id}.because.")}

    assert {key for key in findings if not key.startswith(UNTOLD)} <= causes <= findings
    for key in findings:
        verdict = ENGLISH.text(f"{experiment.id}.findings.{key}")
        assert len(verdict.split()) <= MOST_VERDICT_WORDS, verdict
    for key in causes:
        cause = ENGLISH.text(f"{experiment.id}.because.{key}")
        assert cause.startswith("Because "), cause
        assert all(len(one.split()) <= MOST_CAUSE_WORDS for one in cause.split(". ")), cause


def test_what_is_read_first_and_done_next_exists(experiment):
    values = {value.name for value in experiment.values}
    views = {view.key: view for view in experiment.views}
    assert len(experiment.keys) <= MOST_KEYS
    for key in experiment.keys:
        assert {key.value, *filter(None, [key.at])} <= values
        assert key.names or key.at
        for name in key.names:
            is_own_word = name.isdecimal() or name.isupper()  # such as NV4
            assert is_own_word or ENGLISH.has(f"{experiment.id}.choices.{name}"), name
        assert key.view in views
    if experiment.next is None:
        assert not experiment.keys
        return
    assert experiment.next.experiment in {each.id for each in EXPERIMENTS} - {experiment.id}
    assert ENGLISH.has(f"{experiment.id}.next.experiment")
    if experiment.next.setting:
        assert ENGLISH.has(f"{experiment.id}.next.setting")
        default = MACHINES["a laptop"]
        params = to_json(experiment.params_for(default, quick=False))
        once = {**params, **experiment.next.changes(params)}
        from_json(experiment.params, once)
        assert once != params
        for _ in range(9):  # followed again and again
            once |= experiment.next.changes(once)
        from_json(experiment.params, once)
        assert not experiment.next.changes(once)


def test_what_is_read_first_has_its_mark_in_the_recording(experiment):
    path = HOMES[experiment.id].folder / "recording.jsonl.gz"
    if not path.exists():
        pytest.skip("it comes without a recording")
    recorded = recording.read(path)
    finding, tables = recorded.finding(experiment), recorded.tables(experiment)
    views = {view.key: view for view in experiment.views}
    told = [key for key in experiment.keys if key.value in finding.values]
    assert told
    assert len(told) == len(experiment.keys) or Part.GPU in experiment.parts  # recorded without
    for key in told:
        assert not key.at or key.at in finding.values, key
        view = views[key.view]
        columns = [getattr(view, name, None) for name in NAMING]
        named = {str(getattr(row, c)) for c in columns if c for row in tables[view.table]}
        assert not key.names or named & {*key.names}, key


def test_a_finding_speaks_of_declared_values_only(experiment):
    units = {value.name: value.unit for value in experiment.values}
    for key in ENGLISH.keys(f"{experiment.id}."):
        section = key.split(".")[1]
        if section in ("notes", "problems"):
            continue
        if section in ("findings", "because", "limits", "in_short"):
            said = ENGLISH.say(key, dict.fromkeys(units, 1.0))
            assert "{" not in said, key
            assert said.endswith(".") or section == "in_short", key
        else:
            assert "{" not in ENGLISH.say(key), key


def test_every_value_says_what_was_timed_or_counted(experiment):
    about = [key.rpartition(".")[2] for key in ENGLISH.keys(f"{experiment.id}.about.")]
    assert set(about) == {value.name for value in experiment.values}
    for name in about:
        said = ENGLISH.say(f"{experiment.id}.about.{name}")
        assert not said[0].islower(), said
        assert said.endswith("."), said


# --- the parameters -----------------------------------------------------------------------------


def test_the_defaults_can_be_typed_and_sent(experiment):
    for name, here, full, quick in defaults(experiment.id):
        for params in (full, quick):
            typed = {
                key: to_text(getattr(params, key), spec.unit)
                for key, spec in specs(experiment.params).items()
            }

            assert isinstance(params, experiment.params), name
            assert from_json(experiment.params, to_json(params), here) == params, name
            again = from_text(params, typed, here)
            for key in typed:
                sent = getattr(params, key)
                is_number = isinstance(sent, float | int)
                expected = pytest.approx(sent, rel=0.0051) if is_number else sent
                assert getattr(again, key) == expected, name


def test_how_many_rounds_a_quick_run_takes_stands_in_its_code_alone(experiment):
    said = experiment.quick.__doc__ or ""
    assert not re.search(r"\b(two|three|four|five|ten|\d+)( \w+)? (rounds|times)\b", said)


def test_a_full_run_takes_half_a_minute_at_most_and_a_quick_one_five_seconds(experiment):
    for name, _, full, quick in defaults(experiment.id):
        assert quick != full, name
        assert 0 < experiment.seconds(quick) <= 5, name
        assert experiment.seconds(quick) < experiment.seconds(full) <= 30, name


def test_the_defaults_take_half_of_the_free_memory_at_most(experiment):
    from machine.memory.host import available_bytes

    free_bytes = available_bytes() or 8 * GIB
    for name, here in MACHINES.items():
        for quick in (False, True):
            params = experiment.params_for(here, quick=quick)
            assert 0 <= experiment.memory_bytes(params) <= free_bytes / 2 + 4 * MIB, name


# --- the run ------------------------------------------------------------------------------------


def test_a_small_run_yields_rows_of_every_column(experiment, small_run):
    run = small_run(experiment.id)

    assert run.rows
    for table, rows in run.tables().items():
        for row in rows:
            assert isinstance(row, experiment.tables[table])
            for name, cell in msgspec.to_builtins(row).items():
                assert isinstance(cell, float | int | str | bool), name
                assert not isinstance(cell, float) or math.isfinite(cell), name
                if name.endswith(("_s", "_bytes", "_bytes_per_s")):
                    assert cell >= 0, name


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


def test_a_small_run_tells_how_far_it_is(experiment, small_run):
    items = small_run(experiment.id).items
    fractions = [item.fraction for item in items if isinstance(item, Progress)]

    assert fractions == sorted(fractions)
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert len(fractions) > 3
    for note in (item for item in items if isinstance(item, Note)):
        assert "{" not in ENGLISH.say(f"notes.{note.key}", note.values)
    assert all(item.table in experiment.tables for item in items if isinstance(item, Frame))


def test_its_first_turn_can_wait_unless_it_says_so(experiment, small_run):
    items, headline = small_run(experiment.id).items, experiment.tables[experiment.plots[0].table]
    held = [n for n, item in enumerate(items) if item == Note(messages.HELD)]
    shown = [n for n, item in enumerate(items) if isinstance(item, headline)]

    assert len(held) == experiment.can_wait
    assert all(n < min(shown, default=n + 1) for n in held)


def test_every_round_is_in_the_rows(experiment, small_run):
    run = small_run(experiment.id)
    if not hasattr(run.params, "rounds"):
        pytest.skip("it has no rounds")
    rounds = {row.repeat for row in run.rows if hasattr(row, "repeat")}

    assert rounds == set(range(run.params.rounds))


def test_a_finding_follows_from_the_rows_alone(experiment, small_run):
    run = small_run(experiment.id)
    finding = experiment.analyse(run.params, run.tables(), run.machine)

    check_finding(experiment, finding)
    assert finding.values
    assert finding == experiment.analyse(run.params, run.tables(), run.machine)


def test_nothing_measured_is_no_error(experiment):
    empty = {name: [] for name in experiment.tables}
    for _, here, params, _ in defaults(experiment.id):
        check_finding(experiment, experiment.analyse(params, empty, here))


def test_any_beginning_of_a_run_can_be_analysed(experiment, small_run):
    run = small_run(experiment.id)
    step = max(1, len(run.rows) // 30)
    for count in {*range(min(len(run.rows), 15)), *range(0, len(run.rows), step)}:
        tables = run.tables(count)
        for here in MACHINES.values():
            check_finding(experiment, experiment.analyse(run.params, tables, here))


def test_whatever_was_disturbed_the_rest_can_be_analysed(experiment, small_run):
    """What is disturbed is left out: all of one kind, or one round, or any sample."""
    run = small_run(experiment.id)
    whole, chance = run.tables(), random.Random(0)
    kinds = {
        (table, name, getattr(row, name))
        for table, rows in whole.items()
        for row in rows
        for name in specs(type(row))
        if isinstance(getattr(row, name), str | int)
    }
    lacking = [
        {**whole, table: [row for row in whole[table] if getattr(row, name) != value]}
        for table, name, value in kinds
    ]
    lacking += [
        {table: [row for row in rows if chance.random() < share] for table, rows in whole.items()}
        for share in (0.2, 0.5, 0.9)
        for _ in range(5)
    ]
    for tables in lacking:
        check_finding(experiment, experiment.analyse(run.params, tables, run.machine))


def test_what_is_cut_to_the_time_is_declared_as_its_budget(experiment):
    for path in HOMES[experiment.id].folder.glob("*.py"):
        text = path.read_text("utf-8")
        loops = re.findall(r"(?m)^\s+while .*\b(?:seconds\(|rounds\b).*:$", text)
        assert not loops, path
    for name in (*experiment.budget.full, *experiment.budget.quick):
        assert name in specs(experiment.params)
