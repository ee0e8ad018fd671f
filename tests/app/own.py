"""Experiments of a user's own, good and broken, as folders to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.terminal.new import write

Change = Callable[[Path], None]


def _edit(file: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")

    return change


def _first(line: str) -> Change:
    return _edit("experiment.py", "from __future__ import annotations\n", f"{line}\n")


# What is wrong, to the folder's name, the change, and the key of the sentence.
BROKEN: dict[str, tuple[str, Change, str]] = {
    "syntax": ("odd_syntax", _edit("experiment.py", "def measure(", "def measure(:"), "own_error"),
    "endless": ("endless", _first("while True: pass"), "own_silent"),
    "exits": ("exits", _first("import os; os._exit(3)"), "own_ended"),
    "types": (
        "odd_types",
        _edit("experiment.py", "parts=(x.Part.CORES,)", 'parts="cores"'),
        "own_wrong_type",
    ),
    "words": ("few_words", _edit("words.en.toml", "[views]", "[voews]"), "own_words_missing"),
    "package": ("unmet", _first("import not_there_at_all"), "own_package_missing"),
    "taken": ("stream", lambda folder: None, "own_name_taken"),
    "confirmed_by": (
        "odd_event",
        _edit("experiment.py", "    loop=", "    confirmed_by='luck',\n    loop="),
        "own_wrong_type",
    ),
    "loop": ("odd_loop", _edit("experiment.py", 'loop="', 'loop=b"'), "own_wrong_type"),
    "keys": ("odd_keys", _edit("experiment.py", "    keys=(", "    keys=('a', "), "own_wrong_type"),
    "next": ("odd_next", _edit("experiment.py", "next=x.Next(", "next=("), "own_wrong_type"),
    "budget": (
        "odd_budget",
        _edit("experiment.py", 'quick={"calls"', 'quick={"cells"'),
        "own_wrong_type",
    ),
    "points": (
        "odd_points",
        _edit("experiment.py", "x.Experiment(", "x.Experiment(\n    live=x.Live(Params, 5),"),
        "own_wrong_type",
    ),
    "column": (
        "odd_view",
        _edit("experiment.py", '"kind", "turn_s"', '"kind", "turn"'),
        "own_no_column",
    ),
}


# What it leaves behind in the process that loads it, in the same way.
LEAVING: dict[str, tuple[str, Change, str]] = {
    "thread": (
        "threads",
        _first("import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()"),
        "own_leaves_running",
    ),
    "process": (
        "starts",
        _first("import subprocess\nleft = subprocess.Popen(['sleep', '60'])"),
        "own_leaves_running",
    ),
    "fork": ("forks", _first("import os\nos.fork()"), "own_forks"),
    "path": ("lost_path", _first("import sys\nsys.path[:] = []"), "own_changes"),
    "folder": ("moves", _first("import os\nos.chdir('/')"), "own_changes"),
    "variables": ("lost_home", _first("import os\nos.environ.clear()"), "own_changes"),
    "output": ("no_output", _first("import sys\nsys.stdout = None"), "own_changes"),
    "seconds starts a thread": (
        "late_thread",
        _edit(
            "experiment.py",
            "seconds=lambda params:",
            "seconds=lambda params: __import__('threading').Timer(60, print).start() or",
        ),
        "own_leaves_running",
    ),
}


def good(shelf: Path, name: str = "call_cost") -> Path:
    """Write an experiment that runs, and return its folder."""
    write(shelf / name)
    return shelf / name


def broken(shelf: Path, what: str) -> Path:
    """Write an experiment in which something is wrong, and return its folder."""
    name, change, _ = (BROKEN | LEAVING)[what]
    folder = good(shelf, name)
    change(folder)
    return folder


def mend(folder: Path) -> None:
    """Put everything in order again."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    folder.rmdir()
    write(folder)
