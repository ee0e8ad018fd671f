"""Every experiment for real, again and again, through the command line: `make sweep`.

COREOPSIS_SWEEP is the number of full runs of each experiment, 2 by default; quick runs are one
more. With 0 each runs once, quickly. Then experiments may run beside each other, since no time is
judged of a run that found the machine busy.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.needs import missing_need
from experiments.engine.guardian import MARK, start_of
from experiments.engine.lock import FOLDER_VARIABLE
from experiments.engine.messages import Outcome
from experiments.engine.recording import read
from machine.inspect import inspect
from tests.app.program import HIDE, Program
from tests.processes import PATIENCE_S, TOKEN, living, until

FULL = int(os.environ.get("COREOPSIS_SWEEP", "2"))
EXPERIMENTS = list(Catalogue())
HERE = inspect()
LIMITS_S = {"full": 30.0, "quick": 5.0}  # of the run itself, after its imports
NOISE = 1.5  # the machine may be shared

pytestmark = pytest.mark.slow


@pytest.fixture
def coreopsis(tmp_path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.close()


@pytest.mark.parametrize("kind", ["quick", "full"] if FULL else ["quick"])
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_an_experiment_does_the_same_again_and_again(coreopsis, experiment, kind, capsys):
    for turn in range(FULL + 1 if kind == "quick" else FULL):
        start_s = time.monotonic()
        said = coreopsis("run", experiment.id, *(["--quick"] if kind == "quick" else []))
        whole_s = time.monotonic() - start_s

        if (need := missing_need(experiment, HERE)) is not None:
            assert said.code == 3
            assert words.load().say(f"problems.needs_{need}") in said.sentence
            return
        assert said.code == 0, said.err
        assert len(coreopsis.runs) == turn + 1  # one file, and nothing beside it
        run = read(coreopsis.runs[-1])
        measured_s = max(event.t_s for event in run.events if hasattr(event, "t_s"))
        with capsys.disabled():
            told = f"{experiment.id} {kind}: measured {measured_s:.1f} s, in all {whole_s:.1f} s"
            print(f"\n{told}", end="")  # noqa: T201  (the times are what the sweep is for)
        assert run.finished.outcome is Outcome.COMPLETED
        assert run.finished.problem is None
        assert not run.notes
        if "machine_was_quiet" in {getattr(event, "key", "") for event in run.events}:
            assert measured_s <= NOISE * LIMITS_S[kind]

        assert coreopsis.living() == {}
        assert until(lambda: not orphans())
        assert list(coreopsis.temporary.iterdir()) == []
        assert [path.name for path in coreopsis.lock.parent.iterdir()] == [coreopsis.lock.name]

        replayed = coreopsis("replay", coreopsis.runs[-1])
        assert replayed.code == 0
        assert told_of(replayed.out, experiment) == told_of(said.out, experiment)
        assert run.finding(experiment) == run.finished.finding


def test_the_tour_shows_the_machine_and_a_few_experiments(coreopsis):
    said = coreopsis.end(coreopsis.start(**{HIDE: "PySide6"}), limit_s=3 * PATIENCE_S)

    assert said.code == 0
    why, *_ = said.err.splitlines()  # then the progress of the measurements
    # What adds Qt depends on the folder that one is in.
    assert why.startswith(words.load().say("problems.qt_missing").partition("`")[0])
    assert words.load().say("terminal.tour_instead") in said.out.replace("\n", " ")
    stops = [each.id for each in Catalogue() if each.is_in_tour and not missing_need(each, HERE)]
    for stop in stops:
        assert said.out.count(words.load().say(f"{stop}.question")) == 2  # what was found, again
    assert len(coreopsis.runs) == len(stops)
    # The line that replays a run is there to be copied whole, with the folder that was given.
    assert max(len(line) for line in said.lines if not line.startswith("Kept as")) <= 80


def test_two_launchers_train_together_as_two_machines_would(tmp_path):
    pytest.importorskip("torch")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    out, token = tmp_path / "across.coreopsis.jsonl.gz", uuid.uuid4().hex
    line = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    line += ["--master-addr", "127.0.0.1", "--master-port", str(port), "--rdzv-conf", "timeout=60"]
    what = ["-m", "experiments.many_devices.data_parallel.across", "--quick", "--out", str(out)]
    environment = {**os.environ, FOLDER_VARIABLE: str(tmp_path), TOKEN: token}
    launchers = [
        subprocess.Popen([*line, "--node-rank", str(rank), *what], env=environment)
        for rank in (1, 0)
    ]
    try:
        assert [each.wait(2 * PATIENCE_S) for each in launchers] == [0, 0]
    finally:
        for each in launchers:
            each.kill()
            each.wait()
    run = read(out)

    assert run.finished.outcome is Outcome.COMPLETED
    assert {row.row["machines"] for row in run.rows["rates"]} == {2}
    assert {row.row["workers"] for row in run.rows["rates"]} == {1, 2}
    assert run.finished.finding.values["loss_difference_fraction"] < 1e-4
    assert until(lambda: not living(token))


def orphans() -> set[str]:
    """Return the processes of this machine that a guardian marked which is no more."""
    mark, found = re.compile(MARK.encode() + rb"=([0-9]+):([0-9]+)"), set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            guardian = mark.search(file.read())
            if guardian and start_of(int(guardian[1])) != guardian[2].decode():
                found.add(pid)
    return found


def told_of(said: str, experiment: Experiment[Any]) -> str:
    """Return the text from the question on, without lines that only a new run has."""
    _, _, text = said.partition(words.load().say(f"{experiment.id}.question"))
    return "\n".join(line for line in text.splitlines() if not line.startswith("Kept as")).strip()
