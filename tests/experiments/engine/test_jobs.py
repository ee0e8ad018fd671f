"""Whatever an experiment does: one right ending, nothing left, and the next run goes well."""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from types import SimpleNamespace

import psutil
import pytest

from experiments.core.processes.own_environment import CLEARED
from experiments.engine import jobs, messages, recording, sweep
from experiments.engine.jobs import Engine, Worker
from experiments.engine.lock import Lock, lock_path
from experiments.engine.messages import Outcome
from experiments.engine.recorder import Recorder
from machine.system import cgroups
from tests.experiments.engine.runs import (
    SHELVES,
    called,
    ending,
    guardian_of,
    hear,
    misbehave,
    params,
    rows,
    start,
)
from tests.processes import living, until

if sys.platform == "win32":
    pytest.skip("signals of POSIX", allow_module_level=True)

COMPLETED, STOPPED, FAILED, KILLED, LOST = (
    Outcome.COMPLETED, Outcome.STOPPED, Outcome.FAILED, Outcome.KILLED, Outcome.LOST,
)  # fmt: skip

ENDINGS = {
    "behaves": (COMPLETED, None),
    "says_all_kinds": (COMPLETED, None),
    "says_no_rows": (COMPLETED, None),
    "floods_the_log": (COMPLETED, None),
    "leaves_a_thread": (COMPLETED, None),
    "leaves_children": (COMPLETED, None),
    "forks_and_the_child_raises": (COMPLETED, None),
    "raises": (FAILED, "experiment_raised"),
    "raises_what_cannot_be_told": (FAILED, "experiment_raised"),
    "raises_trouble": (FAILED, "too_much_memory"),
    "exits_like_a_program": (FAILED, "experiment_raised"),
    "says_an_undeclared_row": (FAILED, "experiment_raised"),
    "says_an_undeclared_frame": (FAILED, "wire_broken"),
    "says_nan": (FAILED, "result_unsendable"),
    "fills_memory_at_once": (FAILED, "out_of_memory"),
    "fills_memory_to_the_last_byte": (FAILED, "out_of_memory"),
    "talks_garbage": (FAILED, "wire_broken"),
    "talks_endlessly": (FAILED, "wire_broken"),
    "names_a_long_table": (FAILED, "wire_broken"),
    "jumps_in_n": (FAILED, "wire_broken"),
    "starts_twice": (FAILED, "wire_broken"),
    "pretends_to_be_the_application": (FAILED, "wire_broken"),
    "exits": (LOST, "vanished"),
    "exits_before_children_that_keep_the_wire": (LOST, "vanished"),
    "tears_a_line": (LOST, "vanished"),
    "closes_the_wire": (LOST, "vanished"),
    "is_killed": (LOST, "ended_from_outside"),
}
SOON_S = 20.0  # patient with a busy machine; whatever hangs would go by itself after 60 s
HANGS = (
    "sleeps",
    "sleeps_before_a_word",
    "holds_the_gil",
    "ignores_signals",
    "stops_itself",
    "sleeps_beside_children_that_keep_the_wire",
    "forks_all_the_time",
)
# What these two do matters to who is asked to stop; of silence they are like the others.
SILENT = [how for how in HANGS if how not in ("holds_the_gil", "ignores_signals")]


@pytest.fixture(scope="module")
def patient() -> Iterator[Engine]:
    """Return one engine that has to go through all that follows."""
    engine = Engine(shelves=SHELVES)
    yield engine
    engine.close()


@pytest.mark.parametrize("how", ENDINGS)
def test_every_run_has_one_right_ending(how, patient, token):
    run = start(patient, how, free_children=2 if ENDINGS[how][0] is LOST else 0)
    assert ending(hear(run)) == ENDINGS[how]
    assert until(lambda: not living(token))


@pytest.mark.parametrize("how", SILENT)
def test_what_hangs_is_killed_once_it_was_silent_beyond_its_limit(how, patient, token):
    events = hear(start(patient, how, impatient=True, free_children=1))
    assert ending(events) == (KILLED, "silent_too_long")
    assert events[-1].problem.values == {"limit_s": 0.5}
    assert until(lambda: not living(token))


def test_after_all_of_that_a_run_goes_well(patient):
    assert ending(hear(start(patient))) == (COMPLETED, None)


