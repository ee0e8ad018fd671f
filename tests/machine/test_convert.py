from __future__ import annotations

import subprocess
import sys

FIRST_IN_MANY_THREADS = """
import sys, threading
from machine.model import from_json
sys.setswitchinterval(1e-6)
gate = threading.Barrier(8)
data = {"format": "coreopsis.machine", "version": 1}
def ask():
    gate.wait()
    from_json(data)
threads = [threading.Thread(target=ask) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
print("whole")
"""


def test_many_threads_may_ask_for_a_machine_at_first():
    for _ in range(5):
        said = subprocess.run(
            [sys.executable, "-c", FIRST_IN_MANY_THREADS],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (said.returncode, said.stdout.strip()) == (0, "whole"), said.stderr
