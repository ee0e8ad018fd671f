"""The answering side of a script of jobs: one line of JSON for each request."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def serve(arms: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """Answer every request with the result of its `arm`, until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # prints, also those of children, go to the log
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(arms[request["arm"]](request)) + "\n")
        answers.flush()


def end_with_any(processes: Sequence[Any]) -> None:
    """End this process as soon as one of its children of multiprocessing has ended.

    Else it would wait for that child's answer. Call it after the last fork: it starts a thread.
    """
    from multiprocessing.connection import wait

    is_over = threading.Event()
    atexit.register(is_over.set)  # before multiprocessing ends the children itself

    def watch() -> None:
        wait([process.sentinel for process in processes])
        if not is_over.is_set():
            os._exit(1)

    threading.Thread(target=watch, name="children", daemon=True).start()
