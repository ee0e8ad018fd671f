"""The lines kept of a run, whatever happens while it is written, and the reading of any file."""

from __future__ import annotations

import base64
import contextlib
import gzip
import itertools
import os
import random
import resource
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.end_process import is_root
from experiments.core import declare
from experiments.core.declare import Finding
from experiments.core.judging.disturbed import Loss, counting, counts_of, loss_of, mark
from experiments.core.problems import UserError
from experiments.core.views import Axis, Bars, Lines
from experiments.engine import messages, recording
from experiments.engine import recorder as recorder_module
from experiments.engine.messages import Outcome
from experiments.engine.recorder import Recorder
from experiments.engine.recording import Recording, analysed, read
from experiments.engine.seal import Seal
from machine.model import Machine
from machine.processor.counters import Counts
from tests.experiments.engine.lines import (
    FINISHED,
    STARTED,
    encoded,
    frame,
    kept,
    row,
    sealed,
    whole_run,
)
from tests.experiments.engine.misbehaving.misbehave.experiment import EXPERIMENT, Row
from tests.experiments.engine.runs import as_nobody

EVENTS = whole_run()
HEAD = messages.encode(STARTED)


@pytest.fixture
def file(tmp_path) -> Path:
    """Return where a run may be written."""
    return tmp_path / "run.coreopsis.jsonl"


def write(file: Path, events: list[messages.Event]) -> Recorder:
    """Record events and close the file."""
    recorder = Recorder(file)
    for event, line in kept(events):
        recorder.keep(event, line)
    recorder.close()
    return recorder


# --- written


def test_what_was_recorded_is_read_again(file):
    assert write(file, EVENTS).problem is None
    assert file.read_bytes() == sealed(EVENTS)
    run = read(file)
    assert run == Recording(
        started=STARTED,
        events=tuple(EVENTS[1:-1]),
        finished=messages.decode_event(sealed(EVENTS).splitlines(keepends=True)[-1]),
        notes=(),
        rows={"rows": [row(n) for n in range(3)], "pictures": []},
    )
    assert run.tables(EXPERIMENT)["rows"] == [Row(value=float(n)) for n in range(3)]


def test_each_line_is_in_the_file_when_it_is_handed_on(file):
    recorder, so_far = Recorder(file), b""
    for event, line in kept(EVENTS[:-1]):
        recorder.keep(event, line)
        so_far += line
        assert file.read_bytes() == so_far
    recorder.keep(*list(kept(EVENTS))[-1])
    assert file.read_bytes() == sealed(EVENTS)
    recorder.close()


def test_a_run_file_cannot_be_executed(file):
    write(file, EVENTS)
    assert not os.stat(file).st_mode & 0o111


def test_pictures_are_thinned_out_and_nothing_else(file):
    events = [STARTED, *(frame(n, n / 30) for n in range(60)), row(0), FINISHED]
    write(file, events)
    run = read(file)
    pictures = [event for event in run.events if isinstance(event, messages.Frame)]
    assert 6 <= len(pictures) <= 9
    assert len(run.rows["rows"]) == 1


def test_a_run_never_replaces_a_file(file):
    file.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        Recorder(file)
    assert file.read_bytes() == b"precious"


def test_where_no_file_can_be_there_is_no_recorder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Recorder(tmp_path / "file" / "run.coreopsis.jsonl")
    with pytest.raises(FileNotFoundError):
        Recorder(tmp_path / "missing" / "run.coreopsis.jsonl")


