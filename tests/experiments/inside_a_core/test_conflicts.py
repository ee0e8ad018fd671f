from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.inside_a_core.conflicts.experiment import (
    MOST,
    PAGE_BYTES,
    SAME_OFFSET,
    SAME_SET,
    SETS,
    Pair,
    Params,
    Read,
    analyse,
    apart_bytes,
)
from experiments.inside_a_core.conflicts.kernels import write_and_read
from experiments.kernels.chains import link_apart, walk
from experiments.tools.buffers import Buffer
from machine.model import Cache
from tests.experiments.machines import KIB, machine

AGREED = {"ways_seen", "conflict_penalty", "same_offset_penalty"}
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
WAYS = 12


def with_ways(ways, size_bytes=48 * KIB):
    here = machine()
    caches = (Cache(level=1, kind="data", size_bytes=size_bytes, ways=ways, threads=(0,)),)
    return replace(here, cpu=replace(here.cpu, caches=caches))


def full(sets, lines):
    return 3e-9 if sets == SAME_SET and lines > WAYS else 1e-9


def found(read=full, here=None, same_offset_s=2e-9, noise=NOISE, lines=range(1, MOST + 1)):
    reads = [
        Read(sets=sets, lines=n, repeat=turn, read_s=read(sets, n) * factor)
        for n in lines
        for sets in SETS
        for turn, factor in enumerate(noise if sets == SAME_SET else NOISE)
    ]
    pairs = [
        Pair(offset=offset, repeat=turn, pair_s=each_s * factor)
        for offset, each_s in ((SAME_OFFSET, same_offset_s), ("other_offset", 1e-9))
        for turn, factor in enumerate(NOISE)
    ]
    return analyse(Params(), {"reads": reads, "pairs": pairs}, here or machine())


def test_the_ways_of_the_first_cache_are_seen():
    finding = found(here=with_ways(WAYS))

    assert finding.message == "ways_full"
    assert finding.values["ways_seen"] == finding.values["ways_told"] == WAYS
    assert finding.values["conflict_penalty"] == pytest.approx(3)
    assert finding.values["same_offset_penalty"] == pytest.approx(2)
    assert finding.limits == ("offsets_alias",)


def test_other_ways_than_the_system_tells_of_are_said():
    assert "other_ways" in found(here=with_ways(8)).limits


def test_where_all_lines_fit_no_ways_are_told():
    finding = found(lambda _sets, _lines: 1e-9, same_offset_s=1e-9)

    assert finding.message == "no_conflict"
    assert "ways_seen" not in finding.values
    assert finding.limits == ()


def test_rounds_that_scatter_or_lack_tell_nothing():
    assert found(noise=(0.1, 9, 0.2, 8, 0.1, 15)).message == "cannot_tell"
    assert found(lines=range(1, MOST)).message == "nothing_to_compare"


def test_lines_of_one_set_are_one_way_apart():
    assert apart_bytes(with_ways(12)) == PAGE_BYTES
    assert apart_bytes(with_ways(8, 128 * KIB)) == 16 * KIB
    assert apart_bytes(machine()) == PAGE_BYTES


@pytest.mark.parametrize(
    ("lines", "apart", "spread"), [(1, 64, False), (13, 4160, False), (50, 4096, True)]
)
def test_the_chain_meets_each_line_once_in_its_own_place(lines, apart, spread):
    buffer = Buffer((lines + 1) * apart)
    start = place = link_apart(buffer.address, lines, apart, spread, 5)
    met = []
    for _ in range(lines):
        met.append(int(place) - int(buffer.address))
        place = int(buffer.words[met[-1] // 8])

    assert place == int(start)
    assert sorted(at // apart for at in met) == list(range(lines))
    assert all(at % 64 == 0 for at in met)
    assert (len({at % apart for at in met}) > 1) is spread
    assert (walk(lines * 16, start) - int(buffer.address)) in met


def test_the_read_follows_the_write_and_finds_its_own_place():
    buffer = Buffer(16 * KIB)
    read, written = int(buffer.address), int(buffer.address) + 4096

    assert write_and_read(1000, written, read) == read
    assert buffer.words[512] == 999
