"""Which run of an experiment counts, where there are several? Map and catalogue ask it."""

from __future__ import annotations

from collections.abc import Iterable

from app.runs.library import Kept
from experiments.engine import messages


def completed(runs: Iterable[Kept], experiment: str) -> list[Kept]:
    """Return the completed runs of an experiment: full ones first, the newest before others."""
    found = [
        run
        for run in runs
        if run.experiment == experiment
        and run.problem is None
        and run.outcome == messages.Outcome.COMPLETED
    ]
    return sorted(found, key=lambda run: (not run.quick, run.at), reverse=True)
