"""Samples of machines that do not exist, and the texts painted on a map."""

from __future__ import annotations

from experiments.engine import messages
from machine.model import Machine
from widgets.map.canvas import Canvas
from widgets.map.painting.lettering import Text

LOST = 5  # the index of a GPU that can be made to vanish


def sample(machine: Machine, turn: int = 0, *, lost: int | None = None) -> messages.Sample:
    """Return one look at the load, in which every device does something else at every turn."""
    return messages.Sample(
        t_s=float(turn),
        threads=[
            {"id": thread.id, "busy": (thread.id + 5 * turn) % 17 / 16}
            for thread in machine.cpu.threads_list
            if thread.online
        ],
        memory=_memory(machine, turn),
        disks=[
            {
                "name": disk.name,
                "read_bytes_per_s": (place + turn) % 7 * 1e8,
                "write_bytes_per_s": 0.0,
            }
            for place, disk in enumerate(machine.storage)
        ],
        network=[
            {
                "name": card.name,
                "received_bytes_per_s": (place + turn) % 5 * 1e9,
                "sent_bytes_per_s": 2e6,
            }
            for place, card in enumerate(machine.network)
        ],
        gpus=[_gpu(machine, index, turn, lost) for index in range(len(machine.gpus))],
        missing=[],
    )  # fmt: skip


def _memory(machine: Machine, turn: int) -> dict[str, object]:
    total = machine.memory.total_bytes
    if total is None:
        return {}
    return {"used_bytes": total * (turn % 9 + 1) // 10, "total_bytes": total}


def _gpu(machine: Machine, place: int, turn: int, lost: int | None) -> dict[str, object]:
    gpu, busy = machine.gpus[place], (place + turn) % 9 / 8
    if gpu.index == lost:
        return {"index": gpu.index, "state": "lost"}
    if gpu.asleep:
        return {"index": gpu.index, "state": "asleep"}
    size = gpu.memory_bytes or 0
    used = {"memory_used_bytes": int(busy * size), "memory_total_bytes": size}
    return ({} if gpu.unified_memory else used) | {
        "index": gpu.index,
        "state": "awake",
        "busy": busy,
        "power_watts": 24 + 488 * busy,
        "temperature_celsius": 38 + 33 * busy,
        "pcie_received_bytes_per_s": busy * 5e10,
        "pcie_sent_bytes_per_s": 1e9,
        "nvlink_received_bytes_per_s": busy * 4e11 if gpu.nvlinks else None,
        "nvlink_sent_bytes_per_s": busy * 3e11 if gpu.nvlinks else None,
    }


def texts_of(map_: Canvas, name: str) -> list[Text]:
    """Return the texts painted on a box."""
    box = map_.box(name)
    assert box is not None
    return map_._painting.texts(box)  # noqa: SLF001  (they are painted, and no widgets)


def written(map_: Canvas, name: str) -> list[str]:
    """Return the words painted on a box."""
    return [text.text for text in texts_of(map_, name)]