def test_on_a_disk_that_is_read_only_there_is_no_recorder(small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(OSError, match="Read-only"):
        Recorder(small_disk / "run.coreopsis.jsonl")


def test_closing_twice_is_no_harm(file):
    recorder = Recorder(file)
    recorder.keep(*next(kept(EVENTS)))
    recorder.close()
    recorder.close()
    assert file.read_bytes() == next(kept(EVENTS))[1]


def test_what_was_flushed_is_there_after_a_kill_at_any_moment(tmp_path):
    moments, writing = random.Random(11), 0
    for number in range(20):
        path = tmp_path / f"{number}.coreopsis.jsonl"
        told, tell = os.pipe()
        if (pid := os.fork()) == 0:
            _record_for_ever(path, tell)
        os.close(tell)
        early = number % 4 == 0  # perhaps before it has begun
        begun = b"" if early else os.read(told, 1)
        time.sleep(moments.uniform(0.0, 0.01))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with open(told, "rb") as pipe:
            acknowledged = len(begun + pipe.read())
        if acknowledged == 0:
            continue
        writing += 1
        run = read(path)
        assert len(run.rows["rows"]) >= acknowledged - 1
        assert run.finished.outcome is Outcome.LOST
        assert set(run.notes) <= {"torn_line_dropped", "recording_without_end"}
        assert path.read_bytes().startswith(encoded([STARTED, *map(row, range(acknowledged - 1))]))
    assert writing >= 15


def _record_for_ever(path: Path, tell: int) -> None:
    try:
        recorder = Recorder(path)
        for event, line in kept(itertools.chain([STARTED], map(row, itertools.count()))):
            recorder.keep(event, line)
            os.write(tell, b".")  # acknowledged: from here on it must not be lost
    finally:
        os._exit(1)


# --- a disk that is full


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """Return a folder on a disk of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("may not mount a small disk here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_run_on_a_full_disk_is_whole_lines_and_complete_once_there_is_room(small_disk, caplog):
    filler, file = small_disk / "filler", small_disk / "run.coreopsis.jsonl"
    filler.write_bytes(bytes(40_000))
    events = whole_run(count=500)
    recorder = Recorder(file)
    for event, line in kept(events):
        recorder.keep(event, line)
    assert recorder.problem is not None
    assert recorder.problem.strerror == "No space left on device"
    assert len(caplog.records) == 1  # told once, not for each line
    assert encoded(events).startswith(file.read_bytes())
    assert file.read_bytes().endswith(b"\n")
    filler.unlink()
    recorder.close()
    assert recorder.problem is None
    assert file.read_bytes() == sealed(events)


def test_a_run_that_never_finds_room_says_so_and_can_be_rescued(small_disk, tmp_path, caplog):
    (small_disk / "filler").write_bytes(bytes(40_000))
    events = whole_run(count=500)
    recorder = write(small_disk / "run.coreopsis.jsonl", events)
    assert recorder.problem is not None
    assert read(recorder.path).notes == ("recording_without_end",)
    rescued = tmp_path / "rescued.coreopsis.jsonl"
    recorder.rescue(rescued)
    assert rescued.read_bytes() == sealed(events)
    with pytest.raises(OSError, match="No such"):
        recorder.rescue(tmp_path / "missing" / "rescued.coreopsis.jsonl")


@pytest.mark.parametrize("taken", [0, 1, 7])
@pytest.mark.parametrize("can_cut", [True, False])
def test_a_line_that_was_only_half_written_is_written_anew(
    taken, can_cut, file, monkeypatch, caplog
):
    real, full = os.write, False

    def write_some(number: int, data: bytes) -> int:
        return real(number, data[:taken]) if full else real(number, data)

    def fail(*_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(recorder_module.os, "write", write_some)
    if not can_cut:
        monkeypatch.setattr(recorder_module.os, "ftruncate", fail)
    recorder = Recorder(file)
    for event, line in kept(EVENTS):
        full = isinstance(event, messages.Row)
        recorder.keep(event, line)
    torn = b"" if can_cut else messages.encode(EVENTS[2])[:taken]
    assert file.read_bytes() == encoded(EVENTS[:2]) + torn
    full = False
    recorder.close()
    assert recorder.problem is None
    assert file.read_bytes() == sealed(EVENTS)


def test_a_limit_on_file_sizes_is_like_a_full_disk(file, caplog):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    recorder = Recorder(file)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(HEAD) + 200, hard))
        for event, line in kept(EVENTS):
            recorder.keep(event, line)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert recorder.problem is not None
    assert file.read_bytes().endswith(b"\n")
    recorder.close()
    assert file.read_bytes() == sealed(EVENTS)


def test_a_disk_that_fails_at_the_last_moment_is_a_problem_and_no_more(file, monkeypatch):
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(recorder_module.os, "fsync", fail)
    assert write(file, EVENTS).problem.strerror == "Input/output error"


def delete(file: Path) -> None:
    file.unlink()


def delete_the_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


def move_the_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name("moved"))


def put_another_file_there(file: Path) -> None:
    file.unlink()
    file.write_bytes(b"precious")


@pytest.mark.parametrize(
    "harm", [delete, delete_the_folder, move_the_folder, put_another_file_there]
)
@pytest.mark.parametrize("when", [1, 3, len(EVENTS)])
def test_a_run_whose_file_is_gone_says_so_and_can_be_rescued(harm, when, tmp_path):
    file = tmp_path / "runs" / "run.coreopsis.jsonl"
    file.parent.mkdir()
    recorder = Recorder(file)
    for number, (event, line) in enumerate(kept(EVENTS), start=1):
        recorder.keep(event, line)
        if number == when:
            harm(file)
    recorder.close()
    assert recorder.is_gone
    assert recorder.problem is not None
    rescued = tmp_path / "rescued.coreopsis.jsonl"
    recorder.rescue(rescued)
    assert rescued.read_bytes() == sealed(EVENTS)
    assert not file.exists() or file.read_bytes() == b"precious"


# --- read


def test_wherever_a_file_is_cut_its_whole_lines_are_read(file):
    data = encoded(EVENTS)
    for end in range(len(HEAD), len(data)):
        file.write_bytes(data[:end])
        run = read(file)
        assert len(run.events) == max(0, data[:end].count(b"\n") - 1)
        assert run.finished.outcome is Outcome.LOST
        assert ("torn_line_dropped" in run.notes) == (not data[:end].endswith(b"\n"))
        assert run.notes[-1] == "recording_without_end"
        assert file.read_bytes() == data[:end]


def test_a_packed_run_is_read_like_any_other(tmp_path):
    packed = tmp_path / "run.coreopsis.jsonl.gz"
    packed.write_bytes(gzip.compress(encoded(EVENTS)))
    assert len(read(packed).rows["rows"]) == 3


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_each_flipped_bit_of_a_file_is_told(pack, file):
    data = sealed(EVENTS)
    file.write_bytes(pack(data))
    assert read(file).notes == ()
    for place in range(0, len(data), 5):
        flipped = bytearray(data)
        flipped[place] ^= 1
        file.write_bytes(pack(bytes(flipped)))
        with contextlib.suppress(UserError):
            assert read(file).notes


def test_an_edited_file_opens_with_its_rows_and_says_that_it_was_changed(file):
    file.write_bytes(sealed(EVENTS).replace(b'"value":1.0', b'"value":7.0'))
    run = read(file)
    assert run.notes == (recording.ALTERED,)
    assert [row.row["value"] for row in run.rows["rows"]] == [0.0, 7.0, 2.0]


def test_a_file_without_a_checksum_opens_as_ever(file):
    file.write_bytes(encoded(EVENTS))
    assert read(file).notes == ()
    assert b"crc32" not in messages.encode(FINISHED)  # nor does the wire have one


def test_an_end_that_leaves_no_room_for_a_checksum_is_written_without(file):
    end = messages.Finished(outcome=Outcome.FAILED, problem=messages.ProblemSent(key="x"))
    room = messages.LINE_LIMIT_BYTES - len(messages.encode(end))
    problem = messages.ProblemSent(key="x", detail="x" * room)
    write(file, [STARTED, messages.Finished(outcome=Outcome.FAILED, problem=problem)])
    assert read(file).finished.problem == problem


def line(text: str) -> bytes:
    return text.encode() + b"\n"


def with_more(line: bytes) -> bytes:
    """Return a line as a newer version may write it, with a field in each of its records."""
    plain = msgspec.json.decode(line)
    records = [plain, plain.get("disturbed"), plain.get("finding"), plain.get("problem")]
    for record in filter(None, records):
        record["newer"] = {"deep": [1, None]}
    return msgspec.json.encode(plain) + b"\n"


def test_a_field_that_this_version_does_not_know_is_left_alone_in_every_line(file):
    last = messages.Finished(
        outcome=Outcome.FAILED,
        finding=messages.FindingSent(message="m", values={"a": 1.0}, limits=[]),
        problem=messages.ProblemSent(key="crashed"),
    )
    taken = msgspec.structs.replace(row(1), disturbed=Loss(0.5, 2))
    events = [STARTED, messages.Note(key="n"), frame(0, 0.0), *EVENTS[1:2], row(0), taken, last]
    seal = Seal()
    newer = (with_more(messages.encode(event)) for event in events)
    lines = [seal.sealed(event, line) for event, line in zip(events, newer, strict=True)]
    file.write_bytes(b"".join(lines))

    run = read(file)

    assert run.notes == ()  # nothing was mended, and its checksum holds
    assert [run.started, *run.events] == events[:-1]
    assert msgspec.structs.replace(run.finished, crc32=msgspec.UNSET) == last


@pytest.mark.parametrize("kind", ["a newer kind", "hello", "stop"])
def test_a_line_of_an_unknown_kind_is_damage(file, kind):
    file.write_bytes(HEAD + msgspec.json.encode({"type": kind}) + b"\n" + encoded(EVENTS[1:]))
    with pytest.raises(UserError) as caught:
        read(file)
    assert caught.value.problem.key == "recording_damaged"


PACKED = gzip.compress(encoded(whole_run(count=200)), mtime=0)
FLIPPED = bytearray(PACKED)
FLIPPED[len(FLIPPED) // 2] ^= 0x55
DAMAGED = {
    "an empty file": (b"", "recording_empty"),
    "a text": (b"Dear diary,\n", "recording_foreign"),
    "bytes": (bytes(range(256)), "recording_foreign"),
    "no line at all": (b"\0" * 3 * 2**20, "recording_foreign"),
    "other JSON": (b'{"format": "other"}\n', "recording_foreign"),
    "a watch": (b'{"type": "watch", "format": "coreopsis.watch"}\n', "recording_is_watch"),
    "a sample": (b'{"type": "sample", "t_s": 0.5}\n', "recording_is_watch"),
    "a list": (b"[1, 2]\n", "recording_foreign"),
    "deep JSON": (b"[" * 100_000 + b"\n", "recording_foreign"),
    "a newer version": (HEAD.replace(b'"version":1', b'"version":2'), "recording_newer"),
    "no version": (HEAD.replace(b'"version":1', b'"version":"1"'), "recording_damaged"),
    "an older version": (HEAD.replace(b'"version":1', b'"version":0'), "recording_damaged"),
    "a head that is cut": (HEAD[:-10], "recording_foreign"),
    "a head without its end": (HEAD[:-1], "recording_damaged"),
    "an unknown field in the head": (HEAD.replace(b'"run"', b'"ran"'), "recording_damaged"),
    "rows without a head": (encoded(map(row, range(3))), "recording_foreign"),
    "a gap in n": (encoded([STARTED, row(0), row(2)]), "recording_damaged"),
    "a row twice": (encoded([STARTED, row(0), row(0)]), "recording_damaged"),
    "other columns": (encoded([STARTED, row(0, speed=1.0)]), "recording_damaged"),
    "a column too many": (encoded([STARTED, row(0, value=1.0, more=1)]), "recording_damaged"),
    "an unknown table": (encoded([STARTED, row(0, table="rest")]), "recording_damaged"),
    "two heads": (encoded([STARTED, STARTED]), "recording_damaged"),
    "a line after the end": (encoded([*EVENTS, row(3)]), "recording_damaged"),
    "two ends": (encoded([*EVENTS, FINISHED]), "recording_damaged"),
    "a command": (HEAD + line('{"type":"stop"}'), "recording_damaged"),
    "a greeting": (
        encoded([STARTED, messages.Hello(protocol=1, program="", pid=1, python="")]),
        "recording_damaged",
    ),
    "a line in between": (HEAD + b"\n" + encoded(EVENTS[1:]), "recording_damaged"),
    "bytes in between": (HEAD + b"\xff\xfe\n" + encoded(EVENTS[1:]), "recording_damaged"),
    "not a number": (HEAD + messages.encode(row(0)).replace(b"0.0}", b"NaN}"), "recording_damaged"),
    "a line too long": (
        HEAD + b'{"type":"note","key":"' + b"x" * 2**20 + b'"}\n' + encoded(EVENTS[1:]),
        "recording_damaged",
    ),
    "a frame of other size": (
        encoded([STARTED, frame(0, 0.0)]).replace(b"[1,1]", b"[2,1]"),
        "recording_damaged",
    ),
    "a packed file that is cut": (PACKED[:-20], "recording_damaged"),
    "a packed file cut to its head": (PACKED[:8], "recording_damaged"),
    "a packed file that is damaged": (bytes(FLIPPED), "recording_damaged"),
    "a packed file with more behind": (PACKED + b"more", "recording_damaged"),
    "a packed text": (gzip.compress(b"Dear diary,\n"), "recording_foreign"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_any_other_damage_is_one_sentence_and_leaves_the_file_alone(what, tmp_path, file):
    data, key = DAMAGED[what]
    file.write_bytes(data)
    with pytest.raises(UserError) as caught:
        read(file)
    assert caught.value.problem.key == key
    assert caught.value.problem.values["name"] == file.name
    assert file.read_bytes() == data
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_no_file_is_said_so(tmp_path):
    for path, key in (
        (tmp_path, "recording_is_folder"),
        (tmp_path / "missing", "recording_missing"),
        (tmp_path / ("x" * 300), "recording_unreadable"),
    ):
        with pytest.raises(UserError) as caught:
            read(path)
        assert caught.value.problem.key == key


@pytest.mark.skipif(not is_root(), reason="only root can become another user")
def test_a_file_of_somebody_else_is_unreadable_in_one_sentence(file):
    def refused() -> bool:
        with pytest.raises(UserError) as caught:
            read(file)
        return caught.value.problem.key == "recording_unreadable"

    write(file, EVENTS)
    assert as_nobody(refused)  # also because pytest's folders are for their user alone


def test_a_file_larger_than_any_run_is_not_read_to_its_end(file, monkeypatch):
    monkeypatch.setattr(recording, "RUN_LIMIT_BYTES", 1000)
    write(file, whole_run(count=100))
    with pytest.raises(UserError) as caught:
        read(file)
    assert caught.value.problem.key == "recording_too_large"


def test_a_file_of_more_lines_than_any_run_is_not_read_to_its_end(file, monkeypatch):
    write(file, whole_run(count=100))
    monkeypatch.setattr(recording, "RUN_LIMIT_LINES", len(whole_run(count=100)))
    assert read(file).notes == ()
    monkeypatch.setattr(recording, "RUN_LIMIT_LINES", 50)
    with pytest.raises(UserError) as caught:
        read(file)
    assert caught.value.problem.key == "recording_of_too_many_lines"
    assert caught.value.problem.values["limit"] == 50


def test_a_file_that_unpacks_to_far_more_is_not_read_to_its_end(file, monkeypatch):
    monkeypatch.setattr(recording, "SMALL_BYTES", 2**17)
    same = messages.encode(messages.Progress(fraction=0.5))
    file.write_bytes(gzip.compress(HEAD + same * 20_000))
    with pytest.raises(UserError) as caught:
        read(file)
    assert caught.value.problem.key == "recording_packed_too_well"
    assert caught.value.problem.values["limit"] == recording.RATIO_LIMIT


def test_a_long_run_of_one_picture_is_no_bomb(file, monkeypatch):
    monkeypatch.setattr(recording, "SMALL_BYTES", 2**17)
    smooth = bytes(x * y // 400 % 256 for x in range(320) for y in range(320))
    data = base64.b64encode(zlib.compress(smooth, 1)).decode()
    pictures = (
        messages.Frame(n=n, t_s=n / 4 + n % 7 / 1000, table="pictures", shape=(320, 320), data=data)
        for n in range(200)
    )
    file.write_bytes(gzip.compress(sealed([STARTED, *pictures, FINISHED])))
    assert len(read(file).events) == 200


def test_half_an_hour_of_the_densest_experiments_has_room():
    rows_per_s, pictures_per_s = 500, 30
    assert 30 * 60 * (rows_per_s + pictures_per_s) <= recording.RUN_LIMIT_LINES


def test_a_bomb_of_zeros_does_not_fill_memory(file):
    file.write_bytes(gzip.compress(bytes(2**26), 1))
    with pytest.raises(UserError) as caught:
        read(file)
    assert caught.value.problem.key == "recording_foreign"


# --- understood


def test_a_recording_with_other_tables_says_of_which_version_it_is(file):
    head = messages.encode(STARTED).replace(b'"rows":{"value":"s"}', b'"rows":{"speed":"s"}')
    file.write_bytes(head + encoded([row(0, speed=1.0)]))
    with pytest.raises(UserError) as caught:
        read(file).tables(EXPERIMENT)
    assert caught.value.problem.key == "recording_of_other_version"


def test_a_recording_that_cannot_be_analysed_opens_without_a_finding(file, caplog):
    write(file, EVENTS)  # its parameters are those of another version
    assert read(file).finding(EXPERIMENT) is None
    assert "cannot analyse" in caplog.text


def test_one_round_is_the_rows_of_that_round():
    rounds = [row(n, repeat=n % 2, value=n) for n in range(4)]
    pictures = [row(4, brightness=1)]
    run = Recording(STARTED, (), FINISHED, rows={"rows": rounds, "pictures": pictures})
    assert run.only_round(1).rows == {"rows": rounds[1::2], "pictures": pictures}


# --- disturbed rows


def disturbed(n: int, value: float) -> messages.Row:
    return messages.Row(
        n=n, t_s=n / 10, table="rows", row={"value": value}, disturbed=Loss(0.25, 3)
    )


def test_a_disturbed_row_stays_in_the_file_and_out_of_the_finding(file):
    write(file, [STARTED, row(0, value=1.0), disturbed(1, 9.0), FINISHED])

    tables = read(file).tables(EXPERIMENT)
    assert [each.value for each in tables["rows"]] == [1.0, 9.0]
    assert [loss_of(each) for each in tables["rows"]] == [None, Loss(0.25, 3)]
    assert b'"disturbed":{"lost_fraction":0.25,"switches":3}' in file.read_bytes()
    assert b"disturbed" not in encoded([row(0)])


def test_what_the_processor_counted_stands_beside_a_row_and_it_counts(file):
    counts = Counts(events={"cycles": 12}, operations=3, running_fraction=0.5)
    counted = msgspec.structs.replace(row(1, value=2.0), counters=counts)
    write(file, [STARTED, row(0, value=1.0), counted, FINISHED])

    rows = read(file).tables(EXPERIMENT)["rows"]
    assert [counts_of(each) for each in rows] == [None, counts]
    assert [each.value for each in counting(rows)] == [1.0, 2.0]
    told = b'"counters":{"events":{"cycles":12},"operations":3,"running_fraction":0.5}'
    assert told in file.read_bytes()
    assert b"counters" not in encoded([row(0)])


def test_what_counts_is_analysed_and_nothing_where_nothing_does():
    found = []

    def analyse(_params, tables, _machine):
        found.append(tables["rows"])
        return Finding("some")

    experiment = msgspec.structs.replace(EXPERIMENT, analyse=analyse)
    good, bad = Row(value=1.0), mark(Row(value=9.0), Loss(0.25, 3))
    some = analysed(experiment, None, {"rows": [good, bad]}, Machine())
    none = analysed(experiment, None, {"rows": [bad]}, Machine())
    empty = analysed(experiment, None, {"rows": []}, Machine())

    assert (some.message, none.message, empty.message) == ("some", "mostly_disturbed", "some")
    assert found == [[good], []]


@pytest.mark.parametrize(("spoiled", "message"), [(3, "some"), (4, "mostly_disturbed")])
def test_where_no_sample_of_a_way_is_left_nobody_can_tell(spoiled, message):
    class Sample(declare.Row):
        way: str
        repeat: int

    rows = [Sample(way=way, repeat=n) for way in ("threads", "processes") for n in range(4)]
    rows = [
        mark(row, Loss(0.25, 3)) if row.way == "threads" and row.repeat < spoiled else row
        for row in rows
    ]
    views = (Bars(key="a", table="rows", label="way", value="repeat"),)
    analyse = {"analyse": lambda *_: Finding("some"), "views": views}
    experiment = msgspec.structs.replace(EXPERIMENT, **analyse)

    assert analysed(experiment, None, {"rows": rows}, Machine()).message == message


def test_a_bin_of_a_histogram_that_only_a_disturbed_sample_filled_is_no_lost_way():
    class Bin(declare.Row):
        at_s: float
        repeat: int
        read_fraction: float

    rows = [Bin(at_s=at_s, repeat=n, read_fraction=0.5) for n in range(4) for at_s in (1e-4, 2e-4)]
    late = mark(Bin(at_s=0.01, repeat=2, read_fraction=0.1), Loss(0.25, 3))
    views = (Lines(key="a", table="rows", x=Axis("at_s"), y=Axis("read_fraction")),)
    analyse = {"analyse": lambda *_: Finding("some"), "views": views}
    experiment = msgspec.structs.replace(EXPERIMENT, **analyse)

    def message(rows):
        return analysed(experiment, None, {"rows": rows}, Machine()).message

    assert message([*rows, late]) == "some"
    lost = [mark(row, Loss(0.25, 3)) if row.at_s > 1e-4 else row for row in rows]
    assert message(lost) == "mostly_disturbed"
