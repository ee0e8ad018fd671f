"""Facts that the experiments rest on, measured without them; none repeats an experiment.

`python -m tests.tools.gpu_check.facts NAME ...` prints a line of JSON for each fact: its numbers by
name, or why there are none.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

GIB, MIB, DEVICE = 2**30, 2**20, "cuda"
BIG_BYTES = GIB
ROWS = 2048
SIDES = (640, 2560, 10240)  # of the stencil: several, as a run has
QUEUED = (100, 500, 1000, 2000, 4000)
WARM_S, LOAD_S = 0.8, 2.2  # until clocks have risen; NVML looks back for a second
HOLD_CYCLES, LONG_HOLD_CYCLES = 2_000_000, 60_000_000
ROUNDS = 7

Said = Mapping[str, float | str]
Work = Callable[[], object]


def on_device(
    torch: Any, work: Callable[[], object], count: int = 1, rounds: int = ROUNDS
) -> float:
    """Return the seconds of one call by events, behind a hold: the median of some rounds."""
    found = []
    work()
    for _ in range(rounds):
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(2 * HOLD_CYCLES)
        start.record()
        for _ in range(count):
            work()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) / 1e3 / count)
    return median(found)


def whole(torch: Any, work: Work, count: int = 1) -> float:
    """Return the caller's seconds of one call, until all are done."""
    torch.cuda.synchronize()
    start_s = time.perf_counter()
    for _ in range(count):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start_s) / count


def random(torch: Any, *shape: int, kind: str = "float32") -> Any:
    return torch.randn(*shape, device=DEVICE).to(getattr(torch, kind))


# --- libraries: the first load from a cold disk takes long, and is neither a hang nor measured


def import_torch(torch: Any) -> Said:
    return {"version": torch.__version__}


def context(torch: Any) -> Said:
    torch.zeros(1, device=DEVICE)
    torch.cuda.synchronize()
    return {"name": torch.cuda.get_device_name()}


def cublas(torch: Any) -> Said:
    for kind in ("float64", "float32", "float16", "bfloat16"):
        torch.mm(random(torch, 512, 512, kind=kind), random(torch, 512, 512, kind=kind))
    torch.cuda.synchronize()
    return {}


def cudnn(torch: Any) -> Said:
    for kind in (torch.float32, torch.float16):
        net = torch.nn.Conv2d(64, 64, 3, padding=1).to(DEVICE, kind)
        net(torch.randn(8, 64, 64, 64, device=DEVICE, dtype=kind)).sum().backward()
    torch.cuda.synchronize()
    return {"version": str(torch.backends.cudnn.version())}


def torch_compile(torch: Any) -> Said:
    torch.compile(lambda x: (x * 2 + 1).tanh())(random(torch, 1000))
    torch.cuda.synchronize()
    return {}


def profiler(torch: Any) -> Said:
    from torch.profiler import profile

    with profile() as seen:
        (random(torch, 512, 512) @ random(torch, 512, 512)).sum().item()
    events = seen.events()
    return {"gpu_events": sum("CUDA" in str(each.device_type) for each in events)}


def torchscript(torch: Any) -> Said:
    def gelu(x):  # small operations, which TorchScript fuses with NVRTC
        return 0.5 * x * (1.0 + (0.7978846 * (x + 0.044715 * x * x * x)).tanh())

    scripted = torch.jit.trace(gelu, random(torch, 64, 256))
    with torch.no_grad():
        for _ in range(4):
            scripted(random(torch, 64, 256))
    torch.cuda.synchronize()
    return {}


# --- facts


def device(torch: Any) -> Said:
    public = getattr(torch, "accelerator", None)
    return {
        "empty_host_cache": str(hasattr(public, "empty_host_cache")),
        "_host_emptyCache": str(hasattr(torch._C, "_host_emptyCache")),
        "properties": str(torch.cuda.get_device_properties(0)),
        "free_bytes": torch.cuda.mem_get_info()[0],
    }


def hold(torch: Any) -> Said:
    """Return how long HOLD_CYCLES last: a millisecond is meant."""
    end_s = time.perf_counter() + WARM_S
    left, right = random(torch, ROWS, ROWS), random(torch, ROWS, ROWS)
    while time.perf_counter() < end_s:
        torch.mm(left, right)
        torch.cuda.synchronize()
    return {"hold_s": on_device(torch, lambda: torch.cuda._sleep(HOLD_CYCLES))}


def queue(torch: Any) -> Said:
    """Return the cost of a call behind a long hold: a step up means that the queue was full."""
    one, found = torch.zeros(1, device=DEVICE), {}
    one.add_(1)  # the first call loads its kernel, which took 30 ms
    for count in QUEUED:
        torch.cuda.synchronize()
        torch.cuda._sleep(LONG_HOLD_CYCLES)
        start_s = time.perf_counter()
        for _ in range(count):
            one.add_(1)
        found[f"call_of_{count}_s"] = (time.perf_counter() - start_s) / count
    torch.cuda.synchronize()
    return found


def tiny_kernel(torch: Any) -> Said:
    one = torch.zeros(1, device=DEVICE)
    return {
        "queued_s": on_device(torch, lambda: one.add_(1), 100),
        "in_a_graph_s": on_device(torch, graph(torch, one, 1000)) / 1000,
        "called_s": whole(torch, lambda: one.add_(1), 5000),
        "waited_for_s": median(whole(torch, lambda: one.add_(1)) for _ in range(200)),
    }


def graph(torch: Any, one: Any, count: int) -> Work:
    one.add_(1)
    torch.cuda.synchronize()
    found = torch.cuda.CUDAGraph()
    with torch.cuda.graph(found):
        for _ in range(count):
            one.add_(1)
    return found.replay


