"""Figures of others on this GPU: CUDA, compiled on the spot, and nvbandwidth where it is."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("twin.cu")
COMPILING_S, RUNNING_S = 90.0, 60.0
NVBANDWIDTH = {
    "host_to_device_memcpy_ce": "pinned_to_gpu_bytes_per_s",
    "device_to_host_memcpy_ce": "pinned_from_gpu_bytes_per_s",
}


def twin(folder: Path) -> tuple[dict[str, float], str]:
    """Compile and run the twin in `folder`; return its figures in SI units, or why it has none."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        return {}, "no nvcc here: install the CUDA toolkit to hold the rates against CUDA"
    program = folder / "twin"
    try:
        made = _run([compiler, "-O3", "-arch=native", "-o", str(program), str(SOURCE), "-ldl"],
                    COMPILING_S)  # fmt: skip
        if made.returncode != 0:
            return {}, f"nvcc failed: {_last(made.stderr)}"
        done = _run([str(program), *_cublas()], RUNNING_S)
    except subprocess.TimeoutExpired as error:
        return {}, f"{Path(error.cmd[0]).name} took longer than {error.timeout:.0f} s"
    return figures(done.stdout), _last(done.stderr) if done.returncode or done.stderr else ""


def nvbandwidth() -> tuple[dict[str, float], str]:
    """Return what nvbandwidth tells, in SI units, or why there is nothing."""
    program = shutil.which("nvbandwidth")
    if program is None:
        return {}, "nvbandwidth is not installed here"
    try:
        done = _run([program, "-t", *NVBANDWIDTH], RUNNING_S)
    except subprocess.TimeoutExpired:
        return {}, f"nvbandwidth took longer than {RUNNING_S:.0f} s"
    return sums(done.stdout), _last(done.stderr) if done.returncode else ""


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


def _cublas() -> list[str]:
    """Return where cuBLAS is: beside PyTorch, which brings its own, else where the system looks."""
    for package in ("nvidia.cublas", "nvidia.cu13"):
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).rglob("libcublas.so.*")):
                return [str(path)]
    return ["libcublas.so"]


def _run(command: list[str], limit_s: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:200]