def test_a_run_is_not_tuned_by_the_program_that_starts_it_and_says_what_was_cleared(monkeypatch):
    monkeypatch.delenv(CLEARED, raising=False)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0")
    with contextlib.closing(Engine(shelves=SHELVES)) as engine:
        events = hear(start(engine, "says_whether_garbage_is_collected"))
    (started,) = (event for event in events if isinstance(event, messages.Started))
    assert [row.row for row in rows(events)] == [{"value": 1.0}]
    assert "MALLOC_ARENA_MAX" not in started.environment["variables"]
    assert "MALLOC_ARENA_MAX" in started.environment["cleared_variables"]
    assert started.environment["variables"]["HSA_OVERRIDE_GFX_VERSION"] == "11.0.0"


@pytest.mark.parametrize(
    ("virtualization", "key"),
    [("none", "illegal_instruction"), ("kvm", "illegal_instruction_guest")],
)
def test_an_illegal_instruction_is_told_with_what_the_machine_is(
    engine, monkeypatch, virtualization, key
):
    monkeypatch.setattr(jobs, "read_virtualization", lambda *_: virtualization)
    assert ending(hear(start(engine, "meets_an_unknown_instruction"))) == (LOST, key)


def test_much_memory_may_be_made_ready_for_longer(engine):
    experiment = misbehave(quiet_limit_s=0.5, memory_bytes=lambda _params: 2**28)
    events = hear(engine.start(experiment, params("sleeps")))
    assert ending(events) == (KILLED, "silent_too_long")
    assert events[-1].problem.values == {"limit_s": 2.0}


def test_a_gpu_may_be_silent_for_longer(engine, monkeypatch):
    monkeypatch.setattr(jobs, "GPU_QUIET_S", 1.0)
    experiment = misbehave(quiet_limit_s=0.5)
    on_gpu = hear(engine.start(experiment, params("sleeps", device="cuda:0")))
    assert ending(on_gpu) == (KILLED, "silent_too_long")
    assert on_gpu[-1].problem.values == {"limit_s": 1.0}


def test_a_gpu_run_tells_that_it_loads_before_it_measures(engine):
    for device, count in (("cuda:0", 1), ("cpu", 0)):
        events = hear(engine.start(misbehave(), params("behaves", device=device)))
        keys = [getattr(event, "key", None) for event in events]
        assert keys.count("loading_gpu_libraries") == count
        if count:
            kinds = [type(event) for event in events]
            assert keys.index("loading_gpu_libraries") < kinds.index(messages.Row)


def test_loading_may_take_longer_than_the_silence_of_a_run(engine, monkeypatch):
    monkeypatch.setattr(jobs, "LOADING_LIMIT_S", 0.0)
    assert ending(hear(start(engine))) == (KILLED, "silent_too_long")


def test_a_finding_that_cannot_be_sent_is_a_failure(engine):
    for analysis, key in (
        ("raises", "experiment_raised"),
        ("says nothing", "result_unsendable"),
        ("says nan", "result_unsendable"),
    ):
        assert ending(hear(start(engine, analysis=analysis))) == (FAILED, key)


def test_a_finding_arrives_with_its_numbers_and_stopping_then_does_nothing(engine):
    run = start(engine, rows=4)
    events = hear(run)
    run.stop()
    run.stop()
    assert ending(events) == (COMPLETED, None)
    assert events[-1].finding.values == {"count": 4}
    assert [row.row for row in rows(events)] == [{"value": float(n)} for n in range(4)]


def test_a_run_that_is_refused_ends_before_it_starts(engine):
    for experiment, wishes, key in (
        (called("misbehav"), params("behaves"), "experiment_unknown_near"),
        (misbehave(), {"how": "behaves"} | {"rowz": 1}, "parameter_unknown"),
        (misbehave(), params("behaves") | {"rows": "3"}, "parameters_unreadable"),
    ):
        events = hear(engine.start(experiment, wishes))
        assert ending(events) == (FAILED, key)
        assert not any(isinstance(event, messages.Started) for event in events)


def test_parameters_larger_than_a_pipe_arrive_whole(engine):
    events = hear(start(engine, text="x" * 300_000))
    assert ending(events) == (COMPLETED, None)
    (started,) = (event for event in events if isinstance(event, messages.Started))
    assert len(started.params["text"]) == 300_000


def test_parameters_that_cannot_be_sent_are_refused_and_leave_the_worker_warm(engine):
    engine.warm(misbehave())
    warm = engine._warm  # noqa: SLF001  (what it started is the subject)
    with pytest.raises(messages.BadMessage):
        engine.start(misbehave(), {"rows": math.nan})
    assert engine._warm is warm  # noqa: SLF001  (what it started is the subject)
    assert ending(hear(start(engine))) == (COMPLETED, None)


