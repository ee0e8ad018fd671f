"""Functions that the lesson of amp calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from experiments import api as x
from experiments.tools.precisions import BF16, FP16, FP32, TF32

from .judging import breaks_unscaled, keeps_up, losses_of
from .training import GROWTH_STEPS, UNSCALED

HELD_BACK = (UNSCALED,)
LARGEST, SMALLEST = 65504.0, 2.0**-24  # in fp16; source: IEEE 754-2019, binary16
LEAVES, LEFT = 0.01, 0.2  # of the first loss: from where to where a line parts from the others
CLEARLY = 1.1  # times
FLAT = 0.05  # of the first loss: so little has it changed
LITTLE_WEIGHT = 3e-5
SHOWN = 3  # steps of the motion
# Ways of a gradient in a step: its road, its size, from which quarter to which, and what is lit.
Way = tuple[tuple[str, ...], str, int, int, str]
BARE: Sequence[Way] = (
    (("loss", "half"), "tiny", 0, 2, ""),
    (("half", "weights"), "0", 2, 4, "half"),
)
SCALED: Sequence[Way] = (
    (("loss", "times"), "tiny", 0, 1, ""),
    (("times", "half", "divide"), "large", 1, 3, "times"),
    (("divide", "weights"), "tiny", 3, 4, "divide"),
)
ROLE: Mapping[str, Any] = {"tiny": "attention", "0": "plain", "large": "good"}


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how steps and gains compare, and what the scaler shows of the gradients."""
    known = run.values
    narrow_width = min((row.width for row in run.tables["widths"]), default=0)
    found: dict[str, float] = {"steps": run.params.steps, "narrow_width": narrow_width}
    if "speedup_best" in known:
        found["half_slowdown"] = 1 / known["speedup_best"]
    if {"tf32_samples_per_s", "fp32_samples_per_s"} <= known.keys():
        found["tf32_gain"] = known["tf32_samples_per_s"] / known["fp32_samples_per_s"]
    if (power := _first_power(run)) is not None:
        found |= {"first_scale": 2.0**power, "most_gradient": LARGEST / 2.0**power}
    return found


def option_by_losses(run: x.LessonRun) -> int | None:
    """Return the answer by which of fp16 without a scaler and bf16 learns too little."""
    fp16_breaks, bf16_holds = breaks_unscaled(run.tables), keeps_up(losses_of(run.tables), BF16)
    if fp16_breaks is None or bf16_holds is None:
        return None
    return (0 if bf16_holds else 2) if fp16_breaks else (3 if bf16_holds else 1)


def leaves_the_others(run: x.LessonRun) -> x.Spot:
    """Return the steps in which fp16 without a scaler begins to stay above the others."""
    losses = losses_of(run.tables)
    alone = losses.pop(UNSCALED, [])
    others = [median(each) for each in zip(*losses.values(), strict=False)]
    gaps = [own - other for own, other in zip(alone, others, strict=False)]
    behind = [
        [n for n, gap in enumerate(gaps) if gap > share * alone[0]] for share in (LEAVES, LEFT)
    ]
    found = breaks(run) and all(behind)
    return x.Spot(low=behind[0][0] - 0.5, high=behind[1][0] + 0.5) if found else x.Spot()


def _judged(verdict: bool | None) -> Callable[[x.LessonRun], bool]:
    return lambda run: breaks_unscaled(run.tables) is verdict


breaks = _judged(True)  # does fp16 learn with a scaler, and not without?
holds = _judged(False)  # does it learn without?
not_judged = _judged(None)  # is that unknown?
bf16_needs_none = x.limited("bf16_needs_none")  # did bf16 learn, and fp16 not?
converts = x.limited("fp16_is_emulated", "bf16_is_emulated")  # are instructions missing?
slower = x.found("slower", "slower_and_breaks")  # were fewer bits slower?
faster = x.found("faster", "faster_and_breaks")  # were they faster?


