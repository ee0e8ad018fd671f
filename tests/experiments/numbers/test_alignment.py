from __future__ import annotations

import contextlib
import math

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench, StopRequested
from experiments.core.problems import UserError
from experiments.numbers.alignment import experiment as alignment
from experiments.numbers.alignment.experiment import (
    CHANGES,
    EXPERIMENT,
    ORDER,
    PROBES,
    FineProduct,
    Params,
    Wide,
    analyse,
    arms,
    measure,
    multiple_of,
    seconds,
)
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from experiments.numbers.alignment import products  # noqa: E402
from tests.experiments import fake_gpu as fake  # noqa: E402
from tests.experiments.fake_gpu import FLOP_PER_S, LAUNCH_S, NAME, fake_gpu  # noqa: E402

AGREED = {"aligned_flop_per_s", "misaligned_flop_per_s", "penalty"}

SMALL = Params(size=128, span=4, wide_sizes=3, rounds=3)
ON_GPU = replace(SMALL, device=NAME, precision="fp16")
ODD_COSTS = 1.5


@contextlib.contextmanager
def played(monkeypatch):
    """A GPU on which products with an odd side take longer."""
    flop = fake.flop_of

    def with_penalty(name, given):
        is_odd = name == "mm" and any(size % 2 for size in given[0].shape)
        return flop(name, given) * (ODD_COSTS if is_odd else 1)

    monkeypatch.setattr(alignment, "SAMPLE_S", 1e-5)
    monkeypatch.setattr(products, "TRIED", 16)
    monkeypatch.setattr(fake, "flop_of", with_penalty)
    with fake_gpu(monkeypatch, flop_per_s=FLOP_PER_S / 1000) as gpu:
        yield gpu


@pytest.fixture
def gpu(monkeypatch):
    with played(monkeypatch) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def run():
    """A run on the fake GPU: its tables, and the GPU."""
    with pytest.MonkeyPatch.context() as patch, played(patch) as gpu:
        return measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock)), gpu


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(alignment, "SAMPLE_S", 1e-5)
    monkeypatch.setattr(products, "TRIED", 16)


def measured(params, bench):
    return in_tables(EXPERIMENT, measure(params, bench))


def tables_of(odd_s, *, aligned_s=1.0, size=128, noise=0.0):
    """Made rows, every repeat the given time for what would be a second of aligned work."""
    rows = [
        FineProduct(
            precision="fp32",
            multiple=multiple_of(n),
            size=n,
            repeat=repeat,
            took_s=each_s,
            flop_per_s=2 * n**3 / each_s,
        )
        for n in range(size - 4, size + 5)
        for repeat in range(8)
        for each_s in [
            (odd_s if n % 2 else aligned_s)
            * (n / size) ** 3
            * (1 + noise * math.sin(9 * repeat + n))
        ]
    ]
    return {"steps": rows, "wide": [], "probes": [], "refused": [], "conditions": []}


def test_a_size_counts_to_the_largest_multiple():
    assert [multiple_of(n) for n in (4096, 4112, 4104, 4098, 4097)] == list(ORDER)


def test_every_size_around_the_power_of_two_is_measured_and_wide_ones_in_pairs():
    found = arms(Params(size=512, span=8, wide_sizes=5), ["fp32", "fp16"])
    wide = [size for kind, _, size in found if kind is Wide]

    assert [size for kind, _, size in found if kind is FineProduct] == list(range(504, 521))
    assert wide == [256, 257, 384, 385, 512, 513, 640, 641, 768, 769]
    assert [size for _, name, size in found if name == "fp16"] == [512 + n for n in PROBES]


def test_a_processor_sweeps_in_single_precision(short):
    tables = measured(SMALL, Bench(machine(cores=1)))
    sizes = {row.size for row in tables["steps"]}

    assert sizes == set(range(124, 133))
    assert len(tables["steps"]) == 3 * len(sizes)
    assert all(row.flop_per_s == pytest.approx(2 * row.size**3 / row.took_s)
               for row in tables["steps"])  # fmt: skip
    finding = analyse(SMALL, tables, machine())
    assert {"tiles_need_gpu", "peak_unknown"} <= set(finding.limits)
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("changed", CHANGES)
def test_only_what_is_asked_for_changes(changed, short):
    params = replace(SMALL, changed=changed)
    m, n, k = alignment.shape_of(params, 131)

    assert [m, n, k] == [131 if changed in ("all", each) else 128 for each in ("m", "n", "k")]
    tables = measured(replace(params, rounds=1), Bench(machine(cores=1)))
    row = next(row for row in tables["steps"] if row.size == 131)
    assert row.flop_per_s == pytest.approx(2 * m * n * k / row.took_s)
    assert ("one_size_changed" in analyse(params, tables, machine()).limits) == (changed != "all")


def test_odd_sizes_on_a_gpu_are_told_in_every_precision(run):
    tables, gpu = run
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert finding.message == "less_work_took_longer"
    assert finding.values["penalty"] == pytest.approx(ODD_COSTS, rel=0.05)
    assert finding.values["penalty"] == finding.values["penalty_fp16"]
    assert {row.precision for row in tables["probes"]} == {"fp32", "tf32", "fp16", "bf16", "int8"}
    assert finding.values["one_less"] == 127
    expected_s = LAUNCH_S + 2 * 128**3 / gpu.flop_per_s
    assert finding.values["size_s"] == pytest.approx(expected_s, rel=0.02)


def test_tf32_is_switched_for_each_product(gpu, monkeypatch):
    seen = []
    flop = fake.flop_of

    def watched(name, given):
        if name == "mm":
            seen.append((torch.get_float32_matmul_precision(), given[0].dtype))
        return flop(name, given)

    monkeypatch.setattr(fake, "flop_of", watched)
    measured(replace(ON_GPU, rounds=1), Bench(machine(gpus=1), clock=gpu.clock))

    assert {("high", torch.float32), ("highest", torch.float32)} <= set(seen)
    assert torch.get_float32_matmul_precision() == "highest"


