from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.core import words
from machine.live.gpu_samples import GpuSample
from tests.widgets.map.machines import shipped
from tests.widgets.map.samples import LOST, sample
from widgets.map.live import LOAD_STEPS, Loads, load_step

WORDS = words.load()
LARGEST = shipped("dual-socket-8-gpu")
OPTIONAL = [field.name for field in msgspec.structs.fields(GpuSample) if field.default is None]


@pytest.fixture(scope="module")
def loads():
    return Loads(LARGEST, WORDS)


def test_a_gpu_says_what_it_does_and_how_full_it_is(loads):
    gpu = loads.of(sample(LARGEST, 4))["gpu:0"]

    assert gpu.texts == ("54 °C · 268 W · busy 50 %", "268 W · busy 50 %", "busy 50 %")
    assert gpu.step == LOAD_STEPS // 2
    assert gpu.filled == 0.5
    assert gpu.bar_texts[0] == "memory 39.8 of 79.6 GiB"


def test_links_tell_what_they_carry_as_a_share_of_what_they_could(loads):
    found = loads.of(sample(LARGEST, 8))

    assert found["link:gpu:0"].step == round(5e10 / 63.0e9 * LOAD_STEPS)
    assert found["link:gpu:0"].texts[0] == "in 50 GB/s · out 1 GB/s"
    assert 0 < found["nvlink:0"].step < LOAD_STEPS


def test_a_lost_gpu_is_lost_and_the_others_are_not(loads):
    found = loads.of(sample(LARGEST, 3, lost=LOST))

    assert found[f"gpu:{LOST}"].is_lost
    assert found[f"gpu:{LOST}"].step is None
    assert not found["gpu:0"].is_lost


def test_a_sleeping_gpu_says_so_and_no_numbers():
    laptop = shipped("hybrid-laptop")

    asleep = Loads(laptop, WORDS).of(sample(laptop))["gpu:0"]

    assert asleep.texts == ("asleep",)
    assert asleep.step is asleep.filled is None


def test_what_is_not_sampled_is_not_there(loads):
    nothing = SimpleNamespace(memory={}, disks=[], network=[], gpus=[])

    assert loads.of(nothing) == {}


@given(st.sets(st.sampled_from(OPTIONAL)), st.sets(st.integers(0, 7)))
def test_any_value_and_any_gpu_may_be_missing(untold, gone):
    whole = sample(LARGEST, 5)
    for gpu in whole.gpus:
        gpu.update(dict.fromkeys(untold))
    left = [gpu for gpu in whole.gpus if gpu["index"] not in gone]
    found = Loads(LARGEST, WORDS).of(
        SimpleNamespace(memory=whole.memory, disks=whole.disks, network=whole.network, gpus=left)
    )

    assert not any(f"gpu:{index}" in found for index in gone)
    for name, live in found.items():
        if name.startswith("gpu:") and "busy" in untold:
            assert live.step is None
            assert not any("busy" in text for text in live.texts)


def test_steps_of_load_have_an_end():
    assert [load_step(busy) for busy in (None, -1.0, 0.0, 1.0, 7.0)] == [None, 0, 0, 16, 16]
