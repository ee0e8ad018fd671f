"""However an application ends, also in the middle of something: nothing of its run outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from experiments.core.processes import posix_guardian
from experiments.engine import guardian
from experiments.engine.lock import Lock, lock_path
from experiments.engine.sweep import sweep
from tests.experiments.engine.runs import kill
from tests.processes import PATIENCE_S, living, until

if sys.platform == "win32":
    pytest.skip("signals of POSIX", allow_module_level=True)


class Application:
    """An application that runs one misbehaving experiment, as a process of its own."""

    def __init__(self, *prefix: str, **wishes: Any) -> None:
        self.process = subprocess.Popen(
            [
                *prefix,
                sys.executable,
                "-m",
                "tests.experiments.engine.application",
                json.dumps(wishes),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        self._said: IO[bytes] = self.process.stdout

    def hear(self, kind: str) -> dict[str, Any]:
        """Return the next thing that it says of this kind."""
        for line in self._said:
            said = json.loads(line)
            if said["type"] == kind:
                return said
        raise AssertionError(f"it never said {kind}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._said.close()


@pytest.fixture
def application() -> Iterator[Callable[..., Application]]:
    """Return what starts an application."""
    started: list[Application] = []

    def start(*prefix: str, **wishes: Any) -> Application:
        started.append(Application(*prefix, **wishes))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.mark.parametrize("after_s", [0.05, 0.2, 0.35, 0.5, 0.7])
def test_nothing_outlives_an_application_killed_at_any_moment(after_s, application, token):
    run = application(how="holds_the_gil", free_children=3)
    time.sleep(after_s)
    run.process.kill()
    assert until(lambda: not living(token))


@pytest.mark.parametrize(
    "how", ["holds_the_gil", "ignores_signals", "floods", "forks_all_the_time"]
)
def test_nothing_outlives_a_killed_application_whatever_its_run_does(how, application, token):
    run = application(how=how, rows=10**9, free_children=3)
    run.hear("row")
    run.process.kill()
    assert until(lambda: not living(token))


def test_nothing_outlives_an_application_killed_together_with_its_worker(application, token):
    run = application(how="holds_the_gil", free_children=3)
    guard = run.hear("guardian")["pid"]
    run.hear("row")
    kill(run.process.pid, *_children(guard))
    assert until(lambda: not living(token))


def test_an_application_that_was_asleep_itself_does_not_blame_the_run(application):
    run = application(how="takes_its_time", rows=60, quiet_limit_s=0.4)
    run.hear("row")
    run.process.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    run.process.send_signal(signal.SIGCONT)
    assert run.hear("finished")["outcome"] == "completed"


def test_what_guardian_and_application_left_when_killed_together_is_swept(application, token):
    alive = application(how="takes_its_time", rows=100, free_children=1)
    dead = application(how="holds_the_gil", free_children=3)
    guard = dead.hear("guardian")["pid"]
    dead.hear("row")
    kill(dead.process.pid, guard)
    dead.process.wait()
    sweep()
    left = [pid for pid in living(token) if _guardian_of(pid) == guard]
    assert until(lambda: not any(pid in living(token) for pid in left))
    assert alive.hear("finished")["outcome"] == "completed"


def test_sweeping_all_the_time_touches_no_live_run(application, token):
    run = application(how="takes_its_time", rows=25, free_children=2)
    while b'"finished"' not in (line := run.process.stdout.readline()):
        sweep()
        assert line, "ended without a word"
    assert json.loads(line)["outcome"] == "completed"


def test_runs_in_a_container_of_their_own_are_not_swept(application):
    inside = ("unshare", "--pid", "--fork", "--mount-proc")
    try:
        subprocess.run([*inside, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("may not make a name space of process ids here")
    run = application(*inside, how="takes_its_time", rows=50, free_children=1)
    run.hear("row")
    sweep()
    assert run.hear("finished")["outcome"] == "completed"


def test_only_a_python_of_a_dead_run_is_an_orphan_whatever_else_has_its_mark(token):
    """A person's shell, started out of a run, hands the mark on; so may a much older program."""
    me = os.getpid()
    with subprocess.Popen(["/bin/true"]) as gone:
        pass
    dead = {guardian.MARK: f"{gone.pid}:{guardian.start_of(me)}"}
    later = {guardian.MARK: f"{gone.pid}:{10 * int(guardian.start_of(me))}"}
    python = [sys.executable, "-c", "input()"]
    started = [
        subprocess.Popen(command, env=os.environ | mark, stdin=subprocess.PIPE)
        for command, mark in ((["/bin/cat"], dead), (python, later), (python, dead))
    ]
    assert until(lambda: sweep() == 1)
    assert started[2].wait(PATIENCE_S) == -signal.SIGKILL
    assert [process.poll() for process in started[:2]] == [None, None]
    for process in started:
        process.kill()
        process.communicate()


