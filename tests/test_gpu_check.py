from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest
from msgspec.structs import replace

from experiments.core.catalogue import Catalogue
from tests import ROOT
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.tools.gpu_check import __main__ as gpu_check
from tests.tools.gpu_check import facts, outside, processes, runs, stages, verdicts
from tests.tools.gpu_check.report import Report

# As nvbandwidth 0.8 prints it.
NVBANDWIDTH = """\
nvbandwidth Version: v0.8
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.20     55.40

SUM host_to_device_memcpy_ce 110.60

Running device_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0     50.00     52.00

SUM device_to_host_memcpy_ce 102.00
"""
H200 = "NVIDIA H200"
CARDS = [json.loads(file.read_text())["card"] for file in verdicts.EXPECTED.glob("*.json")]
RECORDED = ROOT / "experiments" / "python_at_work" / "talk_cost" / "recording.jsonl.gz"
WAYS = {
    "works": "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2]); print('well')",
    "crashes": "import os; print('going down', flush=True); os.kill(os.getpid(), 11)",
    "is killed": "import os; os.kill(os.getpid(), 9)",
    "hangs": "import signal, subprocess, time\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "print(subprocess.Popen(['sleep', '60']).pid, flush=True)\n"
    "time.sleep(60)",
    "is killed late": "import os, pathlib, shutil, sys\n"
    "shutil.copy(sys.argv[1], pathlib.Path(sys.argv[3]) / 'a.coreopsis.jsonl.gz')\n"
    "os.kill(os.getpid(), 9)",
}


@pytest.fixture
def as_told(monkeypatch):
    """Let each experiment behave in a way, by its id; the others work."""
    ways: dict[str, str] = {}

    def command(experiment, file, data, *, quick):
        way = WAYS[ways.get(experiment, "works")]
        return [sys.executable, "-c", way, str(RECORDED), str(file), str(data)]

    monkeypatch.setattr(runs, "command", command)
    monkeypatch.setattr(processes, "ENDING_S", 0.3)
    return ways


def ran(values=None, experiment="pinned", **more):
    return runs.Ran(
        experiment=experiment, quick=False, code=0, took_s=1.0, said="", outcome="completed",
        values=values or {}, **more,
    )  # fmt: skip


# --- a run


def test_an_experiment_is_run_and_its_finding_read(tmp_path):
    found = runs.run("isolation", tmp_path, quick=True, limit_s=60.0)

    assert (found.code, found.outcome, found.is_wrong) == (0, "completed", False), found
    assert found.values["processes_left"] > 0
    assert found.params["rounds"] > 0
    assert (tmp_path / "isolation.coreopsis.jsonl.gz").exists()


@pytest.mark.parametrize(("way", "code"), [("crashes", -11), ("is killed", -9)])
def test_an_experiment_that_dies_is_told_with_its_last_words(tmp_path, as_told, way, code):
    as_told["pinned"] = way
    found = runs.run("pinned", tmp_path, quick=True, limit_s=20.0)

    assert (found.code, found.outcome, found.values) == (code, "no recording", {})
    assert found.is_wrong
    assert found.said == ("going down" if way == "crashes" else "It said nothing.")


def _lives(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path, as_told):
    as_told["pinned"] = "hangs"
    start_s = time.monotonic()
    found = runs.run("pinned", tmp_path, quick=True, limit_s=1.5)

    assert (found.code, found.is_wrong) == (processes.TOO_LONG, True)
    assert time.monotonic() - start_s < 20
    left, end_s = int(processes.last(tmp_path / "pinned.log")), time.monotonic() + 10
    while _lives(left):  # a process that is killed takes a moment to end
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_what_was_kept_before_it_was_killed_is_its_recording(tmp_path, as_told):
    as_told["pinned"] = "is killed late"
    found = runs.run("pinned", tmp_path, quick=True, limit_s=20.0)

    assert (found.code, found.outcome, found.is_wrong) == (-9, "completed", True)
    assert (tmp_path / "pinned.coreopsis.jsonl.gz").read_bytes() == RECORDED.read_bytes()


def test_a_word_of_the_experiment_that_its_limit_is_passed_is_wrong():
    assert not ran().is_wrong
    assert ran(limits=["above_the_limit"]).is_wrong


