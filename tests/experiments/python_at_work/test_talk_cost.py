from __future__ import annotations

import multiprocessing
import sys
import time

import psutil
import pytest
from msgspec.structs import replace

from experiments.core import words
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.judging.trust import Trust
from experiments.core.problems import UserError
from experiments.core.shelves import homes
from experiments.core.teaching.motion import Pointed, Travel
from experiments.core.units import Rounded, show
from experiments.engine.recording import read
from experiments.python_at_work.talk_cost import experiment as talk_cost
from experiments.python_at_work.talk_cost import lesson
from experiments.python_at_work.talk_cost.experiment import (
    COPY,
    EXPERIMENT,
    KEPT,
    PARTS,
    PIPE,
    WAYS,
    WIDE,
    Params,
    PartTime,
    PipeSize,
    Talk,
    Wait,
    analyse,
    sizes,
)
from experiments.tools import talk_jobs
from machine.inspect import inspect
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.python_at_work import lessons_of_talk_cost as lessons
from tests.experiments.python_at_work.recorded import lesson_of, recorded
from tests.experiments.stopping import stop_after_rows

AGREED = {
    "thread_queue_small_s", "pipe_small_s", "process_queue_small_s", "shared_memory_small_s",
    "thread_queue_large_bytes_per_s", "pipe_large_bytes_per_s",
    "process_queue_large_bytes_per_s", "shared_memory_large_bytes_per_s",
}  # fmt: skip

PARAMS = Params(largest_bytes=MIB)
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98)
LARGE = {"thread_queue": 40e-6, "pipe": 3e-3, "process_queue": 4e-3, "shared_memory": 2e-4}


def talks(method, size, round_trip_s, noise=NOISE):
    return [
        Talk(method=method, message_bytes=size, repeat=n, round_trip_s=round_trip_s * factor)
        for n, factor in enumerate(noise)
    ]


def tables(large=LARGE, wake_s=1e-5):
    rows = [row for way in WAYS for row in talks(way, 64, 50e-6)]
    rows += [row for way, large_s in large.items() for row in talks(way, MIB, large_s)]
    return {
        "talks": rows + talks(COPY, MIB, 1e-4),
        "steps": [
            PartTime(part=part, repeat=0, part_s=wake_s if part == "wake" else 1e-4)
            for part in PARTS
        ],
        "waits": [],
        "pipes": [],
    }


def test_threads_pass_a_reference_where_they_part_from_every_process():
    found = analyse(PARAMS, tables(), machine())

    assert found.message == "threads_pass_a_reference"
    assert found.values["pipe_large_s"] == pytest.approx(3e-3)
    assert found.values["pipe_large_bytes_per_s"] == pytest.approx(MIB / 3e-3)
    assert found.values["pipe_small_s"] == pytest.approx(50e-6)
    assert found.values["large_bytes"] == MIB


@pytest.mark.parametrize("shared_s", [40e-6, 10e-6], ids=["as fast", "faster"])
def test_one_process_as_fast_as_the_thread_is_enough(shared_s):
    found = analyse(PARAMS, tables({**LARGE, "shared_memory": shared_s}), machine())

    assert found.message == "a_process_keeps_up"


def test_where_the_rounds_of_a_way_scatter_nobody_can_tell():
    rows = tables({**LARGE, "shared_memory": 45e-6})
    wild = [
        replace(row, round_trip_s=row.round_trip_s * (1 + row.repeat % 2))
        if (row.method, row.message_bytes) == ("thread_queue", MIB)
        else row
        for row in rows["talks"]
    ]

    assert analyse(PARAMS, {**rows, "talks": wild}, machine()).message == "cannot_tell"


@pytest.mark.parametrize(("whole_s", "is_told"), [(3e-4, False), (3.5e-4, False), (5e-4, True)])
def test_parts_that_miss_the_whole_say_why(whole_s, is_told):
    found = analyse(PARAMS, tables({**LARGE, "pipe": whole_s}), machine())

    assert ("parts_do_not_add_up" in found.limits) is is_told


