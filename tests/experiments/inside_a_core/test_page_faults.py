from __future__ import annotations

import pytest

from experiments.core.bench import Bench
from experiments.core.sizes import KIB, MIB
from experiments.inside_a_core.page_faults import experiment as page_faults
from experiments.inside_a_core.page_faults.experiment import (
    LAYOUTS,
    PACKED,
    PAGE_BYTES,
    WAYS,
    Params,
    Read,
    Touch,
    analyse,
    measure,
    touched,
)
from machine.inspect import inspect
from tests.experiments.machines import machine

AGREED = {"first_touch_s", "second_touch_s", "huge_first_touch_s", "tlb_reach_bytes", "walk_s"}
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
SIZES = [64 * KIB * 2**n for n in range(13)]
USUAL = dict(zip(WAYS, (5e-7, 1e-8, 1e-4, 2e-8), strict=True))
REACH_BYTES = 16 * MIB


def walk(size, layout, beyond_s=1e-7):
    """Return the time of a read: buffers for 64 pages, more for 4096, then the tables."""
    if layout == PACKED:
        return 1e-9
    near_s = 1e-9 if size <= 64 * PAGE_BYTES else 3e-9
    return near_s if size <= REACH_BYTES else near_s + beyond_s


def found(here=None, read=walk, without=(), noise=NOISE, **page_s):
    touches = [
        Touch(way=way, repeat=turn, page_s=each_s * factor, faults=1.0)
        for way, each_s in (USUAL | page_s).items()
        for turn, factor in enumerate(noise if way == "first" else NOISE)
        if way not in without
    ]
    reads = [
        Read(layout=layout, size_bytes=size, repeat=turn, read_s=read(size, layout) * factor)
        for size in SIZES
        for layout in LAYOUTS
        for turn, factor in enumerate(NOISE)
    ]
    return analyse(Params(), {"touches": touches, "reads": reads}, here or machine())


def test_the_first_touch_and_the_way_to_a_page_are_told():
    finding = found()

    assert finding.message == "first_touch_slow"
    assert finding.values["first_over_second"] == pytest.approx(50)
    assert finding.values["huge_part_s"] == pytest.approx(1e-4 / 512)
    assert finding.values["tlb_reach_bytes"] == REACH_BYTES
    assert finding.values["walk_s"] == pytest.approx(1.02e-7)
    assert finding.values["largest_bytes"] == max(SIZES)
    assert finding.limits == ()


def test_pages_that_are_there_at_once_are_said_to_be():
    assert found(first=1e-8, again=1e-8).message == "first_touch_alike"


def test_rounds_that_scatter_or_lack_tell_nothing():
    assert found(noise=(0.01, 9, 30, 0.02, 20, 0.01), again=2e-7).message == "cannot_tell"
    assert found(without={"again"}).message == "nothing_to_compare"


def test_where_no_end_of_the_buffers_is_seen_none_is_told():
    flat = found(read=lambda size, layout: walk(size, layout, beyond_s=0.0))

    assert "tlb_reach_bytes" not in flat.values
    assert "no_end_seen" in flat.limits
    packed = found(read=lambda size, _layout: walk(size, PACKED))
    assert "walk_s" not in packed.values


def test_what_a_machine_lacks_is_said():
    limits = found(machine(virtualization="kvm"), without={"huge_first", "huge_again"}).limits

    assert limits == ("virtual_machine", "no_huge_pages")


def test_the_first_touch_of_real_memory_faults_and_the_second_does_not():
    (first_s, first), (again_s, again) = touched(Bench(inspect()), huge=False)

    assert first > 0.9  # the system may fill two at a time, but not many
    assert again < 0.1
    assert first_s > 3 * again_s


def test_without_huge_pages_the_others_are_measured(monkeypatch):
    monkeypatch.setattr(page_faults, "gives_huge_pages", lambda: False)
    monkeypatch.setattr(page_faults, "SAMPLE_S", 1e-5)
    rows = list(measure(Params(largest_bytes=MIB, rounds=1), Bench(inspect())))

    assert {row.way for row in rows if isinstance(row, Touch)} == set(WAYS[:2])
    assert {row.layout for row in rows if isinstance(row, Read)} == set(LAYOUTS)
    assert [row.key for row in rows if hasattr(row, "key")] == ["no_huge_pages"]