def test_a_run_on_the_processor_is_no_check_of_a_gpu():
    assert ran(params={"device": "cpu"}).is_wrong
    assert not ran(params={"device": "cuda:0"}).is_wrong


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.torch
def test_what_needs_two_gpus_is_left_out_with_one(gpus):
    order = verdicts.expected(H200).order()
    chosen, left_out = runs.chosen(machine(gpus=gpus), (), order)

    assert set(left_out) == ({"p2p", "data-parallel", "split-model"} if gpus == 1 else set())
    names = [each.id for each in chosen]
    assert names[:4] == ["pinned", "streams", "non-blocking", "busy-not-full"]  # no laptop has them
    assert {"clinic", "two-gpus", "gpu-or-not"} <= set(names)
    assert "talk-cost" not in names


# --- verdicts


@in_one(
    ("found", "verdict"),
    [
        (90.0, verdicts.OK), (50.0, "look: low"), (101.0, "look: high"),
        (103.0, verdicts.WRONG), (None, verdicts.MISSING),
    ],
)  # fmt: skip
def test_a_value_is_judged_by_its_range_and_by_its_limit(found, verdict):
    each = verdicts.Expectation(id="a", value="x_watts", low=80.0, high=100.0, limit="limit_watts")
    what = verdicts.Expected(card="H200", values=(each,))
    values = {"limit_watts": 100.0} | ({} if found is None else {"x_watts": found})
    [row] = verdicts.judged({"a": values}, what, {"a": {"x_watts": 70.0}})

    assert row.verdict == verdict
    assert row.ratio == (None if found is None else found / 100)
    text = "\n".join(verdicts.lines([row], "H200"))
    assert verdict in text
    assert "80 W to 100 W" in text
    assert "70 W" in text


@in_one("card", ["NVIDIA GH200 480GB", "NVIDIA H100 PCIe", "Tesla T4", "GPU"])
def test_ranges_and_limits_of_one_card_do_not_judge_another(card):
    what = verdicts.expected(card)
    above = {"streams_speedup": 99.0, "peak_gpu0_bytes_per_s": 9e13, "memory_limit_bytes_per_s": 1}
    rows = {
        (row.id, row.value): row
        for row in verdicts.judged({"streams": above, "roofline": above}, what)
    }

    assert what.card == ""
    assert what.order() == verdicts.expected(H200).order()
    assert rows["streams", "streams_speedup"].verdict == ""
    assert rows["roofline", "peak_gpu0_bytes_per_s"].verdict == verdicts.WRONG  # it was read there


def test_what_a_cache_answered_is_not_held_against_memory():
    found = {
        "diffusion": {"torch_gpu_large_cells_per_s": 4e10, "gpu_memory_passes_cells_per_s": 3e10}
    }
    what = verdicts.expected(H200)

    def verdict(in_cache):
        rows = verdicts.judged(found, what, in_cache=in_cache)
        return next(row.verdict for row in rows if row.value == "torch_gpu_large_cells_per_s")

    assert verdict(()) == verdicts.WRONG
    assert verdict({"diffusion"}) == verdicts.OK


@pytest.mark.parametrize("card", CARDS)
def test_no_expectation_accuses_what_it_calls_fine(card):
    for each in verdicts.expected(card).values:
        if isinstance(each.limit, float) and each.high is not None:
            assert each.high <= verdicts.TOO_MUCH * each.limit, each


SEEN = {"h100": ("2026-11-27", 80), "h200": ("2026-11-28", 60)}  # at least so many ranges were held


def seen(name):
    """Return the card, values by id, and the ids of a cache, as gpu-check found them there."""
    found, in_cache, card = {}, set(), ""
    for file in (ROOT / "tests/recorded" / name).glob("*.json"):
        told = json.loads(file.read_text())
        if "runs" not in told:  # a checkup
            continue
        card = told["card"]
        found |= {name: run["values"] for name, run in told["runs"].items() if run["values"]}
        found |= {each["fact"]: facts.numbers(each) for each in told["facts"]}
        in_cache |= {name for name, run in told["runs"].items() if runs.IN_CACHE in run["limits"]}
    return card, found, in_cache


