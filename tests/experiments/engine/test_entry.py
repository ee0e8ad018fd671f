"""`coreopsis worker`, spoken to by hand: the bytes that would go through ssh."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from experiments.core.catalogue import Catalogue
from experiments.core.parameters import to_json
from experiments.core.processes.own_environment import CLEARED
from experiments.engine.entry import FIRST_LINE_BYTES
from experiments.engine.messages import LINE_LIMIT_BYTES
from machine.inspect import inspect
from machine.model import from_json
from tests.processes import PATIENCE_S, living, until

# The quickest experiment there is: it sleeps, and imports nothing.
GIL_THREADS = Catalogue().load("gil-threads")
SLEEP = to_json(GIL_THREADS.params_for(inspect(), quick=True)) | {
    "workers": 2, "job_s": 0.005, "job": "sleep", "methods": ["serial"], "rounds": 3,
    "switch_interval_s": 1e-4,
}  # fmt: skip
MEASURE = {
    "type": "measure", "experiment": "gil-threads", "params": SLEEP, "quick": True, "run": "1-2-3"
}  # fmt: skip
ENDLESS = MEASURE | {"params": SLEEP | {"job_s": 0.2, "rounds": 50}}


class Line:
    """The two ends of a worker's standard input and output."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def say(self, message: dict[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        assert line, "it ended without the word that was waited for"
        return json.loads(line)

    def hear_until(self, kind: str) -> list[dict[str, Any]]:
        heard = [self.hear()]
        while heard[-1]["type"] != kind:
            heard.append(self.hear())
        return heard

    def close(self) -> int:
        self.process.stdin.close()
        status = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        return status


@pytest.fixture
def line() -> Iterator[Line]:
    """Return a worker that has no command yet."""
    line = Line()
    yield line
    line.close()


