from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench, StopRequested
from experiments.core.declare import Frame, Note
from tests.experiments.machines import GIB, MIB, machine

torch = pytest.importorskip("torch")
from experiments.to_the_gpu.diffusion import experiment as diffusion  # noqa: E402  # noqa: E402
from experiments.to_the_gpu.diffusion import solvers as heat  # noqa: E402
from experiments.to_the_gpu.diffusion.experiment import Check, Params, Rate, Through, analyse, sides  # noqa: E402
from experiments.to_the_gpu.diffusion.solvers import (  # noqa: E402
    COMPILED,
    COMPILED_ONE,
    GPU_COMPILED,
    NUMPY,
    TORCH_CPU,
    TORCH_GPU,
    TORCH_ONE,
)
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {
    "numpy_cells_per_s", "torch_cpu_cells_per_s", "torch_gpu_cells_per_s",
    "compiled_cells_per_s",
}  # fmt: skip

SMALL = Params(large=320, shown_s=0.07, rounds=3)
ON_GPU = Params(device=NAME, large=320, shown_s=0.0, rounds=3, compiles=False)
ONE_CORE = machine(cores=1)
WITH_GPU = machine(cores=1, gpus=1)


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(diffusion, "SAMPLE_S", 1e-7)  # the processor takes no time of this clock
    with fake_gpu(monkeypatch, cpu_bytes_per_s=2e10) as gpu:
        yield gpu


def measured(params, bench):
    tables = {name: [] for name in diffusion.EXPERIMENT.tables}
    kinds = {kind: name for name, kind in diffusion.EXPERIMENT.tables.items()}
    frames = []
    for item in diffusion.measure(params, bench):
        if type(item) in kinds:
            tables[kinds[type(item)]].append(item)
        elif type(item) is Frame:
            frames.append(item)
    return tables, frames


@pytest.fixture(scope="module")
def small():
    threads = torch.get_num_threads()
    found = measured(SMALL, Bench(ONE_CORE))
    assert torch.get_num_threads() == threads
    return found


def test_all_engines_of_the_processor_compute_the_same(small):
    tables, _ = small
    engines = {row.engine for row in tables["checks"]}

    assert engines == {NUMPY, TORCH_ONE, TORCH_CPU, COMPILED}
    assert max(row.difference for row in tables["checks"]) < 1e-5
    assert {row.engine for row in tables["rates"]} == {*engines, COMPILED_ONE}
    assert {row.side for row in tables["rates"]} == {160, 320}
    finding = analyse(SMALL, tables, machine())
    assert "engines_differ" not in finding.limits
    assert "gpu_not_measured" in finding.limits


def test_the_field_is_drawn_as_it_spreads(small):
    tables, frames = small

    assert len(frames) == len(tables["drawn"]) == 3
    assert all(frame.shape == (320, 320) for frame in frames)
    assert all(len(frame.data) == 320 * 320 for frame in frames)
    assert frames[0].data != frames[-1].data
    steps = [row.steps for row in tables["drawn"]]
    assert steps == sorted(steps)
    assert steps[0] == 0


def test_double_precision_is_exact_to_its_own_rounding():
    tables, _ = measured(Params(large=64, shown_s=0.0, rounds=1, dtype="float64"), Bench(ONE_CORE))

    assert max(row.difference for row in tables["checks"]) < 1e-12


def plate(name, side, bands=1):
    engines = heat.Engines(
        type("", (), {"is_gpu": False, "has_streams": False})(), 4, compiles=False
    )
    field = heat.random_field(side, "float64")
    made = engines.plate(name, field.copy(), field.copy())
    if name == COMPILED:
        made.run = heat.functools.partial(heat.in_bands, bands)
    return made


@pytest.mark.parametrize("error", [ImportError("Numba needs NumPy 2.3"), OSError("libllvmlite")])
def test_numba_that_is_installed_but_broken_is_told_and_left_out(monkeypatch, error):
    def broken(*_arguments):
        raise error

    monkeypatch.setattr(heat, "in_bands", broken)
    items = list(diffusion.measure(replace(SMALL, rounds=1), Bench(ONE_CORE)))

    (note,) = [item for item in items if isinstance(item, Note)]
    assert note.key == "loop_failed"
    assert str(error) in note.values["reason"]
    engines = {item.engine for item in items if isinstance(item, Rate)}
    assert engines == {NUMPY, TORCH_ONE, TORCH_CPU}
    tables = {name: [] for name in diffusion.EXPERIMENT.tables}
    tables["rates"] = [item for item in items if isinstance(item, Rate)]
    assert "not_compiled" in analyse(SMALL, tables, ONE_CORE).limits


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("bands", [1, 3])
def test_bands_of_threads_do_what_one_does(bands, steps):
    one, other = plate(NUMPY, 50), plate(COMPILED, 50, bands)
    one.advance(steps)
    other.advance(steps)

    assert np.allclose(one.now, other.now, rtol=1e-12)


