"""The checks of stage two: PyTorch, memory speed, and the links of GPUs, as they are set up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.checkup.checks.common import of_runs, on_gpus, seen_link
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import fact
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from machine.bus.pcie import able, card_lanes, link_of, narrowed_gpu
from machine.devices import Gpu
from machine.doctor.verdicts import State
from machine.gpus.nvlink import is_up
from machine.memory.setting import UNSURE, is_soldered, placing, setting
from machine.model import is_guest, is_hidden, missing_of

_WORDS = {State.OK: Word.FINE, State.LOOK: Word.LOOK, State.WRONG: Word.PROBLEM}
# The reasons of rows, by why a link is narrower than its card.
NARROWED = {
    "lanes": "fewer_lanes",
    "slot": "narrow_slot",
    "unsure": "fewer_lanes",
    "way": "narrow_way",
}
_NO_TORCH = ("torch_missing_here", "python_without_build_here")


def torch_works(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Take the doctor's diagnosis: driver, CUDA and PyTorch load, and a sum comes out right."""
    diagnosis = evidence.diagnosis
    if diagnosis is None:
        yield fact(rule, Word.UNCHECKED, "not_examined")
        return
    has_torch = all(step.key not in _NO_TORCH for step in diagnosis.steps)
    found = diagnosis.found
    if found is not None:
        word = _WORDS.get(found.state, Word.UNCHECKED)
        yield fact(rule, word, "found", step=found.step, key=found.key, **found.values)
    elif diagnosis.vendor is None and not has_torch:
        yield fact(rule, Word.ABSENT, "no_torch")
    elif diagnosis.vendor is None:
        yield fact(rule, Word.ABSENT, "no_gpu")
    else:
        yield fact(rule, Word.FINE, "works", vendor=str(diagnosis.vendor))


