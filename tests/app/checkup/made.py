"""Made checkups: rows with samples, and the machine they say they are of."""

import random

from msgspec.structs import replace

from experiments.checkup.result import Expected, Measurement, Result, Row, Word
from experiments.checkup.rules import Source, Stage

MACHINE = {
    "format": "coreopsis.machine",
    "version": 1,
    "fingerprint": "abc123",
    "os": {"release": "6.1.0"},
    "cpu": {"model": "A processor"},
    "memory": {"total_bytes": 64 * 2**30},
}
PARAMS = {"rounds": 5, "array_bytes": 2**28}


def measured(experiment="stream", version=2, params=PARAMS):
    """Return what a checkup says of one measurement."""
    return Measurement(experiment=experiment, version=version, params=params)


def samples(middle, count=7, noise=0.01, seed=1):
    """Return samples around a middle, the same for the same seed."""
    chance = random.Random(seed)
    return tuple(middle * (1 + chance.gauss(0, noise)) for _ in range(count))


def bandwidth(middle=40e9, *, word=Word.FINE, seed=1, version=1, **more):
    """Return the row of the memory's bandwidth."""
    found = samples(middle, seed=seed)
    held = Expected(
        source=Source.CEILING, value=50e9, ok=0.7, floor=0.5, low=0.79, high=0.81, word=word
    )
    reason = "measured" if word is Word.FINE else "below"
    return Row(
        rule="memory-bandwidth",
        version=version,
        stage=Stage.PERFORMS,
        word=word,
        reason=reason,
        part="memory",
        values={"best_bytes_per_s": max(found), "spread_fraction": 0.02},
        samples=found,
        unit="bytes/s",
        expected=(held,),
        runs=1,
        **more,
    )


def disturbed(middle=20e9, **more):
    """Return the same, measured while others used the machine."""
    row = bandwidth(middle, **more)
    return replace(row, word=Word.UNCHECKED, reason="machine_was_busy")


def fact(rule="kernel-log", word=Word.FINE, reason="clean", part="", **values):
    """Return a row that was read, not measured."""
    return Row(
        rule=rule,
        version=1,
        stage=Stage.PRESENT,
        word=word,
        reason=reason,
        part=part,
        values=values,
    )


def checkup(*rows, id="1", machine=None, measurements=(), **more):
    """Return a checkup with these rows."""
    return Result(
        id=id,
        kind="check",
        at="2026-11-20T10:00:00+00:00",
        seconds=170.0,
        rules_version=1,
        machine={**MACHINE, **(machine or {})},
        rows=rows or (fact(), bandwidth()),
        measurements=tuple(measurements) or (measured(),),
        **more,
    )