@pytest.mark.parametrize(("larger_s", "is_told"), [(20e-6, True), (40e-6, False)])
def test_a_larger_message_that_is_answered_sooner_is_explained(larger_s, is_told):
    rows = {**tables(), "talks": [*tables()["talks"], *talks("pipe", 256, larger_s)]}
    found = analyse(PARAMS, rows, machine())

    assert ("wakes_uneven" in found.limits) is is_told


@pytest.mark.parametrize(
    ("reference_s", "wake_s", "is_told"),
    [(70e-6, 40e-6, False), (80e-6, 40e-6, True), (70e-6, 60e-6, True)],
)
def test_times_of_waking_that_do_not_go_by_the_size_are_explained(reference_s, wake_s, is_told):
    rows = tables({**LARGE, "thread_queue": reference_s}, wake_s)

    assert ("wakes_uneven" in analyse(PARAMS, rows, machine()).limits) is is_told


@pytest.mark.parametrize(("shared_s", "is_told"), [(0.9e-4, True), (1.0e-4, True), (2e-4, False)])
def test_that_shared_memory_costs_one_copy_is_told(shared_s, is_told):
    found = analyse(PARAMS, tables({**LARGE, "shared_memory": shared_s}), machine())

    assert ("shared_as_copied" in found.limits) is is_told


def test_two_rounds_make_no_way_faster():
    rows = {**tables(), "talks": [row for row in tables()["talks"] if row.repeat < 2]}
    found = analyse(PARAMS, rows, machine())

    assert found.message == "too_few_rounds"


def test_a_run_without_one_of_the_ways_compares_nothing():
    large = {way: s for way, s in LARGE.items() if way != "pipe"}
    found = analyse(PARAMS, tables(large), machine())

    assert found.message == "nothing_to_compare"
    assert "pipe_large_s" not in found.values
    assert found.values["pipe_small_s"] == pytest.approx(50e-6)


def test_sizes_are_64_bytes_times_powers_of_four():
    assert sizes(Params(largest_bytes=KIB)) == [64, 256, 1024]
    assert sizes(Params(largest_bytes=KIB + 1)) == [64, 256, 1024]
    assert max(sizes(Params())) == 16 * MIB


def test_the_default_is_smaller_where_little_memory_is_free(free_memory):
    for free, most in ((GIB, 16 * MIB), (40 * MIB, MIB), (KIB, KIB), (None, 16 * MIB)):
        free_memory(free)
        assert talk_cost.EXPERIMENT.defaults(machine()).largest_bytes == most


@pytest.fixture
def ends():
    """The two ends of every way, in this process."""
    before = set(multiprocessing.active_children())
    talks = talk_jobs.Talks(64 * KIB)
    yield talks
    talks._between_threads[0].put(None)  # noqa: SLF001  (a run's process just ends)
    for child in set(multiprocessing.active_children()) - before:
        child.kill()
    for child in talks.others:
        child.join()
        child.close()
    for pipes in (talks._pipe, talks._raw, talks._into_kept, talks._signal):  # noqa: SLF001
        pipes.close()
    for each in talks._queues:  # noqa: SLF001  (likewise)
        each.close()
        each.join_thread()
    talk_jobs._maps.clear()  # noqa: SLF001  (likewise)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork, beside threads of the tests
@pytest.mark.parametrize("kind", ["bytes", "array", "list"])
def test_every_kind_of_message_arrives_in_every_way(ends, kind):
    for method in (*WAYS, COPY, *PARTS):
        for size in (64, 64 * KIB, 64):
            once = ends.way(method, kind, size)
            once()  # raises where the other end saw something else
            once()


def test_a_message_is_as_long_as_it_says():
    assert len(talk_jobs.message("bytes", 4096)) == 4096
    assert talk_jobs.message("array", 4096).itemsize * len(talk_jobs.message("array", 4096)) == 4096
    assert len(talk_jobs.message("list", 4096)) == 512


