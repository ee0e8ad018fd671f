"""The conditions of a run that change results; none names a person."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from experiments.core.processes.own_environment import CLEARED, cleared, own_environment, recorded
from machine.live.power import told_by_psutil
from machine.system.installed import version_of

LIBRARIES = ("numpy", "numba", "llvmlite", "torch", "nvidia-ml-py")


def program_version() -> str:
    """Return the version of this program, "unknown" where it is not installed."""
    return version_of("coreopsis") or "unknown"


def gil_enabled() -> bool:
    """Does this interpreter run one thread at a time? Asked after all imports."""
    asked = getattr(sys, "_is_gil_enabled", None)  # 3.13 and later
    return bool(asked()) if asked else True


def environment() -> dict[str, Any]:
    """Return versions, switches of the system and of libraries, and how busy the machine is.

    The variables are those of a measuring process, also if this process only starts one.
    """
    handed_on = os.environ if CLEARED in os.environ else own_environment()
    return {
        "program": program_version(),
        "python": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "python_compiler": platform.python_compiler(),
        "free_threaded_build": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil_enabled": gil_enabled(),
        "libraries": {name: found for name in LIBRARIES if (found := version_of(name))},
        "variables": recorded(handed_on),
        "cleared_variables": cleared(handed_on),
        "niceness": os.nice(0) if hasattr(os, "nice") else None,
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "huge_pages": _chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "governor": _chosen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "page_bytes": os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else None,
        "on_battery": on_battery(),
    }


def _chosen(path: str) -> str | None:
    """Return the chosen word of a kernel switch, such as "always [madvise] never"."""
    try:
        text = Path(path).read_text().strip()
    except OSError:
        return None
    start, end = text.find("["), text.find("]")
    return text[start + 1 : end] if 0 <= start < end else text


def on_battery() -> bool | None:
    """Does the machine run on its battery? None where it has none, or does not say."""
    return told_by_psutil()[0]
