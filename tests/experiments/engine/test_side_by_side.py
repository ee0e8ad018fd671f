from __future__ import annotations

import itertools

import pytest
from msgspec import UNSET

from experiments.core.catalogue import Catalogue
from experiments.core.declare import column
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.jobs import Engine
from experiments.engine.lock import Lock
from experiments.engine.messages import Outcome
from experiments.engine.side_by_side import (
    MOST_ROUNDS,
    QUICK_S,
    SideBySide,
    check_alike,
    to_tell,
    with_rounds,
)
from tests.experiments.engine.misbehaving.misbehave.experiment import Row
from tests.experiments.engine.runs import SHELVES, misbehave, params

ROUNDS = 4


@pytest.fixture
def engine():
    made = Engine(shelves=SHELVES)
    yield made
    made.close()


def two(engine, how="takes_samples", **more) -> SideBySide:
    return SideBySide(
        engine, (misbehave(), misbehave()), params(how, rows=ROUNDS, **more),
        quick=False, keep=(None, None),
    )  # fmt: skip


def of_kind(heard, kind):
    return [(place, event) for place, event in heard if isinstance(event, kind)]


def test_rounds_of_a_pair_alternate_and_neither_is_always_the_first(engine):
    heard = list(two(engine).events())

    turns = [(place, round(event.row["value"])) for place, event in of_kind(heard, messages.Row)]
    # A sample that other programs disturbed is taken again.
    by_round = [
        list(dict.fromkeys(p for p, number in turns if number == each)) for each in range(ROUNDS)
    ]
    assert sorted(turns, key=lambda turn: turn[1]) == turns  # no run is a round ahead
    assert [sorted(each) for each in by_round] == [[0, 1]] * ROUNDS
    assert {tuple(each) for each in by_round} == {(0, 1), (1, 0)}
    ends = {place: event.outcome for place, event in of_kind(heard, messages.Finished)}
    assert ends == {0: Outcome.COMPLETED, 1: Outcome.COMPLETED}
    (_, first), (_, second) = of_kind(heard, messages.Started)
    assert first.pair == second.pair == first.run != second.run
    kinds = [(p, e.key if isinstance(e, messages.Note) else type(e).__name__) for p, e in heard]
    ready, second_starts = kinds.index((0, messages.HELD)), kinds.index((1, "Started"))
    assert ready < second_starts  # the second is made ready after the first


def test_a_run_alone_is_of_no_pair(engine):
    run = engine.start(misbehave(), params("takes_samples"))
    (started,) = [each for each in run.events() if isinstance(each, messages.Started)]

    assert started.pair is UNSET
    assert b"pair" not in messages.encode(started)


def test_the_first_holds_the_machine_for_both_to_the_last_round(engine):
    free = []
    for _place, event in two(engine).events():
        if isinstance(event, messages.Row):
            lock = Lock()
            free.append(lock.take({}))
            lock.close()

    assert len(free) >= 2 * ROUNDS  # a disturbed turn comes again
    assert not any(free)


@pytest.mark.parametrize("after", [1, 6])
def test_a_stop_ends_both_at_any_round(engine, after):
    running = two(engine)
    rows, ends = 0, {}
    for place, event in running.events():
        rows += isinstance(event, messages.Row)
        if rows == after:
            running.stop()
        if isinstance(event, messages.Finished):
            ends[place] = event

    assert {each.outcome for each in ends.values()} == {Outcome.STOPPED}
    assert ends.keys() == {0, 1}
    assert rows < 2 * ROUNDS


def test_a_stop_before_anything_starts_nothing(engine):
    running = two(engine)
    running.stop()

    ends = [(place, event.outcome) for place, event in running.events()]
    assert ends == [(0, Outcome.STOPPED), (1, Outcome.STOPPED)]


@pytest.mark.parametrize(
    ("how", "wrong"), [("raises", 0), ("raises", 1), ("exits", 0), ("is_killed", 1)]
)
def test_where_one_breaks_the_other_is_stopped_and_the_break_is_told(
    engine, how, wrong, monkeypatch
):
    start, count = engine.start, itertools.count()

    def other(experiment, given, **more):
        is_wrong = next(count) == wrong
        return start(experiment, {**given, "how": how} if is_wrong else given, **more)

    monkeypatch.setattr(engine, "start", other)
    ended = {p: e for p, e in two(engine).events() if isinstance(e, messages.Finished)}

    place, finished = to_tell(ended)
    assert place == wrong
    assert finished.problem is not None
    assert ended[1 - wrong].outcome is Outcome.STOPPED


def test_what_completed_needs_no_word():
    done = messages.Finished(outcome=Outcome.COMPLETED)
    assert to_tell({0: done, 1: done}) is None


def test_a_quick_run_beside_another_takes_as_many_rounds_as_its_time_allows():
    experiment = Catalogue().load("ilp")
    quick = experiment.reduced(experiment.params())
    more = with_rounds(experiment, quick)

    assert quick.rounds < more.rounds <= MOST_ROUNDS
    assert experiment.seconds(more) <= QUICK_S
    slow = misbehave(seconds=lambda p: 60.0)
    assert with_rounds(slow, slow.params()) == slow.params()


class Other(Row):
    another: float = column(unit="s")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"version": 2}, "beside_other_version"),
        ({"tables": {"rows": Other}}, "beside_other_tables"),
        ({"tables": {}}, "beside_other_tables"),
    ],
)
def test_a_copy_that_measures_something_else_is_refused_before_it_runs(changes, key):
    original = misbehave()
    check_alike(original, misbehave())
    with pytest.raises(UserError) as refused:
        check_alike(original, misbehave(**changes))
    assert refused.value.problem.key == key


def test_what_has_no_rounds_cannot_alternate():
    with pytest.raises(UserError) as refused:
        check_alike(misbehave(can_wait=False), misbehave())
    assert refused.value.problem.key == "beside_no_rounds"
