"""A lecture of ten items in the real window, by keys alone, while three of its runs are sabotaged.

Before, the class votes by numbers, unseen until the vote is closed, and the lecturer leaves once.

COREOPSIS_PICTURES names a folder for pictures of some moments, to be looked at.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.lecture.file import SUFFIX, Item, Lecture, encode
from app.lecture.lectures import NAME
from experiments.core import words
from experiments.engine.lock import FOLDER_VARIABLE
from machine.system.scratch import PREFIX, SHARED_MEMORY
from tests.app.own import good
from tests.app.program import Program as Terminal
from tests.experiments.engine.runs import kill
from tests.processes import TOKEN, until
from tests.story.screen import PATIENCE_S, Program, opened

pytestmark = pytest.mark.slow
TITLE, MIB = "Ten that must not fail", 2**20
PICTURES = os.environ.get("COREOPSIS_PICTURES")
SABOTAGE = {"dies": "import os; os._exit(7)", "hangs": "import time; time.sleep(3600)"}
FROZEN, DIES, HANGS, KILLED = 2, 3, 5, 7  # items, from 1
ITEMS = (
    Item(experiment="race", set={"times": 20_000, "rounds": 3}),
    Item(experiment="burst-random", set={"largest_bytes": MIB, "rounds": 3}),
    Item(experiment="dies", recording="dies.jsonl.gz"),
    Item(experiment="stream", set={"array_bytes": MIB, "rounds": 2, "loaded": False}),
    Item(experiment="hangs", recording="hangs.jsonl.gz"),
    Item(experiment="uneven", set={"rows": 16, "columns": 4, "rounds": 2, "workers": 2}),
    Item(experiment="gil-threads", set={"job_s": 0.05, "rounds": 50}),
    Item(experiment="cache-ladder", set={"largest_bytes": 2 * MIB, "rounds": 2}),
    Item(experiment="false-sharing", set={"rounds": 2}),
    Item(experiment="gil-threads", set={"job_s": 0.02, "rounds": 3, "workers": 2}),
)


class Lecturer:
    """Who leads the lecture: forward with a clicker, and some letters."""

    def __init__(self, window: Program, temporary: str) -> None:
        self._window, self._temporary = window, temporary
        self.run_folders: set[str] = set()  # of all runs; their shared memory is called like them

    def wait(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait for something to hold of the slide; return what it shows."""
        end_s = time.monotonic() + PATIENCE_S
        while not holds(seen := self._window.ask("lecture")):
            assert time.monotonic() < end_s, seen
            found = os.listdir(self._temporary)
            self.run_folders.update(name for name in found if name.startswith(PREFIX))
            time.sleep(0.05)
        return seen

    def press(self, key: str) -> dict[str, Any]:
        """Press a key that changes what is shown."""
        before = state(self._window.ask("lecture"))
        self._window.press(key)
        return self.wait(lambda seen: state(seen) != before)

    def go_to(self, place: int, step: str) -> dict[str, Any]:
        """Go forward to a step, each time as soon as the lecture is ready for the key."""
        while True:
            seen = self.wait(lambda seen: seen["key"] or at(seen) == (place, step))
            if at(seen) == (place, step):
                return seen
            assert seen["band"] or not seen["trouble"], seen
            self.press("Next")

    def picture(self) -> int:
        return self._window.ask("picture")

    def keep_picture(self, name: str) -> None:
        if PICTURES:
            assert self._window.ask("shot", path=f"{PICTURES}/{name}.png")


def state(seen: dict[str, Any]) -> tuple[object, ...]:
    names = ("place", "step", "arms", "band", "is_frozen", "is_over", "is_hidden")
    return tuple(seen[name] for name in names)


def at(seen: dict[str, Any]) -> tuple[int, str]:
    return seen["place"], seen["step"]


@pytest.fixture
def terminal(tmp_path) -> Iterator[Terminal]:
    """Return what the lecture and its recordings are made with; nothing of it may be left."""
    terminal = Terminal(tmp_path)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # short enough for that of a run
        terminal.environment["TMPDIR"] = folder
        yield terminal
        terminal.close()


@pytest.fixture
def window(terminal: Terminal, tmp_path) -> Iterator[Program]:
    """Open the window, with the lecture among those that the user has."""
    shelf, folder = tmp_path / "shelf", terminal.data / NAME
    folder.mkdir(parents=True)
    for name, sabotage in SABOTAGE.items():
        home, recording = good(shelf, name), folder / f"{name}.jsonl.gz"
        own = ("--experiments", shelf)
        assert terminal(*own, "run", name, "--no-keep", "--out", recording).code == 0
        break_halfway(home / "experiment.py", sabotage)
    lecture = Lecture(title=TITLE, item=ITEMS)
    (folder / f"ten{SUFFIX}").write_bytes(encode(lecture))
    with opened(
        terminal.data,
        "--experiments",
        str(shelf),
        **{
            FOLDER_VARIABLE: terminal.environment[FOLDER_VARIABLE],
            TOKEN: terminal.token,
            "TMPDIR": terminal.environment["TMPDIR"],
        },
    ) as window:
        window.wait_until(lambda told: told["entries"] > 0)
        yield window


