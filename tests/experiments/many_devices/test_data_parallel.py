from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from app.context import ExitCode
from app.terminal.run import exit_code
from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.declare import Progress
from experiments.core.judging.comparing import beside_load
from experiments.core.problems import UserError
from experiments.devices.device import CPU, Device
from experiments.engine import messages
from experiments.many_devices.data_parallel import across, replicas
from experiments.many_devices.data_parallel import experiment as data_parallel
from experiments.many_devices.data_parallel.all_reduce import Reduction
from experiments.many_devices.data_parallel.experiment import (
    TOLERANCE,
    Params,
    analyse,
    kinds_of,
    measure,
)
from experiments.many_devices.data_parallel.replicas import ALONE, APART, AVERAGED, LIGHTNING, Loss
from experiments.many_devices.data_parallel.training_turns import (
    COMMUNICATION,
    COMPUTE,
    EACH_FULL,
    IDEAL,
    IDLE,
    Rate,
    StepPart,
    counts,
    own_batch,
    work,
)
from tests.experiments.machines import machine

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {"one_worker_samples_per_s", "best_samples_per_s", "efficiency", "allreduce_bytes_per_s"}

FOUR = Params(most_workers=4)
SMALL = Params(device="cuda", most_workers=2, batch=8, width=8, largest_bytes=4096,
               steps=2, sample_s=1e-4, rounds=3)  # fmt: skip


# --- really trained, by processes ---------------------------------------------------------------


def test_workers_learn_what_one_process_learns(small_run):
    run = small_run("data-parallel")
    losses = run.tables()["losses"]
    found = {(row.workers, row.run, row.step): row.loss for row in losses}

    assert {row.workers for row in losses} == {1, 2}
    assert len(found) == len(losses) == 4 * run.params.steps
    for (workers, kind, step), loss in found.items():
        if kind == AVERAGED:
            assert loss == pytest.approx(found[workers, ALONE, step], rel=TOLERANCE)
    assert found[2, AVERAGED, run.params.steps] < found[2, AVERAGED, 1]  # and they do learn


def test_each_number_of_workers_is_timed_in_each_way(small_run):
    run = small_run("data-parallel")
    tables = run.tables()

    assert {(row.workers, row.run) for row in tables["rates"]} == {
        (1, ALONE), (1, AVERAGED), (1, APART), (2, AVERAGED), (2, APART), (1, IDEAL), (2, IDEAL),
    }  # fmt: skip
    gradients = 4 * replicas.parameter_count(run.params.width)
    assert {row.message_bytes for row in tables["reductions"]} == {4096, 16384, gradients}
    assert {row.part for row in tables["shares"] if row.workers == 2} == {
        COMPUTE, COMMUNICATION, IDLE,
    }  # fmt: skip


# --- on GPUs that are played --------------------------------------------------------------------


class Played:
    """The first of two members, whose other one does the same at the same time."""

    def __init__(self, bench) -> None:
        self.rank, self.size, self.bench = 0, 2, bench
        self.device = Device(NAME, bench)
        self.torch = self.device.torch
        self.dist = SimpleNamespace(
            new_group=lambda ranks: len(ranks),
            all_gather=lambda found, mine, group: [each.copy_(mine) for each in found],
            all_reduce=lambda message, group: message.mul_(3),  # 1 of this one, 2 of the other
        )

    def agreed(self, value):
        return value


@pytest.fixture
def played(monkeypatch):
    def wrap(self, net):
        net.no_sync = contextlib.nullcontext
        return net

    monkeypatch.setattr(replicas.ByTorch, "wrap", wrap)
    with fake_gpu(monkeypatch) as gpu:
        yield gpu, Played(Bench(machine(gpus=2), clock=gpu.clock))


def test_on_a_gpu_times_are_taken_when_all_is_done(played):
    gpu, member = played
    names = {row: name for name, row in data_parallel.EXPERIMENT.tables.items()}
    tables = {name: [] for name in names.values()}
    for item in work(member, SMALL):
        if not isinstance(item, Progress):
            tables[names[type(item)]].append(item)
    finding = analyse(SMALL, tables, machine(gpus=2))

    assert finding.values["one_worker_samples_per_s"] > 0
    assert "workers_share_memory" not in finding.limits
    assert finding.values["allreduce_bytes_per_s"] > 0
    assert {row.repeat for row in tables["rates"]} == {0, 1, 2}
    works = [place for place, each in enumerate(gpu.log) if " in " in each]
    waits = [place for place, each in enumerate(gpu.log) if each.startswith("wait")]
    assert works
    assert max(waits) > max(works)


def test_a_wrong_sum_is_told(played):
    _, member = played
    member.dist.all_reduce = lambda message, group: message
    with pytest.raises(UserError) as raised:
        list(work(member, SMALL))

    assert raised.value.problem.key == "reduced_wrong"


def test_gpus_are_offered_where_there_are_two_or_each_machine_brings_one(monkeypatch):
    assert kinds_of(machine()) == (CPU,)
    assert kinds_of(machine(gpus=1)) == (CPU,)
    assert kinds_of(machine(gpus=2)) == ("cuda", CPU)
    assert data_parallel.EXPERIMENT.suited(machine(gpus=2)).most_workers == 2
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert kinds_of(machine(gpus=1)) == ("cuda", CPU)


# --- what is concluded --------------------------------------------------------------------------


