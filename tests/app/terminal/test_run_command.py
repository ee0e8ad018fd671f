"""`coreopsis run` from outside: real measurements, as small as they can be."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

import pytest

from app.cli import main
from experiments.core import words
from experiments.engine import messages
from experiments.engine.lock import Lock
from experiments.engine.recorder import Recorder
from experiments.engine.recording import Order, read
from machine.system.pythons import find
from tests.app.own import good
from tests.app.program import Program
from tests.app.recordings import Made, burst
from tests.processes import until

CALLS = ["run", "start-cost", "--quick", "--set", "methods=call", "--set", "rounds=1",
         "--set", "sample_s=1ms"]  # fmt: skip
# These sleep, which costs little processor.
SLEEPS = ["run", "gil-threads", "--set", "job=sleep", "--set", "switch_interval_s=0.1ms",
          "--set", "workers=2"]  # fmt: skip
SHORT = [*SLEEPS, "--quick", "--set", "job_s=5ms", "--set", "rounds=1"]
THREADS = [*SHORT, "--set", "methods=serial,threads"]
LONG = [*SLEEPS, "--set", "job_s=50ms", "--set", "rounds=50", "--set", "methods=serial,threads"]
LONG_PROCESSES = [*LONG[:-1], "methods=serial,processes"]

ENGLISH = words.load("en")
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def finding_of(said) -> str:
    """Return the text on a run, without lines that only a new run or only a replay has."""
    text = said.out
    if text.startswith("RECORDED"):
        text = text.split("\n", 1)[1]
    return re.sub(r"\nKept as .*\n", "", text).strip()


@pytest.mark.parametrize(
    ("command", "name"), [(CALLS, "x.jsonl"), (THREADS, "x.coreopsis.jsonl.gz")]
)
def test_a_run_is_told_kept_written_and_replayed_with_the_same_finding(
    coreopsis, inside, command, name
):
    said = inside(*command, "--out", name)

    assert said.code == 0
    assert "A quick run" in " ".join(said.out.split())  # lines break elsewhere on a busy machine
    assert max(len(line) for line in said.lines if not line.startswith("Kept as")) <= 80
    (path,) = coreopsis.runs
    kept = re.search(
        rf"^Kept as (\w{{8}}) · coreopsis --data {coreopsis.data} replay \1 *$",
        said.out,
        re.MULTILINE,
    )
    assert kept
    for reference in (kept[1], path, name):
        replayed = inside("replay", reference)
        assert replayed.code == 0
        assert finding_of(replayed) == finding_of(said)
    assert read(path).finished.outcome is messages.Outcome.COMPLETED
    out = coreopsis.folder / name
    assert (out.read_bytes()[:2] == b"\x1f\x8b") is name.endswith(".gz")
    assert [*read(out).events] == [*read(path).events]


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    """Return a run that was streamed, kept and written to a file, and what was said."""
    program = Program(tmp_path_factory.mktemp("streamed"))
    yield program, program(*THREADS, "--json", "--out", "x.jsonl.gz")
    program.close()


def test_a_stream_is_the_lines_of_the_run(streamed):
    coreopsis, said = streamed
    order = Order()
    for line in said.out.encode().splitlines(keepends=True):
        order.check(messages.decode_event(line))

    assert said.code == 0
    assert order.started.experiment == "gil-threads"
    params = order.started.params
    assert (params["job_s"], params["methods"]) == (0.005, ["serial", "threads"])
    assert order.started.quick is True
    assert order.finished.outcome is messages.Outcome.COMPLETED
    (path,) = coreopsis.runs
    assert path.read_text() == said.out


def test_nobody_is_named_in_what_is_kept(streamed):
    coreopsis, _ = streamed
    text = coreopsis.runs[0].read_text()

    for told in (os.uname().nodename, str(coreopsis.folder), os.path.expanduser("~")):
        assert not re.search(rf"\b{re.escape(told)}\b", text)


def test_a_stream_is_written_to_a_file_as_well(streamed):
    coreopsis, said = streamed

    assert gzip.decompress((coreopsis.folder / "x.jsonl.gz").read_bytes()).decode() == said.out


def test_a_run_that_shall_not_be_kept_can_still_be_written_to_a_file(coreopsis, inside):
    said = inside(*THREADS, "--no-keep", "--out", "x.jsonl")

    assert said.code == 0
    assert not coreopsis.data.exists()
    assert finding_of(inside("replay", "x.jsonl")) == finding_of(said)


def test_where_qt_does_not_load_no_picture_is_drawn_and_the_rest_is_done(coreopsis):
    coreopsis.may_ask_for_qt = True

    said = coreopsis(*CALLS, "--svg", "x.svg")

    assert said.code == 0
    assert "Qt, which lacks a system library (PySide6 is for the window alone)" in said.err
    assert not (coreopsis.folder / "x.svg").exists()
    assert len(coreopsis.runs) == 1


def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_measured(inside, coreopsis):
    said = inside(*THREADS, "--svg", "no/such/x.svg")

    assert said.code == 2
    assert "Cannot write the picture no/such/x.svg" in said.sentence
    assert coreopsis.runs == []


def test_other_pythons_are_measured_when_asked_for_and_no_process_is_left(coreopsis):
    others = [python.name for python in find()]

    said = coreopsis(*SHORT, "--set", "pythons=all")

    assert said.code == 0
    assert coreopsis.living() == {}
    rows = [row.row for row in read(coreopsis.runs[0]).rows["timings"]]
    methods = {row["method"] for row in rows}
    assert {"processes", "threads", "released_threads"} <= methods
    assert {row["python"] for row in rows} >= set(others)
    for name in others:
        assert f"all jobs one after another, Python {name}" in said.out


# --- stopping -----------------------------------------------------------------------------------


def rows_kept(coreopsis) -> int:
    runs = sorted(coreopsis.data.glob("runs/[!.]*"))  # what tries the folder begins with a dot
    return runs[0].read_bytes().count(b'"row"') if runs else 0


@posix
@pytest.mark.parametrize(
    ("command", "number"),
    [(LONG, "SIGTERM"), (LONG, "SIGHUP"), (LONG_PROCESSES, "SIGINT")],
    ids=["SIGTERM", "SIGHUP", "SIGINT beside processes"],
)
def test_a_stopped_run_keeps_what_it_has_and_leaves_nothing(coreopsis, inside, command, number):
    process = coreopsis.start(*command)
    assert until(lambda: rows_kept(coreopsis) > 30)  # enough for a finding

    os.killpg(process.pid, getattr(signal, number))  # the group of the program, as Ctrl-C does

    said = coreopsis.end(process)
    assert said.code == 130
    assert re.search(r"^Stopped; rows of data kept: \d+\.", said.out, re.MULTILINE)
    assert "This run is partial." in said.out
    assert "Traceback" not in said.err
    assert coreopsis.living() == {}
    (path,) = coreopsis.runs
    assert read(path).finished.outcome is messages.Outcome.STOPPED
    replayed = inside("replay", path)
    assert replayed.code == 0
    assert finding_of(replayed) == finding_of(said)


@posix
def test_a_run_whose_data_folder_is_deleted_is_rescued_and_said_so(coreopsis):
    process = coreopsis.start(*LONG)
    assert until(lambda: rows_kept(coreopsis) > 3)

    shutil.rmtree(coreopsis.data)
    os.killpg(process.pid, signal.SIGINT)

    said = coreopsis.end(process)
    assert "Kept as" not in said.out
    assert "was deleted or moved during the run" in said.err
    (rescued,) = coreopsis.folder.glob("*.coreopsis.jsonl")
    assert str(rescued) in said.err
    assert read(rescued).finished.outcome is messages.Outcome.STOPPED


@posix
@pytest.mark.parametrize(("more", "code"), [([], 1), (["--out", "x.jsonl"], 0)])
def test_a_run_that_nothing_has_kept_has_not_gone_well(inside, coreopsis, monkeypatch, more, code):
    def refuse(self, path):
        raise OSError(28, os.strerror(28))

    def keep(self, event, line):
        if isinstance(event, messages.Row):
            shutil.rmtree(coreopsis.data, ignore_errors=True)
        real(self, event, line)

    real = Recorder.keep
    monkeypatch.setattr(Recorder, "keep", keep)
    monkeypatch.setattr(Recorder, "rescue", refuse)

    said = inside(*THREADS, *more)

    assert said.code == code
    assert "no other place took it" in said.err


def test_the_line_to_replay_a_run_works_with_the_folders_that_were_given(
    inside, capfd, tmp_path, monkeypatch
):
    folders = ("--data", str(tmp_path / "it's my data"), "--experiments", str(tmp_path / "of own"))
    (tmp_path / "of own").mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "none"))  # not that of who runs the tests
    capfd.readouterr()
    assert main([*folders, *THREADS]) == 0
    said = capfd.readouterr().out

    (line,) = re.findall(r"Kept as \w{8} · (.*)", said)
    program, *words = shlex.split(line)
    assert (program, *words[:4]) == ("coreopsis", *folders)
    assert main(words) == 0
    assert main(words[4:]) == 2  # it lies in no other folder


@posix
def test_a_second_ctrl_c_does_no_harm(coreopsis):
    process = coreopsis.start(*LONG)
    assert until(lambda: rows_kept(coreopsis) > 3)

    for _ in range(5):
        os.killpg(process.pid, signal.SIGINT)

    said = coreopsis.end(process)
    assert said.code == 130
    assert "Traceback" not in said.err
    assert read(coreopsis.runs[0]).finished.outcome is messages.Outcome.STOPPED


@posix
def test_a_stopped_stream_ends_with_its_last_line(coreopsis):
    process = coreopsis.start(*LONG, "--json", "--no-keep")
    for _ in range(5):
        assert process.stdout.readline()

    os.killpg(process.pid, signal.SIGINT)

    said = coreopsis.end(process)
    assert said.code == 130
    last = messages.decode_event(said.lines[-1].encode() + b"\n")
    assert last.outcome is messages.Outcome.STOPPED


@posix
def test_a_stream_that_nobody_reads_is_stopped_and_kept_so(coreopsis):
    process = coreopsis.start(*LONG, "--json")
    assert process.stdout.readline()
    assert until(lambda: rows_kept(coreopsis) > 3)

    process.stdout.close()  # as `head` does

    process.wait(60)
    with process.stderr as errors:
        assert b"Traceback" not in errors.read()
    assert process.returncode == 130
    assert read(coreopsis.runs[0]).finished.outcome is messages.Outcome.STOPPED


@posix
def test_a_run_whose_program_is_killed_leaves_no_process_and_its_rows(coreopsis, inside):
    process = coreopsis.start(*LONG_PROCESSES)
    assert until(lambda: rows_kept(coreopsis) > 3)

    process.kill()
    process.communicate()

    assert until(lambda: not coreopsis.living())
    (path,) = coreopsis.runs
    assert read(path).finished.outcome is messages.Outcome.LOST
    said = inside("replay", path)
    assert said.code == 0
    assert "Cut short: its process vanished." in said.out


@posix
def test_a_measuring_process_that_is_killed_is_told_and_its_rows_are_kept(coreopsis):
    process = coreopsis.start(*LONG)
    assert until(lambda: rows_kept(coreopsis) > 3)
    (worker,) = (
        pid
        for pid, line in coreopsis.living().items()
        if "experiments.engine.worker" in line and "guardian" not in line
    )

    os.kill(worker, signal.SIGKILL)

    said = coreopsis.end(process)
    assert said.code == 1
    assert "Cut short: its process vanished." in said.out
    assert "ended from outside" in " ".join(said.out.split())
    assert read(coreopsis.runs[0]).finished.outcome is messages.Outcome.LOST


# --- one at a time ------------------------------------------------------------------------------


@pytest.fixture
def held(coreopsis):
    """Hold the lock of the machine as another program does; return what lets go of it."""
    lock = Lock(coreopsis.lock)
    assert lock.take({"experiment": "burst-random", "since": "12:34:56"})
    released = []

    def release():
        if not released:
            released.append(lock.close())

    yield release
    release()


@posix
def test_a_run_that_must_not_wait_is_refused_while_another_is_under_way(coreopsis, inside, held):
    out = coreopsis.folder / "x.jsonl"
    refused = (*CALLS, "--now", "--out", "x.jsonl")
    said = coreopsis(*refused)

    assert said.code == 3
    assert said.sentence == (
        "Not started: burst-random has been measured on this machine since 12:34:56."
        " Leave --now out to wait."
    )
    assert said.out == ""
    assert coreopsis.runs == []
    assert not out.exists()
    out.write_bytes(b"precious")
    assert inside(*refused).code == 3
    assert out.read_bytes() == b"precious"
    held()
    assert inside(*CALLS, "--now").code == 0


@posix
def test_a_run_stopped_before_its_first_row_says_one_sentence(coreopsis):
    folder = good(coreopsis.folder / "own", "slow_start")
    text = (folder / "experiment.py").read_text()
    began = "    while True:\n        bench.check_stop()\n    loops = "
    (folder / "experiment.py").write_text(text.replace("    loops = ", began))
    process = coreopsis.start("--experiments", folder.parent, "run", "slow-start", "--quick")
    assert until(lambda: coreopsis.runs)

    os.killpg(process.pid, signal.SIGINT)

    said = coreopsis.end(process)
    assert said.code == 130
    assert said.lines[1:] == ["", ENGLISH.say("outcomes.stopped_empty")]
    assert coreopsis.runs == []


def test_the_file_of_a_run_stopped_before_its_first_row_says_no_more(coreopsis, inside):
    lines = burst().lines[0], messages.encode(messages.Finished(outcome=messages.Outcome.STOPPED))
    path = Made(burst().run, lines).write(coreopsis.folder / "x.coreopsis.jsonl")

    said = inside("replay", path)

    assert said.lines[2:] == ["", ENGLISH.say("outcomes.stopped_empty")]


@posix
def test_waiting_can_be_stopped(coreopsis, held):
    process = coreopsis.start(*THREADS, "--out", "x.jsonl")
    said = process.stderr.readline().decode()
    assert said == "Waiting: burst-random has been measured here since 12:34:56.\n"

    os.killpg(process.pid, signal.SIGINT)

    said = coreopsis.end(process)
    assert said.code == 130
    question = "Do four threads make it four times faster?"
    assert said.lines == [question, "", "Stopped before the first row."]
    assert coreopsis.runs == []
    assert not (coreopsis.folder / "x.jsonl").exists()


@posix
def test_two_runs_at_once_take_turns(coreopsis):
    first = coreopsis.start(*LONG)
    assert until(lambda: rows_kept(coreopsis) > 3)
    second = coreopsis.start(*CALLS)

    told = second.stderr.readline().decode()
    assert re.match(r"Waiting: gil-threads has been measured here since \d\d:", told)

    os.killpg(first.pid, signal.SIGINT)
    assert coreopsis.end(first).code == 130
    assert coreopsis.end(second).code == 0
    assert len(coreopsis.runs) == 2


# --- a terminal that sees -----------------------------------------------------------------------


@posix
def test_progress_is_drawn_where_somebody_looks_and_the_result_is_plain_in_a_file(coreopsis):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--data", coreopsis.data, *THREADS, "--no-keep"],
        cwd=coreopsis.folder,
        env={**coreopsis.environment, "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    out = process.stdout.read().decode()
    process.stdout.close()
    shown = b""
    with open(ours, "rb", buffering=0) as terminal:
        try:
            while more := terminal.read(4096):
                shown += more
        except OSError:  # the other end is closed
            pass
    assert process.wait(60) == 0

    assert b"gil-threads" in shown
    assert b"%" in shown
    assert "\x1b" not in out
    assert "Time until all jobs are done" in out
    assert "Kept" not in out
    assert not coreopsis.data.exists()
    assert list(coreopsis.folder.iterdir()) == []


def test_json_of_a_run_can_be_read_line_by_line_by_any_json_reader(streamed):
    _, said = streamed
    lines = [json.loads(line) for line in said.lines]

    assert lines[0]["format"] == "coreopsis.run"
    assert {line["type"] for line in lines} <= {"started", "row", "progress", "note", "finished"}
    assert [line["n"] for line in lines if line["type"] == "row"] == list(
        range(sum(line["type"] == "row" for line in lines))
    )
