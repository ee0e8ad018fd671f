"""Matrix products of any size from existing memory, in each precision, and of integers of 8 bits.

Units for int8 load 16 numbers at a time, and libraries refuse sizes that do not fill these.

LIMIT: PyTorch's int8 product is slow if the right factor lies row by row, as here. See pytorch
issues 165230 and 187094; an H100 reached 127 of 2141 TOP/s. A transposed factor must be measured
anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from experiments.devices.device import Device
from experiments.devices.failures import device_problem
from experiments.devices.timing import whole_s
from experiments.tools.precisions import PRECISIONS, TF32, choose, has_tf32, is_emulated, kind_of

SLOW = 3  # times as long as single precision, or more: emulated
LEAST = 128
MATRICES, FP32_BYTES = 3, 4
TRIED = 256
INT8 = "int8"
ALL_PRECISIONS = (*PRECISIONS, INT8)


def products_bytes(size: int) -> int:
    """Return the bytes of matrices half as large again, and of smaller ones in four others."""
    large, others = 3 * size // 2 + 65, 4 * (size + 64) ** 2
    return MATRICES * FP32_BYTES * (large**2 + others)


class Products:
    """Random matrices in one precision, as parts of existing memory."""

    def __init__(self, device: Device, precision: str, largest: int) -> None:
        torch, size, name = device.torch, largest**2, device.name
        if precision == INT8:
            self._mm = device.torch._int_mm
            self._left, self._right = (
                torch.randint(-128, 128, (size,), dtype=torch.int8, device=name) for _ in range(2)
            )
            self._result = torch.zeros(size, dtype=torch.int32, device=name)
            return
        kind = kind_of(torch, precision)
        self._mm = torch.mm
        self._left, self._right, self._result = (
            torch.randn(size, device=name).to(kind) for _ in range(MATRICES)
        )

    def product(self, m: int, n: int, k: int) -> Callable[[], object]:
        """Return a call that multiplies a matrix (m, k) by one of (k, n)."""
        left = self._left[: m * k].view(m, k)
        right = self._right[: k * n].view(k, n)
        return partial(self._mm, left, right, out=self._result[: m * n].view(m, n))


def refuses(error: BaseException) -> bool:
    """Is it the library's word that it has no product of this size? Then the device still works."""
    return device_problem(error) is None or "CUBLAS_STATUS_NOT_SUPPORTED" in str(error)


def precisions_of(device: Device) -> list[str]:
    """Return the device's precisions, without those that it emulates."""
    found, single_s = [], 0.0
    for precision in ALL_PRECISIONS:
        if precision == INT8 and not hasattr(device.torch, "_int_mm"):
            continue
        if is_emulated(device.bench.machine, device.name, precision):
            continue
        if precision == TF32 and not has_tf32(device):
            continue
        choose(device, precision)
        try:
            call = Products(device, precision, TRIED).product(TRIED, TRIED, TRIED)
            whole_s(device, call)
            took_s = whole_s(device, call)
        except (TypeError, RuntimeError) as error:
            if device_problem(error) is not None and not (precision == INT8 and refuses(error)):
                raise
            continue
        single_s = single_s or took_s
        if device.is_gpu or took_s < SLOW * single_s:
            found.append(precision)
    return found
