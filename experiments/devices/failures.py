"""The problem behind an error of torch's devices, known by name: nothing here loads torch.

After most CUDA errors a process can no longer use the GPU. It ends with its run, and the next run
has a new process.
"""

from __future__ import annotations

from experiments.core.problems import Problem

_OF_DEVICES = ("cuda", "hip", "cublas", "cudnn", "cufft", "nccl", "xpu", "level zero", "mps")
_LOST = ("device lost", "fallen off the bus", "unavailable", "no longer available", "ecc error")


def device_problem(error: BaseException, detail: str = "") -> Problem | None:
    """Return the problem of a device that ran out of memory or failed, None for other errors."""
    names = {kind.__name__ for kind in type(error).__mro__}
    said = str(error).strip()
    text, reason = said.lower(), said.split("\n", 1)[0][:200]
    if "OutOfMemoryError" in names or (
        "RuntimeError" in names and "out of memory" in text and _is_of_device(text)
    ):
        return Problem("gpu_out_of_memory", {}, detail)
    if "AcceleratorError" in names or ("RuntimeError" in names and _is_of_device(text)):
        is_lost = any(word in text for word in _LOST)
        return Problem("gpu_lost" if is_lost else "gpu_failed", {"reason": reason}, detail)
    if "RuntimeError" in names and "defaultcpuallocator" in text:
        return Problem("out_of_memory", {}, detail)
    return None


def _is_of_device(text: str) -> bool:
    return "error" in text and any(name in text for name in _OF_DEVICES)
