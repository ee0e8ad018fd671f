"""Figures of others on this GPU: CUDA, compiled on the spot, and nvbandwidth where it is."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.core.catalogue import Catalogue
from tests.tools.gpu_check import processes
from tests.tools.gpu_check.runs import Ran

SOURCE = Path(__file__).with_name("twin.cu")
COMPILING_S, RUNNING_S = 90.0, 60.0
NVBANDWIDTH = {
    "host_to_device_memcpy_ce": "pinned_to_gpu_bytes_per_s",
    "device_to_host_memcpy_ce": "pinned_from_gpu_bytes_per_s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of the experiments, so that the twin measures with the same."""

    array_bytes: int = 512 * 2**20
    rows: int = 8192
    host_bytes: int = 2**30
    launches: int = 1000

    @classmethod
    def of(cls, ran: Mapping[str, Ran]) -> Sizes:
        """Return those of these runs."""
        found = {}
        if "roofline" in ran and (intensity := ran["roofline"].values.get("matmul_flop_per_byte")):
            found["array_bytes"] = int(ran["roofline"].params["array_bytes"])
            found["rows"] = round(6 * intensity)  # 2 n^3 operations on 3 n^2 numbers of 4 bytes
        if "pinned" in ran and (largest := ran["pinned"].values.get("largest_bytes")):
            found["host_bytes"] = int(largest)
        if "many-small" in ran and (calls := ran["many-small"].params.get("calls")):
            found["launches"] = int(calls)
        return cls(**found)


def twin(
    folder: Path, sizes: Sizes, threads: Collection[int], left_s: Callable[[], float]
) -> tuple[dict[str, float], str]:
    """Compile and run the twin in `folder`; return its figures in SI units, or why it has none.

    It runs on `threads`, those near the GPU, as `pinned` does.
    """
    compiler = shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if compiler is None:
        return {}, "There is no nvcc here: install the CUDA toolkit to hold the rates against CUDA."
    program, log = folder / "twin", folder / "twin.log"
    command = [compiler, "-O3", "-arch=native", "-o", str(program), str(SOURCE), "-ldl"]
    if code := processes.run(command, log, min(COMPILING_S, left_s())):
        return {}, f"nvcc failed ({code}): {processes.last(log)}"
    library = cublas_of_torch(folder)
    given = [sizes.array_bytes, sizes.rows, sizes.host_bytes, sizes.launches]
    command = [str(program), *map(str, given), *([str(library)] if library else [])]
    if threads and shutil.which("taskset"):
        command = ["taskset", "-c", ",".join(map(str, threads)), *command]
    code = processes.run(command, log, min(RUNNING_S, left_s()), _beside(library))
    found = figures(processes.text(log))
    if code:
        return found, f"The twin ended with {code}: {processes.last(log)}"
    return found, f"The twin multiplied with {library}." if library else "PyTorch loads no cuBLAS."


def cublas_of_torch(folder: Path) -> Path | None:
    """Return the cuBLAS that PyTorch has loaded itself: only with the same one is its work ours."""
    log = folder / "cublas.log"
    asked = "import torch; print(open('/proc/self/maps').read())"
    processes.run([sys.executable, "-c", asked], log, RUNNING_S)
    found = re.search(r"/\S*libcublas\.so\S*", processes.text(log))
    return Path(found[0]) if found else None


def _beside(library: Path | None) -> dict[str, str]:
    """Let a library find the parts of its own version before those of the system."""
    if library is None:
        return {}
    paths = filter(None, (str(library.parent), os.environ.get("LD_LIBRARY_PATH")))
    return {"LD_LIBRARY_PATH": ":".join(paths)}


def nvbandwidth(folder: Path, left_s: Callable[[], float]) -> tuple[dict[str, float], str]:
    """Return the rates of nvbandwidth, in SI units, or why there are none."""
    log = folder / "nvbandwidth.log"
    code = processes.run(["nvbandwidth", "-t", *NVBANDWIDTH], log, min(RUNNING_S, left_s()))
    if code == processes.NOT_THERE:
        return {}, "nvbandwidth is not installed here."
    return sums(processes.text(log)), f"nvbandwidth: {processes.last(log)}" if code else ""


def figures(text: str) -> dict[str, float]:
    """Return the figures of lines "name value"; other lines are passed over."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        try:
            found[name] = float(value)
        except ValueError:
            continue
    return found


def sums(text: str) -> dict[str, float]:
    """Return the sums that nvbandwidth prints, GB/s there; of several GPUs their mean."""
    found = {}
    for test, name in NVBANDWIDTH.items():
        matrix = re.search(rf"^SUM {test} +([0-9.]+)", text, re.MULTILINE)
        columns = re.search(rf"{test}.*?\n((?: +[0-9]+)+) *\n", text, re.DOTALL)
        if matrix is not None:
            gpus = len(columns[1].split()) if columns is not None else 1
            found[name] = float(matrix[1]) * 1e9 / gpus
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A value of an experiment beside the same figure of others; `is_kept`: within the budget."""

    experiment: str
    value: str
    ours: float
    theirs: float
    budget: tuple[float, float] | None
    is_kept: bool | None  # None where there is no budget


def compared(ran: Mapping[str, Ran], theirs: Mapping[str, float]) -> Iterator[Held]:
    """Yield what both sides have of all that the experiments hold against others."""
    for experiment in Catalogue():
        values = ran[experiment.id].values if experiment.id in ran else {}
        for value, (name, budget) in experiment.cuda_reference.items():
            if value in values and theirs.get(name):
                ratio = values[value] / theirs[name]
                yield Held(
                    experiment=experiment.id, value=value, ours=values[value], theirs=theirs[name],
                    budget=budget, is_kept=budget[0] <= ratio <= budget[1] if budget else None,
                )  # fmt: skip
