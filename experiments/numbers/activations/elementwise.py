"""Activation functions and their gradients over existing arrays.

torch's ordinary functions make a new array for each result. On a processor the system must supply
that memory page by page, which takes longer than most of the functions. So the forms that write
into a given array are called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from experiments import api as x
from experiments.devices.ceilings import cache_bytes
from experiments.devices.device import Device

COPY, RELU, TANH, SIGMOID, GELU = "copy", "relu", "tanh", "sigmoid", "gelu"
FUNCTIONS = (COPY, RELU, SIGMOID, TANH, GELU)
FP32_BYTES = 4
ARRAYS = 3  # numbers, results, and the gradients that come in
CACHE_SHARE = 0.5
UNKNOWN_L2_BYTES = 256 * 2**10

Works = dict[str, Callable[[], object]]


class Arrays(x.Record, kw_only=False):
    """Random numbers on a device, as many gradients, and room for as many results."""

    device: Device
    numbers: Any
    gradients: Any
    results: Any

    @classmethod
    def on(cls, device: Device, count: int) -> Arrays:
        """Make them; all of their memory has been written."""
        torch = device.torch
        numbers = torch.randn(count, device=device.name)
        gradients = torch.empty_like(numbers).copy_(numbers)
        return cls(device, numbers, gradients, torch.zeros_like(numbers))

    @property
    def count(self) -> int:
        """The count of the numbers."""
        return len(self.numbers)

    def first(self, count: int) -> Arrays:
        """Return the first `count` of them, in the same memory."""
        parts = (each[:count] for each in (self.numbers, self.gradients, self.results))
        return Arrays(self.device, *parts)

    def forward(self) -> Works:
        """Return each function applied to all numbers: it reads one array and writes one."""
        aten, x, y = self.device.torch.ops.aten, self.numbers, self.results
        return {
            COPY: partial(y.copy_, x),
            RELU: partial(aten.clamp_min.out, x, 0.0, out=y),
            SIGMOID: partial(aten.sigmoid.out, x, out=y),
            TANH: partial(aten.tanh.out, x, out=y),
            GELU: partial(aten.gelu.out, x, out=y),
        }

    def backward(self) -> Works:
        """Return each gradient: it reads two arrays (a copy one) and writes one.

        Sigmoid and tanh compute it from their results; any numbers do, at the same cost.
        """
        aten, x, dy, dx = self.device.torch.ops.aten, self.numbers, self.gradients, self.results
        return {
            COPY: partial(dx.copy_, dy),
            RELU: partial(aten.threshold_backward.grad_input, dy, x, 0.0, grad_input=dx),
            SIGMOID: partial(aten.sigmoid_backward.grad_input, dy, x, grad_input=dx),
            TANH: partial(aten.tanh_backward.grad_input, dy, x, grad_input=dx),
            GELU: partial(aten.gelu_backward.grad_input, dy, x, grad_input=dx),
        }


def count_in_cache(device: Device) -> int:
    """Return how many numbers a cache holds with their results, 0 if unknown.

    On the processor each thread has its part in its core's L2; on a GPU all share one.
    """
    if device.is_gpu:
        held_bytes = cache_bytes(device.bench.machine, device.name) or 0
    else:
        l2_bytes = x.cache_sizes(device.bench.machine).get("l2", UNKNOWN_L2_BYTES)
        held_bytes = device.torch.get_num_threads() * l2_bytes
    return int(CACHE_SHARE * held_bytes) // (2 * FP32_BYTES)
