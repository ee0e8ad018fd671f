from __future__ import annotations

import math
from itertools import pairwise

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.declare import Note
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from experiments.devices.device import CPU, Device  # noqa: E402
from experiments.many_devices.two_gpus import experiment as module  # noqa: E402
from experiments.many_devices.two_gpus.experiment import READ, SEQUENCE, TOGETHER, WAYS, Params  # noqa: E402
from experiments.many_devices.two_gpus.feeding import Half, workers  # noqa: E402
from tests.experiments.fake_gpu import CALL_S, LAUNCH_S, NAME, SECOND, fake_gpu  # noqa: E402

AGREED = {"a_s", "b_s", "in_sequence_s", "together_s"}

SMALL = Params(device=NAME, beside=SECOND, job_s=0.002, a_rows=64, b_rows=64, rounds=3)
SLOW = {"count": 2, "flop_per_s": 1e10}  # 50 µs for 64 rows: ten calls


def measured(gpu, params=SMALL):
    kinds = {kind: name for name, kind in module.EXPERIMENT.tables.items()}
    tables, notes = {name: [] for name in kinds.values()}, []
    for item in module.measure(params, Bench(machine(gpus=2), clock=gpu.clock)):
        if type(item) in kinds:
            tables[kinds[type(item)]].append(item)
        elif isinstance(item, Note):
            notes.append(item)
    return tables, notes


@pytest.fixture(scope="module")
def run():
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, **SLOW) as gpu:
        return measured(gpu)[0], gpu


def analysed(tables, params=SMALL):
    return module.analyse(params, tables, machine(gpus=2))


def made(noise=0.01, **took_s):
    """Return tables in which each way took that long, within 1 %, eight times."""
    rows = [
        module.Took(
            way=way,
            repeat=n,
            took_s=took_s[way] * (1 + noise * math.sin(9 * n + len(way))),
            called_s=1e-5,
        )
        for way in took_s
        for n in range(8)
    ]
    return {"runs": rows, "lanes": [], "feeds": [], "conditions": []}


def test_one_thread_keeps_two_gpus_busy(run):
    finding = analysed(run[0])
    values = finding.values

    assert finding.message == "as_long_as_the_longer"
    assert values["together_s"] == pytest.approx(values["longest_s"], rel=0.15)
    assert values["in_sequence_s"] == pytest.approx(values["sum_s"], rel=0.05)
    assert values["item_s"] == pytest.approx(values["sum_s"], rel=0.05)
    assert finding.limits == ()


def test_the_lanes_of_both_overlap_only_if_nobody_waits_between(run):
    def span(way, lane):
        found = [row for row in run[0]["lanes"] if (row.way, row.lane) == (way, lane)]
        assert len(found) > 20
        assert all(one.end_s <= other.start_s + 1e-9 for one, other in pairwise(found))
        return found[0].start_s, found[-1].end_s

    assert span(TOGETHER, "job_b")[0] < 0.5 * span(TOGETHER, "job_a")[1]
    for way in (READ, SEQUENCE):
        assert span(way, "job_b")[0] >= span(way, "job_a")[1] - 2e-5


def test_marks_are_read_once_each_on_the_clock_of_its_own_gpu(run):
    assert {event.reads for event in run[1].events} <= {0, 1}


def test_together_calls_both_before_it_waits(run):
    gpu = run[1]
    first = [n for n, entry in enumerate(gpu.log) if entry == "mm in default of 1"]
    called = {gpu.log[n - 1] for n in first}

    assert {"mm in default", "wait", "read by item"} <= called


def test_tiny_products_are_called_too_slowly_for_two():
    params = replace(SMALL, a_rows=8, b_rows=8)
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, count=2) as gpu:
        finding = analysed(measured(gpu, params)[0], params)

    assert finding.message == "no_gain"
    assert "calls_set_the_pace" in finding.limits


def test_one_gpu_and_the_processor_work_together_if_the_gpu_is_called_first():
    params = replace(SMALL, beside=CPU, b_over_a=0.5)
    given = {"flop_per_s": 1e10, "cpu_flop_per_s": 1e10}
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, **given) as gpu:
        finding = analysed(measured(gpu, params)[0], params)

    assert finding.message == "as_long_as_the_longer"
    assert finding.values["b_s"] == pytest.approx(finding.values["a_s"] / 2, rel=0.1)
    assert finding.limits == ("processor_beside_gpu",)


def test_beside_a_gpu_the_processor_uses_all_its_cores():
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, **SLOW):
        before = torch.get_num_threads()
        bench = Bench(machine(gpus=1))
        with workers(bench, NAME, CPU, cores=3):
            assert torch.get_num_threads() == 3
        assert torch.get_num_threads() == before
        with workers(bench, NAME, SECOND, cores=3):
            assert torch.get_num_threads() == before


def test_how_many_gpus_a_thread_could_feed_follows_from_work_and_call(run):
    """A product of 64 rows is 52 µs and 2 of start, its call 5 µs."""
    gpu = run[1]
    own_s = LAUNCH_S + 2 * 64**3 / gpu.flop_per_s
    values = analysed(run[0]).values

    assert {row.rows for row in run[0]["feeds"]} == {64}
    assert values["fed_gpus"] == pytest.approx(own_s / CALL_S, rel=0.1)
    assert values["feed_call_s"] == pytest.approx(CALL_S, rel=0.1)
    assert values["rows_for_eight"] == 64


