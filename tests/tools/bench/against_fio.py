"""Direct reads in turns with fio, where it is installed, in the same folder.

fio reads a file of its own, as large and as random as ours, for as long.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.memory.storage.experiment import DEPTH
from experiments.tools.disk_file import DiskFile
from machine.inspect import inspect
from machine.storage.place import usual_folder
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

KIB, MIB = 2**10, 2**20
FILE_BYTES = 512 * MIB
SAMPLE_S, TURNS = 1.0, 11  # fio takes whole seconds
ARMS = {
    "in order, 1 MiB": (MIB, 1, False, (0.95, 1.05)),
    "shuffled, 4 KiB": (4 * KIB, 1, True, (0.90, 1.10)),
    f"shuffled, 4 KiB, {DEPTH} at a time": (4 * KIB, DEPTH, True, (0.90, 1.10)),
}


def lines() -> Iterator[Line]:
    """Compare each way of reading."""
    fio = shutil.which("fio")
    if fio is None:
        yield Line("disk against fio", "fio is not installed here")
        return
    folder = usual_folder()
    with tempfile.TemporaryDirectory(dir=folder) as theirs:
        try:
            with DiskFile(folder, FILE_BYTES, Bench(inspect())) as file:
                for _ in file.write():
                    pass
                for what, (block_bytes, depth, at_random, budget) in ARMS.items():
                    twin = _command(fio, Path(theirs), block_bytes, depth, at_random=at_random)
                    _rate(twin)  # lays its file out

                    def ours(
                        _turn: int, block=block_bytes, depth=depth, at_random=at_random
                    ) -> float:
                        rate = file.reads_per_s(
                            block, depth, at_random=at_random, sample_s=SAMPLE_S
                        )
                        return rate * block

                    yield in_turns(
                        f"disk, {what}", ours, *[partial(_rate_of, twin)] * 2,
                        turns=TURNS, budget=budget, unit="bytes/s",
                    )  # fmt: skip
        except UserError as trouble:
            yield Line("disk against fio", f"not measured here: {trouble.problem.key}")


def _command(fio: str, folder: Path, block_bytes: int, depth: int, *, at_random: bool) -> list[str]:
    return [
        fio, "--name=twin", f"--filename={folder / 'twin'}", f"--size={FILE_BYTES}", "--direct=1",
        "--ioengine=psync", "--thread", f"--numjobs={depth}", "--group_reporting",
        f"--rw={'randread' if at_random else 'read'}", f"--bs={block_bytes}", "--norandommap",
        "--time_based", f"--runtime={SAMPLE_S:.0f}", "--output-format=json",
    ]  # fmt: skip


def _rate_of(twin: list[str], _turn: int) -> float:
    return _rate(twin)


def _rate(command: list[str]) -> float:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout[done.stdout.index("{") :])
    rate: float = told["jobs"][0]["read"]["bw_bytes"]
    return rate
