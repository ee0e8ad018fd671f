"""The checks of stage one: parts that are there, and errors that were counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from experiments.checkup.checks.order import rows_of_order
from experiments.checkup.evidence import Evidence
from experiments.checkup.judge import fact
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from machine.devices import Gpu
from machine.model import BadMachine, Machine, from_json
from machine.system.kernel_log import KernelLog, LogEntry
from machine.system.xids import PAGE, is_newer

_COUNTED = {"cores": "cores_missing", "gpus": "gpus_missing", "disks": "disks_missing"}
_CORRECTED = ("machine_check", "memory_corrected", "pcie_corrected")  # where they are not serious


def devices(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold what is there against each line of the order, and against the baseline."""
    machine = evidence.machine
    found, before = parts(machine), _before(evidence)
    if evidence.order is not None:
        yield from rows_of_order(rule, evidence.order, machine)
    if before is not None:
        yield _counted(rule, found, before)
    elif evidence.order is None:
        yield fact(rule, Word.UNCHECKED, "recorded", **found)
    total_bytes, limit_bytes = machine.memory.total_bytes, machine.memory.limit_bytes
    if total_bytes and limit_bytes is not None and limit_bytes < total_bytes:
        values = {"limit_bytes": limit_bytes, "memory_bytes": total_bytes}
        yield fact(rule, Word.LOOK, "limited", "memory", **values)


def _counted(rule: Rule, found: Mapping[str, Any], before: Mapping[str, Any]) -> Row:
    """Hold the counts of parts against those of the baseline."""
    limits, source = rule.limits[Source.BASELINE], Source.BASELINE
    for name, missing in _COUNTED.items():
        if found[name] < before[name]:
            values = {**found, "expected": before[name], "from": source}
            return fact(rule, Word.PROBLEM, missing, **values)
    if expected_bytes := before["memory_bytes"]:
        share = found["memory_bytes"] / expected_bytes
        values = {**found, "expected_bytes": expected_bytes, "from": source}
        if share < limits.floor:
            return fact(rule, Word.PROBLEM, "memory_missing", **values)
        if share < limits.ok:
            return fact(rule, Word.LOOK, "memory_less", **values)
    return fact(rule, Word.FINE, "as_before", **found)


def _before(evidence: Evidence) -> Mapping[str, Any] | None:
    """Return what the baseline counted, None where there is none."""
    if evidence.baseline is not None:
        with contextlib.suppress(BadMachine):  # of a stranger's file
            before = from_json(evidence.baseline.machine)
            counted = parts(before)
            if not _in_modules(evidence.machine):  # firmware keeps a part of what modules hold
                counted["memory_bytes"] = before.memory.total_bytes or 0
            return counted
    return None


def parts(machine: Machine) -> dict[str, Any]:
    """Return what is counted of a machine: cores, bytes of memory, GPUs, disks but those of USB."""
    return {
        "cores": machine.cpu.cores or machine.cpu.threads or 0,
        "memory_bytes": _in_modules(machine) or machine.memory.total_bytes or 0,
        "gpus": len(machine.gpus),
        "disks": sum(disk.transport != "usb" for disk in machine.storage),
    }


def _in_modules(machine: Machine) -> int:
    """Return the bytes of all modules, which mostly only root may read; 0 if unknown."""
    return sum(module.size_bytes or 0 for module in machine.memory.modules)


def kernel_log(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Look for errors of hardware in the kernel's log since the start."""
    log = evidence.kernel_log
    if log is None:
        yield fact(rule, Word.UNCHECKED, "not_run")
        return
    if log.missing:
        first = log.missing[0]
        yield fact(rule, Word.UNCHECKED, "unreadable", why=first.why, how=first.how)
        return
    serious = [entry for entry in log.found if entry.serious]
    recent = [entry for entry in serious if entry.recent_lines]
    mild = [entry for entry in log.found if not entry.serious]
    corrected = [entry for entry in mild if entry.kind in _CORRECTED]
    unlisted = [entry for entry in mild if entry.kind == "xid" and is_newer(entry.number)]
    if recent:
        lines = sum(entry.recent_lines for entry in recent)
        yield fact(rule, Word.PROBLEM, "recent", **{**_told(recent), "count": lines})
    elif serious:
        yield fact(rule, Word.LOOK, "old", **_told(serious))
    elif unlisted:
        yield fact(rule, Word.LOOK, "unlisted", **_told(unlisted), page=PAGE)
    elif corrected:
        yield fact(rule, Word.LOOK, "corrected", **_told(corrected))
    elif mild:
        yield fact(rule, Word.LOOK, "mild", **_told(mild))
    else:
        yield fact(rule, Word.FINE, "clean" if log.is_whole else "clean_so_far", **_reach(log))


def _reach(log: KernelLog) -> Mapping[str, Any]:
    return {} if log.reaches_back_s is None else {"reach_duration": log.reaches_back_s}


def _told(entries: list[LogEntry]) -> Mapping[str, Any]:
    newest = min(entries, key=lambda entry: entry.newest_s)
    return {
        "count": sum(entry.lines for entry in entries),
        "kind": newest.kind,
        "example": newest.examples[-1] if newest.examples else newest.kind,
    }


def memory_errors(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Look at the counters of memory that finds its errors (ECC)."""
    found = evidence.memory_errors
    if found is None:
        yield fact(rule, Word.UNCHECKED, "not_run", "memory")
    elif found.uncorrected:
        values = {"uncorrected": found.uncorrected, "corrected": found.corrected or 0}
        yield fact(rule, Word.PROBLEM, "uncorrected", "memory", **values)
    elif found.corrected:
        yield fact(rule, Word.LOOK, "corrected", "memory", corrected=found.corrected)
    elif found.corrected is None and found.uncorrected is None:
        why = {"why": found.missing[0].why, "how": found.missing[0].how} if found.missing else {}
        yield fact(rule, Word.UNCHECKED, "untold", "memory", **why)
    else:
        yield fact(rule, Word.FINE, "none", "memory", controllers=len(found.controllers))


def gpu_errors(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Look at the errors and the remapped rows of each GPU's memory."""
    for gpu in evidence.machine.gpus:
        yield _errors_of(rule, evidence, gpu, f"gpu{gpu.index}")
    if not evidence.machine.gpus:
        yield fact(rule, Word.ABSENT, "no_gpu", "gpus")


def _errors_of(rule: Rule, evidence: Evidence, gpu: Gpu, part: str) -> Row:
    sample = next((each for each in evidence.gpu_samples if each.index == gpu.index), None)
    corrected = sample.ecc_corrected if sample else None
    uncorrected = sample.ecc_uncorrected if sample else None
    rows = (sample.remapped_rows if sample else None) or gpu.remapped_rows
    if uncorrected:
        return fact(rule, Word.PROBLEM, "uncorrected", part, uncorrected=uncorrected)
    if gpu.remapping_failed or (sample and sample.remapping_failed):
        return fact(rule, Word.PROBLEM, "remapping_failed", part)
    if gpu.remapping_pending or (sample and sample.remapping_pending):
        return fact(rule, Word.PROBLEM, "remapping_pending", part)
    if corrected:
        return fact(rule, Word.LOOK, "corrected", part, corrected=corrected)
    if rows:
        return fact(rule, Word.LOOK, "remapped", part, rows=rows)
    if gpu.ecc is False:
        return fact(rule, Word.UNCHECKED, "ecc_off", part)
    if uncorrected is None and gpu.remapped_rows is None:
        return fact(rule, Word.UNCHECKED, "not_told", part)
    return fact(rule, Word.FINE, "none", part)
