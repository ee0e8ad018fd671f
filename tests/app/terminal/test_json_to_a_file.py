"""`coreopsis ... --json > FILE`, typed in a terminal: the file is whole, and errors are seen."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

from app.lecture.file import Item, Lecture, encode
from app.parser import parser
from experiments.checkup.result import SUFFIX
from experiments.checkup.result import encode as encode_checkup
from experiments.core import words
from experiments.engine import messages
from tests.app.checkup.made import checkup
from tests.app.recordings import threads
from tests.processes import PATIENCE_S

ENGLISH = words.load("en")
FEW = {"methods": ["call"], "rounds": 2, "sample_s": 0.001}
SET = ["--set", "methods=call", "--set", "rounds=2", "--set", "sample_s=1ms"]
COMMANDS = {
    "inspect": ["inspect"],
    "doctor": ["doctor", "--python", f"{sys.base_prefix}/bin/python3"],  # loads no torch
    "watch": ["watch", "--hz", "20", "--for", "0.2"],
    "experiments": ["experiments"],
    "run": ["run", "start-cost", *SET],
    "compare": ["compare", "one.coreopsis.jsonl", "other.coreopsis.jsonl"],
    "checkup": ["checkup", "--quick"],  # stopped as soon as it shows how far it is
    "gather": ["gather", f"one{SUFFIX}", f"other{SUFFIX}"],
    "preflight": ["preflight", "x.coreopsis-lecture.toml"],
}  # fmt: skip
SHOWS_A_BAR = {"run", "checkup", "preflight"}
LINES = {"run", "watch"}  # a line of JSON each; the others write one document

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)


class Told(NamedTuple):
    """The data that a command wrote into a file, and the text on its terminal."""

    code: int
    data: bytes
    shown: str


@pytest.fixture
def typed(coreopsis):
    """Return what types a command into a terminal, `> FILE` or without."""
    folder = coreopsis.folder
    threads().write(folder / "one.coreopsis.jsonl")
    threads(threads_s=0.2).write(folder / "other.coreopsis.jsonl")
    for name in ("one", "other"):
        (folder / f"{name}{SUFFIX}").write_bytes(encode_checkup(checkup(id=name)))
    lecture = Lecture(title="x", item=(Item(experiment="start-cost", set=FEW),))
    (folder / "x.coreopsis-lecture.toml").write_bytes(encode(lecture))

    def run(command: list[str], *, is_stopped: bool = False, to_file: bool = True) -> Told:
        terminal, its_end = os.openpty()
        path = folder / "out.json"
        with open(path, "wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "app", "--data", str(coreopsis.data), *command, "--json"],
                cwd=folder,
                env={**coreopsis.environment, "TERM": "xterm"},
                stdin=its_end,
                stdout=file if to_file else its_end,
                stderr=its_end,
                start_new_session=True,
            )
            os.close(its_end)
            shown = read_to_the_end(terminal, process, is_stopped=is_stopped)
            os.close(terminal)
            return Told(process.wait(PATIENCE_S), path.read_bytes(), shown)

    return run


def read_to_the_end(terminal: int, process: subprocess.Popen, *, is_stopped: bool) -> str:
    """Return all that a terminal shows; stop the command once it has shown how far it is."""
    shown, end_s = b"", time.monotonic() + 2 * PATIENCE_S
    while time.monotonic() < end_s:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # nobody has it open any more
            break
        if not data:
            break
        shown += data
        if is_stopped and b"%" in shown:
            process.send_signal(signal.SIGINT)
            is_stopped = False
    return shown.decode()


def test_each_command_that_writes_json_is_tried_here():
    (commands,) = (each for each in parser()._actions if each.dest == "command")  # noqa: SLF001
    writing = {
        name for name, command in commands.choices.items()
        if "--json" in command._option_string_actions  # noqa: SLF001
    }  # fmt: skip
    assert writing == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_file_is_whole_and_the_terminal_shows_no_traceback(typed, name):
    told = typed(COMMANDS[name], is_stopped=name == "checkup")

    assert "Traceback" not in told.shown
    assert told.code in (0, 1, 4, 130)
    assert (told.code == 130) == (name == "checkup")
    documents = told.data.splitlines() if name in LINES else [told.data]
    assert documents
    assert all(json.loads(each) for each in documents)
    assert b"\x1b" not in told.data
    assert ("%" in told.shown or "━" in told.shown) == (name in SHOWS_A_BAR)
    if name == "run":
        kinds = [json.loads(each)["type"] for each in documents]
        assert (kinds[0], kinds[-1]) == ("started", "finished")
        assert messages.decode_event(documents[-1] + b"\n")


def test_lines_on_the_terminal_itself_stay_whole(typed):
    """Both streams are one terminal then: no bar runs into a line of JSON."""
    told = typed(COMMANDS["run"], to_file=False)

    assert told.code == 0
    assert "Traceback" not in told.shown
    lines = told.shown.splitlines()  # notes stand on lines of their own
    kinds = [json.loads(line)["type"] for line in lines if "{" in line]
    assert (kinds[0], kinds[-1]) == ("started", "finished")


def test_an_error_is_seen_on_the_terminal_and_the_file_stays_empty(typed):
    told = typed(["run", "gil-treads"])

    assert told.code == 2
    assert told.data == b""
    assert "gil-threads" in told.shown
    assert "Traceback" not in told.shown
