"""An experiment of a heatmap and a live picture, which is never run."""

from __future__ import annotations

from typing import Any

from experiments.core.declare import Experiment, Params, Row
from experiments.core.views import Field, Heatmap


class Latency(Row):
    """The time of a message from one core to another."""

    to_core: int
    from_core: int
    repeat: int
    latency_s: float


def _nothing(*_: Any) -> Any:
    raise NotImplementedError("an experiment for previews is never run")


class NoParams(Params):
    """Nothing to turn."""


class NoRow(Row):
    """A table of pictures has no rows."""


EXPERIMENT: Experiment[NoParams] = Experiment(
    version=1,
    params=NoParams,
    tables={"messages": Latency, "field": NoRow},
    measure=_nothing,
    analyse=_nothing,
    views=(
        Heatmap(
            key="messages",
            table="messages",
            row="to_core",
            column="from_core",
            value="latency_s",
        ),
        Field(key="field", table="field"),
    ),
    values=(),
    parts=(),
    defaults=_nothing,
    quick=_nothing,
    seconds=_nothing,
    memory_bytes=_nothing,
)