def break_halfway(path: Path, sabotage: str) -> None:
    """Let an experiment end after half of its rows."""
    text, after = path.read_text(), "        yield x.Progress(turn.fraction)\n"
    assert after in text
    broken = f"{after}        if turn.fraction > 0.5:\n            {sabotage}\n"
    path.write_text(text.replace(after, broken))


def begin(window: Program, temporary: str) -> Lecturer:
    """Open the lecture by its name, and begin it."""
    window.take_keys("Coreopsis")
    window.press("ctrl+k")
    window.type("lecture")
    window.press("Return")
    window.click("Open…")
    window.click(TITLE)
    window.wait_for(f"{len(ITEMS)} items")
    enter(window)
    return Lecturer(window, temporary)


def enter(window: Program) -> None:
    """Begin the lecture that is open, or go on with it."""
    window.press("F11")
    window.wait_until(lambda _: window.ask("lecture"))  # xdotool misses one that opens meanwhile
    window.take_keys("Lecture")


def leave(window: Program, lecturer: Lecturer) -> None:
    """Leave the lecture, which asks before."""
    window.press("Escape")
    lecturer.wait(lambda seen: seen["over"])
    lecturer.keep_picture("leave")
    window.press("Return")
    window.wait_until(lambda _: not window.ask("lecture"))
    window.take_keys("Coreopsis")


def vote_unseen(window: Program, lecturer: Lecturer) -> None:
    """Look at the question and the keys, type hidden votes, leave, and come back."""
    seen = lecturer.wait(lambda seen: at(seen) == (1, "question"))
    assert "this code" in seen["title"]
    assert "counter.value = one_more(counter.value)" in seen["code"]
    assert seen["context"]
    lecturer.keep_picture("question")
    window.press("question")
    seen = lecturer.wait(lambda seen: seen["over"])
    assert "C 38 Enter" in seen["over"]
    lecturer.keep_picture("keys")
    window.press("question")
    lecturer.wait(lambda seen: not seen["over"])

    lecturer.go_to(1, "vote")
    window.press("u")
    for key in ("a", "9", "Return", "c", "3", "8"):
        window.press(key)
    seen = lecturer.wait(lambda seen: seen["typed"] == "38")
    assert seen["is_hidden"]
    lecturer.keep_picture("typed")
    window.press("Return")
    lecturer.wait(lambda seen: seen["votes"] == [9, 0, 38, 0])
    leave(window, lecturer)
    enter(window)
    seen = lecturer.wait(lambda seen: at(seen) == (1, "vote"))
    assert (seen["votes"], seen["is_hidden"]) == ([9, 0, 38, 0], True)
    window.press("Next")
    seen = lecturer.wait(lambda seen: not seen["is_hidden"])
    assert at(seen) == (1, "vote")
    lecturer.keep_picture("closed")


def measuring(terminal: Terminal) -> list[int]:
    """Return the workers that measure; those that watch and inspect belong to the window itself."""
    living = terminal.living()
    (window,) = (pid for pid, line in living.items() if "tests.story.driven" in line)
    workers = [pid for pid, line in living.items() if "engine.worker --imports" in line]
    found = [pid for pid in workers if psutil.Process(pid).ppid() != window]
    assert found
    return found


def test_ten_items_three_of_them_sabotaged_and_a_freeze(terminal, window: Program):
    lecturer = begin(window, terminal.environment["TMPDIR"])
    vote_unseen(window, lecturer)
    seen = lecturer.go_to(1, "explain")
    assert seen["verdict"]
    assert not seen["band"] or seen["trouble"]

    lecturer.go_to(FROZEN, "vote")
    lecturer.press("f")
    still = lecturer.picture()
    lecturer.go_to(FROZEN, "explain")
    assert lecturer.picture() == still
    lecturer.press("f")
    assert lecturer.picture() != still

    for place in (DIES, HANGS, KILLED):
        lecturer.go_to(place, "run")
        if place == KILLED:
            lecturer.wait(lambda seen: seen["rows"])
            kill(*measuring(terminal))
        seen = lecturer.wait(lambda seen: seen["trouble"])
        assert at(seen) == (place, "run")
        assert not seen["band"]
        lecturer.keep_picture(f"{place}-trouble")
        seen = lecturer.press("r")
        assert at(seen) == (place, "run")
        assert seen["band"]
        assert not seen["source"]
        lecturer.keep_picture(f"{place}-recording")
        seen = lecturer.go_to(place, "explain")
        assert seen["band"]
        assert seen["verdict"]

    seen = lecturer.go_to(len(ITEMS), "explain")
    too_busy = words.load().say("lecture.too_busy")  # then the recording explains
    assert not seen["band"] or seen["trouble"] == too_busy
    seen = lecturer.press("Next")
    assert seen["is_over"]
    assert at(seen) == (len(ITEMS), "explain")
    assert seen["verdict"]
    lecturer.keep_picture("last")

    leave(window, lecturer)
    window.press("ctrl+q")
    assert window.end() == 0
    assert until(lambda: not terminal.living()), terminal.living()
    assert os.listdir(terminal.environment["TMPDIR"]) == []
    assert lecturer.run_folders
    shared = os.listdir(SHARED_MEMORY)
    assert not [name for name in shared if any(each in name for each in lecturer.run_folders)]
