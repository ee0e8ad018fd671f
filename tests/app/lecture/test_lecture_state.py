from app.lecture.lecture_state import MOST_HANDS, Hint, LectureState, Step, Turn, Votes
from tests.cases import in_one


def course(*turns):
    return LectureState(
        turns or [Turn(options=4, arms=("one after another", "threads", "processes")), Turn()]
    )


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
    assert lecture.turn.first.counts == (0, 0, 1, 0)
    assert lecture.turn.second.counts == (0, 1, 0, 0)
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


@in_one(
    ("counts", "hint"),
    [
        ([0, 0, 0, 0], Hint.NONE),
        ([9, 31, 38, 6], Hint.DISCUSS),
        ([30, 30, 30, 30], Hint.TEACH),
        ([1, 1, 80, 1], Hint.GO_ON),
    ],
)
def test_the_hint_is_that_of_peer_instruction(counts, hint):
    assert Votes(counts).hint() is hint


def test_any_item_can_be_gone_to():
    lecture = course()
    assert lecture.go(1)
    assert not lecture.go(2)
    assert not lecture.go(-1)
    assert lecture.place == 1


def test_so_many_hands_can_be_given_at_once():
    lecture = course()
    assert not lecture.give(2, 38)
    lecture.forward()
    lecture.vote(2)
    assert lecture.give(2, 38)
    assert not lecture.give(4, 1)
    lecture.give(1, -5)
    lecture.give(0, 10 * MOST_HANDS)
    assert lecture.turn.first.counts == (MOST_HANDS, 0, 38, 0)
    lecture.vote_again()
    lecture.give(3, 7)
    assert (lecture.turn.first.counts[2], lecture.turn.second.counts) == (38, (0, 0, 0, 7))


def test_hidden_votes_are_shown_once_they_are_closed():
    lecture = course()
    lecture.hide_votes()
    assert not lecture.has_hidden_votes  # nobody votes yet
    lecture.forward()
    lecture.vote(1)
    assert lecture.has_hidden_votes
    assert steps(lecture, 1) == [(0, Step.VOTE, 2)]
    assert not lecture.has_hidden_votes
    lecture.vote(1)  # one who was overlooked
    assert steps(lecture, 1) == [(0, Step.RUN, 2)]
    lecture.back()
    assert not lecture.has_hidden_votes
    assert lecture.turn.first.counts == (0, 2, 0, 0)


def test_a_second_vote_is_hidden_too_and_shown_with_the_first():
    lecture = course()
    lecture.hide_votes()
    lecture.forward()
    lecture.vote_again()  # the first was never shown
    assert lecture.has_hidden_votes
    assert steps(lecture, 2) == [(0, Step.AGAIN, 2), (0, Step.RUN, 2)]
    lecture.back()
    lecture.back()
    lecture.vote_again()
    assert lecture.has_hidden_votes  # what was closed is open again


def test_hiding_can_be_taken_back_and_holds_for_every_item():
    lecture = course(Turn(options=2), Turn(options=2))
    lecture.forward()
    lecture.hide_votes()
    assert lecture.has_hidden_votes
    lecture.hide_votes()
    assert not lecture.has_hidden_votes
    lecture.hide_votes()
    lecture.forward()
    assert not lecture.has_hidden_votes
    lecture.hide_votes()  # of those that are seen
    assert lecture.has_hidden_votes
    lecture.go(1)
    lecture.forward()
    assert lecture.has_hidden_votes


def test_what_comes_next_is_asked_without_going_there():
    lecture = course()
    seen = []
    while not lecture.is_over:
        then = lecture.next()
        if lecture.turn.step is Step.RUN:
            lecture.measured()
        lecture.forward()
        seen.append((then.place, then.turn, then.is_over))
        assert seen[-1] == (lecture.place, lecture.turn, lecture.is_over)
    assert lecture.next(by_recording=True).turn.is_recording
    assert not lecture.turn.is_recording
