from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench, StopRequested
from experiments.core.judging.comparing import Outcome, paired
from experiments.core.processes.own_environment import CACHES
from experiments.numbers.compile import experiment as compiling
from experiments.numbers.compile import saving, ways
from experiments.numbers.compile.experiment import (
    BUSY,
    CALLS,
    EXPERIMENT,
    STEPS,
    Params,
    Ready,
    StepTime,
    analyse,
    measure,
    seconds,
)
from experiments.numbers.compile.saving import EXPORTED, KINDS, STATE_DICT, Files
from experiments.numbers.compile.ways import COMPILED, EAGER, GRAPH, SCRIPT
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from experiments.devices.device import CPU, Device  # noqa: E402
from tests.experiments.fake_gpu import CALL_S, NAME, fake_gpu  # noqa: E402

AGREED = {
    "eager_step_s",
    "script_step_s",
    "compiled_step_s",
    "graph_step_s",
    "compile_s",
    "break_even_steps",
    *(
        f"{form}_{what}"
        for form in ("state_dict", "script", "exported")
        for what in ("bytes", "save_s", "load_cpu_s", "load_gpu0_s")
    ),
}

SMALL = Params(width=8, layers=2, batch=2, rounds=3, compiles=False)
ON_GPU = replace(SMALL, device=NAME, compiles=True)


@pytest.fixture
def gpu(monkeypatch):
    """A GPU, with a compiler that joins all of a step into one call."""

    def one_call(model, mode):
        return lambda given: given.mul(1.0)

    def loader(self, kind, device):
        numbers = torch.randn(10)
        return lambda: numbers.to(device.name)

    monkeypatch.setattr(torch, "compile", one_call)
    monkeypatch.setattr(torch.jit, "script", lambda model: model)
    monkeypatch.setattr(torch.jit, "save", lambda model, path: Path(path).write_bytes(b"program"))
    monkeypatch.setattr(torch.export, "export", lambda model, given: model)
    monkeypatch.setattr(torch.export, "save", lambda model, path: Path(path).write_bytes(b"all"))
    monkeypatch.setattr(Files, "loader", loader)
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


def measured(params, bench):
    return in_tables(EXPERIMENT, measure(params, bench))


def on_gpu(gpu, params=ON_GPU):
    return measured(params, Bench(machine(gpus=1), clock=gpu.clock))


def tables_of(step_s, prepare_s=None, *, noise=0.01):
    steps = [
        StepTime(way=way, repeat=repeat, step_s=each_s * (1 + noise * repeat))
        for way, each_s in step_s.items()
        for repeat in range(4)
    ]
    ready = [Ready(way=way, prepare_s=each_s) for way, each_s in (prepare_s or {}).items()]
    return {name: [] for name in EXPERIMENT.tables} | {"steps": steps, "ready": ready}


def test_a_processor_runs_eager_and_scripted_and_saves_in_three_forms(recwarn):
    tables = measured(SMALL, Bench(machine(cores=1)))
    finding = analyse(SMALL, tables, machine())

    assert {row.way for row in tables["steps"]} == {EAGER, SCRIPT, CALLS}
    assert {"compiling_left_out", "graphs_need_gpu"} <= set(finding.limits)
    assert {row.kind for row in tables["files"]} == set(KINDS)
    for kind in KINDS:
        assert finding.values[f"{kind}_bytes"] > 0
        assert {f"{kind}_save_s", f"{kind}_load_cpu_s"} <= finding.values.keys()
    assert finding.values["exported_bytes"] > finding.values["state_dict_bytes"]
    stepped = [row for row in tables["steps"] if row.way != CALLS]
    assert len(tables["totals"]) == len(stepped) * len(STEPS)
    assert finding.values["calls_s"] > 0
    assert not recwarn.list  # TorchScript warns that it is deprecated
    assert not list(Path("/tmp").glob(f"coreopsis-compile-{os.getpid()}-*"))


def test_it_compiles_with_all_caches_empty_and_puts_them_back(monkeypatch):
    for variable in CACHES:
        monkeypatch.setenv(variable, "/mine")
    monkeypatch.delenv("TRITON_CACHE_DIR")

    with ways.from_scratch(Device(CPU, Bench(machine()))) as folder:
        assert all(os.environ[variable].startswith(folder) for variable in CACHES)
        assert not os.listdir(folder)
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == "/mine"


