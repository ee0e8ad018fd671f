"""GPUs in words: on the page of `coreopsis inspect`, and while they are watched."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from app.terminal.parts.devices import link_text
from app.terminal.parts.listed import listed
from experiments.core import words as texts
from experiments.core.units import show
from experiments.core.words import Words
from machine.devices import Gpu
from machine.model import Machine

# Error counts by their name in a sample; told only if there are errors.
_ERRORS = {
    "ecc_uncorrected": "uncorrected memory errors",
    "ecc_corrected": "corrected memory errors",
    "remapped_rows": "remapped rows of memory",
    "pcie_replays": "repeated PCIe packets",
}


def gpu_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line about accelerators and the ways between them."""
    for line, alike in itertools.groupby(machine.gpus, key=gpu_line):
        gpus = list(alike)
        yield (
            f"gpu {numbers_text([gpu.index for gpu in gpus])}",
            f"{len(gpus)} × {line}" if len(gpus) > 1 else line,
        )
    for gpu in machine.gpus:
        for instance in gpu.mig_instances:
            size = instance.memory_bytes and show(instance.memory_bytes, "bytes")
            name, sms = instance.name or "an instance of MIG", instance.sms
            yield f"of gpu {gpu.index}", listed(name, size, sms and f"{sms} SMs")
    yield from _health_lines(machine.gpus)
    for gpu in machine.gpus[:1]:
        if driver := listed(
            gpu.driver_version and f"driver {gpu.driver_version}",
            gpu.cuda_version and f"knows CUDA up to {gpu.cuda_version}",
        ):
            yield "gpu driver", driver
    if machine.gpu_links:
        yield from matrix_lines(machine)
    joined = [gpu.nvlinks for gpu in machine.gpus if gpu.nvlinks]
    if joined:
        up = [[link for link in links if link.state != "inactive"] for links in joined]
        counts = sorted({f"{len(u)} of {len(a)}" for u, a in zip(up, joined, strict=True)})
        versions = sorted({link.version for links in up for link in links if link.version})
        switch = ", through NVSwitches" if machine.nvswitch else ""
        version = f", of version {', '.join(versions)}" if versions else ""
        yield "nvlink", f"{' or '.join(counts)} links up on each GPU{version}{switch}"


def numbers_text(numbers: Sequence[int]) -> str:
    """Return "0", "0 and 1", "0 to 7", or a list if there are gaps."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] + 1 == len(numbers):
        return f"{numbers[0]} to {numbers[-1]}"
    return " and ".join(map(str, numbers)) if len(numbers) < 3 else ", ".join(map(str, numbers))


def gpu_line(gpu: Gpu) -> str:
    """Return name, memory, units, limits and link of a GPU."""
    memory = show(gpu.memory_bytes, "bytes") if gpu.memory_bytes else None
    if memory and gpu.unified_memory:
        memory += " shared with the processor"
    cores = {"NVIDIA": "SMs", "AMD": "compute units", "Apple": "GPU cores"}
    return listed(
        gpu.name or f"an accelerator of {gpu.vendor or 'an unknown maker'}",
        memory,
        gpu.sms and f"{gpu.sms} {cores.get(gpu.vendor or '', 'units')}",
        gpu.compute_capability and f"compute capability {gpu.compute_capability}",
        gpu.architecture,
        gpu.power_limit_watts and f"at most {show(gpu.power_limit_watts, 'watts')}",
        gpu.link and link_text(gpu.link),
        gpu.c2c_bytes_per_s
        and f"NVLink-C2C to the processor {show(gpu.c2c_bytes_per_s, 'bytes/s')} each way",
        gpu.torch_backend and f"PyTorch: {gpu.torch_backend}",
        gpu.mig and "MIG on",
        gpu.virtualization == "vgpu" and "a share of a GPU (vGPU)",
        gpu.fabric not in (None, "completed") and f"fabric {gpu.fabric}",
        gpu.asleep and "asleep",
        gpu.visible is False and "hidden from programs started here",
    )


def matrix_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the paths between all GPUs as `nvidia-smi topo -m` shows them."""
    ways = {(link.a, link.b): link.path or "?" for link in machine.gpu_links}
    count = len(machine.gpus)
    width = max(len(way) for way in (*ways.values(), f"{count}", "X")) + 1
    yield "ways", " " * 3 + "".join(f"{n:>{width}}" for n in range(count))
    for a in range(count):
        row = ["X" if a == b else ways.get((min(a, b), max(a, b)), "?") for b in range(count)]
        yield "", f"{a:>3}" + "".join(f"{way:>{width}}" for way in row)


