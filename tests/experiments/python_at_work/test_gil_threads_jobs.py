"""The jobs of gil-threads, under every CPython that there is on this machine."""

from __future__ import annotations

import sys
import sysconfig

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.core.problems import UserError
from experiments.python_at_work.gil_threads import jobs as gil_jobs
from experiments.python_at_work.gil_threads.arms import JOBS
from experiments.python_at_work.gil_threads.jobs import slices_of
from experiments.tools.interpreters import Interpreter
from machine.system.pythons import find
from tests.cases import in_one

OWN = [sys.executable, "-P"]
OTHERS = {python.name: [python.path, "-I", "-S"] for python in find()}
ALL = {"own": OWN, **OTHERS}
WITH_SUBINTERPRETERS = {p.name: OTHERS[p.name] for p in find() if p.subinterpreters} | (
    {"own": OWN} if sys.version_info >= (3, 12) else {}
)

LOOP = {"job": "loop", "size": 20_000, "switch_s": 0.005}


def ask(command, **request):
    """Let a Python do one request and return its answer."""
    python = Interpreter("it", command, JOBS, lambda: None)
    try:
        python.ask(**request)
        return python.answer()
    finally:
        python.close()


def check_slices(answer, workers):
    """Slices are stretches [start, end, start, end, ..] in order, none before the common start."""
    assert len(answer["slices"]) == workers
    for marks in answer["slices"]:
        assert len(marks) % 2 == 0
        assert marks == sorted(marks)
        assert all(answer["start_s"] <= mark for mark in marks)
        assert marks[-1] - marks[0] <= answer["wall_s"]


@in_one("arm", ["serial", "threads"])
@in_one("name", ALL)
def test_jobs_are_done_by_any_python(name, arm):
    answer = ask(ALL[name], arm=arm, workers=2, **LOOP)

    assert answer["wall_s"] > 0
    assert isinstance(answer["gil"], bool)
    check_slices(answer, 2)


@in_one("name", ALL)
def test_a_sleeper_is_watched_beside_computing_threads_in_any_python(name):
    answer = ask(ALL[name], arm="sleeper", workers=1, job="loop", size=3, switch_s=0.001)

    assert len(answer["late_s"]) == 3
    assert all(late_s > -0.001 for late_s in answer["late_s"])


@pytest.mark.parametrize("name", WITH_SUBINTERPRETERS)
def test_jobs_are_done_by_subinterpreters_again_and_again(name):
    python = Interpreter(name, WITH_SUBINTERPRETERS[name], JOBS, lambda: None)
    try:
        for workers in (2, 1, 3):
            python.ask(arm="subinterpreters", workers=workers, **LOOP)
            check_slices(python.answer(), workers)
    finally:
        python.close()


def test_many_interrupted_workers_do_not_wait_for_each_others_answers(monkeypatch):
    class Module:  # each worker says more than its share of one pipe
        create = staticmethod(object)
        run_string = staticmethod(lambda _interpreter, code: exec(code))

    many = "import os; os.write({writes}, b'[' + b'1.5, ' * 3000 + b'2.5]' + b'\\n')"
    monkeypatch.setattr(gil_jobs, "_IN_SUBINTERPRETER", many)
    subinterpreters = gil_jobs.Subinterpreters.__new__(gil_jobs.Subinterpreters)
    subinterpreters._module, subinterpreters._ids = Module, []  # noqa: SLF001  (3.12 only)

    answer = subinterpreters({"workers": 16, **LOOP})

    assert [len(each) for each in answer["slices"]] == [3001] * 16


def test_a_free_threaded_python_says_that_it_has_no_lock_on():
    names = [python.name for python in find() if python.free_threaded]
    if not names:
        pytest.skip("there is no free-threaded Python here")

    for name in names:
        assert ask(OTHERS[name], arm="serial", workers=1, **LOOP)["gil"] is False


def test_an_ordinary_python_says_that_its_lock_is_on():
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python is free-threaded")

    assert gil_jobs.gil_enabled() is True


def test_sorts_are_done_with_numpy():
    answer = ask(OWN, arm="threads", workers=2, job="sort", size=2, switch_s=0.005)

    assert answer["wall_s"] > 0
    check_slices(answer, 2)


def test_a_sleep_needs_no_core_and_so_has_no_slices():
    answer = ask(OWN, arm="threads", workers=3, job="sleep", size=20_000, switch_s=0.005)

    assert answer["wall_s"] >= 0.02
    assert answer["slices"] == [[], [], []]


def test_jobs_in_a_row_follow_each_other():
    first, second = ask(OWN, arm="serial", workers=2, **LOOP)["slices"]

    assert first[-1] <= second[0]


def test_twice_the_size_is_twice_the_work():
    assert len(gil_jobs.loop(400)) == gil_jobs.CHUNKS + 1
    assert len(gil_jobs.loop(399)) == 400  # a chunk is one turn at least
    assert len(gil_jobs.loop(1)) == 2
    assert len(gil_jobs.sort(3)) == 4


def test_a_job_that_fails_in_a_thread_ends_the_interpreter_not_in_silence(capfd):
    with pytest.raises(UserError) as caught:
        ask(OWN, arm="threads", workers=2, job="loop", size="many", switch_s=0.005)

    assert caught.value.problem.key == "interpreter_died"
    assert "TypeError" in capfd.readouterr().err


def test_the_jobs_need_nothing_newer_than_python_3_8():
    compile(JOBS.read_text(encoding="utf-8"), str(JOBS), "exec", dont_inherit=True)
    import ast

    ast.parse(JOBS.read_text(encoding="utf-8"), feature_version=(3, 8))


# --- slices: when a worker really ran -----------------------------------------------------------


def test_an_uninterrupted_job_is_one_slice():
    assert slices_of([0.0, 1.0, 2.0, 3.0, 4.0]) == [0.0, 4.0]


def test_the_chunk_in_which_a_job_was_interrupted_is_left_out():
    assert slices_of([0.0, 1.0, 2.0, 7.0, 8.0, 9.0]) == [0.0, 2.0, 7.0, 9.0]


def test_interruptions_in_a_row_are_one_gap():
    marks = [0.0, 1.0, 2.0, 9.0, 19.0, 20.0, 21.0, 22.0, 23.0]

    assert slices_of(marks) == [0.0, 2.0, 19.0, 23.0]


def test_a_job_that_takes_turns_all_the_time_still_shows_when_it_ran():
    marks, now = [0.0], 0.0
    for turn in range(100):
        now += 1.0 if turn % 5 else 6.0
        marks.append(now)

    found = slices_of(marks)
    ran = sum(end - start for start, end in zip(found[::2], found[1::2], strict=True))
    assert ran == 80.0
    assert len(found) // 2 == 20


@pytest.mark.parametrize("marks", [[], [1.0]])
def test_a_job_without_chunks_has_no_slices(marks):
    assert slices_of(marks) == []


@given(st.lists(st.floats(min_value=1e-6, max_value=10), max_size=50))
def test_slices_never_overlap_and_lie_within_the_job(lengths):
    marks = [0.0]
    for length in lengths:
        marks.append(marks[-1] + length)

    found = slices_of(marks)

    assert len(found) % 2 == 0
    assert found == sorted(found)
    assert all(mark in marks for mark in found)
