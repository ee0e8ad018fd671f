"""Time of a class collage: thirty real result files are read, put into words and drawn.

Offscreen. The files are a recording that comes with the program, under thirty names, packed, with
predictions; meanwhile the event loop must have its turns.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from experiments.core.units import show
from tests.tools.bench.lines import Line

FILES, SHOWN_S, TURN_S = 30, 1.0, 0.1
SHIPPED = {"burst-random": "magnitude", "gil-threads": "choice"}


def lines() -> Iterator[Line]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    from tests.widgets.runs.samples import worn

    look = worn()
    for name, kind in SHIPPED.items():
        with tempfile.TemporaryDirectory() as folder:
            yield from _collage(look, Path(folder), name, kind)
    del application


def _collage(look: Any, folder: Path, name: str, kind: str) -> Iterator[Line]:
    from app.context import Context
    from app.window.core.background import Background
    from app.window.core.session import Session
    from app.window.core.settings import Settings
    from app.window.runs.place import RunsPlace
    from tests.tools.bench.running_window import Heart
    from tests.tools.pictures import until, wait_s

    session = Session(Context(data=folder / "data"), look, Settings())
    session.background = Background()
    session.runner = SimpleNamespace(is_running=False, close=lambda: None)  # type: ignore[assignment]
    session.watcher = SimpleNamespace(close=lambda: None)  # type: ignore[assignment]
    paths = _files(folder, session, name, kind)
    heart = Heart()
    try:
        place = RunsPlace(session)
        place.resize(1360, 850)
        place.show()
        place.arrive()
        place.stack.show_collage()  # loads the plots, as the first visit of any experiment does
        wait_s(0.3)
        heart.start()
        start_s = time.perf_counter()
        place.stack.show_collage(paths)
        collages = place.stack.collages
        assert collages is not None
        until(lambda: bool(collages.page.plots))
        took_s = time.perf_counter() - start_s
        wait_s(0.1)  # to the end of the turn that draws them
        heart.stop()
        assert collages.page.table.rowCount() == FILES
    finally:
        session.close()
    what = f"{FILES} files of {name} as a class collage"
    yield Line(what, show(took_s, "s"), show(SHOWN_S, "s"), took_s <= SHOWN_S)
    turn_s = max(heart.gaps_s)
    yield Line(
        "the longest turn of the event loop meanwhile",
        show(turn_s, "s"),
        show(TURN_S, "s"),
        turn_s <= TURN_S,
    )


def _files(folder: Path, session: Any, name: str, kind: Any) -> list[Path]:
    """Write the recording of an experiment under many names, each with a prediction."""
    from app.runs.owner_note import Told, retold
    from experiments.core.teaching.lesson_run import Guess
    from experiments.engine import messages
    from experiments.engine.recording import read
    from experiments.engine.seal import with_first_line

    recording = session.catalogue.recording(name)
    started, data = read(recording).started, gzip.decompress(recording.read_bytes())
    paths = []
    for number in range(FILES):
        run = msgspec.structs.replace(started, run=str(uuid.UUID(int=number)))
        at = number % 4 if kind == "choice" else number + 1
        told = Told(guess=Guess(kind=kind, at=(float(at),)))
        changed = retold(with_first_line(data, messages.encode(run)), told)
        paths.append(folder / f"{number}.coreopsis.jsonl.gz")
        paths[-1].write_bytes(gzip.compress(changed, 1))
    return paths
