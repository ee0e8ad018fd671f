"""A diagnosis in words: sentences for terminal and window, JSON, and a text to copy."""

from __future__ import annotations

import json
from typing import Any

from experiments.core.words import Words
from machine.doctor.diagnosis import Diagnosis, JudgedStep, to_json
from machine.doctor.verdicts import State
from machine.text import escaped

MARKS = {
    State.OK: "✓",
    State.LOOK: "!",
    State.WRONG: "✗",
    State.UNKNOWN: "?",
    State.NOT_REACHED: "·",
}
INDENT = "    "  # of commands; each stands unbroken on its own line, to be copied
_NO_TORCH = ("torch_missing_here", "python_without_build_here")


def headline(diagnosis: Diagnosis, words: Words) -> str:
    """Return the whole diagnosis in a sentence."""
    has_card = diagnosis.vendor is not None
    if diagnosis.finding is None and has_card:
        vendor = words.say(f"doctor.vendors.{diagnosis.vendor}")
        return words.say("doctor.all_well", {"vendor": vendor})
    if diagnosis.finding is None:
        has_torch = all(step.key not in _NO_TORCH for step in diagnosis.steps)
        return words.say("doctor.no_accelerator" if has_torch else "doctor.no_torch_either")
    step = {"step": words.say(f"doctor.steps.{diagnosis.finding}")}
    if diagnosis.state is State.WRONG:
        return words.say("doctor.is_wrong", step)
    if diagnosis.state is State.UNKNOWN:
        return words.say("doctor.is_untold", step)
    return words.say("doctor.is_odd" if has_card else "doctor.is_odd_without_card", step)


def title(step: str, words: Words) -> str:
    """Return the title of a step, with a capital."""
    said = words.say(f"doctor.steps.{step}")
    return said[:1].upper() + said[1:]


def sentence(step: JudgedStep, words: Words) -> str:
    """Return what was found, in a sentence or two."""
    if step.state is State.NOT_REACHED:
        return words.say("doctor.comes_later")
    return words.say(f"doctor.{step.key}", step.values)


def more(step: JudgedStep, words: Words) -> str:
    """Return the extra advice for a machine without accelerator, "" for most steps."""
    key = f"doctor.more.{step.key}"
    return words.say(key) if words.has(key) else ""


def explained(step: JudgedStep, words: Words) -> str:
    """Return the sentence and the advice of a step."""
    return f"{sentence(step, words)} {more(step, words)}".rstrip()


def sign(step: JudgedStep, diagnosis: Diagnosis) -> State:
    """Return the state whose mark a step bears; an absent part is neutral, not fine."""
    is_card = step is diagnosis.steps[0] and diagnosis.vendor is None
    is_absent = is_card or step.key in _NO_TORCH
    return State.NOT_REACHED if is_absent and step.state is State.OK else step.state


def as_json(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Return the diagnosis with its sentences."""
    told = to_json(diagnosis)
    told["headline"] = headline(diagnosis, words)
    for step, found in zip(told["steps"], diagnosis.steps, strict=True):
        step["text"] = explained(found, words)
    return told


def json_text(diagnosis: Diagnosis, words: Words) -> str:
    """Return the text that `coreopsis doctor --json` prints."""
    return json.dumps(as_json(diagnosis, words), indent=1, ensure_ascii=False)


def as_text(diagnosis: Diagnosis, words: Words) -> str:
    """Return all steps as lines of text."""
    lines = [headline(diagnosis, words), ""]
    for step in diagnosis.steps:
        mark = MARKS[sign(step, diagnosis)]
        lines.append(f"{mark} {title(step.step, words)}: {explained(step, words)}")
        lines += (INDENT + command for command in step.commands)
    return escaped("\n".join((*lines, "")))  # it is pasted into terminals too
