from __future__ import annotations

import itertools
import signal
import subprocess
import sys

import psutil
import pytest

from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.inside_a_core.isolation import experiment as isolation
from experiments.inside_a_core.isolation import jobs, team
from experiments.inside_a_core.isolation.experiment import (
    EXPERIMENT,
    FAILING,
    PROCESSES,
    RAISED,
    THREADS,
    WAYS,
    End,
    Life,
    Params,
    analyse,
    measure,
)
from machine.inspect import inspect
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows

AGREED = {"threads_left", "processes_left", "shared_write_visible"}
TINY = Params(lane_s=0.3, rounds=1)


def ends(threads=0, processes=3, raised=3, seeing=(0, 0, 2), rounds=3):
    return [
        End(way=way, repeat=turn, left=left, seeing=seen)
        for way, left, seen in zip(
            (THREADS, PROCESSES, RAISED), (threads, processes, raised), seeing, strict=True
        )
        for turn in range(rounds)
    ]


def found(rows):
    return analyse(Params(), {"ends": rows, "lives": []}, machine())


def test_all_threads_go_with_one_and_the_other_processes_stay():
    finding = found(ends())

    assert finding.message == "threads_all_gone"
    assert finding.values["threads_left"] == 0
    assert finding.values["processes_left"] == 3
    assert finding.values["threads_left_after_exception"] == 3
    assert finding.values["shared_write_visible"] == 2
    assert finding.values["processes_seeing_write"] == 0
    assert finding.limits == ("only_this_thread",)


@pytest.mark.parametrize("rows", [ends(threads=3), ends(processes=2), ends(processes=4)])
def test_whatever_else_is_left_is_said_as_it_is(rows):
    assert found(rows).message == "otherwise"


def test_rounds_that_end_otherwise_are_told_of():
    rows = ends()
    odd = End(way=PROCESSES, repeat=3, left=1, seeing=0)

    assert found([*rows, odd]).message == "otherwise"
    assert found([*rows, odd]).values["processes_left"] == 1
    assert "not_always" in found([*rows, odd]).limits
    assert "not_always" not in found(rows).limits


def test_one_way_alone_is_not_compared():
    for rows in ([], [end for end in ends() if end.way == THREADS]):
        assert found(rows).message == "nothing_to_compare"


@pytest.fixture
def dumps():
    """Let whatever crashes dump its memory, which most systems do not; a test looks for it."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.fixture
def nobody_left():
    """See that no process is left, not even a zombie; others of this test run may be there."""
    before = psutil.Process().children()
    yield
    assert psutil.Process().children() == before


@pytest.mark.usefixtures("dumps", "nobody_left")
@pytest.mark.parametrize("crash", [jobs.ABORT, jobs.NULL])
def test_a_real_crash_ends_threads_together_and_processes_alone(
    crash, capfd, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)  # where a crash may leave a file
    rows = list(measure(Params(lane_s=0.3, rounds=1, crash=crash), Bench(inspect())))
    of = {row.way: row for row in rows if isinstance(row, End)}
    last_s = {(row.way, row.worker): row.end_s for row in rows if isinstance(row, Life)}

    assert {way: of[way].left for way in WAYS} == {THREADS: 0, PROCESSES: 3, RAISED: 3}
    assert (of[PROCESSES].seeing, of[RAISED].seeing) == (0, 2)
    for worker in range(4):
        assert (last_s[PROCESSES, worker] >= 0.3) is (worker != FAILING)
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []  # no core dump


@pytest.mark.usefixtures("dumps")
@pytest.mark.parametrize("how", [jobs.ABORT, jobs.NULL])
def test_the_crash_is_a_signal_and_says_nothing(how, tmp_path):
    ran = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", jobs.__file__, "2", "0", "1", how],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with ran:
        assert ran.stdin is not None
        ran.stdin.write(b"fail\n")
        ran.stdin.flush()  # and left open: only the crash can end the process
        assert ran.wait(60) in (-signal.SIGABRT, -signal.SIGSEGV)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "error"), [("string_at", OSError("read at 0")), ("CDLL", TypeError("None"))]
)
def test_a_crash_comes_also_where_the_system_makes_an_exception_of_it(name, error, monkeypatch):
    """As Windows does with a read of address 0, and Python with what is no library there."""

    class Aborted(BaseException):
        """Stands for a real abort, which would end this process."""

    def abort():
        raise Aborted

    def fail(*_):
        raise error

    monkeypatch.setattr(jobs, "_leave_no_dump", lambda: jobs.ctypes.CDLL(None))
    monkeypatch.setattr(jobs.ctypes, name, fail)
    monkeypatch.setattr(jobs.os, "abort", abort)
    with pytest.raises(Aborted):
        jobs.fail(jobs.NULL)


def test_lanes_grow_while_the_try_goes_on_and_never_overlap():
    rows = [row for row in measure(TINY, Bench(inspect())) if isinstance(row, Life)]
    for way in WAYS:
        for worker in range(4):
            lane = [row for row in rows if (row.way, row.worker) == (way, worker)]
            assert len(lane) >= 3
            assert lane[0].start_s == 0
            assert all(a.end_s == b.start_s for a, b in itertools.pairwise(lane))


def test_nothing_is_left_of_a_stopped_run():
    for rows in (1, 20, 60):
        stop_after_rows(EXPERIMENT, Params(lane_s=2.0, rounds=2), rows)


@pytest.mark.usefixtures("nobody_left")
def test_workers_that_say_nothing_are_an_error_and_are_ended(monkeypatch, tmp_path):
    silent = tmp_path / "jobs.py"
    silent.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(team, "JOBS", silent)
    monkeypatch.setattr(isolation, "LATE_S", 0.3)

    with pytest.raises(UserError, match="workers_silent"):
        list(measure(TINY, Bench(inspect())))
