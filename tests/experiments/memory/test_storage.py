from __future__ import annotations

import os
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.end_process import is_root
from experiments.core import direct_io
from experiments.core.bench import Bench, StopRequested
from experiments.core.declare import Need
from experiments.core.direct_io import has_direct_io
from experiments.core.needs import missing_need
from experiments.core.parameters import from_json, from_text, to_json, to_kept_json
from experiments.core.problems import UserError
from experiments.engine.measuring import _started  # noqa: PLC2701  (what a run says of itself)
from experiments.kernels.disk import fill
from experiments.memory.storage import experiment as storage
from experiments.memory.storage.experiment import (
    AT_RANDOM,
    DEPTH,
    EXPERIMENT,
    IN_ORDER,
    MANY,
    SMALL,
    Cached,
    Latency,
    Params,
    Read,
    Where,
    analyse,
)
from experiments.tools.disk_file import PIECE_BYTES, DiskFile
from machine.devices import Disk
from machine.inspect import inspect
from machine.model import Machine
from machine.storage.place import Place, disks_of, place_of, room_bytes, usual_folder
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB

AGREED = {
    "sequential_read_bytes_per_s", "random_4k_reads_per_s", "random_4k_deep_reads_per_s",
    "random_4k_latency_s",
}  # fmt: skip

NOISE = (1.0, 1.01, 0.99)
pytestmark = pytest.mark.skipif(
    not has_direct_io(), reason="no file is read past the page cache here"
)


# --- what it says -------------------------------------------------------------------------------


def reads(rates, noise=NOISE):
    """Return rows from reads per second by (way, block)."""
    return [
        Read(
            block_bytes=block,
            way=way,
            repeat=turn,
            bytes_per_s=rate * factor * block,
            reads_per_s=rate * factor,
            latency_s=(DEPTH if way == MANY else 1) / (rate * factor),
        )
        for (way, block), rate in rates.items()
        for turn, factor in enumerate(noise)
    ]


def tables(rates, *, noise=NOISE, disk="nvme0n1", file_system="ext4", cached_s=None):
    return {
        "places": [Where(disk=disk, file_system=file_system)],
        "reads": reads(rates, noise),
        "latencies": [],
        "cached": [] if cached_s is None else [Cached(repeat=0, latency_s=cached_s)],
    }


def with_disk(**more):
    return Machine(storage=(Disk(name="nvme0n1", kind="nvme", **more),))


SSD = {(IN_ORDER, MIB): 3000.0, (AT_RANDOM, SMALL): 12_000.0, (MANY, SMALL): 300_000.0}


def test_small_reads_are_held_against_reading_in_order():
    found = analyse(Params(), tables(SSD), with_disk())

    assert found.message == "many_at_a_time_help"
    assert found.values["sequential_read_bytes_per_s"] == pytest.approx(3030 * MIB)
    assert found.values["random_4k_reads_per_s"] == pytest.approx(12_120)
    assert found.values["random_4k_latency_s"] == pytest.approx(1 / 12_120)
    assert found.values["random_4k_deep_reads_per_s"] == pytest.approx(303_000)
    assert found.values["random_4k_fraction"] == pytest.approx(12_000 * SMALL / (3000 * MIB))
    assert found.values["deep_over_one"] == pytest.approx(25)


def test_what_is_shown_can_be_divided_by_the_reader():
    rows = tables(SSD)
    fast = next(row for row in rows["reads"] if row.way == MANY)  # one lucky round
    rows["reads"].append(msgspec.structs.replace(fast, reads_per_s=2 * fast.reads_per_s))
    shown = analyse(Params(), rows, with_disk()).values

    assert shown["deep_over_one"] == pytest.approx(
        shown["random_4k_deep_reads_per_s"] / shown["random_4k_reads_per_s"]
    )
    assert shown["random_4k_fraction"] == pytest.approx(
        shown["random_4k_bytes_per_s"] / shown["sequential_read_bytes_per_s"]
    )


@in_one(
    ("change", "noise", "message"),
    [
        ({(MANY, SMALL): 12_000.0}, NOISE, "one_at_a_time_anyway"),
        ({(MANY, SMALL): 8_000.0}, NOISE, "one_at_a_time_anyway"),
        ({(IN_ORDER, SMALL): 12_000.0}, NOISE, "size_costs_not_order"),
        ({(IN_ORDER, SMALL): 90_000.0}, NOISE, "many_at_a_time_help"),
        ({(AT_RANDOM, SMALL): 3000.0 * 256}, NOISE, "small_reads_as_fast"),
        ({(AT_RANDOM, SMALL): 9000.0 * 256}, NOISE, "small_reads_as_fast"),
    ],
)
def test_the_sentence_follows_the_rates(change, noise, message):
    found = analyse(Params(), tables(SSD | change, noise=noise), with_disk())

    assert found.message == message
    assert found.unclear == ()


