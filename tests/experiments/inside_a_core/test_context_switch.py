from __future__ import annotations

import threading

import pytest

from experiments.core import needs
from experiments.core.bench import Bench, StopRequested
from experiments.core.declare import Need
from experiments.core.needs import missing_need
from experiments.core.problems import UserError
from experiments.inside_a_core.context_switch import experiment as context_switch
from experiments.inside_a_core.context_switch.experiment import (
    CALL,
    EXPERIMENT,
    WAYS,
    Params,
    Pipes,
    Turn,
    analyse,
    measure,
)
from experiments.tools.side_by_side import Futex, handed_s
from machine.inspect import inspect
from machine.model import Machine
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows

AGREED = {"system_call_s", "switch_s", "wake_other_core_s"}
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
SWITCHED = {way for way in WAYS if way.endswith(("one_core", "two_cores"))}
USUAL = dict(zip(WAYS, (1e-7, 3e-7, 2e-6, 6e-6, 5e-7, 2.5e-6, 7e-6), strict=True))


def found(here=None, without=(), noise=NOISE, more=(), **each_s):
    rows = [
        Turn(
            way=way, repeat=turn, each_s=usual_s * factor, switched_fraction=float(way in SWITCHED)
        )
        for way, usual_s in (USUAL | each_s).items()
        for turn, factor in enumerate(noise if way != "futex_alone" else NOISE)
        if way not in without
    ] + list(more)
    return analyse(Params(), {"turns": rows}, here or machine())


def test_what_a_switch_and_a_wake_cost_is_told_without_their_calls():
    finding = found()

    assert finding.message == "waking_costs_more"
    assert finding.values["system_call_s"] == pytest.approx(1e-7)
    assert finding.values["switch_s"] == pytest.approx(1.7e-6)
    assert finding.values["wake_other_core_s"] == pytest.approx(5.7e-6)
    assert finding.values["pipe_switch_s"] == pytest.approx(2e-6)
    assert finding.limits == ("cold_caches",)


@pytest.mark.parametrize(
    ("each_s", "message"),
    [
        ({"futex_two_cores": 1e-6}, "waking_costs_less"),
        ({"futex_two_cores": 2e-6}, "both_alike"),
        ({"futex_one_core": 2.9e-7, "futex_two_cores": 6e-6}, "switch_costs_nothing"),
    ],
)
def test_other_outcomes_are_said_as_they_are(each_s, message):
    assert found(**each_s).message == message


def test_what_costs_no_more_than_its_calls_has_no_cost_of_its_own():
    assert "switch_s" not in found(futex_one_core=2.9e-7).values


def test_one_core_alone_is_said_and_what_was_left_out_is_not_compared():
    alone = found(without={"futex_two_cores", "pipe_two_cores"})

    assert alone.message == "switch_costs"
    assert "one_core_only" in alone.limits
    assert "virtual_machine" in found(machine(virtualization="kvm")).limits
    assert found(without={"futex_alone"}).message == "nothing_to_compare"


def test_a_sample_in_which_both_stayed_awake_is_left_out_and_told_of():
    fast = Turn(way="futex_two_cores", repeat=1, each_s=9e-8, switched_fraction=0.01)

    assert found().values == found(more=[fast]).values
    assert "awake" in found(more=[fast]).limits


def test_rounds_that_scatter_tell_nothing():
    assert found(noise=(0.1, 9, 0.05, 20, 0.1, 15)).message == "cannot_tell"


@pytest.mark.parametrize("link", [Futex, Pipes])
def test_as_many_turns_come_back_as_are_handed_over(link):
    bench, both = Bench(inspect()), link()
    with bench.pinned() as own:
        if own is None:
            pytest.skip("threads cannot be kept on a core here")
        few, many = (min(handed_s(both, own, bench, n) for _ in range(5)) for n in (200, 2_000))
        both.alone(10)
    both.close()

    assert many > 4 * few


@pytest.mark.parametrize("link", [Futex, Pipes])
def test_a_stop_lets_the_other_thread_go(link):
    before, bench = threading.active_count(), Bench(inspect(), stop=lambda: True)

    with pytest.raises(StopRequested):
        handed_s(link(), 0, bench, 1_000_000)

    assert threading.active_count() == before


def test_a_stopped_run_leaves_nothing():
    stop_after_rows(EXPERIMENT, Params(rounds=50), 3)


def test_where_threads_cannot_be_kept_or_have_no_futex_it_says_so(monkeypatch):
    with pytest.raises(UserError, match="needs_linux"):
        list(measure(Params(), Bench(Machine())))
    assert missing_need(EXPERIMENT, inspect()) is None
    monkeypatch.setattr(needs, "FUTEX", 0)
    assert missing_need(EXPERIMENT, inspect()) is Need.LINUX


def test_on_one_core_only_its_ways_are_measured(monkeypatch):
    monkeypatch.setattr(context_switch, "by_topology", lambda _machine: [])
    rows = list(measure(Params(rounds=1), Bench(inspect())))

    ways = {row.way for row in rows if isinstance(row, Turn)}
    assert ways == {way for way in WAYS if not way.endswith("two_cores")}
    assert CALL in ways
