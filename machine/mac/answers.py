"""Asks macOS by its own commands, which need no administrator's rights.

LIMIT: follows published answers of M1 to M5 and of Intel Macs; not yet tried on a Mac.
"""

from __future__ import annotations

from collections.abc import Callable

from machine.record import Record
from machine.system.asking import output

SYSCTL = ("/usr/sbin/sysctl", "hw", "machdep.cpu", "kern.hv_vmm_present", "kern.osproductversion")
PROFILER = (
    *("/usr/sbin/system_profiler", "-json", "SPHardwareDataType", "SPMemoryDataType"),
    *("SPPCIDataType", "SPNVMeDataType", "SPSerialATADataType"),
)
_SYSCTL_WITHIN_S, _PROFILER_WITHIN_S = 3.0, 20.0


class Answers(Record):
    """The output of both commands, "" where one is missing, fails or takes too long."""

    sysctl: str = ""
    profiler: str = ""


def ask(run: Callable[..., str] = output) -> Answers:
    """Return the answers of the running macOS.

    A key that a Mac lacks makes sysctl fail although it prints the others: so each is asked alone.
    """
    return Answers(
        sysctl="".join(run(SYSCTL[0], key, within_s=_SYSCTL_WITHIN_S) for key in SYSCTL[1:]),
        profiler=run(*PROFILER, within_s=_PROFILER_WITHIN_S),
    )
