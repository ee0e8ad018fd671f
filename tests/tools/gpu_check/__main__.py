"""Check the experiments of a GPU: `make gpu-check ARGS=STAGE`, where there are a GPU and PyTorch.

There are three stages, each within ten minutes:

- `quick` runs every experiment briefly.
- `full` runs them as a user does.
- `checks` looks at the facts that they rest on, and compares their rates with CUDA.

The exit code is 0 if nothing is wrong, 1 if something is, and 3 without a GPU. A value outside its
expected range means only "look".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.core.processes.libraries import GPU_CHECK, missing_sentence
from tests import ROOT

STAGES = ("quick", "full", "checks")
LIMIT_S = 560.0


def main(arguments: Sequence[str]) -> int:
    """Check this machine, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="make gpu-check", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("stage", nargs="?", choices=STAGES, default="quick")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu-check")
    parser.add_argument("--only", nargs="*", default=[], metavar="ID", help="goes on with these")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="%(default)s")
    parser.add_argument(
        "--again", action="store_true", help="leaves out the look at machine and libraries"
    )
    options = parser.parse_args(arguments)
    if sentence := missing_sentence(GPU_CHECK):
        sys.stderr.write(f"{sentence}\n")
        return 3
    from experiments.core.catalogue import Catalogue  # these need what may be missing
    from experiments.devices.device import CPU, default_device
    from machine.inspect import inspect
    from tests.tools.gpu_check.stages import check

    unknown = set(options.only) - {experiment.id for experiment in Catalogue()}
    if unknown:
        parser.error(f"there is no experiment {', '.join(sorted(unknown))}")
    machine = inspect()
    if default_device(machine) == CPU:
        sys.stderr.write("PyTorch has no GPU here; `coreopsis doctor` says why.\n")
        return 3
    pips = list(GPU_CHECK.values())
    return check(
        machine, options.stage, options.out, options.only, options.limit_s, pips,
        looks=not options.again,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
