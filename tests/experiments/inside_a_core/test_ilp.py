from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Note
from experiments.core.problems import UserError
from experiments.core.teaching.motion import Pointed, Travel
from experiments.inside_a_core.ilp import kernels, lesson
from experiments.inside_a_core.ilp.experiment import (
    COUNTS,
    EXPERIMENT,
    OPERATIONS,
    ChainTime,
    Params,
    analyse,
    measure,
    operation_s,
)
from experiments.inside_a_core.ilp.kernels import COMPILED, STEPS, in_chains
from experiments.inside_a_core.ilp.lesson import motion
from experiments.tools.core_clock import Clock
from machine.inspect import inspect
from tests.cases import in_one
from tests.experiments.core.teaching.shown import recorded
from tests.experiments.inside_a_core import lessons_of_ilp as lessons
from tests.experiments.inside_a_core.lessons_of_ilp import RUNS
from tests.experiments.kernel_checks import check_kept, check_twice_takes_twice
from tests.experiments.machines import machine

AGREED = {
    f"{name}_{what}"
    for name in ("add", "multiply", "divide")
    for what in ("latency_cycles", "per_cycle")
}
AGREED_COLUMNS = {"steps": {"operation", "chains", "cycles"}}

NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
LATENCY = dict(zip(OPERATIONS, (4, 4, 14, 1, 3, 4), strict=True))
INTERVAL = dict(zip(OPERATIONS, (0.5, 0.5, 4, 0.25, 1, 4), strict=True))


def textbook(name, chains):
    return max(LATENCY[name] / chains, INTERVAL[name])


def steps(cycles=textbook, noise=(NOISE, NOISE)):
    """Rows of every operation; one chain has a noise of its own."""
    return [
        ChainTime(operation=name, chains=chains, repeat=turn, operation_s=each / 3e9, cycles=each,
             per_cycle=1 / each)
        for name in OPERATIONS
        for chains in COUNTS
        for turn, factor in enumerate(noise[chains > 1])
        for each in [cycles(name, chains) * factor]
    ]  # fmt: skip


def found(rows, here=None):
    clock = [Clock(repeat=turn, core_hz=3e9) for turn in range(3)]
    return analyse(Params(), {"steps": rows, "clocks": clock}, here or machine())


def test_latency_and_rate_of_each_operation_are_told():
    finding = found(steps())

    assert finding.message == "several_at_once"
    assert finding.unclear == ()
    for name in OPERATIONS:
        assert finding.values[f"{name}_latency_cycles"] == pytest.approx(LATENCY[name])
        assert finding.values[f"{name}_per_cycle"] == pytest.approx(1 / INTERVAL[name])
    assert finding.values["add_gain"] == pytest.approx(4)
    assert finding.values["least_cycles"] == pytest.approx(0.25)


def test_a_core_that_does_one_after_another_is_said_to():
    assert found(steps(lambda name, _chains: LATENCY[name])).message == "one_at_a_time"


def test_rounds_that_scatter_tell_nothing():
    finding = found(steps(noise=((0.2, 5, 1, 3, 0.3), (4, 0.3, 1, 0.2, 3))))

    assert finding.message == "cannot_tell"
    assert "add_gain" in finding.unclear


def test_two_rounds_are_too_few():
    assert found([s for s in steps() if s.repeat < 2]).message == "too_few_rounds"


def test_a_divider_that_is_busy_is_told_of_and_a_pipelined_one_is_not():
    assert "divider_is_busy" in found(steps()).limits
    pipelined = steps(lambda name, chains: max(LATENCY[name] / chains, 1))
    assert "divider_is_busy" not in found(pipelined).limits


def test_more_chains_than_registers_are_told_of_where_they_cost_time():
    assert "more_chains_than_registers" not in found(steps()).limits
    spilled = steps(lambda name, chains: textbook(name, chains) * (1.5 if chains == 16 else 1))
    assert "more_chains_than_registers" in found(spilled).limits


def test_sums_that_wait_are_the_control_and_a_gain_of_theirs_is_told():
    assert found(steps()).values["linked_add_gain"] == pytest.approx(1)
    assert "linked_gain" not in found(steps()).limits
    gained = steps(lambda name, chains: textbook(name, chains) / (1.3 if chains > 1 else 1))
    assert "linked_gain" in found(gained).limits


def test_a_virtual_machine_is_named():
    assert "virtual_machine" in found(steps(), machine(virtualization="kvm")).limits
    assert "virtual_machine" not in found(steps()).limits


def test_additions_alone_or_none_at_all():
    alone = found([s for s in steps() if s.operation == "add"])
    assert alone.message == "several_at_once"
    assert "divide_per_cycle" not in alone.values
    assert found([s for s in steps() if s.chains == 1]).message == "nothing_to_compare"


# --- the motion of the lesson --------------------------------------------------------------------


def test_an_addition_moves_as_long_as_it_took_and_enters_as_often_as_measured():
    one, four = motion(RUNS["usual"], None).scenes
    alone, beside = ([e for e in s.events if isinstance(e, Travel)] for s in (one, four))
    latency_s = LATENCY["add"] / 3e9

    assert [each.end_s - each.start_s for each in alone] == pytest.approx([latency_s] * len(alone))
    assert [each.start_s for each in alone] == pytest.approx(
        [n * latency_s for n in range(len(alone))]
    )
    assert [each.start_s for each in beside] == pytest.approx(
        [n * latency_s / 4 for n in range(len(beside))]
    )
    assert {each.along[0] for each in beside} == {"a", "b", "c", "d"}
    assert 3 < len(beside) / len(alone) < 4


