"""The time of a report: of a run from the library, in every format, and read again.

Offscreen, with the shipped run that has the largest file.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.core.shelves import homes
from experiments.core.units import show
from tests.tools.bench.lines import Line

WRITTEN_S, SHOWN_S, READ_S = 2.0, 1.0, 1.0


def lines() -> Iterator[Line]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from app.reports.pictures import qt_or_problem

    application, problem = qt_or_problem()
    assert problem is None
    shipped = [home.recording for home in homes().values() if home.recording is not None]
    longest = max(shipped, key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory() as folder:
        yield from _report(longest, Path(folder))
    del application


def _report(path: Path, folder: Path) -> Iterator[Line]:
    from app.reports.pictures import drawer
    from app.reports.privacy import Include
    from app.reports.run_report import run_report, source_of
    from app.reports.writing import SUFFIXES, preview, written
    from experiments.core import words as all_words
    from experiments.core.catalogue import Catalogue
    from experiments.engine.recording import read

    words, catalogue = all_words.load(), Catalogue()
    start_s = time.perf_counter()
    source = source_of(path, catalogue)
    document = run_report(source, words, Include(), drawer(words))
    preview(document, "html", words)
    shown_s = time.perf_counter() - start_s
    what = f"{source.experiment.id}, {len(source.lines)} lines"
    yield _kept(f"a report ({what}), until all its words are seen", shown_s, SHOWN_S)
    for kind, suffix in SUFFIXES.items():
        start_s = time.perf_counter()
        document = run_report(source, words, Include(), drawer(words))
        (folder / f"x{suffix}").write_bytes(written(document, kind, words))
        took_s = time.perf_counter() - start_s
        yield _kept(f"the same report as {kind}, made and written", took_s, WRITTEN_S)
    start_s = time.perf_counter()
    read(folder / f"x{SUFFIXES['html']}")
    yield _kept("the run in it, read again", time.perf_counter() - start_s, READ_S)


def _kept(what: str, took_s: float, budget_s: float) -> Line:
    return Line(what, show(took_s, "s"), show(budget_s, "s"), took_s <= budget_s)