def tiny_gradients(run: x.LessonRun) -> bool:
    """Does the scaler's first good step show that no gradient was above fp16's smallest number?"""
    return breaks(run) and numbers(run, None).get("most_gradient", LARGEST) <= SMALLEST


def units_gain(run: x.LessonRun) -> bool:
    """Did TF32, as wide in memory as fp32, bring more of the gain than what came on top?"""
    gain = numbers(run, None).get("tf32_gain")
    return faster(run) and gain is not None and gain**2 > run.values["speedup_best"]


def calls_take_the_time(run: x.LessonRun) -> bool:
    """Did the narrowest network gain nothing, where the widest did?"""
    width = numbers(run, None)["narrow_width"]
    rates = x.medians(
        (row.arm, row.samples_per_s) for row in run.tables["widths"] if row.width == width
    )
    short = [rates[arm] for arm in (TF32, FP16, BF16) if arm in rates]
    return faster(run) and bool(short) and max(short) < CLEARLY * rates.get(FP32, 0.0)


def own_scaler(run: x.LessonRun) -> bool:
    """Did fp16 learn with torch's scaler at rest, and not without any: by a factor of one's own?"""
    powers = {row.power for row in run.tables["scales"]}
    is_long = len(run.tables["scales"]) > GROWTH_STEPS  # torch's own would have grown or fallen
    return len(powers) == 1 and is_long and breaks(run)


def little_weight(run: x.LessonRun) -> bool:
    """Did fp16 learn without a scaler, though the loss counted little?"""
    return holds(run) and run.params.loss_weight <= CLEARLY * LITTLE_WEIGHT


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let gradients pass through fp16 at the pace of the measured steps, without a scaler and with.

    None where it is not known that they are too small.
    """
    alone = losses_of(run.tables).get(UNSCALED, [])
    is_flat = bool(alone) and abs(alone[-1] / alone[0] - 1) < FLAT
    rates = [run.values.get(f"{arm}_samples_per_s") for arm in (UNSCALED, FP16)]
    if not tiny_gradients(run) or not is_flat or None in rates:
        return None
    bare_s, scaled_s = (run.params.batch / rate for rate in rates if rate)
    end_s = SHOWN * max(bare_s, scaled_s)
    says = {"vanish": 0.0, "lift": end_s / SHOWN, "learn": 2 * end_s / SHOWN}
    return x.Motion(
        scenes=(
            x.Scene(events=(*_steps(BARE, bare_s, end_s),), title="bare"),
            x.Scene(events=(*_steps(SCALED, scaled_s, end_s),), title="scaled"),
        ),
        duration_s=end_s,
        stills=(0.1 * end_s, 0.5 * end_s, 0.95 * end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for text, start_s in says.items()),
    )


def _steps(
    ways: Sequence[Way], step_s: float, end_s: float
) -> Iterator[x.Travel | x.Hold | x.Count]:
    """Yield whole steps until an end, each on its ways, and how many change the weights."""
    ends_s = [min(end_s, step_s * (n + 1)) for n in range(int(end_s / step_s * (1 + 1e-9)))]
    for done_s in ends_s:
        for road, token, first, last, lit in ways:
            start_s, there_s = (max(0.0, done_s - step_s * (4 - q) / 4) for q in (first, last))
            yield x.Travel(
                along=road, start_s=start_s, end_s=there_s, token=token, role=ROLE[token]
            )
            if lit:
                yield x.Hold(shape=lit, start_s=start_s, end_s=there_s, role=ROLE[token])
    yield x.Count(shape="weights", label="learned", times=() if ways is BARE else tuple(ends_s))


def _first_power(run: x.LessonRun) -> int | None:
    """Return the loss scale of the first step that the scaler did not skip, as a power of 2."""
    rows = sorted(run.tables["scales"], key=lambda row: row.step)
    return next((one.power for one, other in pairwise(rows) if not other.is_skipped), None)
