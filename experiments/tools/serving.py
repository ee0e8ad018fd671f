"""How does a script of jobs answer? One line of JSON for each request, until its input ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any


def serve(arms: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """Answer every request with what its `arm` returns."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints, in a child too, ends in the log
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(arms[request["arm"]](request)) + "\n")
        answers.flush()
