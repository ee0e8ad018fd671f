"""The diagnosis: judges the steps in order, from the card to a sum on it.

Pure: the same evidence gives the same diagnosis. Steps after the first wrong one are not judged,
because its repair would change them. A correct sum on every device proves all steps before it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import msgspec
from msgspec import field

from machine.convert import convert
from machine.doctor.evidence import GPU_MAKERS, Card, Evidence, Vendor
from machine.doctor.remedies import as_typed
from machine.doctor.steps import (
    access_steps,
    installed_step,
    link_step,
    nvidia_steps,
    system_steps,
    torch_steps,
    works_step,
)
from machine.doctor.torch_remedies import AMD_TARGETS
from machine.doctor.verdicts import State, Value, Verdict, fine
from machine.record import Record

FORMAT = "coreopsis.diagnosis"
VERSION = 1


class JudgedStep(Record):
    """One judged step; `key` and `values` make its sentence, `key` is "" if not reached."""

    step: str
    state: State
    key: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    commands: tuple[str, ...] = ()


class Diagnosis(Record):
    """All steps and their result. `vendor` made the judged accelerator, None if there is none.

    `finding` names the step that says what to do: the first WRONG, else the first LOOK, else the
    first UNKNOWN; None if all is well.
    """

    format: str = FORMAT
    version: int = VERSION
    vendor: Vendor | None = None
    python: str | None = None
    state: State = State.OK
    finding: str | None = None
    steps: tuple[JudgedStep, ...] = ()

    @property
    def found(self) -> JudgedStep | None:
        """The step of the finding."""
        return next((step for step in self.steps if step.step == self.finding), None)


Judge = Callable[[Evidence, Vendor | None], Verdict | None]

_BUILT = (*GPU_MAKERS, Vendor.APPLE)
_NVIDIA = (Vendor.NVIDIA,)
_EVERY = (*_BUILT, Vendor.OTHER, None)

# In the order in which one cause hides the next.
STEPS: tuple[tuple[str, Judge, tuple[Vendor | None, ...]], ...] = (
    ("card", system_steps.card, _EVERY),
    ("suited", system_steps.suited, (*GPU_MAKERS, Vendor.OTHER)),
    ("generation", system_steps.generation, _NVIDIA),
    ("surroundings", system_steps.surroundings, GPU_MAKERS),
    ("power", system_steps.power, GPU_MAKERS),
    ("link", link_step.link, GPU_MAKERS),
    ("driver", system_steps.driver, GPU_MAKERS),
    ("nodes", access_steps.nodes, GPU_MAKERS),
    ("permission", access_steps.permission, GPU_MAKERS),
    ("library", nvidia_steps.library, (*_NVIDIA, None)),
    ("health", nvidia_steps.health, _NVIDIA),
    ("fabric", nvidia_steps.fabric, _NVIDIA),
    ("partitions", nvidia_steps.partitions, _NVIDIA),
    ("mode", nvidia_steps.mode, _NVIDIA),
    ("disk", installed_step.disk, _EVERY),
    ("torch", installed_step.installed, _EVERY),
    ("build", torch_steps.build, (*_BUILT, None)),
    ("cuda", torch_steps.cuda, _NVIDIA),
    ("visible", torch_steps.visible, GPU_MAKERS),
    ("architecture", torch_steps.architecture, GPU_MAKERS),
    ("memory", nvidia_steps.memory, _NVIDIA),
    ("memory", system_steps.amd_memory, (Vendor.AMD,)),
    ("works", works_step.works, _BUILT),
    ("persistence", nvidia_steps.persistence, _NVIDIA),
)


def diagnose(evidence: Evidence) -> Diagnosis:
    """Judge all steps that apply, and return the diagnosis."""
    vendor = subject(evidence)
    steps: list[JudgedStep] = []
    is_blocked = False
    for name, judge, vendors in STEPS:
        verdict = judge(evidence, vendor) if vendor in vendors else None
        if verdict is None:
            continue
        if is_blocked:
            steps.append(JudgedStep(step=name, state=State.NOT_REACHED))
            continue
        if verdict.state is State.WRONG and evidence.has_computed:
            verdict = fine("proved")
        is_blocked = verdict.state is State.WRONG
        steps.append(
            JudgedStep(
                step=name,
                state=verdict.state,
                key=verdict.key,
                values=verdict.values,
                commands=_typed(verdict, evidence),
            )
        )
        if verdict.ends_walk:
            break
    order = (State.WRONG, State.LOOK, State.UNKNOWN)
    found = next((step for state in order for step in steps if step.state is state), None)
    return Diagnosis(
        vendor=vendor,
        python=evidence.torch.python if evidence.torch is not None else None,
        state=found.state if found else State.OK,
        finding=found.step if found else None,
        steps=tuple(steps),
    )


def _typed(verdict: Verdict, evidence: Evidence) -> tuple[str, ...]:
    """Return the commands as typed here; of neighbours that come out alike, one."""
    typed = (as_typed(command, evidence) for command in verdict.commands)
    return tuple(command for command, _ in groupby(typed))


def subject(evidence: Evidence) -> Vendor | None:
    """Return the vendor to judge; of several, the vendor whose card most likely computes.

    PyTorch's build decides first. Then cards come before integrated graphics.
    """
    built = [vendor for vendor in _BUILT if evidence.torch and evidence.torch.built_for(vendor)]
    if not evidence.cards and evidence.torch_devices:
        return next(iter(built), None)  # hidden from the system, not from PyTorch
    is_served = {device.target for device in evidence.amd} & AMD_TARGETS

    def rank(card: Card) -> tuple[bool, int]:
        order = [Vendor.NVIDIA, Vendor.APPLE, Vendor.AMD, Vendor.INTEL, Vendor.OTHER]
        place = order.index(card.vendor)
        if card.only_draws:
            place += len(order)
        elif card.vendor is Vendor.AMD and not is_served:
            place += 2
        return card.vendor not in built, place

    best = min(evidence.cards, key=rank, default=None)
    return None if best is None else best.vendor


def to_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the diagnosis as dicts, lists, numbers and strings."""
    plain: dict[str, Any] = msgspec.to_builtins(diagnosis)
    return plain


def from_json(data: object) -> Diagnosis:
    """Return the diagnosis in `data`, which another process made. Raises ValueError."""
    return convert(data, Diagnosis)