def test_what_is_loaded_computes_the_same(tmp_path):
    device = Device(CPU, Bench(machine()))
    torch.manual_seed(1)
    models = []

    def make():
        models.append(ways.network(torch, 8, 2))
        return models[-1]

    inputs = torch.randn(2, 8)
    with ways.from_scratch(device):
        files = Files(torch, make, inputs, str(tmp_path))
        for kind in files.kinds:
            files.save(kind)
            assert torch.allclose(files.loader(kind, device)()(inputs), models[0](inputs))


def test_the_network_is_gelu_written_out():
    model = ways.network(torch, 8, 1)
    inputs = torch.randn(4, 8)
    expected = inputs + torch.nn.functional.gelu(model[0].linear(inputs), approximate="tanh")

    assert torch.allclose(model(inputs), expected, atol=1e-6)


def test_on_a_gpu_a_graph_and_a_compiled_step_save_calls(gpu):
    tables = on_gpu(gpu)
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert finding.message == "both_pay"
    assert {row.way for row in tables["steps"]} == {EAGER, SCRIPT, COMPILED, GRAPH, BUSY}
    assert finding.values["compiled_step_s"] == pytest.approx(CALL_S, rel=0.3)
    assert finding.values["eager_step_s"] > 10 * finding.values["compiled_step_s"]
    assert finding.values["graph_step_s"] == pytest.approx(finding.values["busy_s"], rel=0.3)
    assert 0 < finding.values["busy_fraction"] < 1
    assert {f"{kind}_load_gpu0_s" for kind in KINDS} <= finding.values.keys()
    assert {event.reads for event in gpu.events} <= {0, 1}


def test_a_graph_is_recorded_after_steps_in_a_stream_of_their_own(gpu):
    on_gpu(gpu, replace(ON_GPU, rounds=1))
    first = next(n for n, entry in enumerate(gpu.log) if entry.startswith("graph in"))
    before = gpu.log[:first]

    assert any("stream 1 waits for default" in entry for entry in before)
    assert any("default waits for stream 1" in entry for entry in before)
    assert sum(entry.endswith("in stream 1") for entry in before) > 3 * 10


def test_where_no_queue_can_be_held_the_busy_time_is_left_out(gpu, monkeypatch):
    monkeypatch.setattr(Device, "hold", lambda self, seconds: False)
    tables = on_gpu(gpu)
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert "busy_not_told" in finding.limits
    assert "busy_s" not in finding.values


@pytest.mark.parametrize("error", [RuntimeError("no g++"), ImportError("no triton"), OSError()])
def test_a_compiler_that_fails_is_left_out_and_named(gpu, monkeypatch, error):
    def compiled(model, mode):
        def fails(given):
            raise error

        return fails

    monkeypatch.setattr(torch, "compile", compiled)
    tables = on_gpu(gpu, replace(ON_GPU, rounds=1))

    assert COMPILED not in {row.way for row in tables["steps"]}
    assert "no_compiler" in analyse(ON_GPU, tables, machine(gpus=1)).limits


def test_a_gpu_without_memory_is_not_taken_for_a_missing_compiler(gpu, monkeypatch):
    def compiled(model, mode):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "compile", compiled)
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(gpu)


def test_without_torchscript_the_rest_is_measured(monkeypatch):
    monkeypatch.delattr(torch.jit, "script")
    tables = measured(replace(SMALL, rounds=1), Bench(machine(cores=1)))

    assert {row.way for row in tables["steps"]} == {EAGER, CALLS}
    assert {row.kind for row in tables["files"]} == {STATE_DICT, EXPORTED}
    assert "not_scripted" in analyse(SMALL, tables, machine()).limits


def broken_script(error):
    def scripted(model):
        def fuse(given):
            raise error

        return fuse

    return scripted


@pytest.mark.parametrize(
    "said",
    [
        "The following operation failed in the TorchScript interpreter.",
        "nvrtc: error: failed to open libnvrtc-builtins.so of the CUDA toolkit",
    ],
)
def test_a_failing_compiler_of_torchscript_ends_only_its_own_arm(monkeypatch, said):
    monkeypatch.setattr(torch.jit, "script", broken_script(RuntimeError(said)))
    monkeypatch.setattr(compiling, "_files", lambda *_: iter(()))
    tables = measured(replace(SMALL, rounds=1), Bench(machine(cores=1)))

    assert {row.way for row in tables["steps"]} == {EAGER, CALLS}
    assert "not_scripted" in analyse(SMALL, tables, machine()).limits


