"""Many launches as one call: a CUDA graph.

A kernel of two microseconds is over before Python has called the next one. A graph holds the
launches already, so the device runs them without waiting for its caller.
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.devices.device import Device


def in_one_call(device: Device, work: Callable[[], object], count: int) -> Callable[[], object]:
    """Return a call that launches `work` `count` times; without CUDA it calls it so often.

    The work must write into existing memory: nothing may be allocated while it is recorded.
    """
    if device.kind != "cuda":

        def repeat() -> None:
            for _ in range(count):
                work()

        return repeat
    work()  # libraries load with the first call, and may not be loaded while recording
    device.wait()
    recorded = device.backend.CUDAGraph()
    with device.backend.graph(recorded):
        for _ in range(count):
            work()
    replay: Callable[[], object] = recorded.replay
    return replay


def has_graphs(device: str) -> bool:
    """Does a device of this name in torch have graphs?"""
    return device.startswith("cuda")
