"""What only a program of Windows can ask: `inside.py`, under its own Python; prints JSON."""

import json
import subprocess
import sys

from experiments.core.processes.started_cpu_time import own_job

GRANDCHILD = "print(1, flush=True); input()"
IN_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])"


def children():
    """Tell how many processes the run's job counts when a child has started another, and after."""
    job = own_job()
    before = job.counted()
    command = [sys.executable, "-c", IN_CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        during = job.counted()
        child.stdin.write(b"\n")
        child.stdin.flush()
    after = job.counted()
    return {
        "processes": after.processes - before.processes,
        "living": [each.living - before.living for each in (during, after)],
    }


if __name__ == "__main__":
    print(json.dumps(children()))  # noqa: T201  (its answer)
