"""Heat, power limits and memory of GPUs on the page of `coreopsis inspect`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from experiments.core import words
from experiments.core.units import show
from machine.devices import Gpu


def health_lines(gpus: Sequence[Gpu]) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line; GPUs that are alike share one."""
    yield from _shared(gpus, "heat", _limits)
    for gpu in gpus:
        told = [r.key for r in gpu.clock_reasons or () if r.severity != "information"]
        if told:
            english = words.load()
            yield f"of gpu {gpu.index}", ", ".join(english.say(key) for key in told)
    yield from _shared(gpus, "power", _power)
    yield from _shared(gpus, "memory", _memory)


def _shared(
    gpus: Sequence[Gpu], label: str, tell: Callable[[Gpu], str]
) -> Iterator[tuple[str, str]]:
    for text, alike in itertools.groupby(gpus, key=tell):
        told = list(alike)
        now = _now(told) if tell is _limits else ""
        if now or text:
            first, last = told[0].index, told[-1].index
            which = f"gpu {first}" if first == last else f"gpus {first} to {last}"
            yield (
                f"{'gpu' if len(told) == len(gpus) else which} {label}",
                ", ".join(part for part in (now, text) if part),
            )


def _now(gpus: Sequence[Gpu]) -> str:
    found = [gpu.temperature_celsius for gpu in gpus if gpu.temperature_celsius is not None]
    if not found:
        return ""
    coolest, hottest = show(min(found), "celsius"), show(max(found), "celsius")
    return f"{coolest} now" if coolest == hottest else f"{coolest} to {hottest} now"


def _limits(gpu: Gpu) -> str:
    slow, off = gpu.temperature_slowdown_celsius, gpu.temperature_shutdown_celsius
    told = (
        f"slows down at {show(slow, 'celsius')}" if slow else "",
        f"switches off at {show(off, 'celsius')}" if off else "",
    )
    return ", ".join(text for text in told if text)


def _power(gpu: Gpu) -> str:
    least, most, usual = gpu.power_min_watts, gpu.power_max_watts, gpu.power_default_watts
    told = []
    if least is not None and most:
        told.append(f"may be limited from {show(least, 'watts')} to {show(most, 'watts')}")
    if usual and usual != gpu.power_limit_watts:
        told.append(f"{show(usual, 'watts')} by default")
    return ", ".join(told)


def _memory(gpu: Gpu) -> str:
    told = []
    if gpu.ecc is not None:
        told.append(f"ECC {'on' if gpu.ecc else 'off'}")
    if gpu.ecc_pending not in (None, gpu.ecc):
        told.append(f"{'on' if gpu.ecc_pending else 'off'} from its next start")
    if gpu.resizable_bar:
        told.append("the processor reaches all of it (resizable BAR)")
    elif gpu.resizable_bar is False and gpu.bar_bytes:
        told.append(f"the processor reaches {show(gpu.bar_bytes, 'bytes')} (no resizable BAR)")
    if gpu.remapped_rows:
        told.append(f"{gpu.remapped_rows} rows replaced after errors")
    if gpu.remapping_pending:
        told.append("a repair waits for its next start")
    if gpu.remapping_failed:
        told.append("a repair has failed")
    return ", ".join(told)
