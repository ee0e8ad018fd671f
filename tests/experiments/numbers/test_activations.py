from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core import marks
from experiments.core.bench import Bench, StopRequested
from experiments.core.views import Bars
from experiments.devices.device import CPU, Device
from experiments.numbers.activations.elementwise import (
    COPY,
    FUNCTIONS,
    GELU,
    RELU,
    SIGMOID,
    TANH,
    Arrays,
)
from experiments.numbers.activations.experiment import (
    EXPERIMENT,
    GPU,
    KINDS,
    Backward,
    Cached,
    Params,
    Pass,
    analyse,
    measure,
    seconds,
)
from tests.experiments.machines import MIB, machine
from tests.experiments.tables import in_tables
from tests.experiments.turns import Turns

torch = pytest.importorskip("torch")
from tests.experiments import fake_gpu as fake  # noqa: E402
from tests.experiments.fake_gpu import LAUNCH_S, NAME, fake_gpu  # noqa: E402

AGREED = {
    f"{function}_{device}_s"
    for function in ("copy", "relu", "gelu", "tanh", "sigmoid")
    for device in ("cpu", "gpu0")
}

SMALL = Params(numbers=20_000, rounds=3)
ON_GPU = Params(device=NAME, numbers=20_000, rounds=3)
WORK_S = 50e-6  # of a function over all numbers
CACHE = MIB // 16


def with_gpu():
    here = machine(cores=1, gpus=1)
    return replace(here, gpus=(replace(here.gpus[0], l2_bytes=CACHE),))


