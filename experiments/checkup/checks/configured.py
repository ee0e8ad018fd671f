"""The checks of stage two: PyTorch, memory speed, and the links of GPUs, as they are set up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.checkup.checks.common import ONE_WAY, of_runs, on_gpus
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import fact
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from machine.bus.pcie import able, bytes_per_s
from machine.devices import Gpu, Link
from machine.doctor.verdicts import State
from machine.gpus.nvlink import is_up
from machine.memory.modules import is_slowed, named_channels
from machine.model import is_guest, is_hidden, missing_of

_WORDS = {State.OK: Word.FINE, State.LOOK: Word.LOOK, State.WRONG: Word.PROBLEM}
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
    """Hold what the firmware set against what the modules can do."""
    machine = evidence.machine
    modules = [module for module in machine.memory.modules if module.size_bytes]
    known = [m for m in modules if m.transfers_per_s and m.rated_transfers_per_s]
    if not known:
        missing = missing_of(machine, "memory.modules")
        if is_hidden(machine, "memory.modules"):
            yield fact(rule, Word.UNCHECKED, "hidden", "memory")
        elif missing is not None:
            told = {"why": missing.why, "how": missing.how}
            yield fact(rule, Word.UNCHECKED, "not_readable", "memory", **told)
        else:
            yield fact(rule, Word.UNCHECKED, "not_told", "memory")
        return
    filled, channels = named_channels(modules), named_channels(machine.memory.modules)
    if filled < channels:
        yield fact(rule, Word.LOOK, "channels_empty", "memory", filled=filled, channels=channels)
        return
    slowed = [module for module in known if is_slowed(module)]
    worst = min(slowed or known, key=lambda module: module.transfers_per_s or 0.0)
    values = {
        "modules": len(known),
        "slowed": len(slowed),
        "set_mega": (worst.transfers_per_s or 0.0) / 1e6,
        "rated_mega": (worst.rated_transfers_per_s or 0.0) / 1e6,
    }
    word, reason = (Word.LOOK, "slowed") if slowed else (Word.FINE, "as_rated")
    yield fact(rule, word, reason, "memory", **values)


@on_gpus
def gpu_link(
    rule: Rule, evidence: Evidence, gpu: Gpu, part: str, runs: Sequence[Ran]
) -> Iterator[Row]:
    """Hold the link that was seen during copies against what card and slot allow.

    An idle link slows down to save power, so what is slower than the copies were does not count.
    """
    link = _link_of(evidence, gpu)
    generation, width = able(link) if link else (None, None)
    seen = [
        (sample.pcie_generation, sample.pcie_width)
        for run in runs
        for watched in run.watched
        for sample in watched.gpus
        if sample.index == gpu.index and sample.pcie_generation and sample.pcie_width
    ]
    if not seen:
        yield fact(rule, Word.UNCHECKED, "not_seen", part)
        return
    now_generation, now_width = max(seen)
    is_best = generation is not None and now_generation >= generation
    if not is_best and _fastest(runs) > (bytes_per_s(now_generation, now_width) or 0.0):
        yield fact(rule, Word.UNCHECKED, "not_seen", part)  # it was looked at between copies
        return
    values = {
        "generation": now_generation,
        "width": now_width,
        "best_generation": generation,
        "best_width": width,
    }
    if generation is None or width is None:
        yield fact(rule, Word.UNCHECKED, "no_expectation", part, **values)
        return
    lanes = now_width / width
    limits = rule.limits[Source.CEILING]
    if lanes < limits.floor:
        yield fact(rule, Word.PROBLEM, "few_lanes", part, **values)
    elif lanes < limits.ok:
        yield fact(rule, Word.LOOK, "fewer_lanes", part, **values)
    elif now_generation < generation:
        yield fact(rule, Word.LOOK, "lower_generation", part, **values)
    else:
        yield fact(rule, Word.FINE, "as_able", part, **values)


def _fastest(runs: Sequence[Ran]) -> float:
    """Return the rate of the fastest copy one way, in bytes/s."""
    return max(
        (run.values.get(f"{way}_bytes_per_s", 0.0) for run in runs for way in ONE_WAY), default=0.0
    )


def _link_of(evidence: Evidence, gpu: Gpu) -> Link | None:
    """Return the link of a GPU; the kernel knows more of both ends than the driver."""
    pci = next((d for d in evidence.machine.pci if d.address == gpu.pci_address), None)
    return pci.link if pci is not None and pci.link is not None else gpu.link


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