def test_prints_end_in_the_log_wherever_they_come_from(engine, caplog):
    caplog.set_level(logging.INFO, logger="experiments.engine.jobs")
    assert ending(hear(start(engine, "prints"))) == (COMPLETED, None)
    for source in ("Python", "descriptor 1", "a C library", "a child process", "a forked process"):
        assert f"worker: from {source}" in caplog.messages


def test_a_child_that_reads_its_input_finds_it_empty_and_eats_no_command(engine):
    events = hear(start(engine, "starts_a_child_that_reads", impatient=True))
    assert ending(events) == (COMPLETED, None)
    assert [row.row["value"] for row in rows(events)] == [0]


def test_a_crash_is_told_with_its_last_words_but_without_anybodys_folders(
    engine, monkeypatch, token
):
    monkeypatch.setenv("HOME", os.path.dirname(os.path.abspath(sweep.__file__)))
    (*_, finished) = events = hear(start(engine, "crashes", free_children=2))
    assert ending(events) == (LOST, "crashed")
    assert until(lambda: not living(token))
    assert "Segmentation fault" in finished.problem.detail
    assert "~/worker.py" in finished.problem.detail
    assert os.environ["HOME"] not in finished.problem.detail


@pytest.mark.parametrize(
    ("status", "key", "said"),
    [
        (0xC0000005, "crashed", "0xC0000005"),
        (0xC000001D, "illegal_instruction", ""),
        (1, "vanished", ""),
    ],
)
def test_a_crash_on_windows_is_told_by_what_it_was(engine, monkeypatch, status, key, said):
    real = Worker.end
    monkeypatch.setattr(Worker, "end", lambda worker: real(worker) and status)
    monkeypatch.setattr(jobs, "read_virtualization", lambda *_: "none")
    run = start(engine, "exits")
    monkeypatch.setattr(jobs, "sys", SimpleNamespace(platform="win32"))
    (*_, finished) = events = hear(run)
    assert ending(events) == (LOST, key)
    assert said in str(finished.problem.values.get("signal", ""))


def test_each_crash_of_windows_has_its_words(monkeypatch):
    monkeypatch.setattr(jobs, "sys", SimpleNamespace(platform="win32"))
    for status, said in ((0xC0000409, "0xC0000409"), (3, "aborted")):
        assert said in jobs._signal_of(status)  # noqa: SLF001  (to see one needs no process)


def test_a_home_at_the_root_does_not_spoil_the_last_words(engine, monkeypatch):
    monkeypatch.setenv("HOME", "/")
    (*_, finished) = hear(start(engine, "crashes"))
    assert "/experiments/engine/worker.py" in finished.problem.detail


def test_a_flood_is_heard_to_its_last_row(engine):
    assert len(rows(hear(start(engine, "floods", rows=8_000)))) == 8_000


def test_a_flood_beyond_all_measure_is_cut_off(engine, monkeypatch):
    monkeypatch.setattr(jobs, "RUN_LIMIT_BYTES", 200_000)
    events = hear(start(engine, "floods", rows=10**9))
    assert ending(events) == (FAILED, "too_much_output")


def test_more_lines_than_a_file_may_have_are_cut_off(engine, monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "RUN_LIMIT_LINES", 100)
    monkeypatch.setattr(recording, "RUN_LIMIT_LINES", 100)
    recorder = Recorder(tmp_path / "run.coreopsis.jsonl")
    events = hear(start(engine, "floods", rows=10**9, keep=recorder.keep))
    recorder.close()
    assert ending(events) == (FAILED, "too_many_lines")
    assert recording.read(recorder.path).finished.outcome is FAILED


def test_every_line_is_kept_before_it_is_heard_and_none_before_the_start(engine):
    kept: list[bytes] = []
    run = start(engine, "says_all_kinds", keep=lambda event, line: kept.append(line))
    for count, event in enumerate(run.events(), start=1):
        assert kept[-1] == messages.encode(event)
        assert len(kept) == count
    refused = start(engine, "no such way", rows=0, keep=lambda event, line: kept.append(line))
    kept.clear()
    assert ending(hear(refused)) == (FAILED, "experiment_raised")
    assert messages.decode_event(kept[0]).format == messages.RUN_FORMAT
    kept.clear()
    hear(engine.start(called("-"), {}, keep=lambda event, line: kept.append(line)))
    assert kept == []