def test_a_cause_that_is_taken_away_is_held_against_the_way_before():
    rows = tables()
    took_s = {PIPE: 6e-3, KEPT: 3e-3, WIDE: 2e-3}
    rows["steps"] = [PartTime(part=part, repeat=0, part_s=s) for part, s in took_s.items()]
    rows["waits"] = [Wait(handed=PIPE, repeat=n, waits=waits) for n, waits in enumerate((9, 17))]
    rows["pipes"] = [PipeSize(part=KEPT, holds_bytes=64 * KIB)]
    values = analyse(PARAMS, rows, machine()).values

    assert values["into_kept_memory_gain"] == pytest.approx(2.0)
    assert values["through_wide_pipe_gain"] == pytest.approx(1.5)
    assert values["through_pipe_waits"] == 13
    assert values["into_kept_memory_holds_bytes"] == 64 * KIB


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux resizes pipes")
def test_a_larger_pipe_stops_the_sender_less_often():
    params = Params(largest_bytes=MIB, sample_s=0.002, rounds=3)
    rows = [*EXPERIMENT.measure(params, Bench(inspect()))]
    holds = {row.part: row.holds_bytes for row in rows if isinstance(row, PipeSize)}
    waits = {row.handed: row.waits for row in rows if isinstance(row, Wait)}

    assert holds[WIDE] == 16 * holds[KEPT]
    assert waits[KEPT] >= MIB / holds[KEPT] / 2
    assert waits[WIDE] < waits[KEPT] / 4
    assert waits["shared_memory"] < 4


def test_where_pipes_keep_their_size_and_nothing_counts_waits_the_other_parts_remain(monkeypatch):
    class OtherSystem:
        def do(self, **request):
            return {"pipes": {}} if request["arm"] == "start" else {"taken_s": 1.0, "waits": None}

        def close(self):
            pass

    monkeypatch.setattr(talk_cost, "own", lambda *_: OtherSystem())
    rows = [*EXPERIMENT.measure(replace(PARAMS, rounds=1), Bench(machine()))]

    assert {r.part for r in rows if isinstance(r, PartTime)} == {*PARTS} - {KEPT, WIDE}
    assert not [row for row in rows if isinstance(row, Wait | PipeSize)]


# --- the lesson ----------------------------------------------------------------------------------


@in_one(
    ("ends_s", "option"),
    [((4e-5, 5e-5), 0), ((4e-5, 3e-4), 1), ((4e-5, 3e-2), 2), ((4e-9, 1e-3), 3), ((4e-5,), None)],
)
def test_a_vote_is_held_against_the_growth_of_the_pipe(ends_s, option):
    of_size = dict(zip((64, 16 * MIB), ends_s, strict=False))

    assert lesson.option_by_growth(lessons.made("threads_pass_a_reference", of_size)) == option


def test_a_larger_pipe_says_nothing_where_it_spares_no_waits_and_little_beside_a_load():
    spared, few = lessons.RUNS["waking_is_cheap"], lessons.RUNS["fits_the_pipe"]

    assert lesson.waking_is_cheap(spared)
    assert not lesson.waking_is_cheap(replace(spared, trust=Trust.BUSY))
    assert not lesson.waking_is_cheap(few)
    assert not lesson.waking_costs(few)


def test_one_quick_small_message_does_not_move_the_end_of_the_floor():
    usual = {64: 4e-5, 256: 4e-5, 1024: 4e-5, 4096: 6e-5, 16384: 1e-3, 65536: 4e-3}
    for quickest_s in (4e-5, 1e-5):
        run = lessons.made("threads_pass_a_reference", usual | {64: quickest_s})
        spot = lesson.end_of_the_floor(run)
        assert spot.low == 4096
        assert 16384 <= spot.high < 65536


def test_each_piece_of_a_message_takes_its_share_of_the_measured_time():
    run = lessons.made("threads_pass_a_reference", lessons.PIPE_S)
    motion = lesson.motion(run, None)
    (scene,) = motion.scenes
    pieces = [e for e in scene.events if isinstance(e, Travel) and e.along == ("pipe", "receiver")]
    (whole,) = [e for e in scene.events if isinstance(e, Travel) and e.along[0] == "shared"]

    assert len(pieces) == 16
    assert motion.duration_s == pytest.approx(lessons.PIPE_S[MIB])
    assert pieces[-1].end_s == pytest.approx(motion.duration_s)
    assert whole.end_s == pytest.approx(lessons.SHARED_S)
    smaller = lesson.motion(run, Pointed(view="round_trip", at=256.0 * KIB))
    assert smaller.duration_s == pytest.approx(lessons.PIPE_S[256 * KIB])


