"""The answering side of a script of jobs: one line of JSON for each request."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any


def serve(arms: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """Answer every request with the result of its `arm`, until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # prints, also those of children, go to the log
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(arms[request["arm"]](request)) + "\n")
        answers.flush()
