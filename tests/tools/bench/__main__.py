"""Run the benchmark, or some parts of it: `python -m tests.tools.bench [PART ...]`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile

from rich.console import Console
from rich.table import Table

from experiments.engine.lock import FOLDER_VARIABLE
from tests import ROOT

PARTS = (
    "against_c",
    "chains_against_c",
    "loops_against_c",
    "starts_against_c",
    "objects_against_c",
    "noise_against_c",
    "system_against_c",
    "core_to_core",
    "against_stream",
    "effects",
    "against_fio",
    "running",
    "watching",
    "live_cost",
    "live_points",
    "explaining",
    "motion",
    "window",
    "drawing",
    "map",
    "library",
    "reporting",
    "collage",
    "inspecting",
    "terminal",
    "checkup",
    "lecture",
)


def main(wanted: list[str]) -> int:
    """Print every line as it comes; return 1 if a budget is not kept."""
    console = Console(highlight=False)
    os.environ["PYTHONPATH"] = str(ROOT)  # the workers find the benchmark's own experiment
    broken, reasons = 0, []
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "figure", "budget", ""):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER_VARIABLE] = folder
        for part in wanted or PARTS:
            for line in importlib.import_module(f"tests.tools.bench.{part}").lines():
                verdict = {True: "kept", False: "OVER", None: ""}[line.kept]
                broken += line.kept is False
                console.print(f"{line.what}: {line.figure} {verdict}", style="dim")
                if line.kept is False and line.why:
                    reasons.append(f"OVER, {line.what}: {line.why}")
                table.add_row(line.what, line.figure, line.budget, verdict)
    console.print()
    console.print(table)
    for reason in reasons:
        console.print(reason)
    return 1 if broken else 0


def _parts(arguments: list[str]) -> list[str]:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench", description=__doc__)
    # "choices" of a list would refuse the empty one.
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parts: list[str] = parser.parse_args(arguments).parts
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return parts


if __name__ == "__main__":
    sys.exit(main(_parts(sys.argv[1:])))