def test_small_products_feed_few_gpus_and_large_ones_eight():
    def feed(rows, device_s):
        return module.Feed(
            rows=rows, repeat=0, device_s=device_s, call_s=5e-6, fed_gpus=device_s / 5e-6
        )

    ways = made(a=1.0, b=0.9, in_sequence=2.0, together=1.05, item=2.0)
    several = [feed(64, 10e-6), feed(512, 45e-6), feed(1024, 300e-6)]
    values = analysed({**ways, "feeds": several}).values
    assert (values["fed_gpus"], values["rows_for_eight"]) == (pytest.approx(60), 512)

    few = analysed({**ways, "feeds": several[:1]})
    assert "cannot_feed_eight" in few.limits
    assert "rows_for_eight" not in few.values


def test_one_gpu_for_both_gains_nothing():
    params = replace(SMALL, beside=NAME)
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, **SLOW) as gpu:
        finding = analysed(measured(gpu, params)[0], params)

    assert finding.message == "no_gain"
    assert "one_device_for_both" in finding.limits


def test_matrices_that_do_not_fit_are_smaller_and_said_to_be():
    small = {"free_bytes": 16 * 32**2 * 2} | SLOW
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, **small) as gpu:
        notes = measured(gpu)[1]

    assert [note.values["largest_bytes"] for note in notes] == [4 * 32**2] * 2


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error():
    error = torch.OutOfMemoryError("CUDA out of memory")
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, **SLOW) as gpu:
        gpu.fails = lambda work: error if gpu.at == 1 and work == "mm" else None
        with pytest.raises(torch.OutOfMemoryError):
            measured(gpu)


def test_the_processor_in_two_halves_takes_calls_and_lets_the_caller_go_on():
    params = Params(job_s=0.004, a_rows=128, b_rows=128, rounds=2)
    tables = in_tables(module.EXPERIMENT, module.measure(params, Bench(machine())))
    finding = module.analyse(params, tables, machine(cores=4))

    assert {row.way for row in tables["runs"]} == set(WAYS)
    assert {row.lane for row in tables["lanes"]} == {"caller", "job_a", "job_b"}
    assert finding.limits == ("halves_of_the_processor",)
    assert finding.values["half_cores"] == 2
    assert not tables["feeds"]  # a call of the processor does the work itself
    assert "fed_gpus" not in finding.values


def test_each_half_has_its_own_number_of_threads():
    bench = Bench(machine())
    with workers(bench, CPU, CPU, cores=6) as found:
        halves = [worker for worker, _ in found]
        assert all(half.thread.submit(torch.get_num_threads).result() == 3 for half in halves)


def test_what_fails_in_a_half_is_raised_by_waiting():
    half = Half(Device(CPU, Bench(machine())), threads=1)
    half.call(lambda: torch.mm(torch.ones(2, 3), torch.ones(2, 3)))
    with pytest.raises(RuntimeError):
        half.wait()
    half.thread.shutdown()


@pytest.mark.parametrize(
    ("together", "item", "message"),
    [
        (1.05, 2.0, "as_long_as_the_longer"),
        (1.5, 2.0, "longer_than_the_longer"),
        (1.05, 1.05, "together_whatever_is_read"),
        (2.0, 2.0, "no_gain"),
        (2.5, 2.0, "together_takes_longer"),
    ],
)
def test_the_text_follows_the_times(together, item, message):
    tables = made(a=1.0, b=0.9, in_sequence=2.0, together=together, item=item)
    finding = analysed(tables)

    assert finding.message == message
    assert "together_speedup" not in finding.unclear


def test_without_a_gpu_there_are_no_two_devices_to_see():
    tables = made(a=1.0, b=0.9, in_sequence=2.0, together=1.05, item=2.0)

    assert module.analyse(Params(), tables, machine()).message == "halves_of_one_processor"


@pytest.mark.parametrize(
    ("together", "item", "message"), [(1.05, 2.0, "less_than_the_sum"), (1.05, 1.1, CANNOT_TELL)]
)
def test_what_rounds_cannot_tell_is_not_told(together, item, message):
    tables = made(a=1.0, b=0.9, in_sequence=2.0, together=together, item=item, noise=0.2)

    assert analysed(tables).message == message


def test_a_gain_is_not_claimed_where_the_rounds_differ():
    tables = made(a=1.0, b=1.0, in_sequence=2.0, together=1.1, item=2.0)
    late = [replace(r, took_s=2.4) for r in tables["runs"] if r.way == TOGETHER and r.repeat < 4]
    tables["runs"] = late + [r for r in tables["runs"] if r.way != TOGETHER or r.repeat >= 4]
    finding = analysed(tables)

    assert finding.message == CANNOT_TELL
    assert finding.unclear == ("together_speedup",)


def test_one_core_cannot_be_halved():
    params = Params()
    finding = module.analyse(params, made(a=1.0), machine(cores=1))

    assert "one_core_for_both" in finding.limits
    assert finding.message == "in_part"


@pytest.mark.parametrize(
    ("gpus", "devices"), [(0, (CPU, CPU)), (1, (NAME, CPU)), (2, (NAME, SECOND))]
)
def test_the_first_two_devices_are_taken(gpus, devices):
    params = module.defaults(machine(gpus=gpus))

    assert (params.device, params.beside) == devices
    assert (params.b_rows > 1000) is (gpus == 2)