def small_caches(here):
    cpu = replace(here.cpu, caches=tuple(replace(c, size_bytes=CACHE) for c in here.cpu.caches))
    return replace(here, cpu=cpu)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr("experiments.numbers.activations.experiment.SAMPLE_S", 1e-5)


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(fake, "MEMORY_BYTES_PER_S", 8 * ON_GPU.numbers / WORK_S)
    with fake_gpu(monkeypatch, cpu_bytes_per_s=2e9) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def run():
    """A run on the fake GPU: its tables, and the GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.numbers.activations.experiment.SAMPLE_S", 1e-5)
        patch.setattr(fake, "MEMORY_BYTES_PER_S", 8 * ON_GPU.numbers / WORK_S)
        with fake_gpu(patch, cpu_bytes_per_s=2e9) as gpu:
            yield measured(ON_GPU, Bench(with_gpu(), clock=gpu.clock)), gpu


def measured(params, bench):
    return in_tables(EXPERIMENT, measure(params, bench))


def row(function, element_s, repeat=0, where=CPU, kind=Pass, numbers=10**9):
    return kind(
        function=function,
        device=where,
        what=f"{function}_{where}",
        repeat=repeat,
        numbers=numbers,
        element_s=element_s,
        over_copy=1.0,
    )


def scatter(function, repeat, noise):
    """Return a factor close to 1, another in each round and for each function."""
    return 1 + noise * math.sin(9 * repeat + sum(map(ord, function)))


def tables_of(cpu, gpu=None, numbers=10**9, noise=0.01):
    found = {CPU: cpu} | ({GPU: gpu} if gpu else {})
    rows = [
        row(function, element_s * scatter(function, repeat, noise), repeat, where, numbers=numbers)
        for where, of in found.items()
        for function, element_s in of.items()
        for repeat in range(8)
    ]
    return {"passes": rows, "cached": [], "backward": [], "conditions": []}


LEVEL = dict.fromkeys(FUNCTIONS, 1e-9)
HEAVY = LEVEL | {TANH: 5e-9, GELU: 6e-9}


def test_all_functions_are_timed_from_memory_and_cache_and_backwards():
    tables = measured(SMALL, Bench(machine(cores=1)))

    for name in ("passes", "cached", "backward"):
        assert len(tables[name]) == 3 * len(FUNCTIONS)
        assert {r.function for r in tables[name]} == set(FUNCTIONS)
        assert all(r.over_copy == 1.0 for r in tables[name] if r.function == COPY)
    assert {r.device for r in tables["passes"]} == {CPU}
    finding = analyse(SMALL, tables, machine())
    assert "gpu_not_measured" in finding.limits
    assert finding.message == "cpu_in_cache"


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f != COPY])
def test_the_functions_and_gradients_are_those_of_torch(function):
    arrays = Arrays.on(Device(CPU, Bench(machine())), 100)
    x = arrays.numbers.clone().requires_grad_()
    call = {RELU: torch.relu, TANH: torch.tanh, SIGMOID: torch.sigmoid}
    expected = call.get(function, torch.nn.functional.gelu)(x)
    arrays.forward()[function]()
    assert torch.allclose(arrays.results, expected)

    expected.backward(arrays.gradients)
    if function in (TANH, SIGMOID):  # which take their gradients from their results
        arrays.numbers.copy_(expected.detach())
    arrays.backward()[function]()
    assert torch.allclose(arrays.results, x.grad, atol=1e-6)


def test_on_a_gpu_the_memory_hides_the_maths_and_the_processor_is_beside_it(run):
    tables, _ = run
    finding = analyse(ON_GPU, tables, with_gpu())

    assert {r.device for r in tables["passes"]} == {CPU, GPU}
    assert finding.message == "gpu_in_cache"  # of the processor, whose cache is large
    assert analyse(ON_GPU, tables, small_caches(with_gpu())).message == "gpu_in_cache"
    here = with_gpu()
    alone = analyse(ON_GPU, tables, replace(here, gpus=(replace(here.gpus[0], l2_bytes=1024),)))
    assert alone.message == "gpu_level", "only the processor's array is in a cache"
    assert "cores_in_cache" in alone.limits
    expected_s = (WORK_S + LAUNCH_S) / ON_GPU.numbers
    for function in FUNCTIONS:
        assert finding.values[f"{function}_{GPU}_s"] == pytest.approx(expected_s, rel=0.1)
    few = {r.numbers for r in tables["cached"] if r.device == GPU}
    assert few == {CACHE // 2 // 8}
    assert finding.values["tanh_over_relu_gpu0"] == pytest.approx(1.0, rel=0.05)


def test_few_numbers_are_gone_over_many_times_in_one_call(run):
    """A GPU goes over what its cache holds in the time of a call: the calls would be timed."""
    tables, gpu = run[:2]
    few = [r for r in tables["cached"] if r.device == GPU and r.function == RELU]
    own_s = LAUNCH_S + 2 * 4 * few[0].numbers / (8 * ON_GPU.numbers / WORK_S)

    assert any(entry.startswith("graph") for entry in gpu.log)
    for each in few:
        assert each.element_s * each.numbers == pytest.approx(own_s, rel=0.05)


def test_a_row_is_yielded_in_the_turn_that_measured_it(gpu):
    """Else one disturbed turn would spoil, or leave unmarked, the rows of a whole round."""
    bench = Turns(with_gpu(), clock=gpu.clock)
    arrays = {kind: size for size, kind in KINDS.items()}
    rows = 0
    for item in measure(ON_GPU, bench):
        if type(item) in arrays:
            assert bench.now == (item.repeat, (item.device, arrays[type(item)]))
            rows += 1

    assert rows == 2 * ON_GPU.rounds * len(KINDS) * len(FUNCTIONS)


def test_every_mark_is_read_once_and_the_queue_is_held(run):
    _, gpu = run

    assert {event.reads for event in gpu.events} <= {0, 1}
    holds = sum(entry.startswith("hold") for entry in gpu.log)
    assert holds >= (ON_GPU.rounds + 1) * 3 * len(FUNCTIONS)


def test_few_numbers_are_left_out_where_no_queue_can_be_held(gpu, monkeypatch):
    monkeypatch.setattr(Device, "hold", lambda self, seconds: False)
    tables = measured(ON_GPU, Bench(with_gpu(), clock=gpu.clock))

    assert {r.device for r in tables["cached"]} == {CPU}
    assert {r.device for r in tables["passes"]} == {CPU, GPU}
    assert "cache_not_measured" in analyse(ON_GPU, tables, with_gpu()).limits


def test_few_numbers_are_left_out_where_the_cache_is_not_known(gpu):
    tables = measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))

    assert {r.device for r in tables["cached"]} == {CPU}


def test_no_more_numbers_than_there_is_room_for(gpu):
    gpu.free_bytes = 100_000
    tables = measured(ON_GPU, Bench(with_gpu(), clock=gpu.clock))

    assert {r.numbers for r in tables["passes"] if r.device == GPU} == {5000}  # 60 % of it


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error(gpu):
    error = torch.OutOfMemoryError("CUDA out of memory")
    gpu.fails = lambda work: error if work == "randn" else None

    with pytest.raises(torch.OutOfMemoryError):
        measured(ON_GPU, Bench(with_gpu(), clock=gpu.clock))


def test_a_stop_is_obeyed_between_two_samples():
    asked = iter([False] * 30)
    with pytest.raises(StopRequested):
        measured(SMALL, Bench(machine(cores=1), stop=lambda: next(asked, True)))


@pytest.mark.parametrize(
    ("cpu", "gpu", "message"),
    [
        (HEAVY, None, "cpu_computes"),
        (HEAVY | {TANH: 9e-9, GELU: 2e-9}, None, "tanh_not_vectorised"),  # GELU computes more
        (HEAVY | {TANH: 4e-9, GELU: 9e-9}, None, "cpu_computes"),
        (LEVEL, None, "cpu_level"),
        (LEVEL | {GELU: 1.08e-9}, None, "cpu_level"),  # hardly
        (HEAVY, LEVEL, "gpu_level_cpu_computes"),
        (LEVEL, LEVEL, "both_level"),
        (LEVEL, HEAVY, "gpu_computes"),
    ],
)
def test_the_text_follows_the_data(cpu, gpu, message):
    params = replace(ON_GPU, device=NAME if gpu else CPU)
    finding = analyse(params, tables_of(cpu, gpu), machine(gpus=1))

    assert finding.message == message
    assert finding.values["copy_over_copy"] == 1.0
    assert "tanh_over_relu_cpu" not in finding.unclear  # the same, too, is clear


@pytest.mark.parametrize("gpu", [None, LEVEL])
def test_noise_is_no_reason_to_call_functions_level(gpu):
    params = replace(ON_GPU, device=NAME if gpu else CPU)
    finding = analyse(params, tables_of(LEVEL, gpu, noise=0.3), machine(gpus=1))

    assert finding.message == CANNOT_TELL
    assert "tanh_over_relu_cpu" in finding.unclear


def test_a_gpu_that_was_not_reached_is_no_finding_of_it():
    assert analyse(ON_GPU, tables_of(HEAVY), machine(gpus=1)).message == "in_part"


@pytest.mark.parametrize("gpu", [None, LEVEL])
@pytest.mark.parametrize("fill", [0.5, 2.0, 8.0])
def test_memory_is_spoken_of_only_where_the_arrays_do_not_lie_in_a_cache(gpu, fill):
    here = machine(gpus=1, caches=(CACHE, MIB, 8 * MIB))
    here = replace(here, gpus=(replace(here.gpus[0], l2_bytes=8 * MIB),))
    params = replace(ON_GPU, device=NAME if gpu else CPU)
    finding = analyse(params, tables_of(HEAVY, gpu, numbers=int(fill * MIB)), here)

    assert finding.message.endswith("_in_cache") == (fill < 4)
    assert "partly_in_cache" not in finding.limits


def test_where_the_size_of_the_cache_is_not_known_a_part_may_lie_in_it():
    finding = analyse(SMALL, tables_of(HEAVY), machine(caches=()))

    assert finding.message == "cpu_computes"
    assert "partly_in_cache" in finding.limits


@pytest.mark.parametrize(
    ("cached_s", "numbers", "is_told"),
    [(2e-9, 65536, True), (5e-10, 65536, False), (2e-9, 10**9, False)],
)
def test_few_numbers_that_take_longer_than_many_are_explained(cached_s, numbers, is_told):
    tables = tables_of(LEVEL)
    tables["cached"] = [row(GELU, cached_s, n, kind=Cached, numbers=numbers) for n in range(3)]

    assert ("calls_in_cache" in analyse(SMALL, tables, machine()).limits) == is_told


def test_a_ratio_that_is_shown_is_that_of_the_times_that_are_shown():
    of = {COPY: (1.0, 2.0, 4.0), GELU: (8.0, 6.0, 20.0)}  # 8, 3 and 5 times, one by one
    rows = [
        replace(row(function, times[turn], turn), over_copy=times[turn] / of[COPY][turn])
        for function, times in of.items()
        for turn in range(3)
    ]
    for view in (view for view in EXPERIMENT.views if isinstance(view, Bars)):
        copy, gelu = marks.bars(view, rows)
        assert (copy.value, gelu.value) == (1.0, 4.0)
        assert gelu.repeats == (8.0, 3.0, 5.0)


def test_kinds_of_rows_are_told_apart():
    tables = tables_of(LEVEL)
    tables["cached"] = [row(f, 1e-10, n, kind=Cached) for f in FUNCTIONS for n in range(3)]
    tables["backward"] = [row(f, 2e-9, n, kind=Backward) for f in FUNCTIONS for n in range(3)]
    finding = analyse(SMALL, tables, machine())

    assert finding.values["relu_cached_cpu_s"] == pytest.approx(1e-10)
    assert finding.values["relu_backward_cpu_s"] == pytest.approx(2e-9)
    assert "gradients_read_more" in finding.limits
    assert "cache_not_measured" not in finding.limits


def test_sizes_come_from_the_machine():
    small, large = (machine(caches=(32 * 2**10, MIB, size * MIB)) for size in (8, 64))

    assert EXPERIMENT.suited(large).numbers == 8 * EXPERIMENT.suited(small).numbers
    assert 8 * EXPERIMENT.suited(large).numbers == 4 * 64 * MIB
    assert seconds(EXPERIMENT.reduced(EXPERIMENT.suited(large))) <= 4