def test_where_the_rounds_scatter_nobody_can_tell():
    rows = tables(SSD | {(MANY, SMALL): 20_000.0})
    wild = [
        msgspec.structs.replace(row, bytes_per_s=row.bytes_per_s * (1, 3, 0.3)[row.repeat % 3])
        if row.way == MANY
        else row
        for row in rows["reads"]
    ]
    found = analyse(Params(), {**rows, "reads": wild}, with_disk())

    assert found.message == "cannot_tell"
    assert found.unclear == ("deep_over_one",)


def bins(**reads):
    return [
        Latency(repeat=0, at_s=float(at.lstrip("us_")) * 1e-6, reads=count, read_fraction=0.1)
        for at, count in reads.items()
    ]


def test_the_tail_is_told_as_far_as_enough_reads_lie_beyond():
    rows = tables(SSD) | {"latencies": bins(us_80=980, us_100=9, us_500=11)}
    found = analyse(Params(), rows, with_disk())

    assert found.values["random_4k_p50_s"] == pytest.approx(80e-6)
    assert found.values["random_4k_p99_s"] == pytest.approx(500e-6)
    assert "random_4k_p999_s" not in found.values
    assert "too_few_for_the_tail" in found.limits

    rows = tables(SSD) | {"latencies": bins(us_80=20_000, us_100=80, us_900=30)}
    whole = analyse(Params(), rows, with_disk())
    assert whole.values["random_4k_p999_s"] == pytest.approx(900e-6)
    assert "too_few_for_the_tail" not in whole.limits


@pytest.mark.parametrize(
    ("kind", "limit"), [("hdd", "hard_disk"), ("nvme", "wear_not_told"), ("virtual", None)]
)
def test_what_a_kind_of_disk_brings_along_is_said(kind, limit):
    here = Machine(storage=(Disk(name="nvme0n1", kind=kind),))
    found = analyse(Params(), tables(SSD), here)

    assert {"hard_disk", "wear_not_told"} & {*found.limits} == ({limit} if limit else set())


@pytest.mark.parametrize("missing", SSD)
def test_without_one_of_the_ways_nothing_is_compared(missing):
    rest = {key: rate for key, rate in SSD.items() if key != missing}

    assert analyse(Params(), tables(rest), with_disk()).message == "nothing_to_compare"


def test_the_link_of_the_disk_is_the_limit_and_more_than_it_is_suspect():
    fast, slow = (
        analyse(Params(), tables(SSD), with_disk(peak_bytes_per_s=rate)) for rate in (8e9, 1e9)
    )

    assert fast.values["link_bytes_per_s"] == 8e9
    assert "above_the_link" not in fast.limits
    assert "above_the_link" in slow.limits


@in_one(
    ("where", "here", "limit"),
    [
        ({}, Machine(storage=(Disk(name="nvme0n1", kind="virtual"),)), "virtual_disk"),
        ({"disk": "sda+sdb"}, with_disk(), "several_disks"),
        ({"disk": ""}, with_disk(), "disk_not_known"),
        ({"disk": "", "file_system": "nfs4"}, with_disk(), "not_in_this_machine"),
        ({}, with_disk(), "no_link_known"),
    ],
)
def test_what_else_may_be_in_the_numbers_is_named(where, here, limit):
    assert limit in analyse(Params(), tables(SSD, **where), here).limits


def test_a_file_system_that_answers_from_memory_all_the_same_is_found_out():
    honest, cheating = (
        analyse(Params(), tables(SSD, cached_s=cached_s), with_disk())
        for cached_s in (1.5e-6, 60e-6)
    )

    assert "answered_from_memory" not in honest.limits
    assert "answered_from_memory" in cheating.limits


# --- the file -----------------------------------------------------------------------------------


@pytest.fixture
def on_disk():
    """Return a folder that is on a disk; the temporary one may be in memory."""
    folder = usual_folder()
    if place_of(folder).is_in_memory:
        pytest.skip("the usual folder is in memory here")
    return folder