def tables_of(rates, *, most=4, machines=1, differ=0.0):
    """Tables of three rounds; `rates` by number of workers, 0 for one process alone."""
    found = {name: [] for name in data_parallel.EXPERIMENT.tables}
    for repeat in range(3):
        noise = 1 + 0.01 * repeat
        of = {(AVERAGED, n): rate for n, rate in rates.items() if n}
        of |= {(ALONE, 1): rates[0]} | {(IDEAL, n): n * rates[0] for n in counts(most)}
        found["rates"] += [
            Rate(workers=n, machines=machines, run=run, repeat=repeat, samples_per_s=rate * noise)
            for (run, n), rate in of.items()
        ]
        found["shares"] += [
            StepPart(workers=most, part=part, repeat=repeat, step_s=step_s)
            for part, step_s in ((COMPUTE, 0.1), (COMMUNICATION, 0.02), (IDLE, 0.01))
        ]
        found["reductions"].append(
            Reduction(message_bytes=4096, repeat=repeat, reduce_s=1e-3, bus_bytes_per_s=6e6)
        )
    for run, loss in ((ALONE, 2.0), (AVERAGED, 2.0 * (1 + differ))):
        found["losses"].append(Loss(workers=most, run=run, step=1, loss=loss))
    return found


@pytest.mark.parametrize(
    ("four", "message"),
    [(390, "scales_well"), (250, "scales_partly"), (101, "as_fast_as_one"), (60, "more_is_slower")],
)
def test_the_text_follows_what_four_workers_reach(four, message):
    finding = analyse(FOUR, tables_of({0: 100, 1: 98, 2: 190, 4: four}), machine(cores=4))

    assert finding.message == message
    assert finding.values["efficiency"] == pytest.approx(four / 400)
    assert finding.values["best_workers"] == (4 if four > 190 else 2)
    assert finding.values["communication_s"] == pytest.approx(0.02)
    assert finding.unclear == ()
    assert "several_machines" in finding.limits


def test_noise_is_not_called_as_fast_as_one():
    tables = tables_of({0: 100, 1: 98, 2: 190, 4: 101})
    up_and_down = [
        replace(row, samples_per_s=row.samples_per_s * (0.5, 2.0, 1.0)[row.repeat % 3])
        if row.run == AVERAGED
        else row
        for row in tables["rates"]
    ]
    finding = analyse(FOUR, {**tables, "rates": up_and_down}, machine(cores=4))

    assert finding.message == CANNOT_TELL
    assert finding.unclear == ("workers_speedup",)


def scattered(rate):
    """Return tables in which the rounds of four workers scatter around a rate."""
    tables = tables_of({0: 100, 1: 98, 2: 190, 4: rate})
    tables["rates"] = [
        replace(row, samples_per_s=row.samples_per_s * (0.7, 1.4, 1.0)[row.repeat % 3], repeat=n)
        if row.run == AVERAGED
        else replace(row, repeat=n)
        for n in range(3 * 4)
        for row in tables["rates"]
        if row.repeat == n % 3
    ]
    return tables


def test_a_shortfall_is_told_though_a_gain_is_unclear():
    finding = analyse(FOUR, scattered(101), machine(cores=4))

    assert finding.message == "falls_short_unclear"
    assert "workers_speedup" in finding.unclear


def test_beside_load_a_shortfall_must_be_larger_than_load_explains():
    with beside_load(5.0):
        finding = analyse(FOUR, scattered(101), machine(cores=4))

    assert finding.message == CANNOT_TELL


def test_a_best_number_of_workers_that_is_only_chance_is_unclear():
    tables = tables_of({0: 100, 1: 98, 2: 390, 4: 391})
    scattered = [
        replace(row, samples_per_s=row.samples_per_s * (0.6, 1.5, 1.0)[row.repeat % 3])
        if row.run == AVERAGED and row.workers == 2
        else row
        for row in tables["rates"]
    ]
    finding = analyse(FOUR, {**tables, "rates": scattered}, machine(cores=4))

    assert finding.message == "scales_well"
    assert finding.unclear == ("best_workers",)


def test_other_losses_are_told_before_any_speed():
    finding = analyse(FOUR, tables_of({0: 100, 1: 98, 4: 390}, differ=0.01), machine(cores=4))

    assert finding.message == "losses_differ"
    assert finding.values["loss_difference_fraction"] == pytest.approx(0.01)


def test_a_run_cut_short_is_not_judged():
    assert analyse(FOUR, tables_of({0: 100, 1: 98}), machine()).message == "in_part"


def test_what_the_numbers_cannot_tell_is_said():
    tables = tables_of({0: 100, 1: 98, 4: 600}, machines=2)
    finding = analyse(replace(FOUR, split=EACH_FULL), tables, machine(cores=4))
    assert finding.limits == ("above_ideal", "batch_grows", "over_machines")

    crowded = analyse(replace(FOUR, threads=2), tables_of({0: 100, 4: 50}), machine(cores=4))
    assert "more_threads_than_cores" in crowded.limits


def test_shares_of_a_batch_are_equal():
    assert [own_batch(Params(batch=512), n) for n in (1, 2, 3)] == [512, 256, 170]
    assert own_batch(Params(batch=512, split=EACH_FULL), 4) == 512
    assert counts(6) == [1, 2, 4, 6]
    assert replicas.parameter_count(Params().width) == 489_466


# --- what may be missing ------------------------------------------------------------------------


def test_lightning_that_is_not_installed_is_asked_for_in_a_sentence(monkeypatch):
    monkeypatch.setattr(data_parallel.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError) as raised:
        list(measure(Params(engine=LIGHTNING), Bench(machine())))
    problem = messages.ProblemSent(key=raised.value.problem.key)

    assert problem.key == "needs_lightning"
    failed = messages.Finished(outcome=messages.Outcome.FAILED, problem=problem)
    assert exit_code(failed) is ExitCode.CANNOT_RUN_HERE


def test_across_says_that_a_launcher_has_to_start_it(capsys, tmp_path):
    assert across.main(["--out", str(tmp_path / "run.gz")]) == across.USAGE
    assert "torchrun" in capsys.readouterr().err
