"""The processes of one try: started, heard, made to fail, and ended whatever happens."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.core.processes.die_with_parent import tied
from experiments.tools.interpreters import OWN_COMMAND

JOBS = Path(__file__).with_name("jobs.py")
POLL_S = 0.02
LATE_S = 15.0  # to start, or to answer at the end, on a busy machine
END: dict[str, Any] = {}


class Team:
    """`workers` workers, all threads of one process, or each a process of its own."""

    def __init__(
        self, bench: x.Bench, *, workers: int, failing: int, how: str, in_processes: bool
    ) -> None:
        self._bench = bench
        self._heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._ended = 0  # processes
        self._failing_process = failing if in_processes else 0
        self._processes: list[subprocess.Popen[bytes]] = []
        self._readers: list[threading.Thread] = []
        each, firsts = (1, range(workers)) if in_processes else (workers, range(1))
        try:
            for first in firsts:
                self._start([str(each), str(first), str(failing), how])
        except BaseException:
            self.close()
            raise

    def _start(self, arguments: list[str]) -> None:
        process = subprocess.Popen(
            tied([*OWN_COMMAND, str(JOBS), *arguments]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # Python may be set to print a trace of a crash
        )
        self._processes.append(process)
        reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        reader.start()
        self._readers.append(reader)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._heard.put(json.loads(line))
        self._heard.put(END)

    def until(self, end_s: float) -> Iterator[dict[str, Any]]:
        """Yield what is heard until that time of the bench's clock. Raises StopRequested."""
        while (left_s := end_s - self._bench.now_s()) > 0:
            self._bench.check_stop()
            with contextlib.suppress(queue.Empty):
                if said := self._heard.get(timeout=min(POLL_S, left_s)):
                    yield said
                else:
                    self._ended += 1

    def let_one_fail(self) -> None:
        """Send the command to fail to the worker that shall."""
        pipe = self._processes[self._failing_process].stdin
        assert pipe is not None
        pipe.write(b"fail\n")
        pipe.flush()

    def call(self) -> Iterator[dict[str, Any]]:
        """Ask who is left; yield what is heard until every process has ended."""
        for process in self._processes:
            _close(process.stdin)
        end_s = self._bench.now_s() + LATE_S
        while self._ended < len(self._processes):
            if self._bench.now_s() > end_s:
                raise x.UserError("workers_silent", limit_s=LATE_S)
            yield from self.until(self._bench.now_s() + POLL_S)

    def close(self) -> None:
        """End what is left, and wait for each process, so that no zombie stays."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        for reader in self._readers:
            reader.join()
        for process in self._processes:
            _close(process.stdin)
            _close(process.stdout)


def _close(pipe: Any) -> None:
    with contextlib.suppress(OSError):  # its process has crashed
        pipe.close()