def kinds(heard: list[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in heard]


def test_a_measurement_has_a_guardian_and_says_the_lines_of_a_run(line):
    line.say(MEASURE)
    hello = line.hear()
    assert hello["type"] == "hello"
    assert hello["protocol"] == 1
    assert hello["pid"] != line.process.pid
    assert Path(f"/proc/{hello['pid']}/stat").read_text().split()[3] == str(line.process.pid)
    heard = line.hear_until("finished")
    assert kinds(heard)[0] == "started"
    assert heard[0]["run"] == "1-2-3"
    assert hello["program"] == heard[0]["environment"]["program"] == version("coreopsis")
    assert heard[0]["environment"]["libraries"]["numpy"] == version("numpy")
    assert heard[-1]["outcome"] == "completed"
    numbers = [message["n"] for message in heard if message["type"] == "row"]
    assert numbers == list(range(len(numbers)))
    assert line.process.stdout.read() == b""
    assert line.process.wait(PATIENCE_S) == 0


def test_a_measurement_is_not_tuned_by_the_shell_that_starts_it(monkeypatch):
    monkeypatch.delenv(CLEARED, raising=False)
    tunes = {"PYTHONMALLOC": "malloc", "NUMBA_OPT": "0", "OMP_NUM_THREADS": "7"}
    for name, value in {**tunes, "CUDA_VISIBLE_DEVICES": "3"}.items():
        monkeypatch.setenv(name, value)
    line = Line()
    line.say(MEASURE)
    pid = line.hear()["pid"]
    process = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    started = line.hear()
    line.close()
    assert not any(entry.startswith(("PYTHONMALLOC", "NUMBA_OPT")) for entry in process)
    assert "OMP_NUM_THREADS=1" in process, "the guardian's own"
    assert started["environment"]["variables"]["CUDA_VISIBLE_DEVICES"] == "3"
    assert set(started["environment"]["cleared_variables"]) >= tunes.keys()


def test_a_measurement_can_be_stopped(line):
    line.say(ENDLESS)
    line.hear_until("row")
    line.say({"type": "stop"})
    assert line.hear_until("finished")[-1]["outcome"] == "stopped"


def test_a_measurement_ends_with_standard_input(line, token):
    line.say(ENDLESS)
    line.hear_until("started")
    line.process.stdin.close()
    assert line.process.wait(PATIENCE_S) == 128 + 9
    assert until(lambda: not living(token))


def test_a_measurement_ends_when_nobody_listens(line, token):
    line.say(ENDLESS)
    line.hear_until("started")
    line.process.stdout.close()
    assert line.process.wait(PATIENCE_S) is not None
    assert until(lambda: not living(token))


def test_a_measurement_of_what_is_not_known_fails_in_words(line):
    line.say(MEASURE | {"experiment": "gil-thread"})
    finished = line.hear_until("finished")[-1]
    assert finished["outcome"] == "failed"
    assert finished["problem"]["key"] == "experiment_unknown_near"
    assert finished["problem"]["values"] == {"id": "gil-thread", "near": "gil-threads"}


def test_single_points_have_a_guardian_and_are_measured_until_the_input_ends(line, token):
    line.say({"type": "live", "experiment": "false-sharing"})
    hello = line.hear()
    assert Path(f"/proc/{hello['pid']}/stat").read_text().split()[3] == str(line.process.pid)
    assert line.hear() == {"type": "ready"}
    for number, distance in ((1, 8), (2, 64)):
        line.say({"type": "point", "point": number, "params": {"distance_bytes": distance}})
        *rows, done = line.hear_until("point_done")
        assert [row["row"]["distance_bytes"] for row in rows] == [distance]
        assert done == {"type": "point_done", "point": number, "problem": None}
    line.process.stdin.close()
    assert line.process.wait(PATIENCE_S) == 128 + 9
    assert until(lambda: not living(token))


def test_a_worker_that_measures_points_ends_at_any_other_command(line):
    line.say({"type": "live", "experiment": "false-sharing"})
    line.hear_until("ready")
    line.say(MEASURE)
    assert line.hear_until("finished")[-1]["problem"]["key"] == "command_out_of_turn"
    assert line.process.wait(PATIENCE_S) == 0


def test_an_inspection_sends_parts_then_the_whole_and_can_be_repeated(line):
    for _ in range(2):
        line.say({"type": "inspect"})
        heard = [message for message in line.hear_until("finished") if message["type"] != "hello"]
        assert kinds(heard[:-2]) == ["part"] * (len(heard) - 2)
        assert kinds(heard[-2:]) == ["machine", "finished"]
        assert {message["path"] for message in heard[:-2]} >= {"os", "cpu", "memory"}
        assert from_json(heard[-2]["value"]).cpu.threads == os.cpu_count()
        assert heard[-1]["outcome"] == "completed"


def test_a_root_that_is_no_recording_is_said_so_and_the_next_inspection_goes_well(line, tmp_path):
    line.say({"type": "inspect", "root": str(tmp_path)})
    finished = line.hear_until("finished")[-1]
    assert finished["outcome"] == "failed"
    assert finished["problem"]["key"] == "root_unreadable"
    line.say({"type": "inspect"})
    assert line.hear_until("finished")[-1]["outcome"] == "completed"


def test_a_watch_changes_its_rate_inspects_meanwhile_stops_and_inspects_again(line):
    line.say({"type": "watch", "hz": 20.0})
    assert kinds(line.hear_until("sample")) == ["hello", "sample"]
    line.say({"type": "rate", "hz": 1e300})
    samples = [line.hear() for _ in range(5)]
    assert kinds(samples) == ["sample"] * 5
    times = [sample["t_s"] for sample in samples]
    assert times == sorted(times)
    assert len(samples[0]["threads"]) == os.cpu_count()
    line.say({"type": "inspect"})
    assert line.hear_until("finished")[-1]["outcome"] == "completed"
    line.hear_until("sample")
    line.say({"type": "rate", "hz": 0})  # as slow as it gets, not never
    line.say({"type": "stop"})
    assert line.hear_until("finished")[-1]["outcome"] == "stopped"
    line.say({"type": "inspect"})
    assert kinds(line.hear_until("finished"))[-2:] == ["machine", "finished"]
    line.say({"type": "watch", "hz": 20.0})
    line.hear_until("sample")


def test_a_slow_watch_hears_at_once(line):
    line.say({"type": "watch", "hz": 0.1})
    line.hear_until("sample")
    line.say({"type": "rate", "hz": 20.0})
    line.hear_until("sample")


def test_what_is_no_command_is_answered_in_words_and_the_next_is_obeyed(line):
    for garbage in (
        b"garbage\n", b"\xff\xfe\0\n", b"\n", b"[]\n", b'{"type":"measure"}\n', b'{"type":"x"}\n',
        b'{"type":"inspect","root":"' + b"x" * LINE_LIMIT_BYTES + b'"}\n',
    ):  # fmt: skip
        line.say(garbage)
        finished = line.hear_until("finished")[-1]
        assert finished["outcome"] == "failed"
        assert finished["problem"]["key"] == "command_unreadable"
        assert finished["problem"]["values"]["reason"]
    line.say({"type": "inspect"})
    assert line.hear_until("machine")


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (b"x" * (LINE_LIMIT_BYTES + 1), "more than 1048576 bytes"),  # and no end of the line
        (b"[" * 100_000 + b"\n", "got `array`"),
        (b'{"type":"measure","params":{"a":' + b"[" * 100_000 + b"\n", "recursion|Stack overflow"),
    ],
    ids=["endless", "brackets", "brackets in a measurement"],
)
def test_a_first_line_that_is_too_long_or_too_deep_is_answered_in_words(line, first, reason):
    line.say(first)
    finished = line.hear_until("finished")[-1]
    assert finished["problem"]["key"] == "command_unreadable"
    assert re.search(reason, finished["problem"]["values"]["reason"])


