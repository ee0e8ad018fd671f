"""Lines of a run, to be written, cut and spoiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from experiments.engine import messages
from experiments.engine.seal import Seal

STARTED = messages.Started(
    format=messages.RUN_FORMAT,
    version=messages.VERSION,
    run="00000000-0000-4000-8000-000000000000",
    experiment="misbehave",
    experiment_version=1,
    params={"how": "behaves"},
    quick=False,
    tables={"rows": {"value": "s"}, "pictures": {"brightness": ""}},
    machine={},
    environment={"python": "3.11"},
    at="2026-01-01T00:00:00+00:00",
)
FINISHED = messages.Finished(outcome=messages.Outcome.COMPLETED)


def row(n: int, table: str = "rows", **columns: messages.Cell) -> messages.Row:
    """Return row number `n`."""
    return messages.Row(n=n, t_s=n / 10, table=table, row=columns or {"value": float(n)})


def frame(n: int, t_s: float) -> messages.Frame:
    """Return a picture of one pixel."""
    return messages.Frame(n=n, t_s=t_s, table="pictures", shape=(1, 1), data="eJxjAAAAAQAB")


def whole_run(count: int = 3) -> list[messages.Event]:
    """Return the events of a run that went well."""
    progress = messages.Progress(fraction=0.5, left_s=1.0)
    return [STARTED, progress, *(row(n) for n in range(count)), FINISHED]


def encoded(events: Iterable[Any]) -> bytes:
    """Return events as the bytes of a file."""
    return b"".join(messages.encode(event) for event in events)


def sealed(events: Iterable[Any]) -> bytes:
    """Return events as the bytes of a file that was recorded."""
    seal = Seal()
    return b"".join(seal.sealed(event, messages.encode(event)) for event in events)


def kept(events: Iterable[messages.Event]) -> Iterator[tuple[messages.Event, bytes]]:
    """Yield each event with its line, as a recorder is given them."""
    return ((event, messages.encode(event)) for event in events)
