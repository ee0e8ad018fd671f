"""The program's surroundings: output that cannot be written, a terminal that closes, limits."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from tests.app.program import CTRL_C, Program
from tests.app.recordings import burst
from tests.processes import GONE_BREAKS_IMPORTS, PATIENCE_S, until

if sys.platform == "win32":
    pytest.skip("terminals and limits of POSIX", allow_module_level=True)

WITHOUT_TORCH = f"--python={sys.base_prefix}/bin/python3"  # which takes seconds to load
FEW = ("methods=call", "rounds=1", "sample_s=0.001")
SHORT = ("run", "start-cost", "--quick", *(f"--set={each}" for each in FEW))
# It sleeps, and no process is started for it but one.
SLEEP = ("job=sleep", "methods=serial", "workers=2", "switch_interval_s=0.0001", "job_s=0.2")
LONG = ("run", "gil-threads", *(f"--set={each}" for each in SLEEP), "--set=rounds=50")


@pytest.fixture
def full():
    """Return an open file that takes nothing."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as file:
        yield file


def last_line(path: Path) -> dict:
    return json.loads(path.read_bytes().splitlines()[-1])


# --- output that cannot be written --------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        *(["inspect"], ["inspect", "--json"], ["replay", "burst"], ["--version"]),
        *(["watch", "--hz=20"], ["watch", "--hz=20", "--json"], ["compare", "burst", "burst"]),
        *(["doctor", WITHOUT_TORCH], ["--help"]),
    ],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_told_in_a_sentence(coreopsis, full, arguments):
    burst().write(coreopsis.folder / "burst")

    said = coreopsis.end(coreopsis.start(*arguments, stdout=full))

    assert said.code == 1
    assert said.sentence == (
        "The output could not be written (No space left on device); choose another place."
    )


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["page", "json"])
def test_a_run_whose_output_cannot_be_written_is_kept_to_its_end(coreopsis, full, more):
    said = coreopsis.end(coreopsis.start(*SHORT, *more, stdout=full))

    assert said.code == 1
    assert "Traceback" not in said.err
    (kept,) = coreopsis.runs
    assert last_line(kept)["outcome"] == "completed"
    told = said.err.splitlines()[-1]
    assert told.startswith("The output could not be written (No space left on device). ")
    run = json.loads(kept.read_bytes().splitlines()[0])["run"][:8]
    assert told.endswith(f"replay {run}` shows the kept run.")


def test_a_copy_that_cannot_be_written_is_told_and_the_run_is_kept(coreopsis, inside, full):
    said = coreopsis(*SHORT, "--out", full.name)

    assert said.code == 1
    assert said.err.splitlines()[-1].startswith("Cannot write /dev/full: No space left on device.")
    assert last_line(coreopsis.runs[0])["outcome"] == "completed"
    assert inside("inspect", "--out", full.name).code == 1


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("command", [["inspect", "--json"], [*SHORT]], ids=" ".join)
def test_closed_streams_are_no_trouble_and_no_file_takes_their_numbers(coreopsis, command, closed):
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--data", str(coreopsis.data), *command],
        cwd=coreopsis.folder,
        env=coreopsis.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: [*map(os.close, closed)],
    )

    assert process.wait(PATIENCE_S) == 0
    assert [last_line(kept)["outcome"] for kept in coreopsis.runs] == ["completed"] * (
        command == [*SHORT]
    )


# --- a disk that takes nothing --------------------------------------------------------------------


@pytest.fixture(params=["full", "read-only"])
def small_disk(request, coreopsis):
    """Mount a disk without room as the data folder."""
    coreopsis.data.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(coreopsis.data)]
    if (
        sys.platform != "linux"
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("nothing can be mounted here")
    if request.param == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(coreopsis.data)], check=True)
    yield os.strerror(errno.ENOSPC if request.param == "full" else errno.EROFS)
    subprocess.run(["umount", str(coreopsis.data)], check=True)


@pytest.mark.parametrize("command", [SHORT, ("checkup", "--quick")], ids=["run", "checkup"])
def test_a_disk_that_takes_nothing_is_told_before_anything_is_measured(
    coreopsis, small_disk, command
):
    said = coreopsis(*command)

    assert (said.code, said.out) == (2, "")
    assert small_disk in said.sentence
    assert "--data DIR" in said.sentence


# --- a terminal that closes -----------------------------------------------------------------------


def in_a_terminal(
    coreopsis: Program, *arguments: str, is_its_own: bool, ignored: tuple[signal.Signals, ...] = ()
):
    """Start a command in a terminal; return it and the end that a window would hold."""
    holder, terminal = os.openpty()

    def prepare() -> None:
        for each in ignored:  # as `nohup` does, or a shell for `command &`
            signal.signal(each, signal.SIG_IGN)
        if is_its_own:
            take_terminal()

    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--data", str(coreopsis.data), *arguments],
        cwd=coreopsis.folder,
        env=coreopsis.environment | {"TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=prepare,
    )
    os.close(terminal)
    return process, holder


def take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def closed_amid_a_run(
    coreopsis: Program,
    *arguments: str,
    is_its_own: bool,
    ignored: tuple[signal.Signals, ...] = (),
) -> dict:
    """Close the terminal once rows are kept; return the last line of the run's file.

    All that runs is sent the `ignored` signals as well.
    """
    process, holder = in_a_terminal(coreopsis, *arguments, is_its_own=is_its_own, ignored=ignored)
    os.set_blocking(holder, False)

    def has_rows() -> bool:
        with contextlib.suppress(OSError):
            os.read(holder, 65536)  # what is drawn must not fill the terminal up
        return any(b'"type":"row"' in path.read_bytes() for path in coreopsis.runs)

    has_begun = until(has_rows)
    os.close(holder)
    for pid, number in itertools.product(coreopsis.living(), ignored):
        os.kill(pid, number)
    process.wait(PATIENCE_S)
    assert has_begun
    return last_line(coreopsis.runs[0])


