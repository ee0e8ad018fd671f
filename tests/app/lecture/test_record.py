"""Votes and runs of a lecture are kept after each step, and read strictly."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.lecture.file import LIMIT_BYTES, Item, Lecture, encode
from app.lecture.lecture_state import MOST_HANDS, LectureState, Turn
from app.lecture.options import Options
from app.lecture.record import (
    SUFFIX,
    HeldItem,
    LectureRecord,
    RecordKeeper,
    decode,
    read,
    record_of,
)
from experiments.core.problems import UserError
from experiments.core.resources import FOLDER
from machine.text import escaped
from tests.app.reports.made import WORDS
from tests.test_hostile import FEW

AT = "2026-05-04T03:02:01+00:00"
OPTIONS = Options("How long?", ("1 s", "4 s"))
LECTURE = Lecture(
    title="Ten things",
    item=(
        Item(experiment="gil-threads", recording="a.coreopsis.jsonl", notes="Wait."),
        Item(experiment="race", title="Where?"),
    ),
)
WHOLE = LectureRecord(
    name="ten",
    title="Ten things",
    at=AT,
    item=(
        HeldItem(experiment="gil-threads", recording="a.coreopsis.jsonl", set={"workers": 4},
                 options=("1 s", "4 s"), first=(3, 4), second=(0, 7), run="12-ab"),
        HeldItem(experiment="burst-random", title="Where?", options=("2×", "20×"),
                 numbers=(2.0, 20.0), first=(1, 0), run="34-cd", is_recording=True),
        HeldItem(experiment="storage"),
    ),
)  # fmt: skip


def json_of(record: LectureRecord = WHOLE, **changes: object) -> bytes:
    plain = msgspec.to_builtins(record)
    item = changes.pop("item_0", None)
    if item:
        plain["item"][0].update(item)
    return msgspec.json.encode({**plain, **changes})


def keeper(folder: Path, path: Path | None = None) -> RecordKeeper:
    return RecordKeeper(LECTURE, path, folder / "data", AT)


def test_what_is_written_is_read_again():
    assert decode(json_of(), "x") == WHOLE


def test_each_step_is_on_the_disk_at_once_beside_the_lecture(tmp_path):
    path = tmp_path / "ten.coreopsis-lecture.toml"
    path.write_bytes(encode(LECTURE))
    kept, course = keeper(tmp_path, path), LectureState([Turn(options=2), Turn()])
    target = tmp_path / f"ten-2026-05-04-030201{SUFFIX}"

    course.forward()
    assert kept.keep(0, course.turn, OPTIONS) is None
    assert not target.exists()  # nobody has voted

    course.vote(1)
    assert kept.keep(0, course.turn, OPTIONS) is None
    assert kept.path == target
    assert read(target).item[0].first == (0, 1)
    assert read(target).item[0].options == OPTIONS.texts

    course.vote_again()
    course.vote(0)
    kept.keep(0, course.turn, OPTIONS)
    assert read(target).item[0].second == (1, 0)

    course.forward()
    course.measured(is_recording=True)
    kept.keep(0, course.turn, OPTIONS, run="12-ab")
    held = read(target)
    assert (held.item[0].run, held.item[0].is_recording) == ("12-ab", True)
    assert held == kept.record
    assert held.item[1] == HeldItem(experiment="race", title="Where?")
    assert "Wait." not in target.read_text()  # notes are the presenter's
    assert {each.name for each in tmp_path.iterdir()} == {path.name, target.name}


def test_votes_are_kept_however_long_the_name_of_the_lecture_is(tmp_path):
    path = tmp_path / f"{'n' * 230}.coreopsis-lecture.toml"
    path.write_bytes(encode(LECTURE))
    kept, course = keeper(tmp_path, path), LectureState([Turn(options=2), Turn()])

    course.forward()
    course.vote(1)

    assert kept.keep(0, course.turn, OPTIONS) is None
    assert kept.path.parent == tmp_path
    assert read(kept.path).name == "n" * 230


def test_a_vote_that_is_taken_back_is_taken_back_on_the_disk(tmp_path):
    kept, course = keeper(tmp_path), LectureState([Turn(options=2), Turn()])
    course.forward()
    course.vote(0)
    kept.keep(0, course.turn, OPTIONS)
    course.vote(0, -1)

    kept.keep(0, course.turn, OPTIONS)

    assert kept.path.parent == tmp_path / "data" / "lectures"
    assert read(kept.path).item[0].first == (0, 0)


@pytest.mark.parametrize("place", ["resources", "gone", "nowhere"])
def test_where_nothing_can_be_written_beside_it_the_data_folder_takes_it(place, tmp_path):
    folder = {"resources": FOLDER / "lectures", "gone": tmp_path / "gone"}.get(place)
    kept = keeper(tmp_path, folder / "ten.coreopsis-lecture.toml" if folder else None)
    turn = Turn()

    assert kept.keep(1, turn, run="12-ab") is None

    called = "ten" if folder else "ten-things"
    assert kept.path == tmp_path / "data" / "lectures" / f"{called}-2026-05-04-030201{SUFFIX}"
    assert read(kept.path).item[1].run == "12-ab"


def test_a_record_that_cannot_be_written_is_told_and_kept_with_the_next_step(tmp_path):
    (tmp_path / "data").write_text("in the way")
    kept = keeper(tmp_path)

    problem = kept.keep(0, Turn(), run="12-ab")
    assert problem.key == "file_not_written"
    assert kept.path is None

    (tmp_path / "data").unlink()
    assert kept.keep(0, Turn(), run="12-ab") is None  # nothing has changed, and yet
    assert read(kept.path).item[0].run == "12-ab"


def test_a_lecture_is_read_as_the_record_of_one_that_nobody_has_held(tmp_path):
    path = tmp_path / "ten.coreopsis-lecture.toml"
    path.write_bytes(encode(LECTURE))

    assert read(path) == record_of(LECTURE, "ten")
    assert read(path).at == ""


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"{", "lecture_record_refused"),
        (b"{}", "no_lecture"),
        (b"\xff\xfe", "lecture_refused"),
        (b"{" * 5000, "lecture_record_refused"),
        (b'{"format": "coreopsis.run"}', "no_lecture"),
        (json_of(version=2), "file_newer"),
        (json_of(version=0), "lecture_record_refused"),
        (json_of(version="1"), "lecture_record_refused"),
        (json_of(at=""), "lecture_record_refused"),
        (json_of(at="yesterday"), "lecture_record_refused"),
        (json_of(name="../x"), "lecture_record_refused"),
        (json_of(item=[{}]), "lecture_record_refused"),
        (json_of(item=[{"experiment": "x"}] * 201), "lecture_record_refused"),
        (json_of(item_0={"first": [1]}), "lecture_record_refused"),
        (json_of(item_0={"second": [1, 2, 3]}), "lecture_record_refused"),
        (json_of(item_0={"second": []}), "lecture_record_refused"),
        (json_of(item_0={"first": [-1, 2]}), "lecture_record_refused"),
        (json_of(item_0={"first": [0, MOST_HANDS + 1]}), "lecture_record_refused"),
        (json_of(item_0={"first": [0.5, 1]}), "lecture_record_refused"),
        (json_of(item_0={"options": ["a"] * 5, "first": [0] * 5}), "lecture_record_refused"),
        (json_of(item_0={"numbers": [1.0]}), "lecture_record_refused"),
        (json_of(item_0={"numbers": [0.0, 1.0]}), "lecture_record_refused"),
        (json_of(item_0={"run": "../x"}), "lecture_record_refused"),
        (json_of(item_0={"recording": "../x"}), "lecture_record_refused"),
    ],
)
def test_what_is_none_is_refused_in_one_sentence(data, key, tmp_path):
    path = tmp_path / f"x{SUFFIX}"
    path.write_bytes(data)

    with pytest.raises(UserError) as caught:
        read(path)

    assert caught.value.problem.key == key
    said = WORDS.say(f"problems.{key}", caught.value.problem.values)
    assert f"x{SUFFIX}" in said
    assert "{" not in said.replace(escaped(data.decode("latin-1")), "")


def test_a_file_that_is_not_there_or_too_large_is_told(tmp_path):
    for path in (tmp_path / "gone", tmp_path, tmp_path / "large"):
        (tmp_path / "large").write_bytes(b"{" + b" " * LIMIT_BYTES)
        with pytest.raises(UserError) as caught:
            read(path)
        assert caught.value.problem.key == "recording_unreadable"


PIECES = [b"{" * 3000, b"[" * 3000, b"9" * 5000, b"NaN", b"1e999", b"null", b"\0", b"\xff\xfe",
          b'"first":[]', b'"second":null', b'"numbers":[1e-400,2]', b'"item":{}', b'"version":99',
          b'"run":"../../etc/passwd"', b"\\ud800", b"\x1b[2J", b"true", b"-1"]  # fmt: skip
PLACES = st.floats(0, 1)
DAMAGES = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), PLACES, st.binary(min_size=1, max_size=6)),
        st.tuples(st.just("put"), PLACES, st.sampled_from(PIECES)),
        st.tuples(st.just("put"), PLACES, st.binary(max_size=20)),
        st.tuples(st.just("value"), PLACES, st.sampled_from(PIECES)),
        st.tuples(st.just("cut"), PLACES, st.just(b"")),
    ),
    min_size=1,
    max_size=4,
)


@functools.cache
def whole() -> bytes:
    return json_of()


def damaged(damages) -> bytes:
    data = whole()
    for how, at, what in damages:
        place = int(at * len(data))
        after = {"flip": place + len(what), "put": place, "cut": len(data)}
        if how == "value":  # another value for the next name
            place = data.find(b":", place) + 1
            after["value"] = max(place, data.find(b",", place))
        data = data[:place] + what + data[after[how] :]
    return data


@settings(FEW, max_examples=300)
@given(DAMAGES)
def test_a_damaged_record_is_a_whole_one_or_a_sentence(damages):
    try:
        record = decode(damaged(damages), "x")
    except UserError:
        return
    assert decode(msgspec.json.encode(record), "x") == record
    for item in record.item:
        rounds = [item.first, *([item.second] if item.second is not None else [])]
        assert all(len(votes) == len(item.options) <= 4 for votes in rounds)
        assert all(0 <= hands <= MOST_HANDS for votes in rounds for hands in votes)
        assert "/" not in item.run + item.recording
