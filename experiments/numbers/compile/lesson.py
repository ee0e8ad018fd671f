"""Functions that the lesson of compile calls."""

from __future__ import annotations

from typing import Any

from experiments import api as x

from .experiment import STEPS
from .ways import COMPILED, SCRIPT

HELD_BACK = (COMPILED,)
PREPARED = {COMPILED: "compile_s", SCRIPT: "script_s"}
CALLED = {COMPILED: "torch.compile", SCRIPT: "TorchScript"}  # as PyTorch calls them
PAID = {COMPILED: "break_even_steps", SCRIPT: "script_break_even_steps"}
FEW, MANY = 100, 1000  # steps: up to which the answers of a vote are right
NEARLY = 1.5  # times: so exactly can one click
WIDE, SOON = 512, 2000
DEEP, LITTLE = 16, 1.25  # a fifth of a step saved makes it 1.25 times as fast
WAITS = 0.9  # of the time: a GPU that works less has waited
CLEARLY = 1.1  # times
BEYOND = 1.25  # times the steps to the crossing: how far the motion goes on


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, Any]:
    """Return what compiled, what that takes and saves, and after how many steps it has paid.

    This is torch.compile where it was measured, else the older compiler.
    """
    known, way = run.values, _way(run)
    found: dict[str, Any] = {}
    if (calling_s := _calling_s(run)) is not None:
        found["calling_s"] = calling_s
    if way is None:
        return found
    found |= {"compiler": CALLED[way], "prepare_s": known[PREPARED[way]]}
    if PAID[way] in known:
        found["paid_steps"] = known[PAID[way]]
        found["saved_s"] = known["eager_step_s"] - known[f"{way}_step_s"]
    return found


def option_by_steps(run: x.LessonRun) -> int | None:
    """Return the answer by when compiling has paid; None where that is unknown."""
    if never_pays(run):
        return 3
    paid = numbers(run, None).get("paid_steps")
    return None if paid is None else sum(paid > most for most in (FEW, MANY))


def crossing(run: x.LessonRun) -> x.Spot:
    """Return the stretch in which compiling has paid."""
    paid = numbers(run, None).get("paid_steps")
    if paid is None:
        return x.Spot()
    before = max((steps for steps in STEPS if steps <= paid), default=STEPS[0])
    after = min((steps for steps in STEPS if steps >= paid), default=paid)
    return x.Spot(low=before / NEARLY, high=after * NEARLY)


# Was a compiled step no faster than an eager one?
never_pays = x.found("compiled_does_not_pay", "graph_pays_compiled_does_not", "not_compiled")


def older_compiler(run: x.LessonRun) -> bool:
    """Has the older compiler paid, with torch.compile left out?"""
    return _way(run) == SCRIPT and PAID[SCRIPT] in run.values


def gpu_waits(run: x.LessonRun) -> bool:
    """Does a GPU wait for calls during a good part of an eager step?"""
    return run.values.get("busy_fraction", 1.0) < WAITS


def calls_cost(run: x.LessonRun) -> bool:
    """Were the calls of a step timed alone, and does compiling save any?"""
    return "calls_s" in run.values and not never_pays(run)


def script_is_quicker(run: x.LessonRun) -> bool:
    """Is a step of the older compiler clearly quicker than one of torch.compile?"""
    script_s, compiled_s = (run.values.get(f"{way}_step_s") for way in (SCRIPT, COMPILED))
    return bool(script_s and compiled_s and CLEARLY * script_s <= compiled_s)


graph_starts_faster = x.limited("graph_starts_faster")


def memory_saves(run: x.LessonRun) -> bool:
    """Does a step save more than its calls take?"""
    told = numbers(run, None)
    return {"saved_s", "calling_s"} <= told.keys() and told["saved_s"] > told["calling_s"]


def graph_pays(run: x.LessonRun) -> bool:
    """Did a graph of the launches save time?"""
    return "graph_break_even_steps" in run.values


def compiled_again(run: x.LessonRun) -> bool:
    """Was a batch of another size measured?"""
    return "recompile_s" in run.values


def pays_with_wide_layers(run: x.LessonRun) -> bool:
    """Has torch.compile paid soon for a network of wide layers?"""
    paid = run.values.get(PAID[COMPILED])
    return run.params.width >= WIDE and paid is not None and paid <= SOON


def deep_without_gain(run: x.LessonRun) -> bool:
    """Did torch.compile save little of a step of many layers?"""
    speedup = run.values.get("compiled_speedup")
    return run.params.layers >= DEEP and speedup is not None and speedup < LITTLE


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let eager steps and compiled ones go the same way on one clock, past the crossing.

    None where compiling has not paid.
    """
    told, way = numbers(run, None), _way(run)
    if way is None or "paid_steps" not in told:
        return None
    eager_s, step_s = run.values["eager_step_s"], run.values[f"{way}_step_s"]
    ready_s, crossed_s = told["prepare_s"], told["paid_steps"] * eager_s
    end_s = BEYOND * crossed_s
    done_s = min(end_s, ready_s + BEYOND * told["paid_steps"] * step_s)
    says = {"eager_goes": 0.0, "compiled_goes": ready_s, "crossed": crossed_s}
    events = (
        x.Travel(along=("eager", "eager_end"), start_s=0.0, end_s=end_s),
        x.Count(shape="eager", label="steps", end_s=end_s, every_s=eager_s),
        x.Hold(shape="compiler", label="compiles", start_s=0.0, end_s=ready_s, role="attention"),
        x.Travel(along=("compiler", "compiled_end"), start_s=ready_s, end_s=done_s),
        x.Count(shape="compiler", label="steps", start_s=ready_s, end_s=done_s, every_s=step_s),
    )
    return x.Motion(
        scenes=(x.Scene(events=events),),
        duration_s=end_s,
        stills=(ready_s / 2, (ready_s + crossed_s) / 2, end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for text, start_s in says.items()),
    )


def _way(run: x.LessonRun) -> str | None:
    """Return what compiled: torch.compile where it was measured, else the older compiler."""
    known = run.values.keys()
    measured = (
        way for way in PREPARED if {"eager_step_s", f"{way}_step_s", PREPARED[way]} <= known
    )
    return next(measured, None)


def _calling_s(run: x.LessonRun) -> float | None:
    """Return what the calls of an eager step take.

    On a GPU this is the time that it waits for them.
    """
    known = run.values
    if {"eager_step_s", "busy_s"} <= known.keys():
        return max(0.0, known["eager_step_s"] - known["busy_s"])
    return known.get("calls_s")