def test_a_wrong_answer_is_noticed():
    with pytest.raises(RuntimeError, match="arrived"):
        talk_jobs.check_answer((3, 7), (4, 7))


def test_a_larger_message_takes_longer_through_a_pipe():
    params = Params(largest_bytes=4 * MIB, sample_s=0.002, rounds=3)
    rows = [r for r in EXPERIMENT.measure(params, Bench(inspect())) if isinstance(r, Talk)]
    pipe = {r.message_bytes: r.round_trip_s for r in rows if r.method == "pipe" and r.repeat == 1}

    assert pipe[4 * MIB] > 3 * pipe[64]


def test_nothing_is_left_of_a_run():
    stop_after_rows(EXPERIMENT, PARAMS, 3)


@in_one("which", range(5), ids=["pipe", "raw", "kept", "signal", "queue"])
def test_the_death_of_an_answering_process_is_noticed_and_not_waited_for(which):
    end_s = time.monotonic() + 20  # far more than it takes, and less than for ever
    before = set(psutil.Process().children(recursive=True))
    bench = Bench(inspect(), stop=lambda: time.monotonic() > end_s)
    running = EXPERIMENT.measure(replace(PARAMS, rounds=50), bench)
    next(running)
    new = set(psutil.Process().children(recursive=True)) - before
    answering = sorted((each for each in new if each.ppid() != psutil.Process().pid), key=born)
    assert len(answering) == 5

    answering[which].kill()

    with pytest.raises(UserError) as caught:
        list(running)
    assert caught.value.problem.key == "interpreter_died"


def born(process):
    return process.create_time(), process.pid


def test_a_pipe_is_said_to_be_slow_by_its_turns_and_not_by_the_copying():
    recording = read(homes()["talk-cost"].recording)
    values = recording.finding(Catalogue().load("talk-cost")).values
    cause = words.load().say("talk-cost.because.threads_pass_a_reference", values)

    assert values["pipe_large_s"] > 10 * values["copy_large_s"]  # as the cause says
    assert show(values["copy_large_s"], "s") in cause
    assert "must copy" not in cause


def test_what_two_copies_take_and_how_a_larger_pipe_helps_is_of_the_run():
    """It blamed two copies, 1.4 ms, for 5.9 ms, and gave a gain without its times."""
    run = recorded("talk-cost")
    told = lesson_of("talk-cost").explain(run, None)
    took_s = {"kept": run.values["into_kept_memory_s"], "wide": run.values["through_wide_pipe_s"]}

    assert lesson.numbers(run, None)["two_copies_s"] == 2 * run.values["copy_large_s"]
    assert show(Rounded(2 * run.values["copy_large_s"]), "s") in told.why_not_double
    (waking,) = (text for text in told.beside if "times as large" in text)
    assert all(show(Rounded(each_s), "s") in waking for each_s in took_s.values())


def test_what_the_parts_leave_unexplained_is_said():
    whole = {"serialise_s": 1e-3, "through_pipe_s": 1.4e-2, "rebuild_s": 1e-3}
    run = lessons.made(lessons.PASS, **whole)

    assert lesson.numbers(run, None)["parts_s"] == pytest.approx(1.6e-2)
    assert not lesson.parts_fall_short(run)
    assert lesson.parts_fall_short(lessons.made(lessons.PASS, **{**whole, "through_pipe_s": 1e-2}))
    assert lesson.parts_fall_short(recorded("talk-cost"))


def test_a_time_that_grows_faster_than_the_bytes_is_said_not_to_be_explained():
    even = {64: 4e-5, 1024: 4e-5, 64 * KIB: 4e-5, 256 * KIB: 1.6e-4, MIB: 6.4e-4, 16 * MIB: 1e-2}

    assert not lesson.grows_faster_than_bytes(lessons.made(lessons.PASS, even))
    assert lesson.grows_faster_than_bytes(lessons.made(lessons.PASS, even | {16 * MIB: 2e-2}))