def utilisation(torch: Any) -> Said:
    """Return how busy NVML calls a GPU that does next to nothing, and its power."""
    import pynvml

    pynvml.nvmlInit()
    card, one = pynvml.nvmlDeviceGetHandleByIndex(0), torch.zeros(1, device=DEVICE)
    works = {"calls": lambda: [one.add_(1) for _ in range(100)], "graph": graph(torch, one, 2000),
             "spin": lambda: torch.cuda._sleep(2 * HOLD_CYCLES)}  # fmt: skip
    found = {}
    for name, work in works.items():
        end_s, marks = time.perf_counter() + LOAD_S, []
        while time.perf_counter() < end_s:
            work()
            marks.append(torch.cuda.Event())
            marks[-1].record()
            if len(marks) > 2:
                marks.pop(0).synchronize()
        found[f"{name}_busy_fraction"] = pynvml.nvmlDeviceGetUtilizationRates(card).gpu / 100
        found[f"{name}_power_watts"] = pynvml.nvmlDeviceGetPowerUsage(card) / 1e3
        torch.cuda.synchronize()
    for direction, counter in enumerate(("from", "to")):
        start_s = time.perf_counter()
        kib_per_s = pynvml.nvmlDeviceGetPcieThroughput(card, direction)
        found[f"pcie_{counter}_gpu_bytes_per_s"] = kib_per_s * 1024
        found[f"pcie_{counter}_gpu_look_s"] = time.perf_counter() - start_s
    return found


def copies(torch: Any) -> Said:
    """Copies within the GPU by size: small ones stay in its cache."""
    source, target, found = *(random(torch, BIG_BYTES // 4) for _ in range(2)), {}
    for mib in (4, 16, 64, 256, 1024):
        size = min(mib * MIB, BIG_BYTES)
        a, b = source[: size // 4], target[: size // 4]
        found[f"copy_{mib}_mib_bytes_per_s"] = 2 * size / on_device(torch, partial(b.copy_, a), 20)
        called_s = median(whole(torch, partial(b.copy_, a)) for _ in range(ROUNDS))
        found[f"called_{mib}_mib_bytes_per_s"] = 2 * size / called_s
    return found


def tf32(torch: Any) -> Said:
    """Does the switch act on products and convolutions, and go back?"""
    left, right = random(torch, ROWS, ROWS), random(torch, ROWS, ROWS)
    image, weight = random(torch, 8, 64, 32, 32), random(torch, 64, 64, 3, 3)
    convolve, found = torch.nn.functional.conv2d, {}
    exact = left.double() @ right.double(), convolve(image.double(), weight.double())
    for name, precision in (("fp32", "highest"), ("tf32", "high"), ("fp32_again", "highest")):
        torch.set_float32_matmul_precision(precision)
        torch.backends.cudnn.allow_tf32 = precision == "high"
        for kind, result, right_one in zip(
            ("product", "convolution"), (left @ right, convolve(image, weight)), exact, strict=True
        ):
            error = (result - right_one).norm() / right_one.norm()
            found[f"{name}_{kind}_error"] = float(error)
    return found


def stencil(torch: Any) -> Said:
    """A kernel compiled for several sizes at once against one for each."""

    def step(now, then):
        then[1:-1, 1:-1] = (
            now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] + now[1:-1, 1:-1]
        ) * 0.2

    found = {}
    for name, dynamic in (("any_size", None), ("one_size", False)):
        torch.compiler.reset()
        compiled = torch.compile(step, dynamic=dynamic)
        for side in SIDES:
            now, then = (torch.rand(side, side, device=DEVICE) for _ in range(2))
            compiled(now, then)
        took_s = on_device(torch, partial(compiled, now, then), 5)
        found[f"{name}_cells_per_s"] = SIDES[-1] ** 2 / took_s
    return found


def nccl(torch: Any) -> Said:
    """Does NCCL start with a single member? Nothing moves: 1.3 µs are no bandwidth."""
    import torch.distributed as group

    group.init_process_group("nccl", store=group.HashStore(), rank=0, world_size=1)
    numbers = random(torch, 16 * MIB)
    group.all_reduce(numbers)
    found = {"all_reduce_64_mib_s": on_device(torch, lambda: group.all_reduce(numbers))}
    group.destroy_process_group()
    return found


LIBRARIES = (import_torch, context, cublas, cudnn, torch_compile, profiler, torchscript)
FACTS = (device, hold, queue, tiny_kernel, utilisation, copies, tf32, stencil, nccl)
KNOWN = {each.__name__: each for each in (*LIBRARIES, *FACTS)}


def told(text: str) -> list[dict[str, Any]]:
    """Return the lines that were printed whole."""
    found = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            each = json.loads(line)
            found += [each] if isinstance(each, dict) and "fact" in each else []
    return found


def numbers(fact: dict[str, Any]) -> dict[str, float]:
    """Return what a fact says in numbers; nothing of one that failed."""
    return {name: of for name, of in fact.get("said", {}).items() if not isinstance(of, str)}


def main(names: Sequence[str]) -> None:
    """Print a line for each; a fact that raises has its error there, and the next goes on."""
    warnings.simplefilter("ignore")
    start_s = time.perf_counter()
    import torch

    for name in names:
        line: dict[str, Any] = {"fact": name}
        try:
            line["said"] = KNOWN[name](torch)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is the answer)
            line["failed"] = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        line["took_s"] = time.perf_counter() - start_s
        start_s = time.perf_counter()
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
