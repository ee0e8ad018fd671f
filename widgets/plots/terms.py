"""The words of a view: its columns, choices and limits, and its numbers with units."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.core.declare import Experiment, specs
from experiments.core.units import digits, show
from experiments.core.views import Limit, Scale, Statistic, View
from experiments.core.words import Words
from widgets.plots.drawing import Name
from widgets.plots.ticks import has_place

SAME_FRACTION = 0.005  # a value closer to a limit than this is "at" the limit
OF_COUNT: Mapping[Statistic, str] = {
    "median": "plot.median_of", "least": "plot.least_of", "greatest": "plot.greatest_of",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of one view of one experiment."""

    experiment: Experiment[Any]
    view: View
    words: Words

    def say(self, key: str, values: Mapping[str, Any] | None = None) -> str:
        """Return the text of a full key."""
        return self.words.say(key, values)

    def title(self) -> str:
        """Return the view's title."""
        return self._own("views", self.view.key)

    def column(self, column: str) -> str:
        """Return a column's name."""
        return self._own("columns", column)

    def choice(self, text: str) -> str:
        """Return the shown text of a choice; the choice itself if it has no text."""
        key = f"{self.experiment.id}.choices.{text}"
        return self.words.say(key) if self.words.has(key) else text

    def limit(self, limit: Limit) -> str:
        """Return a limit's name."""
        return self._own("lines", limit.key)

    def about(self, limit: Limit) -> str:
        """Return what was timed or counted for a limit; "" if there is no text."""
        key = f"{self.experiment.id}.about.{limit.value}"
        return self.words.say(key) if self.words.has(key) else ""

    def unit(self, column: str) -> str:
        """Return the unit of a column; "" for a name that is no column."""
        spec = specs(self.experiment.tables[self.view.table]).get(column)
        return spec.unit if spec else ""

    def is_count(self, column: str) -> bool:
        """Return whether a column counts something, so that there is nothing between 1 and 2."""
        row = self.experiment.tables[self.view.table]
        return not self.unit(column) and typing.get_type_hints(row).get(column) is int

    def show(self, value: float, column: str) -> str:
        """Return a value of a column with its unit."""
        return show(value, self.unit(column))

    def name(self, label: str, column: str | None = None, detail: str = "") -> Name:
        """Return a name for an axis; what follows its comma becomes the smaller text below."""
        text, _, more = self.choice(label).partition(", ")
        if column and detail:
            of_column = self.say(
                "plot.of_column", {"column": self.column(column), "value": self.choice(detail)}
            )
            more = f"{more} · {of_column}" if more else of_column
        return Name(text, more, label)

    def one_line(self, name: Name) -> str:
        """Return a name and its detail on one line."""
        return f"{name.text}, {name.detail}" if name.detail else name.text

    def of_run(self, run: str, label: str) -> str:
        """Return a label with the name of its run, if any."""
        return self.say("plot.of_run", {"run": run, "label": label}).strip() if run else label

    def with_limit(
        self,
        value: float,
        column: str,
        scale: Scale,
        axis: str,
        values: Mapping[str, float],
        label: str = "",
    ) -> str:
        """Return a value and its distance from the nearest limit of its axis.

        `label` is a bar's label: some limits hold for some bars only.
        """
        shown = self.show(value, column)
        known = [
            (limit, values[limit.value])
            for limit in self.view.limits
            if limit.axis == axis and (not limit.of or label in limit.of)
            if has_place(values.get(limit.value, 0.0), "log10")
        ]
        if not known or not has_place(value, "log10"):
            return shown
        limit, at = min(known, key=lambda pair: max(value / pair[1], pair[1] / value))
        told = {"limit": self.limit(limit)}
        if abs(value - at) <= SAME_FRACTION * at:
            key = "plot.at_limit"
        elif scale != "linear" and value > at:
            key, told["times"] = "plot.times_limit", digits(value / at, 2)
        elif scale != "linear":
            key, told["share"] = "plot.share_of_limit", f"{digits(value / at * 100, 2)} %"
        else:
            key = "plot.above_limit" if value > at else "plot.below_limit"
            told["distance"] = show(abs(value - at), self.unit(column))
        return self.say("plot.with_limit", {"value": shown, "distance": self.say(key, told)})

    def of_count(self, statistic: Statistic, count: int) -> str:
        """Return how a value follows from its repeats, such as "median of 9"; "" for one repeat."""
        if count < 2:
            return ""
        return self.say(OF_COUNT[statistic], {"count": count})

    def times_another(self, times: float, name: str) -> str:
        """Return the sentence that a value is `times` another, which is called `name`."""
        return self.say("plot.times_another", {"times": digits(times, 2), "name": name})

    def left_out(self, count: int) -> str:
        """Return the sentence on values that a logarithmic axis leaves out; "" if none."""
        if count == 1:
            return self.say("plot.one_left_out")
        return self.say("plot.left_out", {"count": count}) if count else ""

    def joined(self, *parts: str) -> str:
        """Return the parts of a reading in one line."""
        return " · ".join(part for part in parts if part)

    def _own(self, section: str, key: str) -> str:
        return self.words.say(f"{self.experiment.id}.{section}.{key}")
