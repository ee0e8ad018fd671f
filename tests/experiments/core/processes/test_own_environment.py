from __future__ import annotations

from pathlib import Path

import pytest

from experiments.core.processes.own_environment import CLEARED, cleared, own_environment
from experiments.engine.environment import environment

CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


@pytest.fixture(autouse=True)
def no_caches_told(monkeypatch):
    for variable in CACHES:
        monkeypatch.delenv(variable, raising=False)


def test_what_torch_compiles_goes_to_a_place_of_its_own_in_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / name)

    told = own_environment()

    places = {Path(told[variable]) for variable in CACHES}
    assert {place.parent for place in places} == {tmp_path / "coreopsis"}
    assert len(places) == len(CACHES)
    assert list(tmp_path.iterdir()) == []  # most runs need none


def test_who_has_chosen_a_place_keeps_it(monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", "/mine")

    assert own_environment()["TRITON_CACHE_DIR"] == "/mine"


def test_where_no_folder_can_be_made_torch_chooses(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / "file" / name)

    assert not own_environment().keys() & set(CACHES)


TUNES = {
    "NUMBA_DISABLE_JIT": "1",
    "NUMBA_OPT": "0",
    "OMP_NUM_THREADS": "64",
    "GOMP_CPU_AFFINITY": "0",
    "KMP_AFFINITY": "compact",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONMALLOC": "debug",
    "PYTHON_GIL": "1",
    "PYTHONTRACEMALLOC": "5",
    "TORCH_LOGS": "+dynamo",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",  # as NVIDIA's images set it
    "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "TRITON_INTERPRET": "1",
    "CUDA_LAUNCH_BLOCKING": "1",
    "NVIDIA_TF32_OVERRIDE": "0",
    "HIP_LAUNCH_BLOCKING": "1",
    "ROCR_MAX_QUEUES": "1",
    "HSA_ENABLE_SDMA": "0",
    "NCCL_ALGO": "Tree",
    "MALLOC_ARENA_MAX": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "LD_PRELOAD": "",
    "LD_BIND_NOW": "1",
}
NEEDED = {
    "LD_LIBRARY_PATH": "/opt/cuda/lib64",
    "CUDA_VISIBLE_DEVICES": "1",
    "HIP_VISIBLE_DEVICES": "0",
    "HSA_OVERRIDE_GFX_VERSION": "11.0.0",
    "CUDA_PATH_V12_8": "C:/CUDA",
    "KMP_DUPLICATE_LIB_OK": "TRUE",
    "OPENBLAS_CORETYPE": "Haswell",
    "NCCL_SOCKET_IFNAME": "eth1",
    "PYTHONUTF8": "1",
    "TRITON_CACHE_DIR": "/mine",
    "TRITON_PTXAS_PATH": "/usr/local/cuda/bin/ptxas",
    "PATH_OF_MINE": "x",
    "PYTHON_VERSION": "3.11.7",  # of an image
    "CUDA_VERSION": "13.0.1",
}


@pytest.fixture
def outside(monkeypatch):
    """Return a function that sets variables as a shell would, outside of any run."""

    def told(**variables):
        monkeypatch.delenv(CLEARED, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return told


def test_what_would_change_a_measurement_is_cleared_and_what_a_program_needs_is_kept(outside):
    outside(**TUNES, **NEEDED)

    told = own_environment()

    assert not told.keys() & TUNES.keys()
    assert {name: told[name] for name in NEEDED} == NEEDED
    assert set(cleared(told)) >= TUNES.keys()


def test_within_a_run_nothing_is_cleared_that_the_run_has_set_itself(outside, monkeypatch):
    outside(OMP_NUM_THREADS="64")
    for name, value in own_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # by the guardian
    assert own_environment()["OMP_NUM_THREADS"] == "1"


def test_what_is_kept_stands_in_the_record_without_a_place_or_a_serial_number(outside):
    outside(**TUNES, **NEEDED, ROCR_VISIBLE_DEVICES="GPU-5d6b1111")

    told = environment()

    assert told["variables"]["HSA_OVERRIDE_GFX_VERSION"] == "11.0.0"
    assert told["variables"]["CUDA_VISIBLE_DEVICES"] == "1"
    for name in ("LD_LIBRARY_PATH", "TRITON_CACHE_DIR", "ROCR_VISIBLE_DEVICES"):
        assert told["variables"][name] == "(set)"
    unheard = {"PATH_OF_MINE", "PYTHONPATH", "PYTHON_VERSION", "CUDA_VERSION"}
    assert not told["variables"].keys() & (TUNES.keys() | unheard)
    assert set(told["cleared_variables"]) >= TUNES.keys()