def file_of(folder, size_bytes=2 * PIECE_BYTES):
    return DiskFile(folder, size_bytes, Bench(inspect()))


def test_the_file_is_nowhere_to_be_seen_and_exactly_as_large_as_said(on_disk):
    before = sorted(on_disk.iterdir())
    with file_of(on_disk, 2 * PIECE_BYTES + 1) as file:
        written = list(file.write())
        if sys.platform != "win32":  # which removes the name with the file
            assert sorted(on_disk.iterdir()) == before
        with file._file.opened() as number:  # noqa: SLF001  (it has no name to open it by)
            assert os.fstat(number).st_size == 2 * PIECE_BYTES
        assert written == [0.5, 1.0]
    assert sorted(on_disk.iterdir()) == before


def test_what_is_read_is_what_was_written_and_cannot_be_compressed(on_disk):
    import zlib

    with file_of(on_disk) as file:
        list(file.write())
        with file._file.cached() as number:  # noqa: SLF001  (it has no name to open it by)
            os.lseek(number, 0, os.SEEK_SET)
            data = os.read(number, 2 * PIECE_BYTES)

    assert len(data) == 2 * PIECE_BYTES
    assert data[:PIECE_BYTES] != data[PIECE_BYTES:]
    assert len(zlib.compress(data, 1)) > 0.99 * len(data)


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("at_random", [False, True])
def test_reads_are_counted_between_two_arrivals(on_disk, depth, at_random):
    with file_of(on_disk) as file:
        list(file.write())
        rate = file.reads_per_s(64 * KIB, depth, at_random=at_random, sample_s=0.05)

    assert 10 < rate < 1e6


def test_a_direct_read_takes_longer_than_one_from_the_page_cache(on_disk):
    with file_of(on_disk) as file:
        list(file.write())
        direct = max(file.reads_per_s(SMALL, 1, at_random=True, sample_s=0.05) for _ in range(3))
        cached = file.cached_reads_per_s(SMALL, sample_s=0.02)

    assert cached is not None
    assert direct < cached


def test_a_stop_is_obeyed_while_it_is_written_and_while_it_is_read(on_disk):
    stops = iter([False, True])
    bench = Bench(Machine(), stop=lambda: next(stops))
    with DiskFile(on_disk, 8 * PIECE_BYTES, bench) as file, pytest.raises(StopRequested):
        list(file.write())
    calls = iter([False] * 2 + [False] * 6)
    bench = Bench(Machine(), stop=lambda: next(calls, True))
    with DiskFile(on_disk, 2 * PIECE_BYTES, bench) as file:
        list(file.write())
        with pytest.raises(StopRequested):
            file.reads_per_s(SMALL, 4, at_random=True, sample_s=60)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no tmpfs here")
def test_a_folder_in_memory_is_refused():
    with pytest.raises(UserError) as caught:
        file_of(Path("/dev/shm"))

    assert caught.value.problem.key == "folder_in_memory"
    assert caught.value.problem.values["file_system"] == "tmpfs"


def test_a_file_system_without_direct_reads_is_refused(on_disk, monkeypatch):
    def refuse(*_):
        raise OSError(22, "Invalid argument")

    how = "_unbuffered" if sys.platform == "win32" else "go_direct"
    monkeypatch.setattr(direct_io, how, refuse)
    before = sorted(on_disk.iterdir())
    with pytest.raises(UserError) as caught:
        file_of(on_disk)

    assert caught.value.problem.key == "no_direct_io"
    assert sorted(on_disk.iterdir()) == before


def test_a_tenth_of_the_disk_stays_free(on_disk, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100 * GIB, 88 * GIB, 12 * GIB))

    assert room_bytes(on_disk) == 2 * GIB
    assert storage.defaults(Machine()).file_bytes == 512 * MIB
    with pytest.raises(UserError) as caught:
        file_of(on_disk, 3 * GIB)
    assert caught.value.problem.key == "disk_too_full"

    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100 * GIB, 89.9 * GIB, 10.1 * GIB))
    assert storage.defaults(Machine()).file_bytes < 128 * MIB