@of_runs("torch")
def frameworks(rule: Rule, _evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """List what PyTorch can use here: precisions, compiling, groups of processes, pinned memory."""
    features = [each for run in runs for each in run.tables["features"]]
    broken = [each.name for each in features if each.state == "broken"]
    missing = [each.name for each in features if each.state == "missing"]
    names = ", ".join(dict.fromkeys(broken or missing))  # several GPUs may lack the same
    values = {"count": len(features), "names": names}
    if not features:
        yield fact(rule, Word.UNCHECKED, "none_tried", "torch")
    elif broken:
        yield fact(rule, Word.PROBLEM, "broken", "torch", **values)
    elif missing:
        yield fact(rule, Word.LOOK, "missing", "torch", **values)
    else:
        yield fact(rule, Word.FINE, "all_there", "torch", **values)


def memory_speed(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold what the firmware set against what modules and processor can do."""
    found = setting(evidence.machine)
    if found is None:
        yield _of_untold_modules(rule, evidence)
        return
    values = {
        "modules": found.modules,
        "set_mega": found.set_transfers_per_s / 1e6,
        "rated_mega": found.rated_transfers_per_s / 1e6,
    }
    word = Word.LOOK if found.is_short else Word.FINE
    word = Word.UNCHECKED if found.speed in UNSURE else word
    yield fact(rule, word, str(found.speed), "memory", **values)


def memory_channels(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the channels that have a module against those that processor and board have."""
    machine = evidence.machine
    found = placing(machine)
    if is_soldered(machine):
        yield fact(rule, Word.ABSENT, "soldered", "memory")
    elif found is None:
        yield _of_untold_modules(rule, evidence)
    elif found.filled is None:
        values = {"modules": found.modules, "channels": found.channels}
        yield fact(rule, Word.UNCHECKED, "slots_untold", "memory", **values)
    else:
        values = {"filled": found.filled, "channels": found.channels, "modules": found.modules}
        is_short = found.filled < found.channels
        can_move = found.modules >= found.channels  # what is there would fill them all
        reason = ("channel_shared" if can_move else "channels_empty") if is_short else "all_filled"
        yield fact(rule, Word.LOOK if is_short else Word.FINE, reason, "memory", **values)


def _of_untold_modules(rule: Rule, evidence: Evidence) -> Row:
    """Return the row where the firmware's table of modules says too little."""
    missing = missing_of(evidence.machine, "memory.modules")
    if is_hidden(evidence.machine, "memory.modules"):
        return fact(rule, Word.UNCHECKED, "hidden", "memory")
    if missing is not None:
        told = {"why": missing.why, "how": missing.how}
        return fact(rule, Word.UNCHECKED, "not_readable", "memory", **told)
    return fact(rule, Word.UNCHECKED, "not_told", "memory")


@on_gpus
def gpu_link(
    rule: Rule, evidence: Evidence, gpu: Gpu, part: str, runs: Sequence[Ran]
) -> Iterator[Row]:
    """Hold the link that was seen during copies against what card and slot allow.

    The map marks the same links (machine/bus/pcie.py), but for their generation, which only copies
    show.
    """
    link = link_of(evidence.machine, gpu)
    generation, width = able(link) if link else (None, None)
    seen = seen_link(gpu, runs, generation)
    if seen is None:
        yield fact(rule, Word.UNCHECKED, "not_seen", part)
        return
    values = {
        "generation": seen[0],
        "width": seen[1],
        "best_generation": generation,
        "best_width": width,
        "card_width": card_lanes(link) if link else None,
    }
    if generation is None or width is None:
        yield fact(rule, Word.UNCHECKED, "no_expectation", part, **values)
        return
    narrowed = narrowed_gpu(evidence.machine, gpu, seen[1])
    if narrowed == "lanes" and seen[1] / width < rule.limits[Source.CEILING].floor:
        yield fact(rule, Word.PROBLEM, "few_lanes", part, **values)
    elif narrowed is not None:
        yield fact(rule, Word.LOOK, NARROWED[narrowed], part, **values)
    elif seen[0] < generation:
        yield fact(rule, Word.LOOK, "lower_generation", part, **values)
    else:
        yield fact(rule, Word.FINE, "as_able", part, **values)


def nvlinks(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Look for NVLinks that are down at a GPU that is joined, and for pairs with fewer than others.

    A GPU alone in a virtual machine, or without a bridge, has all of its links down, and is sound.
    """
    machine = evidence.machine
    gpus = [gpu for gpu in machine.gpus if gpu.nvlinks]
    links = [link for gpu in gpus for link in gpu.nvlinks]
    if not gpus:
        yield fact(rule, Word.ABSENT, "none")
        return
    if all(link.state is None for link in links):
        yield fact(rule, Word.UNCHECKED, "not_told", "pairs")
        return
    up = sum(is_up(link) for link in links)
    joined = [gpu for gpu in gpus if machine.nvswitch or any(is_up(each) for each in gpu.nvlinks)]
    down = [(gpu, link) for gpu in joined for link in gpu.nvlinks if link.state == "inactive"]
    counts = {link.nvlinks for link in machine.gpu_links if link.nvlinks}
    values: dict[str, int] = {"links": len(links), "up": up}
    before = _up_before(evidence.earlier(rule, "pairs"))
    if before is not None and up < before:
        yield fact(rule, Word.PROBLEM, "fewer_than_before", "pairs", before=before, **values)
    elif down:
        first, link = down[0]
        values |= {"down": len(down), "gpu": first.index, "number": link.number}
        # The other end may belong to another guest, unless both lead to a switch.
        is_partial = is_guest(machine) and not machine.nvswitch
        word, reason = (Word.LOOK, "down_in_guest") if is_partial else (Word.PROBLEM, "down")
        yield fact(rule, word, reason, "pairs", **values)
    elif len(counts) > 1:
        counted = {"least": min(counts), "most": max(counts)}
        yield fact(rule, Word.LOOK, "unequal", "pairs", **counted, **values)
    elif not joined:
        yield fact(rule, Word.ABSENT, "joins_nothing", "pairs", **values)
    else:
        yield fact(rule, Word.FINE, "all_up", "pairs", **values)


def _up_before(earlier: Row | None) -> int | None:
    """Return how many links were up in the baseline, None where it does not say."""
    before = earlier.values.get("up") if earlier is not None else None
    return before if isinstance(before, int) else None