@pytest.mark.parametrize(("name", "bands"), [(COMPILED_ONE, 1), (COMPILED, 4)])
def test_a_large_plate_goes_to_one_thread_or_to_all(name, bands):
    field = np.zeros((2100, 2100), np.float32)
    processor = type("", (), {"is_gpu": False, "has_streams": False})()
    made = heat.Engines(processor, 4, compiles=False).plate(name, field, field.copy())

    assert made.run.args == (bands,)


def test_heat_is_kept_inside_and_the_edges_stay():
    made = plate(NUMPY, 20)
    edges = made.now[0].copy(), made.now[:, -1].copy()
    least, most = made.now.min(), made.now.max()
    made.advance(7)

    assert np.array_equal(made.now[0], edges[0])
    assert np.array_equal(made.now[:, -1], edges[1])
    assert least <= made.now.min()
    assert made.now.max() <= most


def test_on_a_gpu_its_memory_decides_and_fields_go_there_once_for_each_size(gpu):
    tables, _ = measured(ON_GPU, Bench(WITH_GPU, clock=gpu.clock))
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert {row.engine for row in tables["checks"]} >= {TORCH_GPU}
    assert finding.message == "gpu_is_faster_in_caches", "how large this GPU's cache is, is unknown"
    assert finding.values["gpu_over_cpu"] > 2
    assert finding.values["gpu_memory_over_memory"] > 2
    assert finding.values["gpu_memory_once_cells_per_s"] == pytest.approx(
        finding.values["gpu_memory_bytes_per_s"] / 8
    )
    assert "not_compiled_on_gpu" in finding.limits
    # Small plates are bound by their calls.
    rates = {row.side: row.cells_per_s for row in tables["rates"] if row.engine == TORCH_GPU}

    assert rates[160] < 0.4 * rates[320]
    copied = sum(entry.startswith("copy pageable to_gpu") for entry in gpu.log)

    assert copied == 2 * (len(sides(ON_GPU.large)) + 2)  # checked, drawn, and each size


def test_what_a_gpu_computes_is_drawn_while_it_computes(gpu, monkeypatch):
    monkeypatch.setattr(diffusion, "FRAMES_PER_S", 2000)
    params = Params(device=NAME, large=160, shown_s=0.001, rounds=1)
    tables, frames = measured(params, Bench(WITH_GPU, clock=gpu.clock))

    assert len(frames) == 2
    assert frames[0].data != frames[1].data
    assert tables["drawn"][1].steps >= diffusion.DRAWN_STEPS
    shown = [n for n, entry in enumerate(gpu.log) if entry.startswith("copy pageable from_gpu")]
    assert "wait" in gpu.log[shown[1] : shown[2]]  # for the steps between two pictures


def test_a_compiler_that_fails_is_left_out(gpu, monkeypatch):
    def compiled(step, **how):
        def fails(now, then):
            raise RuntimeError("no compiler")

        return fails

    monkeypatch.setattr(heat, "has_triton", lambda: True)
    monkeypatch.setattr(torch, "compile", compiled)
    params = Params(device=NAME, large=160, shown_s=0.0, rounds=1)
    tables, _ = measured(params, Bench(WITH_GPU, clock=gpu.clock))

    assert GPU_COMPILED not in {row.engine for row in tables["rates"]}
    assert "not_compiled_on_gpu" in analyse(params, tables, machine(gpus=1)).limits


def test_what_is_compiled_for_the_gpu_is_measured_beside(gpu, monkeypatch):
    monkeypatch.setattr(heat, "has_triton", lambda: True)
    asked = []
    monkeypatch.setattr(torch, "compile", lambda step, **how: asked.append(how) or step)
    params = Params(device=NAME, large=160, shown_s=0.0, rounds=1)
    tables, _ = measured(params, Bench(WITH_GPU, clock=gpu.clock))

    assert GPU_COMPILED in {row.engine for row in tables["rates"]}
    assert asked
    assert all(how == {"dynamic": False} for how in asked)  # or one slow kernel serves all sizes
    assert "not_compiled_on_gpu" not in analyse(params, tables, machine(gpus=1)).limits


def test_a_plate_that_the_gpu_cannot_hold_is_left_out_and_named(gpu):
    gpu.free_bytes = MIB
    tables, _ = measured(ON_GPU, Bench(WITH_GPU, clock=gpu.clock))

    assert {row.side for row in tables["rates"] if row.engine == TORCH_GPU} == {160}
    finding = analyse(ON_GPU, tables, machine(gpus=1))
    assert "large_not_on_gpu" in finding.limits


