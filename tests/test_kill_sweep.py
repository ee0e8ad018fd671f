"""Random kills of random processes of a run: nothing runs on, no row is lost, no file is left.

Then kills of everything at once, amid a checkup, a soak and a held run. Part of `make sweep`.
COREOPSIS_KILLS is the number of kills of processes, shared by eight experiments, 200 by default.
Each of the three others gets a quarter as many kills of everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from experiments.checkup import result as checkup
from experiments.core.catalogue import Catalogue
from experiments.core.needs import missing_need
from experiments.engine.lock import Lock
from experiments.engine.recording import read
from experiments.engine.sweep import sweep
from machine.inspect import inspect
from machine.system.scratch import PREFIX, SHARED_MEMORY, TORCH
from tests.app.program import Program
from tests.experiments.engine.runs import kill
from tests.processes import PATIENCE_S, until

EXPERIMENTS = (
    "data-parallel",
    "split-model",
    "dataloader",
    "talk-cost",
    "start-cost",
    "uneven",
    "gil-threads",
    "isolation",
)
QUICKLY = os.environ.get("COREOPSIS_SWEEP") == "0"
KILLS = int(os.environ.get("COREOPSIS_KILLS", "8" if QUICKLY else "200"))
SEED = int(os.environ.get("COREOPSIS_SEED", "27"))
PROGRAM, GUARDIAN, WORKER, MEMBER = "program", "guardian", "worker", "member"
TARGETS = (
    (PROGRAM,),
    (GUARDIAN,),
    (WORKER,),
    (MEMBER,),
    (PROGRAM, GUARDIAN),
    (GUARDIAN, WORKER),
    (PROGRAM, GUARDIAN, WORKER),
    (PROGRAM, MEMBER),
)
GONE_S = 2.0
LATE_S = 20.0  # beyond it a run is not waited for before something of it is killed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="finds its processes on Linux only"),
]


@dataclass
class Tally:
    """The result of the kills of one experiment."""

    kills: int = 0
    living: int = 0  # processes after two seconds
    rows: int = 0
    lost: int = 0
    files: int = 0
    slowest_s: float = 0.0
    troubles: list[str] = field(default_factory=list)


@pytest.fixture
def coreopsis(tmp_path, monkeypatch) -> Iterator[Program]:
    """Return a program whose temporary files have a short path, as they have for a person."""
    program = Program(tmp_path)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        program.environment["TMPDIR"] = folder
        yield program
        program.close()


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_whatever_is_killed_nothing_stays(experiment, coreopsis, capsys):
    if missing_need(Catalogue().load(experiment), inspect()) is not None:
        pytest.skip("cannot run here")
    dice, tally = random.Random(f"{SEED} {experiment}"), Tally()
    place = EXPERIMENTS.index(experiment)
    for number in range(place, KILLS, len(EXPERIMENTS)):
        turn = number // len(EXPERIMENTS) + place  # so that few kills try every target as well
        one_kill(coreopsis, experiment, TARGETS[turn % len(TARGETS)], dice, tally)
    with capsys.disabled():
        print(  # noqa: T201  (the table is what the sweep is for)
            f"\n{experiment:14} {tally.kills:3} kills: {tally.living} processes after "
            f"{GONE_S:.0f} s (slowest {tally.slowest_s:.2f} s), {tally.lost} of {tally.rows} rows "
            f"lost, {tally.files} files left",
            end="",
        )
    assert not tally.troubles, "\n".join(tally.troubles)
    # What was killed spoils nothing for the next.
    after = coreopsis("run", experiment, "--quick")
    assert after.code == 0, (after.out, read(coreopsis.runs[-1]).finished)


HELD = {"type": "measure", "experiment": "talk-cost", "params": {}, "quick": True, "run": "1"}
# A soak begins with its load: all else that it measures would take a minute before.
SOAK = """
import sys
from experiments.checkup import run_checkup
from app.cli import main
every = run_checkup.chosen
run_checkup.chosen = lambda *given: tuple(each for each in every(*given) if each.stage == "stays")
sys.exit(main())
"""
WORK = {
    "checkup": (("-m", "app"), ("checkup", "--quick")),
    "soak": (("-c", SOAK), ("checkup", "--soak", "1")),
    "held": (("-m", "app"), ("worker",)),
}
LONGEST_S = {"checkup": 12.0, "soak": 6.0, "held": 3.0}  # until everything is killed


@pytest.mark.parametrize("work", WORK)
def test_where_everything_is_killed_at_once_nothing_stays(work, coreopsis, capsys):
    dice, tally = random.Random(f"{SEED} {work}"), Tally()
    for _ in range(KILLS // 4):
        kill_everything(coreopsis, work, dice.uniform(0.0, LONGEST_S[work]), tally)
    with capsys.disabled():
        print(  # noqa: T201  (the table is what the sweep is for)
            f"\n{work:14} {tally.kills:3} kills of everything: {tally.living} processes after "
            f"{GONE_S:.0f} s (slowest {tally.slowest_s:.2f} s), {tally.files} files left",
            end="",
        )
    assert not tally.troubles, "\n".join(tally.troubles)
    after = coreopsis("run", "talk-cost", "--quick")
    assert after.code == 0, after.err


def kill_everything(coreopsis, work: str, after_s: float, tally: Tally) -> None:
    program, command = WORK[work]
    process = subprocess.Popen(
        [sys.executable, *program, "--data", str(coreopsis.data), *command],
        cwd=coreopsis.folder,
        env=coreopsis.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if work == "held":
        process.stdin.write(json.dumps(HELD | {"hold": True}).encode() + b"\n")
    process.stdin.flush()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after_s)  # a machine may be quicker
    folders = [path.name for path in Path(coreopsis.environment["TMPDIR"]).iterdir()]
    known = coreopsis.living()
    kill(*known)
    killed_s, tally.kills = time.monotonic(), tally.kills + 1
    where = f"{work}, everything after {after_s:.2f} s ({len(known)} processes)"
    if not until(lambda: not coreopsis.living(), GONE_S):
        left = coreopsis.living()
        tally.living += len(left)
        tally.troubles.append(f"{where}: still running {left}")
    tally.slowest_s = max(tally.slowest_s, time.monotonic() - killed_s)
    process.wait()
    process.stdin.close()

    sweep()  # as the next start does
    assert until(lambda: not coreopsis.living())
    files = [*left_by(coreopsis, folders, known), *map(str, coreopsis.folder.iterdir())]
    files += [str(path) for path in coreopsis.data.rglob(".*")]  # half written
    tally.files += len(files)
    if files:
        tally.troubles.append(f"{where}: left {files}")
    for path in coreopsis.data.glob("checkups/*.json"):
        checkup.read(path)  # or it raises
    lock = Lock(coreopsis.lock)
    if not until(lambda: lock.take({}), GONE_S):  # the system closes files after all else
        tally.troubles.append(f"{where}: the lock is still held by {lock.holder()}")
    lock.close()


def one_kill(coreopsis, experiment, targets, dice, tally) -> None:
    before = set(coreopsis.runs)
    process = coreopsis.start("run", experiment, "--quick", "--json")
    lines: list[bytes] = []
    readers = [
        threading.Thread(target=lines.extend, args=(process.stdout,)),
        threading.Thread(target=process.stderr.read),
    ]
    for reader in readers:
        reader.start()
    wait_for_the_moment(coreopsis, process, lines, dice)
    pids = named(coreopsis, process.pid, dice)
    chosen = [pids[name] for name in targets if name in pids] or [process.pid]
    folders = [path.name for path in Path(coreopsis.environment["TMPDIR"]).iterdir()]
    known = coreopsis.living()
    kill(*chosen)
    killed_s, tally.kills = time.monotonic(), tally.kills + 1
    where = f"{experiment}, {' and '.join(targets)}, row {count_of(lines)}"

    if process.pid not in chosen and targets == (MEMBER,):
        process.wait(PATIENCE_S)  # perhaps nobody needs that one
        killed_s = time.monotonic()
    gone = until(lambda: not (set(coreopsis.living()) - {process.pid}), GONE_S)
    if not gone:
        left = coreopsis.living()
        tally.living += len(left)
        tally.troubles.append(f"{where}: still running {left}")
    tally.slowest_s = max(tally.slowest_s, time.monotonic() - killed_s)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE_S)
    until(lambda: not coreopsis.living())
    for reader in readers:
        reader.join()
    process.stdout.close()
    process.stderr.close()

    seen = count_of(lines)
    new = [path for path in set(coreopsis.runs) - before if path.name.endswith((".gz", ".jsonl"))]
    kept = sum(len(rows) for path in new for rows in read(path).rows.values())
    tally.rows, tally.lost = tally.rows + seen, tally.lost + max(0, seen - kept)
    if kept < seen:
        tally.troubles.append(f"{where}: {seen} rows were told, {kept} are kept")

    sweep()  # as the next start does
    files = left_by(coreopsis, folders, known)
    tally.files += len(files)
    if files:
        tally.troubles.append(f"{where}: left {files}")


def wait_for_the_moment(coreopsis, process, lines, dice) -> None:
    """Wait a while from the start, from the first member on, or from some row on."""
    how, rows, end_s = dice.random(), dice.randrange(0, 30), time.monotonic() + LATE_S
    if how < 0.2:
        time.sleep(dice.uniform(0.0, 1.5))
        return

    def has_come() -> bool:
        if how < 0.5:
            return MEMBER in named(coreopsis, process.pid, dice)
        return count_of(lines) >= rows

    while not has_come() and process.poll() is None and time.monotonic() < end_s:
        time.sleep(0.005)
    time.sleep(dice.uniform(0.0, 0.5 if how < 0.5 else 0.1))


def count_of(lines: list[bytes]) -> int:
    """Return how many rows were sent; the last line may be torn."""
    return sum(line.endswith(b"\n") and json.loads(line)["type"] == "row" for line in list(lines))


def named(coreopsis, program: int, dice) -> dict[str, int]:
    """Return the processes of a run by what they are; of the members any one."""
    pids, members = {PROGRAM: program}, []
    for pid, line in sorted(coreopsis.living().items()):
        if pid == program:
            continue
        if "import guardian" in line:
            pids[GUARDIAN] = pid
        elif "experiments.engine.worker" in line:
            pids.setdefault(WORKER, pid)
        else:
            members.append(pid)
    if members:
        pids[MEMBER] = dice.choice(members)
    return pids


def left_by(coreopsis, folders: list[str], pids: dict[int, str]) -> list[str]:
    """Return the files that are left, in the temporary folder and in shared memory."""
    found = [str(path) for path in Path(coreopsis.environment["TMPDIR"]).iterdir()]
    starts = [f"sem.{name}" for name in folders if name.startswith(PREFIX)]
    starts += [f"{TORCH}{pid}_" for pid in pids]
    found += [name for name in os.listdir(SHARED_MEMORY) if name.startswith(tuple(starts))]
    return found
