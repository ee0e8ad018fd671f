"""Cases of stage three: the same answers, patterns in memory, training steps."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.checkup.checks import rows_of
from experiments.checkup.probes.identical.experiment import Repeat
from experiments.checkup.probes.patterns.experiment import Pass
from experiments.checkup.probes.training_step.experiment import Loss, Rate
from experiments.checkup.result import Word
from experiments.engine import messages
from machine.model import Machine
from tests.experiments.checkup.made import (
    BUSY,
    ROUNDS,
    Case,
    baseline,
    broken,
    evidence,
    guest,
    ran,
    refused,
    rule,
    server,
    workstation,
)

STOPPED = messages.Outcome.STOPPED


def products(wrong: int = 0, device: str = "cpu", outcome=messages.Outcome.COMPLETED, rows=True):
    here = workstation()
    threads = range(16) if device == "cpu" else (None,)
    repeats = [
        Repeat(
            device=device,
            thread=thread,
            dtype="fp32",
            repeat=turn,
            products=100,
            differing_elements=wrong if thread in (5, None) and turn == 1 else 0,
        )
        for turn in range(3)
        for thread in threads
    ]
    run = ran("identical", repeats if rows else (), here, device=device, outcome=outcome)
    return lambda: evidence(here, run)


IDENTICAL = [
    Case("identical", Word.FINE, "none_differ", products(), "cpu"),
    Case("identical", Word.FINE, "none_differ", products(device="cuda:1"), "gpu1"),
    Case("identical", Word.PROBLEM, "differ_on", products(1), "cpu"),
    Case("identical", Word.PROBLEM, "differ", products(1, "cuda:1"), "gpu1"),
    # One wrong bit is enough, also in a run that was stopped.
    Case("identical", Word.PROBLEM, "differ_on", products(1, outcome=STOPPED), "cpu"),
    Case("identical", Word.UNCHECKED, "stopped", products(outcome=STOPPED), "cpu"),
    Case("identical", Word.UNCHECKED, "none_compared", products(rows=False), "cpu"),
    Case("identical", Word.UNCHECKED, "not_run", lambda: evidence(workstation()), "gpu0"),
]


def passes(wrong: int = 0, device: str = "cpu", outcome=messages.Outcome.COMPLETED, rows=True):
    here = workstation()
    read = [
        Pass(
            pattern=pattern,
            inverted=inverted,
            region=region,
            repeat=0,
            checked_bytes=2**28,
            wrong_words=wrong if (pattern, region) == ("chess", 1) and inverted else 0,
        )
        for pattern in ("walking", "chess")
        for inverted in (False, True)
        for region in range(4)
    ]
    run = ran("patterns", read if rows else (), here, device=device, outcome=outcome)
    return lambda: evidence(here, run)


PATTERNS = [
    Case("patterns", Word.FINE, "none_wrong", passes(), "memory"),
    Case("patterns", Word.FINE, "none_wrong", passes(device="cuda:0"), "gpu0"),
    Case("patterns", Word.PROBLEM, "wrong", passes(1), "memory"),
    Case("patterns", Word.PROBLEM, "wrong", passes(1, "cuda:0"), "gpu0"),
    Case("patterns", Word.PROBLEM, "wrong", passes(1, outcome=STOPPED), "memory"),
    Case("patterns", Word.UNCHECKED, "stopped", passes(outcome=STOPPED), "memory"),
    Case("patterns", Word.UNCHECKED, "none_written", passes(rows=False), "memory"),
    Case("patterns", Word.UNCHECKED, "not_run", lambda: evidence(workstation()), "gpu0"),
    Case(
        "patterns",
        Word.ABSENT,
        "needs",
        lambda: refused(guest(), "patterns", "needs_numba", "cpu"),
        "memory",
    ),
]

FALLS, RISES, BREAKS = (2.3, 1.5, 0.9), (2.3, 2.4, 2.5), (2.3, None, None)


def steps(*slow: float, losses=FALLS, here: Machine | None = None, noise=ROUNDS, notes=()):
    """Every GPU trains, or the processor; GPU 3 does these fractions of the others' rate."""
    here = here or server()
    names = [f"cuda:{gpu.index}" for gpu in here.gpus] or ["cpu"]
    runs = [
        ran(
            "training-step",
            [
                *(
                    Rate(
                        repeat=turn,
                        samples_per_s=5000.0 * each * (fraction if name == "cuda:3" else 1.0),
                    )
                    for turn, each in enumerate(noise)
                ),
                *(Loss(step=step, loss=loss) for step, loss in enumerate(losses)),
            ],
            here,
            device=name,
            notes=notes,
        )
        for fraction in slow
        for name in names
    ]
    return lambda: evidence(here, *runs)


def nothing_trained():
    return evidence(server(), ran("training-step", (), server(), device="cuda:3"))


def in_a_guest():
    """Half of what the baseline has, twice."""
    found = steps(0.5, 0.5, here=guest())()
    (row,) = rows_of(rule("training"), found)
    faster = replace(row, samples=tuple(2 * each for each in row.samples))
    found.baseline = baseline(faster)
    return found


TRAINING = [
    Case("training", Word.FINE, "measured", steps(1.0), "gpu3"),
    Case("training", Word.LOOK, "below", steps(0.9), "gpu3"),
    Case("training", Word.LOOK, "between", steps(0.95), "gpu3"),
    # As fast as its like, as far as samples that scatter so can tell.
    Case(
        "training", Word.UNCHECKED, "scatters", steps(1.0, noise=(1.0, 0.8, 1.1, 0.9, 1.0)), "gpu3"
    ),
    Case("training", Word.LOOK, "guest", in_a_guest, "cpu"),
    Case("training", Word.LOOK, "unconfirmed", steps(0.7), "gpu3"),
    Case("training", Word.PROBLEM, "low", steps(0.7, 0.7), "gpu3"),
    Case("training", Word.PROBLEM, "loss_rises", steps(1.0, losses=RISES), "gpu3"),
    Case("training", Word.PROBLEM, "no_number", steps(1.0, losses=BREAKS), "gpu3"),
    Case("training", Word.UNCHECKED, "machine_was_busy", steps(0.7, notes=[BUSY]), "gpu3"),
    Case("training", Word.UNCHECKED, "no_samples", nothing_trained, "gpu3"),
    Case("training", Word.UNCHECKED, "no_expectation", steps(1.0, here=guest()), "cpu"),
    Case("training", Word.UNCHECKED, "not_run", lambda: evidence(server()), "gpu3"),
    Case(
        "training",
        Word.UNCHECKED,
        "failed",
        lambda: broken(server(), "training-step", "cuda:3"),
        "gpu3",
    ),
    Case(
        "training",
        Word.ABSENT,
        "needs",
        lambda: refused(guest(), "training-step", "needs_torch", "cpu"),
        "cpu",
    ),
]

CASES = [*IDENTICAL, *PATTERNS, *TRAINING]
