"""The answering side of a script of jobs: one line of JSON for each request."""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.core.processes.standard_pipes import take_input, take_output


def serve(arms: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """Answer every request with the result of its `arm`, until the input ends."""
    with open(take_input()) as requests, open(take_output(), "w") as answers:
        for line in requests:
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
