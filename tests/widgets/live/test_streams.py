from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from machine.live.recorded_watch import beside, read
from tests.widgets.live import streams


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("streams")
    return dict(zip(streams.KINDS, streams.make(folder), strict=True))


@pytest.mark.parametrize("name", streams.KINDS)
def test_what_lies_beside_a_fake_machine_is_what_is_made(made, name):
    shipped = beside(streams.FOLDER / f"{name}.json")

    assert shipped is not None
    assert gzip.decompress(shipped.read_bytes()) == gzip.decompress(made[name].read_bytes())


@pytest.mark.parametrize("name", streams.KINDS)
def test_it_says_that_it_is_made_up_and_suits_its_machine(made, name):
    watch, machine = read(made[name]), streams.machine_of(name)

    assert watch.is_made_up
    for sample in watch.samples:
        assert {t.id for t in sample.threads} <= {t.id for t in machine.cpu.threads_list}
        assert [gpu.index for gpu in sample.gpus] == [gpu.index for gpu in machine.gpus]
        assert {disk.name for disk in sample.disks} <= {disk.name for disk in machine.storage}
