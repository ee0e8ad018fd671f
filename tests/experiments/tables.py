"""The items of a run, sorted into its tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments.core.declare import Experiment


def in_tables(experiment: Experiment[Any], items: Iterable[object]) -> dict[str, list[Any]]:
    """Return the rows of each table in order; progress, notes and frames are left out."""
    kept = list(items)
    return {
        name: [item for item in kept if type(item) is kind]
        for name, kind in experiment.tables.items()
    }