# --- to be stopped


@pytest.mark.parametrize("how", [*HANGS, "floods", "floods_the_log"])
def test_a_run_is_stopped_whatever_it_is_doing(how, engine, token):
    run = start(engine, how, rows=10**9, free_children=1)

    def stop() -> None:
        time.sleep(0.15)  # let it get into whatever it does
        run.stop()

    first = messages.Started if how == "sleeps_before_a_word" else messages.Row
    events = hear(run, {first: stop})
    assert ending(events) == (STOPPED, None)
    assert until(lambda: not living(token), SOON_S)


def test_a_stop_between_rows_still_gives_a_finding_of_the_rows_so_far(engine):
    run = start(engine, "takes_its_time", rows=10**6)
    events = hear(run, {messages.Row: run.stop})
    assert ending(events) == (STOPPED, None)
    assert events[-1].finding.values == {"count": len(rows(events))}


def test_a_stop_is_a_stop_even_where_the_analysis_fails_over_the_rows_so_far(engine):
    run = start(engine, "takes_its_time", rows=10**6, analysis="raises")
    assert ending(hear(run, {messages.Row: run.stop})) == (STOPPED, None)


def test_a_run_can_be_stopped_before_anybody_listens(engine):
    run = start(engine, "takes_its_time", rows=10**6)
    run.stop()
    assert ending(hear(run)) == (STOPPED, None)


def test_a_run_can_be_stopped_at_any_moment_of_its_beginning(engine):
    for pause_s in (0.0, 0.05, 0.1, 0.2):
        run = start(engine, "takes_its_time", rows=10**6)
        timer = threading.Timer(pause_s, run.stop)
        timer.start()
        assert ending(hear(run)) == (STOPPED, None)
        timer.join()


def test_a_run_can_be_stopped_while_it_waits_for_the_machine(engine):
    other = Lock(lock_path())
    assert other.take({"experiment": "another", "since": "12:00:00"})
    run = start(engine)
    events = hear(run, {messages.Note: run.stop})
    other.close()
    assert ending(events) == (STOPPED, None)
    assert not any(isinstance(event, messages.Started) for event in events)


def test_signals_that_interrupt_each_other_may_stop_the_run_they_interrupt(engine):
    run = start(engine, "holds_the_gil")
    numbers = (signal.SIGUSR1, signal.SIGUSR2)
    before = [signal.signal(number, lambda *_: run.stop()) for number in numbers]

    def interrupt() -> None:
        for number in numbers * 20:
            signal.pthread_kill(threading.main_thread().ident or 0, number)

    timer = threading.Timer(0.2, interrupt)
    try:
        events = hear(run, {messages.Row: timer.start})
        timer.join()
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    assert ending(events) == (STOPPED, None)


# --- read by nobody


def test_a_run_that_is_no_longer_read_ends(engine, token):
    for event in start(engine, "holds_the_gil", free_children=1).events():
        if isinstance(event, messages.Row):
            break
    del event
    assert until(lambda: not living(token), SOON_S)
    assert ending(hear(start(engine))) == (COMPLETED, None)


def test_a_reader_that_raises_ends_its_run(engine, token):
    def full_disk(event: messages.Event, line: bytes) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        hear(start(engine, "floods", rows=10**9, keep=full_disk))
    assert not living(token)


def test_a_run_that_is_never_read_ends_when_it_is_forgotten(engine, token):
    run = start(engine, "takes_its_time", rows=10**6)
    assert until(lambda: living(token))
    with warnings.catch_warnings(record=True):  # subprocess complains, and rightly
        warnings.simplefilter("always")
        del run
        gc.collect()
    assert until(lambda: not living(token), SOON_S)


# --- somebody else ends it


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("holds_the_gil", signal.SIGKILL),
        ("sleeps_beside_children_that_keep_the_wire", signal.SIGKILL),
        ("takes_its_time", signal.SIGKILL),
        ("floods", signal.SIGKILL),
        ("floods", signal.SIGTERM),
    ],
)
def test_a_run_without_its_guardian_is_lost(how, number, engine, token):
    run = start(engine, how, rows=10**9, free_children=2)

    def end_guardian() -> None:
        time.sleep(0.1)
        os.kill(guardian_of(run), number)

    events = hear(run, {messages.Row: end_guardian})
    assert ending(events)[0] is LOST  # and not killed for its silence
    assert until(lambda: not living(token))


