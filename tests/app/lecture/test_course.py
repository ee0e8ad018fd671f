import pytest

from app.lecture.course import Course, Hint, Step, Turn, Votes


def course(*turns):
    return Course(turns or [Turn(options=4, arms=("in a row", "threads", "processes")), Turn()])


def steps(lecture, count):
    found = []
    for _ in range(count):
        lecture.forward()
        found.append((lecture.place, lecture.turn.step, len(lecture.turn.hidden_arms)))
    return found


def test_an_item_goes_from_question_to_explanation_arm_by_arm():
    lecture = course()
    assert lecture.turn.step is Step.QUESTION
    assert steps(lecture, 2) == [(0, Step.VOTE, 2), (0, Step.RUN, 2)]
    assert not lecture.forward()  # it is measured
    lecture.measured()
    assert steps(lecture, 4) == [
        (0, Step.REVEAL, 1),
        (0, Step.REVEAL, 0),
        (0, Step.EXPLAIN, 0),
        (1, Step.QUESTION, 0),
    ]
    assert lecture.turns[0].is_done


def test_without_options_there_is_no_vote():
    lecture = course(Turn(arms=("one",)))
    assert steps(lecture, 1) == [(0, Step.RUN, 0)]
    lecture.measured()
    assert steps(lecture, 1) == [(0, Step.EXPLAIN, 0)]


def test_the_end_is_told_and_can_be_left():
    lecture = course(Turn())
    lecture.forward()
    lecture.measured()
    lecture.forward()
    assert not lecture.forward()
    assert lecture.is_over
    assert lecture.back()
    assert lecture.turn.step is Step.RUN


def test_back_goes_over_every_step_to_the_item_before_and_forgets_nothing():
    lecture = course()
    lecture.forward()
    lecture.vote(2)
    lecture.vote_again()
    lecture.vote(1)
    lecture.forward()
    lecture.measured()
    while lecture.place == 0:
        lecture.forward()
    seen = []
    while lecture.back():
        seen.append(lecture.turn.step)
    assert seen == [Step.EXPLAIN, Step.REVEAL, Step.RUN, Step.AGAIN, Step.VOTE, Step.QUESTION]
    assert lecture.turn.first.counts == [0, 0, 1, 0]
    assert lecture.turn.second.counts == [0, 1, 0, 0]
    assert lecture.turn.hidden_arms == ()


def test_votes_count_only_while_the_class_votes():
    lecture = course()
    assert not lecture.vote(0)
    lecture.forward()
    assert lecture.vote(0)
    assert lecture.vote(0, -1)
    assert lecture.vote(0, -1)
    assert not lecture.vote(4)
    assert lecture.turn.votes.total == 0
    lecture.forward()
    assert not lecture.vote(0)
    assert not lecture.vote_again()


@pytest.mark.parametrize(
    ("counts", "right", "hint"),
    [
        ([0, 0, 0, 0], None, Hint.NONE),
        ([9, 31, 38, 6], None, Hint.DISCUSS),
        ([30, 30, 30, 30], None, Hint.TEACH),
        ([1, 1, 80, 1], None, Hint.GO_ON),
        ([9, 31, 38, 6], 0, Hint.TEACH),
        ([1, 1, 80, 1], 2, Hint.GO_ON),
    ],
)
def test_the_hint_is_that_of_peer_instruction(counts, right, hint):
    assert Votes(counts).hint(right) is hint


def test_any_item_can_be_gone_to():
    lecture = course()
    assert lecture.go(1)
    assert not lecture.go(2)
    assert not lecture.go(-1)
    assert lecture.place == 1
