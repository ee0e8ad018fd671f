from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from pathlib import Path

import psutil
import pytest

from machine.doctor.nvml import ask_nvml
from machine.doctor.torch_probe import examine
from machine.system.asking import Stopped, ask
from tests import ROOT
from tests.cases import not_on_windows
from tests.processes import until

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")


def test_a_question_that_is_not_wanted_any_more_ends_soon():
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()

    with pytest.raises(Stopped):
        ask(SLEEP, within_s=600, stop=stop)  # longer than a test may take


@pytest.mark.parametrize("question", [ask_nvml, examine])
def test_what_is_not_wanted_from_the_beginning_is_not_asked(question):
    stop = threading.Event()
    stop.set()

    with pytest.raises(Stopped):
        question(stop=stop)


def test_what_a_question_that_is_stopped_has_started_ends_with_it(tmp_path):
    mark = tmp_path / "begun"
    code = (
        "import pathlib, subprocess, sys; "
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        f"pathlib.Path({str(mark)!r}).write_text(str(child.pid)); child.wait()"
    )
    stop = threading.Event()

    def stop_when_begun():
        until(lambda: mark.exists() and mark.read_text() != "")
        stop.set()

    thread = threading.Thread(target=stop_when_begun)
    thread.start()
    with pytest.raises(Stopped):
        ask((sys.executable, "-c", code), within_s=600, stop=stop)
    thread.join()

    pid = int(mark.read_text())
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


ASKS = """
import sys
from machine.system.asking import ask
ask((sys.executable, "-c", "print(1)"), within_s=60)
ask((sys.executable, "-c", "import os, time; open('here', 'w'); time.sleep(600)"), within_s=600)
"""


@not_on_windows
def test_what_a_program_left_that_was_killed_while_it_asked_goes_with_the_next_question(
    monkeypatch,
):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a short path, as people have
        monkeypatch.setenv("TMPDIR", folder)
        base = Path(folder)
        with killed_when(lambda: [*base.glob("*/here")], ASKS):
            pass
        assert len([*base.iterdir()]) == 1  # the first question has left nothing

        ask((sys.executable, "-c", "print(1)"), within_s=60)

        assert [*base.iterdir()] == []


@contextlib.contextmanager
def killed_when(condition, code, **environment):
    """Run code until a condition holds; then kill it, and at the end what it started."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **environment}
    )
    try:
        assert until(condition)
        children = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.kill()
        process.wait()
    try:
        yield
    finally:
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends by its time")
def test_a_torch_that_hangs_ends_with_the_program_that_asks(tmp_path):
    pid = tmp_path / "pid"
    (tmp_path / "torch.py").write_text(
        f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    asks = "from machine.doctor.torch_probe import examine; examine()"
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    with killed_when(lambda: pid.exists() and pid.read_text(), asks, PYTHONPATH=path):
        assert until(lambda: not psutil.pid_exists(int(pid.read_text())), 5.0)


def test_what_was_said_before_the_time_ran_out_is_kept(clock):
    code = f"{clock.hang}print('here', flush=True); hang()"

    answer = ask((sys.executable, "-c", code), within_s=60.0)

    assert (answer.lines, answer.status) == (("here",), None)


@pytest.mark.parametrize("piece", ["noise " * 10 + "\n", "n" * 64])
def test_output_that_is_no_answer_is_dropped(piece):
    code = (
        "import os\n"
        "os.write(1, b'@first\\n')\n"
        f"piece = {piece.encode()!r} * 4096\n"
        "for _ in range(40):\n    os.write(1, piece); os.write(2, piece)\n"
        "os.write(1, b'\\n@last\\n'); os.write(2, b'\\nend\\n')\n"
    )
    tracemalloc.start()
    try:
        answer = ask((sys.executable, "-c", code), within_s=600.0, mark="@")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (answer.lines, answer.last_error, answer.status) == (("@first", "@last"), "end", 0)
    assert peak_bytes < 8 * 2**20  # of twenty