def _health_lines(gpus: Sequence[Gpu]) -> Iterator[tuple[str, str]]:
    """Yield the lines about heat, power limits and memory; GPUs that are alike share one."""
    yield from _shared(gpus, "heat", _limits)
    for gpu in gpus:
        if told := [r.key for r in gpu.clock_reasons or () if r.severity != "information"]:
            yield f"of gpu {gpu.index}", listed(*map(texts.load().say, told))
    yield from _shared(gpus, "power", _power)
    yield from _shared(gpus, "memory", _memory)


def _shared(
    gpus: Sequence[Gpu], label: str, tell: Callable[[Gpu], str]
) -> Iterator[tuple[str, str]]:
    for text, alike in itertools.groupby(gpus, key=tell):
        some = list(alike)
        if told := listed(_now(some) if tell is _limits else "", text):
            first, last = some[0].index, some[-1].index
            which = f"gpu {first}" if first == last else f"gpus {first} to {last}"
            yield f"{'gpu' if len(some) == len(gpus) else which} {label}", told


def _now(gpus: Sequence[Gpu]) -> str:
    found = [gpu.temperature_celsius for gpu in gpus if gpu.temperature_celsius is not None]
    ends = dict.fromkeys(show(end(found), "celsius") for end in (min, max)) if found else ()
    return f"{' to '.join(ends)} now" if ends else ""


def _limits(gpu: Gpu) -> str:
    slow, off = gpu.temperature_slowdown_celsius, gpu.temperature_shutdown_celsius
    return listed(
        slow and f"slows down at {show(slow, 'celsius')}",
        off and f"switches off at {show(off, 'celsius')}",
    )


def _power(gpu: Gpu) -> str:
    least, most, usual = gpu.power_min_watts, gpu.power_max_watts, gpu.power_default_watts
    between = f"from {show(least or 0, 'watts')} to {show(most or 0, 'watts')}"
    return listed(
        least is not None and most and f"may be limited {between}",
        usual and usual != gpu.power_limit_watts and f"{show(usual, 'watts')} by default",
    )


def _memory(gpu: Gpu) -> str:
    reach = gpu.bar_bytes and show(gpu.bar_bytes, "bytes")
    small = reach and f"the processor reaches {reach} (no resizable BAR)"
    return listed(
        gpu.ecc is not None and f"ECC {'on' if gpu.ecc else 'off'}",
        gpu.ecc_pending not in (None, gpu.ecc)
        and f"{'on' if gpu.ecc_pending else 'off'} from its next start",
        gpu.resizable_bar and "the processor reaches all of it (resizable BAR)",
        gpu.resizable_bar is False and small,
        gpu.remapped_rows and f"{gpu.remapped_rows} rows replaced after errors",
        gpu.remapping_pending and "a repair waits for its next start",
        gpu.remapping_failed and "a repair has failed",
    )


def load_text(gpu: Mapping[str, Any], words: Words) -> str:
    """Return what a GPU does now, errors first."""
    if gpu["state"] != "awake":
        return words.say("terminal.gpu_lost" if gpu["state"] == "lost" else "terminal.gpu_asleep")
    errors = [f"{gpu[name]} {what}" for name, what in _ERRORS.items() if gpu[name]]
    used, total = gpu["memory_used_bytes"], gpu["memory_total_bytes"]
    watts, limit_watts = gpu["power_watts"], gpu["power_limit_watts"]
    limit = f" of {show(limit_watts, 'watts')}" if limit_watts else ""
    return listed(
        *errors,
        "?" if gpu["busy"] is None else f"{gpu['busy'] * 100:.0f} %",
        used is not None and total and f"{show(used, 'bytes')} of {show(total, 'bytes')}",
        watts is not None and f"{show(watts, 'watts')}{limit}",
        gpu["sm_hz"] and show(gpu["sm_hz"], "hz"),
        gpu["temperature_celsius"] and show(gpu["temperature_celsius"], "celsius"),
        *(words.say(reason["key"]) for reason in gpu["clock_reasons"] or ()),
    )


def process_lines(gpus: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the processes that hold GPU memory."""
    for gpu in gpus:
        for process in gpu["processes"] or ():
            held, age_s = process["memory_bytes"], process["age_s"]
            told = listed(
                held is not None and show(held, "bytes"),
                process["user"],
                age_s is not None and f"since {_age(age_s)}",
                process["command"],
            )
            yield f"gpu {gpu['index']} · {process['pid']}", told


def _age(age_s: float) -> str:
    for unit, size_s in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if age_s >= 2 * size_s:
            return f"{age_s / size_s:.0f} {unit}"
    return f"{age_s:.0f} s"
