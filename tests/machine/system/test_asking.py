from __future__ import annotations

import sys
import threading
import tracemalloc

import pytest

from machine.doctor.nvml import ask_nvml
from machine.doctor.torch_probe import examine
from machine.system.asking import Stopped, ask
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

    import psutil

    pid = int(mark.read_text())
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


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