def test_a_gpu_without_memory_is_told_by_its_own_error(gpu):
    gpu.fails = lambda work: torch.OutOfMemoryError("CUDA out of memory") if work == "add" else None
    with pytest.raises(torch.OutOfMemoryError):
        measured(ON_GPU, Bench(WITH_GPU, clock=gpu.clock))


def test_a_stop_is_obeyed_while_it_is_drawn():
    asked = iter([False] * 3)
    with pytest.raises(StopRequested):
        measured(SMALL, Bench(ONE_CORE, stop=lambda: next(asked, True)))


def test_sizes_are_those_of_the_book_and_the_largest():
    assert sides(5120) == [160, 640, 2560, 5120]
    assert sides(640) == [160, 640]
    assert sides(64) == [64]


def tables_of(rates, *, large=5120, through=28e9, difference=1e-7):
    rows = [
        Rate(side=side, engine=engine, repeat=repeat, cells_per_s=each, bytes_per_s=each * 8)
        for engine, rate in rates.items()
        for side in (640, large)
        for repeat, each in enumerate((rate, 1.01 * rate, 1.02 * rate))
    ]
    return {
        "rates": rows,
        "through": [Through(where="cpu", repeat=n, bytes_per_s=through) for n in range(3)],
        "checks": [Check(engine=NUMPY, difference=difference)],
        "drawn": [],
        "conditions": [],
    }


USUAL = {NUMPY: 4e8, TORCH_ONE: 4e8, TORCH_CPU: 5e8, COMPILED_ONE: 2e9, COMPILED: 3e9}


def test_a_compiled_loop_that_is_faster_is_named():
    finding = analyse(Params(), tables_of(USUAL), machine())

    assert finding.message == "compiled_is_faster"
    assert finding.values["compiled_over_numpy"] == pytest.approx(7.5)
    assert finding.values["compiled_one_over_numpy"] == pytest.approx(5)
    assert finding.values["memory_passes_cells_per_s"] == pytest.approx(28e9 / 52)
    assert finding.values["memory_once_cells_per_s"] == pytest.approx(28e9 / 8)
    assert "above_the_limit" not in finding.limits


@pytest.mark.parametrize(
    ("on_gpu", "message"),
    [
        ((9e8,) * 3, "gpu_is_faster"),
        ((4e8,) * 3, "gpu_is_not_faster"),
        ((5e8, 5.05e8, 5.1e8), "gpu_is_not_faster"),
        ((2e8, 9e8, 4e8), "cannot_tell"),
    ],
)
def test_a_gpu_is_faster_or_not_or_nobody_can_tell(on_gpu, message):
    tables = tables_of(USUAL)
    there = [
        Rate(side=5120, engine=TORCH_GPU, repeat=repeat, cells_per_s=each, bytes_per_s=each * 8)
        for repeat, each in enumerate(on_gpu)
    ]
    params, here = Params(device=NAME), machine(gpus=1)
    gpu = replace(here.gpus[0], l2_bytes=MIB)
    here = replace(here, gpus=(gpu,))
    rates = [*tables["rates"], *there]

    assert analyse(params, {**tables, "rates": rates}, here).message == message
    cached = replace(here, gpus=(replace(gpu, l2_bytes=GIB),))
    found = analyse(params, {**tables, "rates": rates}, cached)
    assert found.message == message.replace("is_faster", "is_faster_in_caches")


def test_the_limit_is_what_the_machine_tells_where_it_does():
    finding = analyse(Params(), tables_of(USUAL), machine(peak_bytes_per_s=50e9))

    assert finding.values["memory_bytes_per_s"] == 50e9


def test_faster_than_memory_is_suspect_unless_caches_hold_the_plate():
    fast = tables_of(USUAL | {COMPILED: 4e9})

    assert "above_the_limit" in analyse(Params(), fast, machine()).limits
    cached = analyse(Params(), fast, machine(caches=(None, None, GIB)))
    assert "above_the_limit" not in cached.limits
    assert "partly_in_cache" in cached.limits


def test_engines_that_differ_are_told():
    finding = analyse(Params(), tables_of(USUAL, difference=1e-3), machine())

    assert "engines_differ" in finding.limits


def test_without_numba_the_rest_is_compared():
    two = {name: rate for name, rate in USUAL.items() if name not in heat.IN_ONE_PASS}
    finding = analyse(Params(), tables_of(two), machine())

    assert finding.message == "engines_compared"
    assert "not_compiled" in finding.limits