@pytest.mark.skipif(is_root(), reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused():
    with pytest.raises(UserError) as caught:
        file_of(Path("/proc"))

    assert caught.value.problem.key == "folder_not_writable"


def test_filling_twice_as_much_takes_twice_the_numbers():
    words = np.zeros(1024, dtype=np.uint64)
    seed = fill(words, np.uint64(7))

    assert np.unique(words).size == 1024
    assert seed == words[-1]


# --- where it lies ------------------------------------------------------------------------------


def sys_tree(root, *, parts=()):
    """Make a disk with a partition, or a volume of such partitions, as the kernel shows them."""
    links = root / "sys/dev/block"
    links.mkdir(parents=True)
    for disk in ("sda", "sdb"):
        (root / f"sys/devices/{disk}/{disk}1").mkdir(parents=True)
        (root / f"sys/devices/{disk}/{disk}1/partition").write_text("1")
    (links / "8:1").symlink_to(root / "sys/devices/sda/sda1")
    (links / "8:0").symlink_to(root / "sys/devices/sda")
    slaves = root / "sys/devices/virtual/dm-0/slaves"
    slaves.mkdir(parents=True)
    for part in parts:
        (slaves / part).symlink_to(root / f"sys/devices/{part[:3]}/{part}")
    (links / "254:0").symlink_to(root / "sys/devices/virtual/dm-0")


def test_a_partition_and_a_volume_lead_to_their_disks(tmp_path):
    sys_tree(tmp_path, parts=("sda1", "sdb1"))

    assert disks_of(8, 1, root=tmp_path) == ("sda",)
    assert disks_of(8, 0, root=tmp_path) == ("sda",)
    assert disks_of(254, 0, root=tmp_path) == ("sda", "sdb")
    assert disks_of(9, 9, root=tmp_path) == ()


@in_one(
    ("place", "is_in_memory"),
    [
        (Place(disks=(), file_system="tmpfs"), True),
        (Place(disks=("zram0",), file_system="ext4"), True),
        (Place(disks=("sda",), file_system="ext4"), False),
        (Place(disks=(), file_system="overlay"), False),
    ],
)
def test_disks_made_of_memory_are_known(place, is_in_memory):
    assert place.is_in_memory is is_in_memory


def test_the_innermost_mount_counts(monkeypatch, tmp_path):
    import psutil

    part = namedtuple("part", "device mountpoint fstype opts")
    mounts = [
        part("/dev/none", "/", "ext4", ""),
        part("none", str(tmp_path), "xfs", ""),
        part("none", str(tmp_path) + "-other", "tmpfs", ""),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)

    assert place_of(tmp_path).file_system == "xfs"
    assert place_of(tmp_path.parent).file_system == "ext4"


def test_the_usual_folder_exists_and_none_is_made_for_it(monkeypatch, tmp_path):
    import platformdirs

    wanted = tmp_path / "a" / "b"
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: wanted)

    assert usual_folder() == tmp_path
    assert not wanted.exists()


# --- the parameter ------------------------------------------------------------------------------


def test_a_folder_is_typed_as_in_a_shell(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    for text in ("~/data", "data", "./data/"):
        assert from_text(Params(), {"folder": text}).folder == str(tmp_path / "data")
    assert from_text(Params(), {"folder": ""}).folder == ""


def test_what_is_no_folder_is_refused_except_in_a_recording(tmp_path):
    nowhere = str(tmp_path / "nowhere")
    for make in (
        lambda: from_text(Params(), {"folder": nowhere}),
        lambda: from_json(Params, {**to_json(Params()), "folder": nowhere}),
    ):
        with pytest.raises(UserError) as caught:
            make()
        assert caught.value.problem.key == "parameter_not_a_folder"

    recorded = {**to_json(Params()), "folder": nowhere}
    assert from_json(Params, recorded, check_choices=False).folder == nowhere


def test_a_kept_run_does_not_say_which_folder_it_was(tmp_path):
    from experiments.engine import messages

    params = msgspec.structs.replace(Params(), folder=str(tmp_path))
    command = messages.Measure(experiment="storage", params=to_json(params), quick=False, run="r")
    started = _started(command, EXPERIMENT, params, Machine())

    assert to_kept_json(params) == {**to_json(params), "folder": ""}
    assert str(tmp_path) not in str(started)


@pytest.mark.parametrize(
    ("system", "is_here"), [("linux", True), ("darwin", True), ("win32", True), ("freebsd", False)]
)
def test_a_system_that_reads_through_its_memory_only_is_told_so(monkeypatch, system, is_here):
    monkeypatch.setattr(sys, "platform", system)
    if system != "linux":
        monkeypatch.delattr(os, "O_DIRECT")

    assert (missing_need(EXPERIMENT, inspect()) is Need.DIRECT_IO) is not is_here