def test_every_mark_is_read_once_and_the_queue_is_held(run):
    tables, gpu = run

    assert {event.reads for event in gpu.events} <= {0, 1}
    samples = sum(len(tables[name]) for name in ("steps", "wide"))
    assert sum(entry.startswith("hold") for entry in gpu.log) >= samples


def test_matrices_are_smaller_where_there_is_no_room(gpu):
    gpu.free_bytes = 3 * 2**20
    params = replace(ON_GPU, size=256, rounds=1)
    tables = measured(params, Bench(machine(gpus=1), clock=gpu.clock))

    assert max(row.size for row in tables["steps"]) == 128 + 4
    assert "smaller_than_asked" in analyse(params, tables, machine(gpus=1)).limits


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error(gpu):
    error = torch.OutOfMemoryError("CUDA out of memory")
    gpu.fails = lambda work: error if work == "mm" else None

    with pytest.raises(torch.OutOfMemoryError):
        measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))


def test_a_precision_that_is_not_there_is_a_sentence():
    with pytest.raises(UserError) as trouble:
        measured(replace(SMALL, precision="tf32"), Bench(machine(cores=1)))
    assert trouble.value.problem.key == "precision_not_there"


def test_a_precision_that_fails_is_left_out(gpu):
    failing = iter([False, False, True] + [False] * 10**6)  # after two products in fp32
    gpu.fails = lambda work: RuntimeError("no kernel") if work == "mm" and next(failing) else None
    tables = measured(replace(ON_GPU, rounds=1), Bench(machine(gpus=1), clock=gpu.clock))

    assert {row.precision for row in tables["probes"]} == {"fp32", "fp16", "bf16", "int8"}


@pytest.mark.parametrize(
    ("multiple", "message", "limit"),
    [
        (8, "self.size(1) needs to be a multiple of 8", "int8_takes_eights"),
        (
            16,
            "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling",
            "int8_takes_sixteens",
        ),
    ],
)
def test_sizes_of_integers_that_the_library_refuses_are_kept(
    gpu, monkeypatch, multiple, message, limit
):
    whole = torch._int_mm  # noqa: SLF001  (torch has no public product of int8)

    def refusing(left, right, out):
        if left.shape[1] % multiple:
            raise RuntimeError(message)
        return whole(left, right, out=out)

    monkeypatch.setattr(torch, "_int_mm", refusing)
    params = replace(ON_GPU, size=256)
    tables = measured(params, Bench(machine(gpus=1), clock=gpu.clock))
    finding = analyse(params, tables, machine(gpus=1))

    refused = {row.size for row in tables["refused"]}
    assert refused == {256 + n for n in alignment.INT8_PROBES if (256 + n) % multiple}
    assert limit in finding.limits
    assert finding.values["aligned_int8_flop_per_s"] > 0
    assert "misaligned_int8_flop_per_s" not in finding.values
    assert ("eights_int8_flop_per_s" in finding.values) is (multiple == 8)


def test_a_device_without_products_of_integers_says_so(gpu, monkeypatch):
    monkeypatch.delattr(torch, "_int_mm")
    tables = measured(replace(ON_GPU, rounds=1), Bench(machine(gpus=1), clock=gpu.clock))

    assert "int8_left_out" in analyse(ON_GPU, tables, machine(gpus=1)).limits


def test_a_stop_is_obeyed_between_two_products():
    asked = iter([False] * 20)
    with pytest.raises(StopRequested):
        measured(SMALL, Bench(machine(cores=1), stop=lambda: next(asked, True)))


@pytest.mark.parametrize(
    ("odd_s", "noise", "message"),
    [
        (1.5, 0.0, "less_work_took_longer"),
        (1.03, 0.004, "odd_is_slower"),  # 127 rows take as long as 128, within their spread
        (1.0, 0.002, "the_same"),
        (1.015, 0.001, "the_same"),  # hardly
        (1.1, 0.4, CANNOT_TELL),
        (0.7, 0.0, "odd_is_faster"),
    ],
)
def test_the_text_follows_the_data(odd_s, noise, message):
    finding = analyse(replace(SMALL, device=NAME), tables_of(odd_s, noise=noise), machine(gpus=1))

    assert finding.message == message
    assert finding.values["one_less"] == 127
    assert ("penalty" in finding.unclear) == (noise > 0.1)


@pytest.mark.parametrize(
    ("odd_s", "noise", "message"),
    [
        (1.5, 0.0, "less_work_took_longer"),
        (1.0, 0.002, "processor_shows_nothing"),
        (1.1, 0.4, "processor_cannot_tell"),
    ],
)
def test_on_a_processor_there_is_nothing_to_see_unless_its_data_differ(odd_s, noise, message):
    assert analyse(SMALL, tables_of(odd_s, noise=noise), machine()).message == message


def test_a_product_faster_than_the_units_is_suspect(monkeypatch):
    monkeypatch.setattr(alignment, "arithmetic_flop_per_s", lambda *_: 1.0)
    finding = analyse(SMALL, tables_of(1.5), machine())

    assert "above_the_limit" in finding.limits
    assert finding.values["peak_flop_per_s"] == 1.0


def test_a_large_machine_takes_larger_matrices_within_the_time():
    small, large = EXPERIMENT.suited(machine(cores=1)), EXPERIMENT.suited(machine(cores=64))

    assert small.size < large.size <= 1024
    assert seconds(large) <= 30
    assert EXPERIMENT.suited(machine(gpus=1)).precision == "fp16"
