"""The load of NVIDIA's GPUs, sampled in a process of its own.

NVML may hang or crash at any sample. Then only the child is lost, the GPUs' samples say why, and
everything else is sampled on. After a while another child is tried.
"""

from __future__ import annotations

import contextlib
import math
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from machine.facts import Facts, Reason, Unanswered
from machine.gpus import nvidia, nvml, nvml_child
from machine.gpus.pci_facts import Host, live_host
from machine.live.gpu_samples import GpuSample
from machine.live.nvidia import RETRY_S, NvidiaSampler, unsampled

_WAITS = Reason("The driver is still being asked.", "Wait for the next sample.")
_LONGEST_LINE = 2**24


class NvidiaChild:
    """Samples all GPUs of NVIDIA through a child. Not to be shared between threads.

    A sample waits for the child for `patience_s` at most.
    """

    def __init__(self, host: Host, patience_s: float) -> None:
        self._host, self._patience_s = host, patience_s
        self._cards = nvidia.known_cards(host)
        self._limit_s = 0.0
        self.trouble: Reason | None = None  # what the library did to the child
        self._child: subprocess.Popen[bytes] | None = None
        self._said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._asked_s: float | None = None  # the question that is not answered yet
        self._reason: Reason | None = None
        self._not_before_s = -math.inf

    def sample(self, now_s: float) -> list[Facts]:
        """Return the facts of each GPU, in the order of inspection."""
        try:
            return self._sample(now_s)
        except Unanswered as error:
            self._reason, self._not_before_s = error.reason, now_s + RETRY_S
            self.trouble = error.reason if isinstance(error, nvml_child.Broken) else None
            self.close()
            return self._rows(error.reason)

    def close(self) -> None:
        """Release the GPUs."""
        if self._child is not None:
            nvml_child.end(self._child)

    def _sample(self, now_s: float) -> list[Facts]:
        """Return the child's answer. Raises Unanswered, after which the child is given up."""
        has_ended = self._child is None or self._child.poll() is not None
        if has_ended and self._reason is None and self._child is not None:
            raise nvml_child.Broken(nvml_child.ended(self._child))
        if self._reason is not None and (now_s < self._not_before_s or not has_ended):
            return self._rows(self._reason)  # a killed child that does not end keeps its place
        if has_ended:
            self._start()
        waited_s = 0.0
        if self._asked_s is None:
            self._asked_s, waited_s = now_s, min(self._patience_s, self._limit_s)
            self._ask(now_s)
        try:
            line = self._said.get(timeout=waited_s) if waited_s else self._said.get_nowait()
        except queue.Empty:
            if now_s + waited_s - self._asked_s >= self._limit_s:
                raise nvml_child.Broken(nvml_child.silent(self._limit_s)) from None
            return self._rows(_WAITS)
        self._asked_s = None
        if not line:
            assert self._child is not None
            raise nvml_child.Broken(nvml_child.ended(self._child))
        return [nvml_child.unpacked(gpu, GpuSample) for gpu in nvml_child.decoded(line)]

    def _start(self) -> None:
        if not self._cards and not nvml_child.is_here():
            raise Unanswered(nvml.REASONS[12])
        self._child = nvml_child.start(__name__, str(self._host.root))
        self._said = queue.SimpleQueue()
        self._reason = self.trouble = self._asked_s = None
        self._limit_s = nvml_child.within_s(len(self._cards))
        assert self._child.stdout is not None
        listen = threading.Thread(
            target=_listen, args=(self._child.stdout, self._said.put), name="NVML", daemon=True
        )
        listen.start()

    def _ask(self, now_s: float) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):  # its end is heard of
            self._child.stdin.write(f"{now_s!r}\n".encode())
            self._child.stdin.flush()

    def _rows(self, reason: Reason) -> list[Facts]:
        return [*unsampled(self._host, self._cards, reason)]


def _listen(pipe: IO[bytes], put: Callable[[bytes], None]) -> None:
    """Pass on the child's lines, and an empty one at its end."""
    with contextlib.suppress(OSError), pipe:
        while line := pipe.readline(_LONGEST_LINE):
            put(line)
    put(b"")


def tell(root: str) -> None:
    """Answer each line of standard input, a time, with a sample; in the child only."""
    out = nvml_child.own_output()
    sampler = NvidiaSampler(live_host(Path(root)))
    for line in sys.stdin.buffer:
        nvml_child.set_alarm()
        nvml_child.send(out, sampler.sample(float(line)))
        if hasattr(signal, "alarm"):
            signal.alarm(0)
    sampler.close()
