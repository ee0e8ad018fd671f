"""Chooses the series that a slide shows: a whole plot; of many pins those that matter most."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments.core import marks
from experiments.core.declare import Experiment
from experiments.core.views import Heatmap, Lines, Ruler, View

MOST, MOST_PINS = 10, 6  # bars, lines and lanes that can be told apart; pins whose flags fit


def chosen(experiment: Experiment[Any], view: View, labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels of the series that are shown, the most important first.

    `labels` are those of the rows: of bars, lines, groups of lanes, or pins. None is left out that
    another is compared with: that is why plots are whole. Rows of cells are one picture.
    """
    only = view.only if isinstance(view, Lines) else ()
    found = {label for label in labels if not only or label in only}
    if isinstance(view, Heatmap):
        return tuple(marks.in_order(found))
    keys = sorted(experiment.keys, key=lambda key: key.view != view.key)
    order = dict.fromkeys(name for key in keys for name in key.names)
    first = [name for name in order if name in found]
    rest = marks.in_order(found.difference(first), getattr(view, "order", ()))
    return tuple([*first, *rest][: MOST_PINS if isinstance(view, Ruler) else MOST])