@pytest.mark.parametrize("name", SEEN)
def test_what_a_real_card_did_is_fine_by_what_is_expected_of_it(name):
    card, found, in_cache = seen(name)
    what = verdicts.expected(card)
    rows = list(verdicts.judged(found, what, in_cache=in_cache))

    assert what.card == card
    date, least = SEEN[name]
    assert date in what.about
    assert len(rows) > least
    assert {f"{row.id}.{row.value}: {row.verdict}" for row in rows if row.verdict != "ok"} == set()
    assert max(row.ratio for row in rows if row.ratio) < 1


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("factor", [0.7, 1.4])
def test_what_the_gpu_alone_decides_may_differ_little(factor, name):
    card, found, _ = seen(name)
    other = {name: {key: factor * of for key, of in of.items()} for name, of in found.items()}
    what = dataclasses.replace(verdicts.expected(card), values=[
        dataclasses.replace(each, limit=None) for each in verdicts.expected(card).values
    ])  # fmt: skip
    rows = {(row.id, row.value): row.verdict for row in verdicts.judged(other, what)}

    for each in (
        ("pinned", "pinned_to_gpu_bytes_per_s"), ("streams", "compute_s"),
        ("busy-not-full", "tiny_power_watts"), ("roofline", "bf16_gpu0_flop_per_s"),
        ("compile", "graph_step_s"), ("alignment", "penalty"),
    ):  # fmt: skip
        assert rows[each] == ("look: low" if factor < 1 else "look: high"), each


@pytest.mark.parametrize("name", SEEN)
def test_no_range_reaches_above_what_the_card_can_do(name):
    card, found, _ = seen(name)
    for each in verdicts.expected(card).values:
        of = found.get(each.id, {})
        limit = of.get(each.limit) if isinstance(each.limit, str) else each.limit
        if limit and each.high is not None:
            assert each.high <= verdicts.TOO_MUCH * limit, each


def test_a_file_of_a_card_holds_nothing_that_nobody_reads(tmp_path):
    file = tmp_path / "a.json"
    told = {"card": "A", "about": "seen", "in_full": [], "values": {"a": {"x_s": {"low": 1}}}}
    file.write_text(json.dumps(told))
    assert verdicts.expected("A", tmp_path).about == "seen"
    for wrong in ({"comment": "x"}, {"values": {"a": {"x_s": {"lowest": 1}}}}):
        file.write_text(json.dumps(told | wrong))
        with pytest.raises((ValueError, TypeError)):
            verdicts.expected("A", tmp_path)


@pytest.mark.parametrize("card", CARDS)
def test_each_expectation_names_what_is_declared(card):
    known = {each.id: {value.name for value in each.values} for each in Catalogue()}
    assert not known.keys() & facts.KNOWN.keys()
    expected = verdicts.expected(card)
    assert set(expected.in_full) <= known.keys()
    for each in expected.values:
        assert each.low is None or each.low <= each.high
        if each.id not in facts.KNOWN:  # their names are held by the test that looks at them
            assert each.value in known[each.id], each
            assert not isinstance(each.limit, str) or each.limit in known[each.id], each


# --- facts


@pytest.fixture
def small_facts(monkeypatch):
    pytest.importorskip("torch")
    for name, value in {
        "BIG_BYTES": 2**16, "ROWS": 16, "SIDES": (8, 16), "WARM_S": 1e-3, "LOAD_S": 1e-3,
        "QUEUED": (10, 1000), "MIB": 2**10,
    }.items():  # fmt: skip
        monkeypatch.setattr(facts, name, value)