def test_a_gpu_that_fails_in_torchscript_ends_the_run(monkeypatch):
    failed = RuntimeError("CUDA error: device-side assert triggered")
    monkeypatch.setattr(torch.jit, "script", broken_script(failed))
    with pytest.raises(RuntimeError, match="CUDA error"):
        measured(replace(SMALL, rounds=1), Bench(machine(cores=1)))


def test_other_batches_are_first_steps_of_their_own(gpu):
    tables = on_gpu(gpu, replace(ON_GPU, other_batches=True, rounds=1))

    assert [row.batch for row in tables["batches"]] == [3, 4]
    values = analyse(ON_GPU, tables, machine(gpus=1)).values
    assert {"recompile_s", "third_batch_s"} <= values.keys()


def test_a_stop_is_obeyed_and_nothing_stays(monkeypatch):
    asked = iter([False] * 12)
    with pytest.raises(StopRequested):
        measured(SMALL, Bench(machine(cores=1), stop=lambda: next(asked, True)))
    assert not list(Path("/tmp").glob(f"coreopsis-compile-{os.getpid()}-*"))


@pytest.mark.parametrize(
    ("step_s", "message"),
    [
        ({EAGER: 1e-3, SCRIPT: 1e-3, COMPILED: 5e-4}, "compiled_pays"),
        ({EAGER: 1e-3, COMPILED: 1.01e-3}, "compiled_does_not_pay"),
        ({EAGER: 1e-3, COMPILED: 2e-3}, "compiled_does_not_pay"),
        ({EAGER: 1e-3, COMPILED: 5e-4, GRAPH: 4e-4}, "both_pay"),
        ({EAGER: 1e-3, COMPILED: 1e-3, GRAPH: 4e-4}, "graph_pays_compiled_does_not"),
        ({EAGER: 1e-3, SCRIPT: 1e-3, GRAPH: 4e-4}, "graph_pays"),
        ({EAGER: 1e-3, SCRIPT: 1e-3, GRAPH: 1e-3}, "not_compiled"),
        ({EAGER: 1e-3, SCRIPT: 5e-4}, "script_is_faster"),
        ({EAGER: 1e-3}, "in_part"),
    ],
)
def test_the_text_follows_the_data(step_s, message):
    finding = analyse(SMALL, tables_of(step_s, {COMPILED: 10.0}), machine())

    assert finding.message == message
    pays = step_s.get(COMPILED, 1.0) < 9e-4
    assert ("break_even_steps" in finding.values) == pays
    if pays:
        assert finding.values["break_even_steps"] == pytest.approx(10.0 / 5e-4, rel=0.02)


def test_of_three_ways_chance_makes_none_pay():
    """Each alone would pass at 1 %; together they must stand a test three times as strict."""
    eager = [1.0, 1.0, 1.0, 1.0]
    luck = [0.957, 0.957, 0.944, 0.975]
    tables = tables_of({})
    tables["steps"] = [
        StepTime(way=way, repeat=n, step_s=s)
        for way, each in (("eager", eager), ("script", luck), ("compiled", luck), ("graph", luck))
        for n, s in enumerate(each)
    ]
    tables["ready"] = [Ready(way=way, prepare_s=1.0) for way in ("script", "compiled", "graph")]
    assert paired(luck, eager).outcome is Outcome.DIFFERS

    found = analyse(Params(), tables, machine())
    assert not [name for name in found.values if name.endswith("break_even_steps")]


def test_there_is_no_part_of_a_step():
    found = analyse(SMALL, tables_of({EAGER: 1e-3, COMPILED: 5e-4}, {COMPILED: 0.0123}), machine())

    steps = found.values["break_even_steps"]
    assert isinstance(steps, int)
    assert steps == 25  # a little more than 24 would do


def test_totals_are_getting_ready_and_so_many_steps():
    rows = list(compiling.rows_of_step(COMPILED, 0, 2e-3, 5.0))[1:]

    assert [row.steps for row in rows] == STEPS
    assert rows[0].total_s == pytest.approx(5.002)
    assert rows[-1].total_s == pytest.approx(2005.0)


def test_a_quick_run_compiles_nothing():
    assert not EXPERIMENT.quick(Params()).compiles
    assert seconds(EXPERIMENT.quick(Params())) < 5 < seconds(Params()) <= 30
    assert saving.KINDS == KINDS