def test_what_nobody_can_find_does_not_hold_up_the_end(engine):
    run, hidden = start(engine, "starts_what_nobody_finds"), 0
    for event in run.events():
        if isinstance(event, messages.Row):
            hidden = int(event.row["value"])
            os.kill(guardian_of(run), signal.SIGKILL)
    assert ending([event]) == (LOST, "ended_from_outside")
    os.kill(hidden, signal.SIGKILL)


@pytest.mark.parametrize("how", ["holds_the_gil", "sleeps_beside_children_that_keep_the_wire"])
def test_a_killed_worker_is_lost(how, engine, token):
    run = start(engine, how, free_children=2)
    events = hear(run, {messages.Row: lambda: os.kill(run._worker.pid, signal.SIGKILL)})  # noqa: SLF001  (what it started is the subject)
    assert ending(events) == (LOST, "ended_from_outside")
    assert until(lambda: not living(token))


def test_memory_ran_out_only_where_the_system_has_counted_it(engine, monkeypatch):
    counts = iter([3, 4])
    monkeypatch.setattr(cgroups, "oom_kills", lambda root: next(counts))
    assert ending(hear(start(engine, "is_killed"))) == (LOST, "killed_by_system")


def test_a_guardian_that_is_asked_to_go_was_ended_from_outside(engine):
    run = start(engine, "sleeps")
    events = hear(run, {messages.Row: lambda: os.kill(guardian_of(run), signal.SIGTERM)})
    assert ending(events) == (LOST, "ended_from_outside")


# --- warm workers


def test_a_warm_worker_is_used(engine):
    assert not engine.is_warm(misbehave())
    engine.warm(misbehave())
    assert engine.is_warm(misbehave())
    assert not engine.is_warm(misbehave(imports=("json",)))
    warm = engine._warm  # noqa: SLF001  (what it started is the subject)
    engine.warm(misbehave())
    run = start(engine)
    assert run._worker is warm  # noqa: SLF001  (what it started is the subject)
    assert ending(hear(run)) == (COMPLETED, None)


def test_a_warm_worker_that_died_is_replaced(engine, token):
    engine.warm(misbehave())
    dead = engine._warm  # noqa: SLF001  (what it started is the subject)
    assert until(lambda: len(living(token)) == 2)
    os.kill(max(living(token)), signal.SIGKILL)
    assert until(lambda: not dead.is_alive())
    run = start(engine)
    assert run._worker is not dead  # noqa: SLF001  (what it started is the subject)
    assert ending(hear(run)) == (COMPLETED, None)


def test_a_warm_worker_with_other_imports_is_replaced(engine, token):
    engine.warm(misbehave())
    other = engine._warm  # noqa: SLF001  (what it started is the subject)
    engine.warm(misbehave(imports=("json",)))
    assert engine._warm is not other  # noqa: SLF001  (what it started is the subject)
    assert not other.is_alive()
    assert engine._warm.imports == ("json",)  # noqa: SLF001  (what it started is the subject)


def test_an_import_that_fails_is_no_end_of_the_worker(engine):
    run = engine.start(misbehave(imports=("no_such_module",)), params("behaves"))
    assert ending(hear(run)) == (COMPLETED, None)


def test_closing_the_engine_ends_the_warm_worker(engine, token):
    engine.warm(misbehave())
    assert living(token)
    engine.close()
    assert until(lambda: not living(token), SOON_S)
    engine.close()


def test_runs_leave_no_thread_and_no_descriptor():
    def held() -> tuple[int, int]:
        return threading.active_count(), psutil.Process().num_fds()

    engine = Engine(shelves=SHELVES)
    before = held()
    for how in ("behaves", "crashes", "leaves_children"):
        hear(start(engine, how))
    engine.warm(misbehave())
    engine.close()
    assert until(lambda: held() == before)


# --- a worker by itself


def test_a_plain_worker_ends_with_its_pipe(token):
    worker = Worker(guarded=False, shelves=SHELVES)
    assert messages.decode_event(worker.readline()).pid == worker._process.pid  # noqa: SLF001  (what it started is the subject)
    assert worker.is_alive()
    worker.close()
    assert not living(token)


def test_a_command_to_a_worker_that_is_gone_does_no_harm():
    worker = Worker(guarded=False, shelves=SHELVES)
    worker._process.kill()  # noqa: SLF001  (what it started is the subject)
    worker._process.wait()  # noqa: SLF001  (what it started is the subject)
    for _ in range(3):
        worker.send(messages.Stop())
    worker.close()
    worker.send(messages.Stop())