def test_another_operation_moves_at_its_own_times_and_one_chain_alone_not_at_all():
    divided = motion(RUNS["usual"], Pointed(view="cycles", name="divide", at=4.0))
    assert divided.duration_s == pytest.approx(14 / 4 * motion(RUNS["usual"], None).duration_s)
    single = [row for row in RUNS["usual"].tables["steps"] if row.chains == 1]
    assert motion(replace(RUNS["usual"], tables={"steps": single}), None) is None


def test_a_processor_whose_cycles_cannot_be_counted_is_refused(monkeypatch):
    monkeypatch.setattr("experiments.kernels.clock.COUNTS_CYCLES", False)

    with pytest.raises(UserError, match="no_clock"):
        list(measure(Params(), Bench(inspect())))


def test_a_system_that_pins_no_threads_still_measures_and_says_so(monkeypatch):
    monkeypatch.delattr("os.sched_setaffinity", raising=False)
    params = Params(operations=("integer_add",), rounds=1)
    items = list(measure(params, Bench(inspect())))

    assert Note("not_pinned") in items
    assert {s.chains for s in items if isinstance(s, ChainTime)} == set(COUNTS)


# --- the compiled chains --------------------------------------------------------------------------


@in_one(
    ("operation", "after"),
    [
        ("add", lambda first: first + 8 * 1e-9),
        ("multiply", lambda first: first * 1.0000001**8),
        ("divide", lambda first: first / 1.0000001**8),
        ("integer_add", lambda first: first + 8 * 3),
        ("integer_multiply", lambda first: first * 3**8),
    ],
)
def test_every_chain_takes_the_steps_that_are_counted(operation, after):
    for chains in COUNTS:
        numbers = in_chains(operation, chains)(8)
        assert numbers == pytest.approx([after(1 + n) for n in range(chains)], rel=1e-12)
    assert in_chains(operation, 1)(5) == in_chains(operation, 1)(STEPS * 2)


def test_in_the_control_each_sum_adds_the_newest_result_of_the_one_before():
    def after(numbers, steps):
        for _ in range(steps):
            before = numbers[-1]
            for at, each in enumerate(numbers):
                numbers[at] = before = each + before
        return numbers

    for chains in COUNTS:
        first = [1.0 + n for n in range(chains)]
        assert in_chains("linked_add", chains)(8) == pytest.approx(after(first, 8))


def test_the_numbers_of_chains_are_those_that_are_compiled():
    assert COUNTS == kernels.COUNTS


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_operation_is_left_out_joined_or_made_a_vector(operation):
    check_twice_takes_twice(in_chains(operation, 8), 20_000)
    single = {"add": "addsd", "linked_add": "addsd", "multiply": "mulsd", "divide": "divsd"}.get(
        operation
    )
    if single is None or kernels.IS_ARM:
        return
    text = _assembly(COMPILED[operation], COMPILED[operation].signatures[3])  # eight chains
    body = re.findall(rf"\bv?{single}\b", text)
    assert len(body) >= 8 * STEPS
    assert not re.search(rf"\bv?{single[:-2]}pd\b", text)


def _assembly(kernel, signature):
    """Compile again: what comes from the disk cache has no assembly."""
    from numba import njit

    return njit([signature], nogil=True)(kernel.py_func).inspect_asm()[signature]


def test_the_chains_let_go_of_the_lock_and_are_kept_on_disk():
    check_kept(list(COMPILED.values()))


def test_four_chains_of_additions_are_faster_than_one():
    bench = Bench(inspect())
    one, four = (
        min(operation_s("add", chains, 200_000, bench) for _ in range(9)) for chains in (1, 4)
    )

    assert four < 0.6 * one


def test_the_default_is_as_short_as_it_says():
    assert EXPERIMENT.seconds(EXPERIMENT.reduced(Params())) < 5


def test_four_additions_at_once_are_not_explained_by_one_that_enters_each_cycle():
    """ "A new one can enter each cycle" gave two at once; four sums gained 3.9 times."""
    run = recorded(EXPERIMENT)
    at_once = run.values["add_latency_cycles"] * run.values["add_per_cycle"]
    text = Catalogue().lesson(EXPERIMENT).words.explain.text

    assert run.values["add_gain"] > run.values["add_latency_cycles"] * 1.5
    assert lesson.numbers(run, None)["sums_to_fill"] == round(at_once) == 4
    assert {"{add_latency_cycles}", "{add_per_cycle}"} <= {*re.findall(r"\{\w+\}", text)}


def test_what_starts_in_a_cycle_is_said_of_the_additions_that_were_counted():
    """ "At most 2 additions" stood there; of integers 5 started in a cycle."""
    run = recorded(EXPERIMENT)
    said = Catalogue().lesson(EXPERIMENT).explain(run, None).why_not_double

    assert run.values["integer_add_per_cycle"] > 2 * run.values["add_per_cycle"]
    assert "floating-point" in said


def test_two_adders_are_ruled_out_only_by_a_larger_gain():
    assert lesson.more_than_two_adders(RUNS["usual"])
    assert lesson.numbers(RUNS["usual"], None)["four_over_one"] == pytest.approx(1.0, rel=0.05)
    two = [replace(row, cycles=2 * row.cycles if row.chains > 1 else row.cycles)
           for row in lessons.steps()]  # fmt: skip
    assert not lesson.more_than_two_adders(lessons.made(two))
