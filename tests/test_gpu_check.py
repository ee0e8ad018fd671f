from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools.gpu_check import __main__ as check
from tests.tools.gpu_check import outside

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


def ran(values, experiment="pinned"):
    return check.Ran(experiment, 0, 1.0, quick=False, said="", values=values)


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
    [(held, own, theirs, is_kept)] = check.compared([ran({name: ours})], {name: 55e9})

    assert (held.value, own, theirs, is_kept) == (name, ours, 55e9, kept)


def test_what_one_side_lacks_is_not_compared():
    assert check.compared([ran({})], {"pinned_to_gpu_bytes_per_s": 55e9}) == []
    assert check.compared([ran({"pinned_to_gpu_bytes_per_s": 1e9})], {}) == []


def test_without_a_gpu_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr("experiments.devices.device.default_device", lambda machine: "cpu")

    assert check.main([]) == 3
    assert "no GPU" in capsys.readouterr().out


def test_without_a_library_it_names_it(capsys, monkeypatch):
    monkeypatch.setattr(check, "LIBRARIES", ("torch_that_is_not_there",))

    assert check.main([]) == 3
    assert "torch_that_is_not_there" in capsys.readouterr().err


def test_an_experiment_is_run_and_its_finding_read(tmp_path):
    found = check._ran("talk-cost", tmp_path, quick=True, limit_s=60.0)  # noqa: SLF001  (no device to ask)

    assert found.code == 0
    assert found.said in ("threads_pass_a_reference", "a_process_keeps_up", "cannot_tell")
    assert found.values["pipe_large_s"] > 0
    assert (tmp_path / "talk-cost.coreopsis.jsonl.gz").exists()


def test_each_value_held_against_cuda_is_declared():
    from experiments.core.catalogue import Catalogue

    known = {each.id: {value.name for value in each.values} for each in Catalogue()}
    for held in check.all_held():
        assert held.value in known[held.experiment], held


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc here")
def test_the_twin_compiles_and_says_why_it_cannot_run(tmp_path):
    program = tmp_path / "twin"
    command = ["nvcc", "-o", str(program), str(Path(outside.SOURCE)), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)

    if done.returncode:
        assert "cuda" in done.stderr
    else:
        assert outside.figures(done.stdout)["pinned_to_gpu_bytes_per_s"] > 1e9
