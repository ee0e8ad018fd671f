"""The number of Linux's system call `futex` on this processor: threads sleep and wake by it."""

from __future__ import annotations

import platform
import sys

_CALLS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
# 0 where there is none; other systems have another call, or none.
FUTEX = _CALLS.get(platform.machine(), 0) if sys.platform == "linux" else 0
