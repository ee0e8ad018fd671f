"""What may disturb or limit a checkup, each in one line with what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from experiments.core.words import Words
from machine.convert import convert
from machine.live.surroundings import Surroundings

BUSY = 0.05  # of the machine, used by others


def preconditions(
    words: Words, surroundings: Surroundings | Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield a line for each; `surroundings` may be those of a kept result."""
    around = _known(surroundings)
    if around is None:
        return
    if around.on_battery:
        yield words.say("checkup_page.gates.on_battery")
    if around.power_saver:
        names = ", ".join(around.power_saver_by)
        yield words.say("checkup_page.gates.power_saver", {"names": names})
    if (around.busy_fraction or 0.0) > BUSY:
        values = {"busy_fraction": around.busy_fraction}
        yield words.say("checkup_page.gates.busy", values)
    for gpu in around.gpus:
        if gpu.compute_processes:
            yield words.say("checkup_page.gates.gpu_shared", {"number": gpu.index})
    if _is(around.virtualization):
        yield words.say("checkup_page.gates.virtual")
    elif _is(around.container):
        yield words.say("checkup_page.gates.container")
    if around.quota_cpus is not None:
        yield words.say("checkup_page.gates.quota", {"quota": f"{around.quota_cpus:g}"})
    if around.memory_limit_bytes is not None:
        values = {"limit_bytes": around.memory_limit_bytes}
        yield words.say("checkup_page.gates.memory_limit", values)


def _is(kind: str | None) -> bool:
    return kind not in (None, "", "none")


def _known(surroundings: Surroundings | Mapping[str, Any] | None) -> Surroundings | None:
    if surroundings is None or isinstance(surroundings, Surroundings):
        return surroundings
    try:
        return convert(surroundings, Surroundings) if surroundings else None
    except msgspec.ValidationError:
        return None  # of another version
