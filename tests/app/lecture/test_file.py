import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lecture.file import Item, Lecture, decode, encode, read
from experiments.core.problems import UserError
from tests.cases import in_one

WHOLE = Lecture(
    title='Ten "things"\n\x7f',
    minutes=45.0,
    item=(
        Item(experiment="gil-threads", notes="Ask.\nWait.", minutes=4.0, set={"jobs": 4}),
        Item(
            experiment="stream",
            title="Pipes",
            set={"x": 1.5, "on": True, "arms": ["a", "b"]},
            recording="stream.coreopsis.jsonl.gz",
        ),
        Item(experiment="start-cost", guess="thread"),
    ),
)


def test_what_is_written_is_read_again():
    assert decode(encode(WHOLE), "x") == WHOLE
    assert decode(encode(Lecture()), "x") == Lecture()


texts = st.text(st.characters(codec="utf-8"), max_size=30)


@given(texts, texts, st.dictionaries(texts, st.integers(-(2**50), 2**50) | texts | st.booleans()))
def test_any_text_survives(title, notes, settings):
    lecture = Lecture(title=title, item=(Item(experiment="x", notes=notes, set=settings),))
    assert decode(encode(lecture), "x") == lecture


def test_the_plan_is_what_was_said_or_the_sum_of_the_items():
    assert WHOLE.planned_minutes == 45
    assert (
        Lecture(item=(Item(experiment="a", minutes=4), Item(experiment="b"))).planned_minutes == 4
    )
    assert Lecture(item=(Item(experiment="a"),)).planned_minutes is None


@in_one(
    ("text", "key"),
    [
        (b"\xff", "lecture_refused"),
        (b"a = ", "lecture_refused"),
        (b"a = 1", "no_lecture"),
        (b'format = "coreopsis.lecture"\nversion = 2', "file_newer"),
        (b'format = "coreopsis.lecture"\nitem = 3', "lecture_refused"),
        (b'format = "coreopsis.lecture"\n[[item]]\nnotes = ""', "lecture_refused"),
        (b'format = "coreopsis.lecture"\nminutes = -1', "lecture_refused"),
        (b'format = "coreopsis.lecture"\nminutes = nan', "lecture_refused"),
    ],
)
def test_what_is_none_is_one_sentence(text, key):
    with pytest.raises(UserError, match=key):
        decode(text, "x")


@pytest.mark.parametrize("guess", ["nobody", "disk"])
def test_a_guess_is_one_that_the_experiment_answers(guess):
    with pytest.raises(UserError, match="lecture_refused"):
        decode(encode(Lecture(item=(Item(experiment="start-cost", guess=guess),))), "x")


@in_one("name", ["../a.jsonl", "/etc/passwd", "a/b", "..", "c:\\x", "\\\\host\\x"])
def test_a_lecture_names_no_file_outside_its_folder(name):
    with pytest.raises(UserError, match="lecture_refused"):
        decode(encode(Lecture(item=(Item(experiment="a", recording=name),))), "x")


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="recording_unreadable"):
        read(tmp_path / "none")
