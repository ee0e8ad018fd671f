"""NVML fails: any call, any GPU, at any moment."""

from __future__ import annotations

import functools
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machine.gpus import nvml
from machine.gpus.cuda import Cuda
from machine.live.gpus import GpuSampler
from machine.model import from_json, missing_of, to_json
from tests.cases import in_one
from tests.machine.fake_nvml import LOST, NOT_SUPPORTED, FakeNvml, with_switches
from tests.machine.gpus.test_nvidia import CALLS, card, gpu_leaves, look, seen_by_cuda
from tests.machine.live.test_gpus import look as look_live
from tests.machine.live.test_gpus import seat
from tests.machine.trees import Tree

NUMBERS = st.sampled_from([1, 2, 3, 4, 6, 8, 10, 11, 13, 15, 16, 17, 21, 77, 999])
SWITCHES = st.dictionaries(st.sampled_from(CALLS), NUMBERS, max_size=12)
NEEDED = ("nvmlInit", "nvmlShutdown")  # every pynvml has them
MAY_BE_ABSENT = [call for call in CALLS if call not in NEEDED]
ABSENT = st.sets(st.sampled_from(MAY_BE_ABSENT), max_size=12)
WATCHING = settings(max_examples=40)  # slow: each example takes two samples of a whole machine
# What a call alone can tell.
TOLD_BY = {
    "UUID": "uuid",
    "CudaComputeCapability": "compute_capability",
    "MemoryInfo": "memory_bytes",
    "MemoryBusWidth": "memory_bus_bits",
    "MaxClockInfo": "sm_clock_hz",
    "EnforcedPowerLimit": "power_limit_watts",
    "PowerManagementDefaultLimit": "power_default_watts",
    "PowerManagementLimitConstraints": "power_max_watts",
    "EccMode": "ecc",
    "PersistenceMode": "persistence",
    "VirtualizationMode": "virtualization",
    "MigMode": "mig",
    "GpuFabricInfoV": "fabric",
    "NvLinkState": "nvlinks",
    "CurrPcieLinkWidth": "link.width",
}


def three(**switches):
    """Return a library of three GPUs with its switches set."""
    library = FakeNvml(*with_switches(3, 2))
    for name, value in switches.items():
        setattr(library, name, value)
    return library


def inspected(library):
    """Return the machine; all that is not known of its GPUs has a reason."""
    seen = Cuda(gpus=seen_by_cuda(*library.gpus))
    machine = look(library, cuda=seen, pci=tuple(card(gpu.address) for gpu in library.gpus))
    assert gpu_leaves(machine) == []
    assert len(machine.gpus) == 3
    assert from_json(json.loads(json.dumps(to_json(machine)))) == machine
    return machine


@functools.cache
def all_told():
    return inspected(three())


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return a tree with the three GPUs; nothing that is tested here changes it."""
    tree = Tree(tmp_path_factory.mktemp("tree"))
    for gpu in three().gpus:
        seat(tree, gpu.address)
    return tree


def watched(tree, library):
    """Return two samples, a second apart."""
    sampler = GpuSampler(tree.root, lambda: library)
    samples = [look_live(sampler, now_s)[0] for now_s in (0.0, 1.0)]
    sampler.close()
    assert [len(sample) for sample in samples] == [3, 3]
    return samples


@in_one("number", [4, 10, NOT_SUPPORTED, LOST])
def test_the_reason_of_a_call_that_fails_is_the_one_that_is_shown(number):
    for call, field in TOLD_BY.items():
        bare = three(failing={f"nvmlDeviceGet{call}": number})
        # Without CUDA, which knows some of it too, and without a PCI tree that knows the link.
        machine = look(bare, pci=())
        if (call, number) == ("NvLinkState", NOT_SUPPORTED):  # so a GPU without any says
            assert [gpu.nvlinks for gpu in machine.gpus] == [(), (), ()]
            continue
        entry = missing_of(machine, f"gpus[0].{field}")
        assert entry is not None, call
        assert (entry.why, entry.how) == nvml.REASONS[number], call


@pytest.mark.parametrize("call", MAY_BE_ABSENT)
def test_a_pynvml_without_a_call_is_too_old_and_the_rest_is_told(tree, call):
    inspected(three(absent={call}))
    watched(tree, three(absent={call}))


@pytest.mark.parametrize("key", sorted({key for gpu in with_switches(1, 2) for key in gpu.fields}))
def test_every_field_may_be_missing(tree, key):
    library = three()
    for gpu in library.gpus:
        del gpu.fields[key]
    inspected(library)
    watched(tree, library)


@given(SWITCHES, ABSENT)
def test_any_of_its_calls_together_may_fail_or_be_absent_while_inspecting(failing, absent):
    inspected(three(failing=failing, absent=absent))


@given(SWITCHES, ABSENT)
@WATCHING
def test_any_of_its_calls_together_may_fail_or_be_absent_while_watching(tree, failing, absent):
    watched(tree, three(failing=failing, absent=absent))


@given(st.integers(0, 80))
def test_one_gpu_is_lost_while_inspecting_and_the_others_are_told_in_full(after):
    library = three()
    address = library.gpus[1].address
    library.lost = {address: after}
    machine = inspected(library)
    whole = all_told()
    for n in (0, 2):
        assert machine.gpus[n] == whole.gpus[n]
    if library.lost[address] < 0:
        lost = nvml.REASONS[LOST].why
        assert any(entry.why == lost for entry in machine.missing)
    else:
        assert machine == whole


@given(st.integers(0, 80))
@WATCHING
def test_one_gpu_is_lost_while_watching_and_the_others_go_on(tree, after):
    library = three()
    address = library.gpus[1].address
    library.lost = {address: after}
    _, last = watched(tree, library)
    assert last[1].state == ("lost" if library.lost[address] < 0 else "awake")
    for n in (0, 2):
        assert last[n].state == "awake"
        assert msgspec.to_builtins(last[n])["busy"] == 0.97
