"""Machines with Windows or macOS, as this program would see them there."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import pytest

from machine import inspect as inspection
from machine.gpus import accelerators
from machine.gpus.nvml_machine import Found
from machine.model import Machine
from machine.system import basics

LINUX_WORDS = (
    *("kernel", "cpufreq", "container", "EDAC", "udev", "sysfs", "/sys", "/proc", "/dev"),
    *("lspci", "lsblk", "sudo", "lscpu", "control group", "numactl", "ethtool", "smartctl"),
)


def inspected(system: str, answers: Any, known: basics.Basics, **asked: Any) -> Machine:
    """Return what `inspect` finds on a system that gives these answers; no GPU by default."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return _inspected(monkeypatch, system, answers, known, **asked)


def _inspected(
    monkeypatch: pytest.MonkeyPatch, system: str, answers: Any, known: basics.Basics, **asked: Any
) -> Machine:
    monkeypatch.setattr(sys, "platform", system)
    package = {"win32": "windows", "darwin": "mac"}[system]
    asker = importlib.import_module(f"machine.{package}.answers")
    monkeypatch.setattr(asker, "ask", lambda: answers)
    monkeypatch.setattr(basics, "ask", lambda: known)
    asked = {
        "ask_nvidia": lambda host: Found(),
        "ask_windows": lambda pci: [],
        "ask_apple": lambda memory_bytes: [],
        **asked,
    }
    parts = functools.partial(accelerators.parts, **asked)
    monkeypatch.setattr(accelerators, "parts", parts)
    return inspection.inspect()


def foreign(machine: Machine) -> list[str]:
    """Return the words of Linux in what the machine says of its sources and gaps."""
    peaks = machine.peaks.get("pcie", {}).values()
    said = [
        *(peak["source"] for peak in peaks),
        *machine.sources.values(),
        *(f"{e.why} {e.how}" for e in machine.missing),
    ]
    return [
        each
        for each in said
        # Apple's own key of the clock.
        if any(word in each.replace("hw.cpufrequency", "") for word in LINUX_WORDS)
    ]