@pytest.fixture
def nvml(monkeypatch):
    fake = SimpleNamespace(
        nvmlInit=lambda: None, nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda card: SimpleNamespace(gpu=97),
        nvmlDeviceGetPowerUsage=lambda card: 120_000,
        nvmlDeviceGetPcieThroughput=lambda card, counter: 2_000,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", fake)


@pytest.mark.parametrize("name", sorted({each.id for each in verdicts.expected(H200).values}
                                        & facts.KNOWN.keys()))  # fmt: skip
def test_a_fact_says_the_values_that_are_expected(name, small_facts, nvml, monkeypatch):
    torch = pytest.importorskip("torch")
    from tests.experiments.fake_gpu import fake_gpu

    monkeypatch.setattr(torch, "compile", lambda step, **_: step)
    monkeypatch.setattr(torch.compiler, "reset", lambda: None)
    with fake_gpu(monkeypatch):
        said = facts.numbers({"said": facts.KNOWN[name](torch)})

    wanted = {each.value for each in verdicts.expected(H200).values if each.id == name}
    assert wanted <= said.keys()
    assert all(value >= 0 for value in said.values())


def test_the_first_call_which_loads_its_kernel_is_no_call_behind_a_queue(monkeypatch):
    class Number:
        calls = 0

        def add_(self, _):
            time.sleep(0.05 if not self.calls else 0)
            self.calls += 1

    cuda = SimpleNamespace(synchronize=lambda: None, _sleep=lambda _: None)
    monkeypatch.setattr(facts, "QUEUED", (2,))
    told = facts.queue(SimpleNamespace(zeros=lambda *_, **__: Number(), cuda=cuda))
    assert told["call_of_2_s"] < 0.02


def test_a_switch_that_does_nothing_is_seen(small_facts, monkeypatch):
    """On the processor no switch acts: both errors are alike, and TF32's is out of its range."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(facts, "DEVICE", "cpu")
    monkeypatch.setattr(facts, "ROWS", 64)
    found = {"tf32": facts.numbers({"said": facts.tf32(torch)})}

    rows = {row.value: row.verdict for row in verdicts.judged(found, verdicts.expected(H200))}
    assert rows["fp32_product_error"] == verdicts.OK
    assert rows["tf32_product_error"] == "look: low"


MADE_UP_FACTS = """
import json, os, sys, time
for name in sys.argv[1:]:
    if name == "context":
        os.kill(os.getpid(), 11)
    if name == "cudnn":
        time.sleep(60)
    print(json.dumps({"fact": name, "said": {"a_s": 0.5, "b": "x"}, "took_s": 0.1}), flush=True)
print('{"fact": "torn')
"""


def test_a_fact_that_ends_its_process_or_hangs_is_told_and_the_others_go_on(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "made_up_facts.py").write_text(MADE_UP_FACTS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(stages, "FACTS_MODULE", "made_up_facts")
    monkeypatch.setattr(stages, "FACTS_S", 2.0)
    report = Report(tmp_path / "out", "checks")
    stages.look_at_facts(report, facts.LIBRARIES, lambda: 100.0)

    told = {each["fact"]: each.get("failed", "") for each in report.facts}
    assert list(told) == [each.__name__ for each in facts.LIBRARIES]
    assert {name for name, failed in told.items() if failed} == {"context", "cudnn"}
    assert told["context"].startswith("exit -11")
    assert report.values()["cublas"] == {"a_s": 0.5}
    assert "context: FAILED exit -11" in capsys.readouterr().out


# --- CUDA's figures


def test_figures_are_lines_of_a_name_and_a_number():
    assert outside.figures("a_s 1.5e-6\nno products: x\nb 2\n\n") == {"a_s": 1.5e-6, "b": 2.0}


def test_the_sums_of_nvbandwidth_are_those_of_one_gpu():
    assert outside.sums(NVBANDWIDTH) == {
        "pinned_to_gpu_bytes_per_s": pytest.approx(55.3e9),
        "pinned_from_gpu_bytes_per_s": pytest.approx(51e9),
    }


@pytest.mark.parametrize(("ours", "kept"), [(54e9, True), (50e9, False), (60e9, False)])
def test_a_rate_is_held_against_its_budget(ours, kept):
    name = "pinned_to_gpu_bytes_per_s"
    [held] = outside.compared({"pinned": ran({name: ours})}, {name: 55e9})

    assert (held.value, held.ours, held.theirs, held.is_kept) == (name, ours, 55e9, kept)


def test_what_one_side_lacks_is_not_compared():
    theirs = {"pinned_to_gpu_bytes_per_s": 55e9}
    assert list(outside.compared({"pinned": ran()}, theirs)) == []
    assert list(outside.compared({"pinned": ran({"pinned_to_gpu_bytes_per_s": 1e9})}, {})) == []


def test_the_twin_takes_the_sizes_of_the_experiments():
    roofline = ran({"matmul_flop_per_byte": 7920 / 6}, params={"array_bytes": 480 * 2**20})
    found = outside.Sizes.of({
        "roofline": roofline,
        "pinned": ran({"largest_bytes": 2**29}),
        "many-small": ran(params={"calls": 500}),
    })  # fmt: skip

    assert found == outside.Sizes(
        array_bytes=480 * 2**20, rows=7920, host_bytes=2**29, launches=500
    )
    assert outside.Sizes.of({"roofline": ran()}) == outside.Sizes()


def test_the_size_of_products_is_read_from_what_roofline_says():
    torch = pytest.importorskip("torch")
    from experiments.memory.roofline import gpu as roofline

    arms = roofline._memory_arms(  # noqa: SLF001  (only the run calls it)
        SimpleNamespace(torch=torch, name="cpu", is_gpu=False, bench=SimpleNamespace(
            check_stop=lambda: None, now_s=time.perf_counter), wait=lambda: None), 2**13, (1,)
    )  # fmt: skip
    intensity = list(arms)[-1].row(0, 1.0).flop_per_byte
    given = ran({"matmul_flop_per_byte": intensity}, params={"array_bytes": 2**13})
    assert outside.Sizes.of({"roofline": given}).rows == roofline._rows(2**13)  # noqa: SLF001


def test_cublas_is_the_one_that_pytorch_has_loaded(tmp_path, monkeypatch):
    library = tmp_path / "libcublas.so.13"
    library.write_bytes(b"x" * 4096)
    (tmp_path / "torch.py").write_text(
        f"import mmap\nfile = open({str(library)!r}, 'r+b')\nhere = mmap.mmap(file.fileno(), 0)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert outside.cublas_of_torch(tmp_path) == library

    (tmp_path / "torch.py").write_text("")
    assert outside.cublas_of_torch(tmp_path) is None


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc here")
def test_the_twin_compiles_and_says_why_it_cannot_run(tmp_path):
    program = tmp_path / "twin"
    command = ["nvcc", "-o", str(program), str(outside.SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    sizes = [str(2**24), "256", str(2**24), "100"]
    done = subprocess.run([str(program), *sizes], capture_output=True, text=True, check=False)

    if done.returncode:
        assert "cuda" in done.stderr
    else:
        assert outside.figures(done.stdout)["pinned_to_gpu_bytes_per_s"] > 1e9


# --- a stage as a whole


@pytest.fixture
def made_up(monkeypatch, tmp_path, as_told):
    """Return a check of a machine whose experiments, facts and tools are made up."""
    (tmp_path / "made_up_facts.py").write_text(MADE_UP_FACTS.replace("time.sleep(60)", "pass"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    monkeypatch.setattr(stages, "FACTS_MODULE", "made_up_facts")
    monkeypatch.setattr(stages, "look_at_machine", lambda report, libraries: None)

    def check(stage, only=("roofline", "pinned", "streams", "async"), limit_s=300.0, card=H200):
        here = machine(gpus=1)
        here = replace(here, gpus=(replace(here.gpus[0], name=card),))
        code = stages.check(here, stage, tmp_path / "out", only, limit_s, [])
        return code, json.loads((tmp_path / "out" / f"{stage}.json").read_text())

    return SimpleNamespace(check=check, ways=as_told, out=tmp_path / "out")


@pytest.mark.torch
def test_a_stage_survives_what_its_experiments_do_and_saves_it(made_up, capsys):
    made_up.ways |= {"pinned": "crashes", "async": "is killed"}
    code, saved = made_up.check("quick")

    assert code == 1
    assert set(saved["wrong"]) == {"pinned", "async"}
    assert saved["left_over"] == []
    assert [(name, run["code"], run["quick"]) for name, run in saved["runs"].items()] == [
        ("pinned", -11, False), ("streams", 0, True), ("roofline", 0, True), ("async", -9, True)
    ]  # fmt: skip
    assert {row["verdict"] for row in saved["table"]} == {verdicts.MISSING}  # of another experiment
    said = capsys.readouterr().out
    assert (made_up.out / "quick.txt").read_text() == said
    assert "roofline.peak_gpu0_bytes_per_s" in said
    kept = sorted(each.name for each in (made_up.out / "quick").glob("*.gz"))
    assert kept == ["roofline.coreopsis.jsonl.gz", "streams.coreopsis.jsonl.gz"]


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.torch
def test_the_last_lines_have_the_verdicts_of_a_known_card(made_up, capsys, card):
    made_up.check("quick", card=card)
    last = capsys.readouterr().out.splitlines()[-2:]

    assert last[0].startswith("Verdicts: ")
    assert verdicts.MISSING in last[0]  # the recordings are of another experiment
    assert last[1] == "Wrong: nothing."


@pytest.mark.torch
def test_the_last_lines_say_that_nothing_is_expected_of_an_unknown_card(made_up, capsys):
    code, saved = made_up.check("quick", card="NVIDIA X1")
    last = capsys.readouterr().out.splitlines()[-2:]

    assert last[0].startswith("There are no expectations of a NVIDIA X1")
    assert (code, {row["verdict"] for row in saved["table"]}) == (0, {""})


def test_a_second_call_need_not_look_again(made_up, monkeypatch, tmp_path):
    looked = []
    monkeypatch.setattr(stages, "look_at_machine", lambda *_: looked.append("machine"))
    monkeypatch.setattr(stages, "look_at_facts", lambda *_: looked.append("facts"))
    stages.check(machine(gpus=1), "quick", tmp_path / "out", ["streams"], 300.0, [], looks=False)
    assert looked == []
    stages.check(machine(gpus=1), "quick", tmp_path / "out", ["streams"], 300.0, [])
    assert looked == ["machine", "facts"]


@pytest.mark.torch
def test_what_no_time_was_left_for_is_told_and_done_by_going_on(made_up, monkeypatch, capsys):
    began_s, run = time.monotonic(), runs.run
    clock = SimpleNamespace(monotonic=lambda: began_s)
    monkeypatch.setattr(stages, "time", clock)

    def slow(*given, **more):
        clock.monotonic = lambda: began_s + 280.0
        return run(*given, **more)

    monkeypatch.setattr(runs, "run", slow)
    code, saved = made_up.check("full")
    assert (code, saved["left_over"]) == (0, ["streams", "roofline", "async"])
    assert "ARGS='full --only streams roofline async'" in capsys.readouterr().out

    monkeypatch.undo()
    monkeypatch.setattr(stages, "run_experiments", lambda *_: None)
    report = Report(made_up.out, "full", goes_on=True)
    assert list(report.runs) == ["pinned"]
    assert report.before["pinned"] == saved["runs"]["pinned"]["values"]
    assert Report(made_up.out, "full").runs == {}


@pytest.mark.torch
def test_checks_run_in_full_what_is_held_against_cuda(made_up, monkeypatch):
    monkeypatch.setattr(outside, "twin", lambda *_: ({"launch_s": 2e-6}, ""))
    monkeypatch.setattr(outside, "nvbandwidth", lambda *_: ({}, "nvbandwidth is not here."))
    code, saved = made_up.check("checks", only=())

    assert (code, saved["wrong"]) == (0, [])
    assert {name for name, run in saved["runs"].items() if not run["quick"]} == {
        each.id for each in Catalogue() if each.cuda_reference
    }
    assert [each["fact"] for each in saved["facts"]] == list(facts.KNOWN)
    assert saved["cuda"] == {"launch_s": 2e-6}


# --- the command


@pytest.mark.torch
def test_without_a_gpu_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr("experiments.devices.device.default_device", lambda machine: "cpu")

    assert gpu_check.main([]) == 3
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert "no GPU" in said.err
    assert not said.out


def test_without_a_library_it_names_what_pip_calls_it(capsys, monkeypatch):
    monkeypatch.setattr(gpu_check, "GPU_CHECK", {"not_there": "what-pip-says"})

    assert gpu_check.main([]) == 3
    assert "pip install what-pip-says" in capsys.readouterr().err


@pytest.mark.torch
def test_an_unknown_experiment_is_no_check_that_passes(capsys):
    with pytest.raises(SystemExit):
        gpu_check.main(["full", "--only", "nothing"])
    assert "nothing" in capsys.readouterr().err
