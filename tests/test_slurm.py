"""The checkup of four nodes under Slurm, gathered into one table; `make sweep` runs it."""

import json
import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.tools.slurm.cluster import NODES, cluster, lacking

ALL_S = 500.0  # the nodes are one machine, and measure one after another

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(lacking()), reason=lacking() or "")]


def test_four_nodes_are_checked_and_gathered(tmp_path):
    """The commands of CONTRIBUTING.md for Slurm, word for word but for the path of the program."""
    program = f"PYTHONPATH={ROOT} {sys.executable} -m app"
    check = f"{program} --data {tmp_path}/$SLURMD_NODENAME checkup --quick --json"
    with cluster(tmp_path / "slurm") as environment:
        ended = subprocess.run(
            ["srun", "-N4", "sh", "-c", f"{check} > {tmp_path}/$SLURMD_NODENAME.json"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=ALL_S,
            check=False,
        )
    files = [tmp_path / f"{node}.json" for node in NODES]
    assert all(path.is_file() for path in files), ended.stderr
    told = subprocess.run(
        [sys.executable, "-m", "app", "gather", *map(str, files), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    gathered = json.loads(told.stdout)
    assert [machine["name"] for machine in gathered["machines"]] == list(NODES)
    assert gathered["kinds"] == 1
    assert gathered["alone"] == []
    assert told.returncode in (0, 4), told.stderr  # one machine is no slower than itself