def test_a_run_whose_terminal_closes_is_stopped_and_its_file_ends(coreopsis):
    last = closed_amid_a_run(coreopsis, *LONG, is_its_own=True)

    assert (last["type"], last["outcome"]) == ("finished", "stopped")


SOME = (*LONG[:-1], "--set=rounds=2")


def test_a_run_that_a_closed_terminal_does_not_stop_goes_on_to_its_end(coreopsis):
    last = closed_amid_a_run(coreopsis, *SOME, is_its_own=False)

    assert (last["type"], last["outcome"]) == ("finished", "completed")


def test_a_run_under_nohup_goes_on_without_its_terminal_and_is_kept(coreopsis):
    ignored = (signal.SIGHUP, signal.SIGINT)  # the second is that of `nohup ... &` in a script
    last = closed_amid_a_run(coreopsis, *SOME, is_its_own=True, ignored=ignored)

    assert (last["type"], last["outcome"]) == ("finished", "completed")


def test_a_terminal_that_closes_at_the_question_leaves_the_prediction_out(coreopsis):
    process, holder = in_a_terminal(coreopsis, *SHORT, "--predict", is_its_own=False)
    asked = b""
    while b"Enter skips" not in asked:
        asked += os.read(holder, 65536)
    os.close(holder)
    process.wait(PATIENCE_S)

    assert last_line(coreopsis.runs[0])["outcome"] == "completed"


# --- Ctrl-C during the start ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "module"),
    [
        (["inspect"], "app.command_line"),
        (["inspect"], "app.context"),
        (["inspect"], "argparse"),
        (["inspect"], "msgspec"),
        (["inspect"], "machine.inspect"),
        (["experiments"], "app.terminal.experiments"),
        (["run", "race", "--quick"], "experiments.engine.guardian"),
        (["run", "race", "--quick"], "app.terminal.progress"),
        (["worker"], "experiments.engine.entry"),
        (["worker"], "experiments.engine.worker"),
        ([], "app.window.shell.display"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else each,
)
def test_ctrl_c_during_the_start_ends_the_program_without_a_word(coreopsis, command, module):
    said = coreopsis(*command, **{CTRL_C: module})

    assert (said.code, said.out, said.err) == (130, "", "")


# --- limits, and a folder that is gone ------------------------------------------------------------


def limited(coreopsis: Program, kind: int, limit: int, *arguments: str):
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--data", str(coreopsis.data), *arguments],
        cwd=coreopsis.folder,
        env=coreopsis.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
    )
    return coreopsis.end(process)


@pytest.mark.parametrize("command", [SHORT, ["watch", "--for=0.3"]], ids=["run", "watch"])
def test_too_few_open_files_are_told_by_the_name_of_the_limit(coreopsis, command):
    said = limited(coreopsis, resource.RLIMIT_NOFILE, 8, *command)

    assert said.code == 1
    assert "`ulimit -n` says 8." in said.sentence


def test_too_few_open_files_for_the_worker_are_no_missing_library(coreopsis):
    many = ("run", "gil-threads", "--quick", "--set=job=sleep")
    said = limited(coreopsis, resource.RLIMIT_NOFILE, 12, *many)

    assert said.code == 1
    assert "`ulimit -n`" in said.out + said.err
    assert "Traceback" not in said.err


@pytest.mark.torch
def test_too_little_memory_is_told_by_the_name_of_the_limit_and_no_library_is_missing(coreopsis):
    said = limited(coreopsis, resource.RLIMIT_AS, 300_000 * 1024, "run", "amp", "--quick")

    assert said.code == 1
    assert "(`ulimit -v 300000`)" in said.out.replace("\n", " ")
    assert "make run" not in said.out


EVERY = [
    *(["inspect"], ["experiments"], ["--version"], ["--help"], ["replay", "stream"]),
    ["doctor", WITHOUT_TORCH],
    *(["watch", "--for=0.2"], ["compare", "a.jsonl", "b.jsonl"], ["new", "call-cost"], SHORT),
    *(["check", "."], ["inspect", "--out=here.json"], ["inspect", "--root=."], ["replay", "x"]),
    *(["--experiments=more", "experiments"], ["--data=data", "experiments"], ["--data=d", *SHORT]),
    *(["--fake-machine=m.json", "inspect"], ["new", "call-cost", "--in=."]),
    ["doctor", "--python=p"],
    [*SHORT, "--out=run.coreopsis.jsonl"],
]  # fmt: skip


@GONE_BREAKS_IMPORTS
@pytest.mark.parametrize("arguments", EVERY, ids=lambda arguments: " ".join(arguments[:3]))
def test_where_the_working_folder_is_gone_a_command_works_or_says_why_not(
    coreopsis, monkeypatch, capfd, tmp_path, arguments
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.setattr(sys, "argv", [str(Path(sys.executable).with_name("coreopsis"))])
    with contextlib.chdir(gone):  # pytest cannot tell of a failure in a folder that is gone
        gone.rmdir()
        code = main(["--data", str(coreopsis.data), *arguments])

    said = capfd.readouterr()
    assert "Traceback" not in said.err
    assert code in (0, 4) or said.err.count("\n") == 1, said.err
    assert said.out or said.err


def test_a_stopped_watch_of_a_closed_terminal_ends(coreopsis):
    process, holder = in_a_terminal(coreopsis, "watch", "--hz", "20", is_its_own=True)
    assert os.read(holder, 1)
    os.close(holder)
    assert process.wait(PATIENCE_S) in (130, -signal.SIGHUP)
