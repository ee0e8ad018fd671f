"""Questions for a program of Windows alone: `-m tests.tools.windows.inside NAME`; prints JSON."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

GRANDCHILD = "print(1, flush=True); input()"
IN_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])"
TURNS, TURN_S = 50, 0.002
STEPS = ("start", "search", "question", "prediction", "run", "end", "explanation")
ASKED = 3  # a wrong point is asked once more, and then shown
# Times are Wine's, and mean nothing.
TIMED = "tests/experiments/core/test_catalogue.py::test_starting_is_quick_and_loads_nothing_heavy"
EACH_MS, LIMIT_S = 100, 200.0  # between two looks at the window, and for each of its steps


def children() -> dict[str, Any]:
    """Return how many processes the run's job counts with a grandchild, and without."""
    from experiments.core.processes.started_cpu_time import own_job

    job = own_job()
    before = job.counted()
    command = [sys.executable, "-c", IN_CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        during = job.counted()
        child.stdin.write(b"\n")
        child.stdin.flush()
    after = job.counted()
    return {
        "processes": after.processes - before.processes,
        "living": [each.living - before.living for each in (during, after)],
    }


def pinned() -> dict[str, Any]:
    """Return whether this thread ran where it was kept, by the processor's own number."""
    from experiments.core.bench import Bench
    from experiments.core.processes.affinity import allowed
    from machine.inspect import inspect
    from machine.model import usable_threads

    here = ctypes.WinDLL("kernel32").GetCurrentProcessorNumber  # type: ignore[attr-defined,unused-ignore]
    machine, before = inspect(), allowed()
    threads = [thread.id for thread in usable_threads(machine)]
    strayed = []
    for thread in threads * 2:
        with Bench(machine).pinned(thread) as kept:
            for _ in range(TURNS):
                time.sleep(TURN_S)
                strayed += [(kept, here())] * (here() != kept)
    return {"several": len(threads) > 1, "strayed": strayed, "let go": allowed() == before}


def window() -> dict[str, Any]:
    """Take the lesson of cache-ladder by keys alone in the real window, and quit it by a key."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # Wine hands on none of Qt's variables
    from app.cli import main
    from app.window.shell.window import Window

    empty = tempfile.mkdtemp(prefix="Größe und Maß ")  # no run is kept there
    wake, hands = Window.wake, []

    def wake_with_a_hand(shown: Any) -> None:
        wake(shown)
        hands.append(_hand(shown))

    Window.wake = wake_with_a_hand  # type: ignore[assignment,method-assign]
    code = main(["--data", empty])
    (hand,) = hands
    return {"code": code, "steps": hand.steps}


def crashes() -> dict[str, Any]:
    """Return the problem that a run ends with that crashes in each way, and its words."""
    from experiments.engine.jobs import Engine
    from tests.experiments.engine.runs import SHELVES, hear, start

    engine, told = Engine(shelves=SHELVES), {}
    try:
        for code in ("", "C0000005", "C0000409", "C000001D", "3"):
            how = "ends_on_windows" if code else "reads_address_0"
            problem = hear(start(engine, how, text=code))[-1].problem  # type: ignore[union-attr]
            assert problem is not None
            told[code] = [problem.key.removesuffix("_guest"), str(problem.values.get("signal", ""))]
    finally:
        engine.close()
    return told


def units() -> dict[str, Any]:
    """Run tests of ours that the command names; return how each ended that did not pass."""
    import _winapi

    import pytest

    from tests import ROOT

    class Ended:
        def __init__(self) -> None:
            self.passed = 0
            self.others: dict[str, str] = {}

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" and report.passed:
                self.passed += 1
            elif report.failed:
                why = str(report.longrepr).strip().splitlines()
                errors = [line[1:].strip() for line in why if line.startswith("E ")]
                self.others[report.nodeid] = (errors or why)[0]
            elif report.skipped:
                self.others[report.nodeid] = f"skipped: {report.longrepr[2]}"

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                self.others[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]

    os.environ["PYTHONPATH"] = str(ROOT)  # a worker has it; what a test starts itself does not
    delattr(_winapi, "CopyFile2")  # shutil does without it; Wine 8 ends a program that calls it
    ended = Ended()
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow", f"--deselect={TIMED}"]
    code = pytest.main([*options, *sys.argv[2:]], plugins=[ended])
    return {"code": code, "passed": ended.passed, "others": ended.others}


def _hand(window: Any) -> Any:
    """Return an object that leads the window through the story, a look every EACH_MS."""
    from PySide6.QtCore import QObject

    class Hand(QObject):
        def __init__(self) -> None:
            super().__init__(window)
            self.steps: list[str] = []
            self._story = _story(window)
            self._next()
            self.startTimer(EACH_MS)

        def _next(self) -> None:
            self._name, self._until = next(self._story, ("", lambda: False))
            self._end_s = time.monotonic() + LIMIT_S

        def timerEvent(self, _event: Any) -> None:
            if self._until():
                self.steps += [self._name] * bool(self._name)
                self._next()
            elif time.monotonic() > self._end_s:
                self.steps.append(f"not {self._name}")
                window.session.runner.stop()
                os._exit(1)

    return Hand()


def _story(window: Any) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Yield the name of each step and when it is reached; then its keys are pressed."""
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QLineEdit

    from app.window.experiment.place import ExperimentPage
    from widgets.lesson.steps import Step
    from widgets.plots.plot import Plot

    def press(*keys: str) -> None:
        for key in keys:
            QTest.keySequence(QApplication.focusWidget() or window, key)

    def lesson() -> Any:
        pages = window.findChildren(ExperimentPage)
        return pages[0].lesson.model if pages else None

    def is_at(step: Step) -> Callable[[], bool]:
        return lambda: lesson() is not None and lesson().step is step

    yield "start", lambda: len(window.session.entries) > 0
    press("Ctrl+K")
    yield "search", lambda: isinstance(QApplication.focusWidget(), QLineEdit)
    press(*"cache-ladder", "Return")
    yield "question", lambda: is_at(Step.QUESTION)() and lesson().taught is not None
    press("Return")
    yield "prediction", is_at(Step.PREDICT)
    press("Right", "Up", "Up", "Shift+F5")
    yield "run", is_at(Step.RUN)
    yield "end", lambda: not window.session.runner.is_running and not is_at(Step.RUN)()
    if lesson().step is Step.OBSERVE:
        yield "", lambda: isinstance(QApplication.focusWidget(), Plot)
        for _ in range(ASKED):
            if not lesson().has_observed:
                press("Right", "Return")
        yield "", lambda: lesson().has_observed
    press("E")
    yield "explanation", is_at(Step.EXPLAIN)
    press("Ctrl+Q")
    yield "quit", lambda: False


if __name__ == "__main__":
    answer = globals()[sys.argv[1]]()
    print(f"\n{json.dumps(answer)}")  # noqa: T201  (its answer, the last line)