def test_a_mark_that_makes_no_sense_is_no_orphan(token):
    environment = os.environ | {guardian.MARK: "9" * 5000 + ":²"}
    with subprocess.Popen(["/bin/sleep", "60"], env=environment) as process:
        sweep()
        assert process.poll() is None
        process.kill()


def test_the_lock_dies_with_a_killed_application(application):
    run = application(how="holds_the_gil", free_children=1)
    run.hear("row")
    lock = Lock(lock_path())
    assert not lock.take({"experiment": "mine", "since": "now"})
    run.process.kill()
    assert until(lambda: lock.take({"experiment": "mine", "since": "now"}))
    lock.close()


# --- the guardian by itself


@pytest.fixture
def guard(tmp_path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Return what starts a guardian over some program."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*program: str, **more: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            guardian.command(list(program)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
            **more,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.communicate(timeout=PATIENCE_S)  # closes its lifeline


def test_a_guardian_ends_as_its_program_does(guard):
    for program, status in (("exit 0", 0), ("exit 7", 7), ("kill -SEGV $$", 128 + 11)):
        assert guard("/bin/sh", "-c", program).wait(PATIENCE_S) == status


def test_a_program_that_is_not_there_is_an_end_like_any_other(guard):
    process = guard("/no/such/program", stderr=subprocess.PIPE)
    assert process.wait(PATIENCE_S) == 1
    assert b"FileNotFoundError" in process.stderr.read()


def test_a_guardian_hands_on_all_that_it_is_told(guard):
    data = b"x" * 3_000_000  # far more than a pipe takes while nobody reads it
    process = guard("/bin/sh", "-c", f"sleep 0.3; head -c {len(data)} | wc -c")
    process.stdin.write(data)
    process.stdin.flush()
    assert int(process.stdout.read()) == len(data)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_guardian_that_is_told_to_go_takes_all_along(number, guard, token):
    before = signal.signal(number, signal.SIG_DFL)  # what `nohup` ignores stays so in a guardian
    try:
        process = guard("/bin/sh", "-c", "setsid sleep 60 & trap '' TERM INT HUP; echo; sleep 60")
    finally:
        signal.signal(number, before)
    process.stdout.readline()
    process.send_signal(number)
    assert process.wait(PATIENCE_S) == 128 + number
    assert until(lambda: not living(token))


def test_standard_output_ends_with_the_program_and_not_with_the_guardian(guard):
    process = guard("/bin/sh", "-c", "exec 1>&-; sleep 60")
    assert process.stdout.read() == b""
    assert process.poll() is None


def test_a_program_runs_politely_and_marked(guard):
    show = "cut -d' ' -f19 /proc/self/stat; cat /proc/self/oom_score_adj; env"
    process = guard("/bin/sh", "-c", show)
    niceness, oom, *environment = process.stdout.read().decode().splitlines()
    assert int(niceness) >= posix_guardian.NICENESS
    assert int(oom) == 1000
    mark = next(line for line in environment if line.startswith(guardian.MARK))
    assert mark.startswith(f"{guardian.MARK}={process.pid}:")
    assert all(f"{name}=1" in environment for name in guardian.THREAD_VARIABLES)


def test_a_process_id_is_told_from_its_later_namesake_and_a_zombie_guards_nobody():
    assert guardian.start_of(os.getpid()) == guardian.start_of(os.getpid()) != ""
    assert guardian.start_of(1) != guardian.start_of(os.getpid())
    with subprocess.Popen(["/bin/true"]) as process:
        assert until(lambda: guardian.start_of(process.pid) == "")
        assert Path(f"/proc/{process.pid}").exists()
    assert guardian.start_of(2**22 + 1) == ""


def _children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _guardian_of(pid: int) -> int:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return 0
    mark = f"{guardian.MARK}=".encode()
    found = [entry for entry in environment.split(b"\0") if entry.startswith(mark)]
    return int(found[0][len(mark) :].split(b":")[0]) if found else 0
