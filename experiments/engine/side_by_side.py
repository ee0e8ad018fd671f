"""Two runs side by side: their rounds alternate, so whatever changes meanwhile meets both alike.

Each has a process of its own, so neither meets what the other loads, pins, sets or breaks. One is
made ready after the other; then one measures a round while the other waits.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from experiments.core.declare import Experiment, specs
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.jobs import Engine, Keep, Run
from experiments.engine.messages import Outcome

MOST_ROUNDS = 15
QUICK_S = 4.8  # for each of the two
Heard = tuple[Run, Generator[messages.Event, None, None]]


class SideBySide:
    """Read `events()` in one thread; `stop()` from any."""

    def __init__(
        self,
        engine: Engine,
        experiments: Sequence[Experiment[Any]],
        params: Mapping[str, Any],
        *,
        quick: bool,
        keep: Sequence[Keep | None],
    ) -> None:
        """Take two experiments, the original first, with the settings of both."""
        self._engine, self._experiments, self._keep = engine, experiments, keep
        self._params, self._quick = params, quick
        self._runs: list[Run] = []
        self._is_stopping = False

    def stop(self) -> None:
        """End both; returns at once."""
        self._is_stopping = True
        for run in tuple(self._runs):
            run.stop()

    def events(self) -> Iterator[tuple[int, messages.Event]]:
        """Yield each event with the place of its run; the last of each is `Finished`.

        If one run does not complete, the other is stopped.
        """
        pair, heard = str(uuid.uuid4()), dict[int, Heard]()
        with contextlib.ExitStack() as open_runs:
            for place, experiment in enumerate(self._experiments):
                if self._is_stopping:
                    yield place, messages.Finished(outcome=Outcome.STOPPED)
                    continue
                run = self._engine.start(
                    experiment, self._params, quick=self._quick, keep=self._keep[place],
                    run_id="" if place else pair, pair=pair,
                )  # fmt: skip
                self._runs.append(run)
                heard[place] = run, open_runs.enter_context(contextlib.closing(run.events()))
                yield from self._until_it_waits(place, heard)
            order = [*heard]
            while heard:
                for place in [place for place in order if place in heard]:
                    heard[place][0].go()
                    yield from self._until_it_waits(place, heard)
                order.reverse()  # neither is always the first of a round

    def _until_it_waits(
        self, place: int, heard: dict[int, Heard]
    ) -> Iterator[tuple[int, messages.Event]]:
        """Yield the events of one run until its next round waits; forget it where it has ended."""
        for event in heard[place][1]:
            yield place, event
            if isinstance(event, messages.Note) and event.key == messages.HELD:
                return
            if isinstance(event, messages.Finished):
                del heard[place]
                if event.outcome is not Outcome.COMPLETED:
                    self.stop()
                return


def with_rounds(experiment: Experiment[Any], params: Any) -> Any:
    """Return a quick run's settings with as many rounds as its time allows, MOST_ROUNDS at most.

    A difference between two runs needs more of them than one within a run.
    """
    rounds = getattr(params, "rounds", MOST_ROUNDS)
    for more in range(MOST_ROUNDS, rounds, -1):
        longer = replace(params, rounds=more)
        if experiment.seconds(longer) <= QUICK_S:
            return longer
    return params


def check_alike(original: Experiment[Any], copy: Experiment[Any]) -> None:
    """Raise UserError where the two cannot be compared: their numbers would be of two kinds."""
    if not original.can_wait:
        raise UserError("beside_no_rounds", id=original.id)
    if original.version != copy.version:
        raise UserError(
            "beside_other_version", id=copy.id, of=original.id,
            now=original.version, then=copy.version,
        )  # fmt: skip
    for name, row in original.tables.items():
        if name not in copy.tables or [*specs(row)] != [*specs(copy.tables[name])]:
            raise UserError("beside_other_tables", id=copy.id, table=name)
    if unknown := specs(copy.params).keys() ^ specs(original.params).keys():
        raise UserError("beside_other_settings", id=copy.id, names=", ".join(sorted(unknown)))


def to_tell(ended: Mapping[int, messages.Finished]) -> tuple[int, messages.Finished] | None:
    """Return the end that kept two runs from being compared, with its place; None if none did.

    A failed run comes first: its failure also stopped the other run.
    """
    wrong = [(p, each) for p, each in ended.items() if each.outcome is not Outcome.COMPLETED]
    return min(wrong, key=lambda each: each[1].problem is None, default=None)
