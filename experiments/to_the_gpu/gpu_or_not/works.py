"""The work of `gpu-or-not`: what a step computes, reads and copies, for the user's data sizes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from experiments.devices.device import Device
from experiments.devices.failures import device_problem
from machine.record import Record

PRODUCT, ELEMENTWISE, SORT = "product", "elementwise", "sort"
WORKS = (PRODUCT, ELEMENTWISE, SORT)
ELEMENT_BYTES = {"fp32": 4, "fp64": 8, "fp16": 2, "bf16": 2}
PLACE_BYTES = 8  # of a sorted element's index, which torch keeps as well


class WorkStep(Record, kw_only=False):
    """One step of a kind on data of `rows` and `columns`."""

    kind: str
    rows: int
    columns: int
    precision: str

    @property
    def operations(self) -> float:
        """FLOP, or comparisons of a sort."""
        size = self.rows * self.columns
        if self.kind == PRODUCT:
            return 2.0 * size * self.columns
        return 2.0 * size if self.kind == ELEMENTWISE else size * math.log2(max(2, self.columns))

    @property
    def inputs_count(self) -> int:
        """The number of inputs: a sort has only the data."""
        return 1 if self.kind == SORT else 2

    @property
    def bytes_there(self) -> int:
        """The bytes to copy there: the data, and the weights or the other summand."""
        others = {PRODUCT: self.columns**2, ELEMENTWISE: self.rows * self.columns, SORT: 0}
        return ELEMENT_BYTES[self.precision] * (self.rows * self.columns + others[self.kind])

    @property
    def bytes_back(self) -> int:
        """The bytes to copy back: the result."""
        return ELEMENT_BYTES[self.precision] * self.rows * self.columns

    @property
    def needed_bytes(self) -> int:
        """All bytes of the step in memory, each read or written at least once."""
        places = PLACE_BYTES * self.rows * self.columns if self.kind == SORT else 0
        return self.bytes_there + self.bytes_back + places

    def inputs(self, device: Device) -> list[Any]:
        """Return random data on a device: all that the step needs."""
        torch, kind = device.torch, dtype(device.torch, self.precision)
        shapes = {PRODUCT: (self.columns, self.columns), ELEMENTWISE: (self.rows, self.columns)}
        found = [torch.randn(self.rows, self.columns, device=device.name).to(kind)]
        if self.kind in shapes:
            found.append(torch.randn(*shapes[self.kind], device=device.name).to(kind))
        return found

    def step(self, device: Device, inputs: Sequence[Any]) -> tuple[Callable[[], object], Any]:
        """Return a call that does the work once, and where its result will lie."""
        torch, out = device.torch, device.torch.empty_like(inputs[0])
        if self.kind == PRODUCT:
            return functools.partial(torch.mm, inputs[0], inputs[1], out=out), out
        if self.kind == ELEMENTWISE:
            return functools.partial(torch.add, inputs[0], inputs[1], alpha=0.5, out=out), out
        places = torch.empty(self.rows, self.columns, dtype=torch.int64, device=device.name)
        return functools.partial(torch.sort, inputs[0], dim=1, out=(out, places)), out

    def is_supported(self, device: Device) -> bool:
        """Can torch do it on this device, in this precision? Tried with very little."""
        little = WorkStep(self.kind, 4, 4, self.precision)
        try:
            little.step(device, little.inputs(device))[0]()
            device.wait()
        except (TypeError, RuntimeError) as error:
            if device_problem(error) is not None:
                raise
            return False
        return True


def dtype(torch: Any, precision: str) -> Any:
    """Return torch's dtype of a precision."""
    kinds = {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16"}
    return getattr(torch, kinds[precision])
