"""A run of `data-parallel` over several machines, in processes that torchrun starts.

On the first machine, and on the second with `--node-rank 1`:

    torchrun --nnodes 2 --node-rank 0 --nproc-per-node 4 --master-addr ADDRESS --master-port 29500 \
        --rdzv-conf timeout=60 -m experiments.many_devices.data_parallel.across \
        --out across.coreopsis.jsonl.gz

The first process measures as any run does, and writes the recording; the others take part. Works
with whatever sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from experiments import api as x
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.devices.device import number_alike
from experiments.engine import messages
from experiments.engine.measuring import measure
from experiments.engine.worker import failed, problem_of
from experiments.tools.member import is_launched
from machine.inspect import inspect

from .experiment import EXPERIMENT, Params

DONE, FAILED, USAGE, CANNOT_RUN_HERE = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Take part in the run; return the exit status. The first process says how it went."""
    options = _options(arguments)
    try:
        if not is_launched():
            raise x.UserError("not_launched")
        machine = inspect()
        params = _params(options, machine)
        if os.environ["RANK"] == "0":
            return _first(params, options.quick, options.out)
        number_alike(machine, os.environ)  # as the first one's measuring does
        for _ in EXPERIMENT.measure(params, x.Bench(machine, quick=options.quick)):
            pass
    except x.UserError as trouble:
        return _complain(trouble.problem.key, trouble.problem.values)
    except Exception as error:  # noqa: BLE001  (one of many processes: its reason, in a sentence)
        problem = problem_of(error)
        return _complain(problem.key, problem.values)
    return DONE


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="across", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="the file that the window opens")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(arguments)


def _params(options: argparse.Namespace, machine: x.Machine) -> Params:
    """Return what this machine suggests, with as many workers as were started."""
    suited = EXPERIMENT.params_for(machine, quick=options.quick)
    settings = dict(text.partition("=")[::2] for text in options.set)
    everybody = replace(suited, most_workers=int(os.environ["WORLD_SIZE"]))
    return x.from_text(everybody, settings, machine)


def _first(params: Params, quick: bool, out: Path) -> int:
    """Measure as the process that is heard, and write what it says."""
    lines: list[bytes] = []

    def send(message: messages.Message) -> None:
        lines.append(messages.encode(message))

    command = messages.Measure(
        experiment=EXPERIMENT.id, params=x.to_json(params), quick=quick, run=str(uuid.uuid4())
    )
    try:
        finished = measure(command, Catalogue(), send, lambda: False)
    except Exception as error:  # noqa: BLE001  (said in words, and kept with the rows so far)
        finished = failed(problem_of(error))
    send(finished)
    data = b"".join(lines)
    try:
        out.write_bytes(gzip.compress(data, mtime=0) if out.name.endswith(".gz") else data)
    except OSError as error:
        return _complain("out_not_writable", {"path": out, "reason": error.strerror or "?"})
    if finished.problem is not None:
        return _complain(finished.problem.key, finished.problem.values)
    if finished.finding is not None:
        key = f"{EXPERIMENT.id}.findings.{finished.finding.message}"
        sys.stdout.write(words.load().say(key, finished.finding.values) + "\n")
    sys.stdout.write(words.load().say("terminal.run_written", {"path": out}) + "\n")
    return DONE


def _complain(key: str, values: object) -> int:
    said = words.load().say(
        f"{EXPERIMENT.id}.problems.{key}", values if isinstance(values, dict) else {}
    )
    sys.stderr.write(said + "\n")
    if key == "not_launched" or key.startswith("parameter"):
        return USAGE
    return CANNOT_RUN_HERE if key.startswith("needs_") else FAILED


if __name__ == "__main__":
    sys.exit(main())
