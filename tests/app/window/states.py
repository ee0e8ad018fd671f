"""Every state of an experiment's page as a picture.

`python -m tests.app.window.states FOLDER dark 1.0 1360 816 [STATE ...]`. Runs are made of numbers,
not measured; the runner is one that is handed its events.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from experiments.engine import messages
from tests.app.recordings import Made, burst, ladder, threads
from tests.app.window.stage import Stage, events, live_s, settle
from widgets.style import theme as themes
from widgets.style.look import Look


def empty(stage: Stage) -> None:
    stage.page.open("burst-random")


def running(stage: Stage) -> None:
    stage.page.open("burst-random")
    stage.do.run.trigger()
    stage.runner.hear(*events(burst(), 0.55))


def running_threads(stage: Stage) -> None:
    stage.page.open("gil-threads")
    stage.do.run.trigger()
    stage.runner.hear(*events(real("gil-threads"), 0.7))


def waiting(stage: Stage) -> None:
    stage.page.open("burst-random")
    stage.do.run.trigger()
    values = {"experiment": "cache-ladder", "since": "14:03"}
    stage.runner.hear(messages.Note(key="waiting_for_machine", values=values))


def done(stage: Stage) -> None:
    stage.page.open("burst-random")
    stage.do.run.trigger()
    stage.keep(real("burst-full"))
    stage.runner.hear(*events(real("burst-full")))


def done_threads(stage: Stage) -> None:
    stage.page.open("gil-threads")
    stage.do.run.trigger()
    stage.keep(real("gil-threads"))
    stage.runner.hear(*events(real("gil-threads")))


def done_ladder(stage: Stage) -> None:
    stage.page.open("cache-ladder")
    stage.do.run.trigger()
    stage.keep(real("cache-ladder"))
    stage.runner.hear(*events(real("cache-ladder")))


def last(stage: Stage) -> None:
    stage.keep(burst())
    stage.page.open("burst-random")
    settle(lambda: stage.page.model.loaded is not None)


def stopped(stage: Stage) -> None:
    running(stage)
    last = messages.decode_event(burst().lines[-1])
    assert isinstance(last, messages.Finished)
    stage.runner.hear(messages.Finished(outcome=messages.Outcome.STOPPED, finding=last.finding))


def failed(stage: Stage) -> None:
    running(stage)
    problem = messages.ProblemSent(
        key="experiment_raised", values={"error": "ValueError: on purpose"}, detail="Traceback"
    )
    stage.runner.hear(messages.Finished(outcome=messages.Outcome.FAILED, problem=problem))


def lost(stage: Stage) -> None:
    running(stage)
    problem = messages.ProblemSent(key="killed_by_system", detail="status -9")
    stage.runner.hear(messages.Finished(outcome=messages.Outcome.LOST, problem=problem))


def elsewhere(stage: Stage) -> None:
    running(stage)
    stage.page.open("cache-ladder")


def opened(stage: Stage) -> None:
    path = threads().write(stage.folder / "elsewhere.coreopsis.jsonl")
    stage.page.open_run(path)
    settle(lambda: stage.page.model.loaded is not None)


def damaged(stage: Stage) -> None:
    stage.page.open("burst-random")
    path = stage.folder / "damaged.coreopsis.jsonl"
    path.write_bytes(burst().data[:500] + b"\n{}\n")
    stage.page.open_run(path)
    settle(lambda: not stage.page.model.is_reading)


def replay(stage: Stage) -> None:
    opened(stage)
    stage.do.replay.trigger()
    player = stage.page.model.player
    assert player is not None
    player.pause()
    player.seek(player.total_s * 0.8)


def compare(stage: Stage) -> None:
    a, b = stage.keep(burst(), burst(1.7, at="2026-05-03T03:02:01+00:00"))
    stage.page.open_run(a, b)
    settle(lambda: stage.page.model.comparing.is_on and stage.page.model.loaded is not None)


def code(stage: Stage) -> None:
    stage.page.open("burst-random")
    stage.do.code.trigger()


def data(stage: Stage) -> None:
    done(stage)
    stage.do.data.trigger()


STATES = (
    empty, running, running_threads, waiting, done, done_threads, done_ladder, last, stopped,
    failed, lost, elsewhere, opened, damaged, replay, compare, code, data,
)  # fmt: skip


def real(name: str) -> Made:
    """Return a run that was measured, where it lies in COREOPSIS_RUNS; else one of numbers."""
    path = Path(os.environ.get("COREOPSIS_RUNS", "/nowhere")) / f"{name}.coreopsis.jsonl"
    if path.exists():
        lines = tuple(path.read_bytes().splitlines(keepends=True))
        first = messages.decode_event(lines[0])
        assert isinstance(first, messages.Started)
        return Made(first.run, lines)
    made: dict[str, Callable[[], Made]] = {
        "burst-full": burst, "gil-threads": threads, "cache-ladder": ladder
    }  # fmt: skip
    return made[name]()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    mode, zoom = sys.argv[2], float(sys.argv[3])
    size = (int(sys.argv[4]), int(sys.argv[5]))
    wanted = sys.argv[6:]
    application = QApplication([])
    themes.add_fonts()
    look = Look(themes.load(mode, zoom))
    look.wear(look.theme)
    for state in STATES:
        if wanted and state.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as place:
            stage = Stage(look, Path(place))
            stage.page.resize(*size)
            stage.page.show()
            stage.page.arrive()
            stage.know_machine()
            state(stage)
            live_s(0.5)
            name = f"{state.__name__}-{mode}-{zoom}-{size[0]}.png"
            stage.page.grab().save(str(folder / name))
            stage.close()
            application.processEvents()


if __name__ == "__main__":
    main()
