from __future__ import annotations

import contextlib
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine.condition import Temperature
from machine.live import recorded_watch
from machine.live.gpu_samples import GpuProcess, GpuSample
from machine.live.heat import HeatSample
from machine.live.memory import MemorySample
from machine.live.recorded_watch import BadWatch, RecordedWatch, beside, read, write
from machine.live.sampler import Sample
from machine.live.threads import ThreadSample
from machine.model import Cpu, Machine

MACHINE = Machine(cpu=Cpu(model="Made-up"))


def sample(t_s: float, **more) -> Sample:
    memory = MemorySample(
        total_bytes=100, available_bytes=60, used_bytes=40, swap_total_bytes=0, swap_used_bytes=0
    )
    thread = ThreadSample(id=0, busy=0.5, hz=None, steal_fraction=None)
    return Sample(t_s=t_s, threads=(thread,), memory=memory, **more)


def written(folder: Path, *samples: Sample, name: str = "a.coreopsis-watch.jsonl") -> Path:
    path = folder / name
    plain = [msgspec.to_builtins(each) for each in samples]
    write(path, plain, at="2026-11-21T10:00:00+00:00", machine=MACHINE)
    return path


@pytest.mark.parametrize("name", ["a.coreopsis-watch.jsonl", "a.coreopsis-watch.jsonl.gz"])
def test_what_was_written_is_read(tmp_path, name):
    samples = (sample(0.5), sample(1.0))

    watch = read(written(tmp_path, *samples, name=name))

    assert watch == RecordedWatch(samples=samples, at="2026-11-21T10:00:00+00:00", machine=MACHINE)
    assert watch.seconds == 0.5


def test_a_file_of_more_lines_than_any_watch_is_refused_with_the_limit(tmp_path, monkeypatch):
    path = written(tmp_path, *(sample(float(n)) for n in range(4)), name="a.watch.jsonl.gz")
    monkeypatch.setattr(recorded_watch, "LIMIT_LINES", 5)  # with its head
    assert len(read(path).samples) == 4

    monkeypatch.setattr(recorded_watch, "LIMIT_LINES", 4)
    with pytest.raises(BadWatch, match="more than 4 lines"):
        read(path)


def test_nothing_names_who_used_the_gpus(tmp_path):
    held = GpuProcess(pid=7, user="ada", command="python secret.py", memory_bytes=5)

    path = written(tmp_path, sample(0.5, gpus=(GpuSample(index=0, processes=(held,)),)))

    assert b"ada" not in path.read_bytes()
    assert b"secret" not in path.read_bytes()
    assert read(path).samples[0].gpus[0].processes is None


def test_the_output_of_watch_is_read_without_a_head(tmp_path):
    path = tmp_path / "a.watch.jsonl"
    lines = [{"type": "sample", **msgspec.to_builtins(sample(t_s))} for t_s in (0.0, 0.5)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    watch = read(path)

    assert (watch.at, watch.machine, len(watch.samples)) == ("", None, 2)


def test_a_torn_last_line_is_left_out(tmp_path):
    path = written(tmp_path, sample(0.5), sample(1.0))
    assert not read(path).is_torn
    path.write_bytes(path.read_bytes()[:-20])

    assert [each.t_s for each in read(path).samples] == [0.5]
    assert read(path).is_torn


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "no sample"),
        (b"no JSON\n{}\n", "Line 1"),
        (b"\xff\xfe\n", "Line 1"),
        (b'{"type": "watch", "format": "other"}\n', "no recording of Live"),
        (b'{"type": "started", "format": "coreopsis.run", "version": 1}\n', "opened in Runs"),
        (b'{"type": "watch", "format": "coreopsis.watch", "version": 2}\n', "version"),
        (
            b'{"type": "watch", "format": "coreopsis.watch", "version": 1, "machine": {}}\n',
            "machine",
        ),
    ],
)
def test_what_is_no_watch_is_refused_in_one_sentence(tmp_path, text, reason):
    path = tmp_path / "a.watch.jsonl"
    path.write_bytes(text)

    with pytest.raises(BadWatch, match=reason):
        read(path)


def test_samples_out_of_order_are_refused(tmp_path):
    with pytest.raises(BadWatch, match="later"):
        read(written(tmp_path, sample(1.0), sample(0.5)))


def test_a_file_that_is_not_packed_is_refused(tmp_path):
    path = tmp_path / "a.watch.jsonl.gz"
    path.write_bytes(b"not packed")

    with pytest.raises(BadWatch, match="packed"):
        read(path)


@given(st.binary(max_size=300))
def test_whatever_stands_in_a_file_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "a.watch.jsonl"
    path.write_bytes(text)
    with contextlib.suppress(BadWatch):
        assert read(path).samples


def test_a_watch_lies_beside_the_file_of_its_machine(tmp_path):
    machine = tmp_path / "workstation.json"
    assert beside(machine) is None

    path = written(tmp_path, sample(0.5), name="workstation.watch.jsonl")

    assert beside(machine) == path


def test_heat_is_kept_and_a_recording_of_an_older_version_has_none(tmp_path):
    heat = HeatSample(sensors=(Temperature(name="Tctl", now_celsius=61.5),), watts=88.0)
    path = written(tmp_path, sample(0.5, heat=heat))
    assert read(path).samples[0].heat == heat

    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    del lines[1]["heat"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read(path).samples == (sample(0.5),)