def test_the_first_line_may_be_as_long_as_any_other():
    assert FIRST_LINE_BYTES == LINE_LIMIT_BYTES


@pytest.mark.parametrize(
    ("said", "answer"), [(b'{"foo":1}\n', "command_unreadable"), (b'{"type":"inspect"}\n', None)]
)
def test_what_was_read_before_the_end_of_the_input_is_answered(said, answer):
    done = subprocess.run(
        [sys.executable, "-m", "app", "worker"], input=said, capture_output=True, check=False
    )
    finished = json.loads(done.stdout.splitlines()[-1])

    assert finished["type"] == "finished"
    assert (finished["problem"] or {"key": None})["key"] == answer
    assert done.returncode == 3


def test_a_worker_that_watches_does_not_measure(line):
    line.say({"type": "watch", "hz": 20.0})
    line.hear_until("sample")
    for command in (MEASURE, {"type": "live", "experiment": "x"},
                    {"type": "point", "point": 1, "params": {}}):  # fmt: skip
        line.say(command)
        assert line.hear_until("finished")[-1]["problem"]["key"] == "command_out_of_turn"


def test_a_plain_worker_ends_with_standard_input_whatever_it_was_told(token):
    def silence(line: Line) -> None: ...

    def watch(line: Line) -> None:
        line.say({"type": "watch", "hz": 20.0})
        line.hear_until("sample")

    def half_a_line(line: Line) -> None:
        line.say(b'{"type":"wat')

    endings: list[Callable[[Line], None]] = [silence, watch, half_a_line]
    for before in endings:
        line = Line()
        before(line)
        assert line.close() == 3
        assert not living(token)


def test_a_warm_worker_has_all_that_numba_loads_with_the_first_loop():
    program = """
import sys
from experiments.engine import worker
worker._load(["numba"])
before = set(sys.modules)
import experiments.kernels.sums
print([name for name in sys.modules if name.startswith("numba.") and name not in before])
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
