"""A Python process that does jobs on request: ours or another CPython of this machine."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import platform
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from experiments.core.problems import Problem, UserError
from experiments.core.processes import killed_cpu_time
from experiments.core.processes.die_with_parent import tied
from experiments.core.processes.own_errors import is_own_file, problem_in
from machine.model import Machine
from machine.system.moment import for_a_moment
from machine.system.pythons import find

ABI_FLAGS = getattr(sys, "abiflags", "")  # Windows has none
OWN = ".".join(platform.python_version_tuple()[:2]) + ("t" if "t" in ABI_FLAGS else "")
SUBINTERPRETERS = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
# Before 3.12 they share one lock; some builds of Python come without the module.
HAS_SUBINTERPRETERS = sys.version_info >= (3, 12) and find_spec(SUBINTERPRETERS) is not None
OWN_COMMAND = (sys.executable, "-P")
POLL_S = 0.05
ERROR_LINES = 60  # of a trace
END_S = 0.2  # a stop must not take longer


class Interpreter:
    """One process that answers the requests of a script; `close` ends it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        script: Path,
        check_stop: Callable[[], None],
        *,
        temporary: str | None = None,
    ) -> None:
        self.name = name
        self._check_stop = check_stop
        self._is_asked = False  # a request has no answer yet
        is_own = is_own_file(script)  # then its errors are told by their line
        self._process = subprocess.Popen(
            tied([*command, str(script)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if is_own else None,
            text=True,
            env=None if temporary is None else {**os.environ, "TMPDIR": temporary},
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._errors: collections.deque[str] = collections.deque(maxlen=ERROR_LINES)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, **request: object) -> None:
        """Send a request and return; the answer is fetched by `answer`."""
        assert self._process.stdin is not None
        self._is_asked = True
        with contextlib.suppress(OSError):  # `answer` reports it
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for an answer, or a stop. Raises UserError if the process died."""
        while True:
            self._check_stop()
            try:
                line = self._answers.get(timeout=POLL_S)
            except queue.Empty:
                if self._process.poll() is None or not self._answers.empty():
                    continue
                line = ""  # children that it left hold its end of the pipe
            if not line:
                why = self._ending()
                raise UserError(why.key, **why.values)
            self._is_asked = False
            answer: dict[str, Any] = json.loads(line)
            return answer

    def _ending(self) -> Problem:
        """Return why the process ended by itself."""
        self._listener.join(END_S)
        found = problem_in("".join(self._errors))
        return found or Problem("interpreter_died", {"name": self.name})

    def do(self, **request: object) -> dict[str, Any]:
        """Send a request, and return its answer."""
        self.ask(**request)
        return self.answer()

    def taken_s(self, count: int, **request: object) -> float:
        """Return the seconds in which a request was done so often, as its answer says."""
        return float(self.do(count=count, **request)["taken_s"])

    def close(self) -> None:
        """End the process and all that it started, also in the middle of a job.

        An idle process ends by itself when its input closes, and waits for its own children. Only
        then does the system count their processor time as that of the run.
        """
        if not self._is_asked and self._process.stdin is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._process.stdin.close()
                self._process.wait(timeout=END_S)
        _kill_with_children(self._process)
        self._process.wait()
        self._reader.join()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _listen(self) -> None:
        """Keep the last lines of its errors, and hand them on to the log."""
        for line in self._process.stderr or ():
            self._errors.append(line)
            sys.stderr.write(line)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")


def own(
    script: Path | ModuleType, check_stop: Callable[[], None], *, temporary: str | None = None
) -> Interpreter:
    """Start a Python like this one that answers a script's requests.

    Its temporary files go to the folder `temporary`, where one is given.
    """
    path = script if isinstance(script, Path) else Path(script.__file__ or "")
    return Interpreter(path.stem, OWN_COMMAND, path, check_stop, temporary=temporary)


def other_pythons(machine: Machine) -> tuple[str, ...]:
    """Return the names of the other CPythons of this machine, such as "3.13" or "3.14t"."""
    return _others()


@for_a_moment
def _others() -> tuple[str, ...]:
    return tuple(python.name for python in find())


def _kill_with_children(process: subprocess.Popen[str]) -> None:
    """Stop the process first, so that it starts no child while its children are listed."""
    import psutil

    with contextlib.suppress(psutil.Error):
        root = psutil.Process(process.pid)
        root.suspend()
        for child in root.children(recursive=True):
            killed_cpu_time.end(child)
    process.kill()
