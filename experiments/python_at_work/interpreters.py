"""A Python of its own that does jobs when asked: ours or another CPython of this machine."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.problems import Trouble

JOBS = Path(__file__).with_name("gil_jobs.py")
POLL_S = 0.05


class Interpreter:
    """One process that answers the requests of gil_jobs; `close` ends it."""

    def __init__(self, name: str, command: list[str], check_stop: Callable[[], None]) -> None:
        self.name = name
        self._check_stop = check_stop
        self._process = subprocess.Popen(
            [*command, str(JOBS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, **request: object) -> None:
        """Send a request and return; the answer is fetched by `answer`."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the missing answer tells
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for an answer, checking for a stop meanwhile. Raises Trouble if the process died."""
        while True:
            self._check_stop()
            try:
                line = self._answers.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if not line:
                raise Trouble("interpreter_died", name=self.name)
            answer: dict[str, Any] = json.loads(line)
            return answer

    def close(self) -> None:
        """End the process, also in the middle of a job."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")
