"""A fake libnvidia-ml.so.1 in C, which hangs, aborts or lies as FAKE_NVML says.

A process finds it through LD_LIBRARY_PATH, as it would find NVIDIA's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from machine.gpus import nvml_child

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *way) {
  const char *chosen = getenv("FAKE_NVML");
  return chosen && !strcmp(chosen, way);
}
static int text(char *out, unsigned size, const char *good, const char *lie) {
  memset(out, 'A', size); /* no end of the text within the buffer */
  if (is("lie")) memcpy(out, lie, strlen(lie));
  else strncpy(out, good, size);
  return 0;
}
static int number(unsigned *out, unsigned good) {
  *out = is("lie") ? 0xfffffffeu : good;
  return 0;
}
__attribute__((constructor)) static void load(void) {
  while (is("hang when loaded")) pause();
}
int nvmlInitWithFlags(unsigned flags) {
  printf("the library prints to standard output\n");
  fflush(stdout);
  while (is("hang")) pause();
  if (is("abort")) abort();
  if (is("crash")) *(volatile int *)8 = 1;
  if (is("exit")) exit(0);
  return 0;
}
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return "an \033[31merror"; }
int nvmlSystemGetDriverVersion(char *out, unsigned size) {
  return text(out, size, "570.86.10", "\033]0;x\007\302\233\342\200\256");
}
int nvmlSystemGetCudaDriverVersion_v2(int *out) { return number((unsigned *)out, 12080); }
int nvmlDeviceGetCount_v2(unsigned *out) {
  *out = is("crowd") ? 0xfffffffeu : 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) {
  *out = (void *)0x1234;
  return 0;
}
int nvmlDeviceGetName(void *gpu, char *out, unsigned size) {
  if (is("abort later")) abort();
  while (is("hang later")) pause();
  return text(out, size, "NVIDIA Fake", "Evil\033[2J\302\205GPU\342\200\256");
}
int nvmlDeviceGetUUID(void *gpu, char *out, unsigned size) {
  return text(out, size, "GPU-1", "\377\376");
}
int nvmlDeviceGetPciInfo_v3(void *gpu, unsigned *out) {
  memset(out, 0, 64);
  out[4] = is("lie") ? 0xfffffffeu : 0;
  out[5] = is("lie") ? 0xfffffffeu : 0x1a;
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void *gpu, int *major, int *minor) {
  number((unsigned *)major, 9);
  return number((unsigned *)minor, 0);
}
int nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *out) {
  for (int n = 0; n < 3; n++) out[n] = is("lie") ? ~0ull : 1ull << 34;
  return 0;
}
int nvmlDeviceGetMemoryBusWidth(void *gpu, unsigned *out) { return number(out, 5120); }
int nvmlDeviceGetMaxClockInfo(void *gpu, int kind, unsigned *out) { return number(out, 1980); }
int nvmlDeviceGetArchitecture(void *gpu, unsigned *out) { return number(out, 9); }
int nvmlDeviceGetEnforcedPowerLimit(void *gpu, unsigned *out) { return number(out, 700000); }
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *out) { return number(out, 61); }
int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, unsigned *out) {
  *out = is("lie") ? 77 : 0;
  return is("lie") ? 0 : 3;
}
int nvmlDeviceGetMigMode(void *gpu, unsigned *now, unsigned *pending) {
  *now = *pending = is("lie");
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void *gpu, unsigned *out) { return number(out, 7); }
int nvmlDeviceGetMigDeviceHandleByIndex(void *gpu, unsigned index, void **out) {
  *out = gpu;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void *gpu, unsigned *out) {
  while (is("hang while watched")) pause();
  if (is("abort while watched")) abort();
  number(out, 97);
  return number(out + 1, 41);
}
"""


def build(folder: Path) -> Path:
    """Return the folder that holds the library. Skips the test where none can be built."""
    if sys.platform != "linux" or COMPILER is None:
        pytest.skip("a C compiler for Linux builds the library; there is none here")
    (folder / "nvml.c").write_text(SOURCE)
    library = folder / "libnvidia-ml.so.1"
    command = [COMPILER, "-shared", "-fPIC", "-o", str(library), str(folder / "nvml.c")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def environment(folder: Path | str, way: str) -> dict[str, str]:
    """Return the environment in which a process finds the library, which behaves in this way."""
    return {**os.environ, "LD_LIBRARY_PATH": str(folder), "FAKE_NVML": way}


def put(monkeypatch: pytest.MonkeyPatch, folder: Path, way: str, within_s: float) -> None:
    """Let children of this process find the library, which behaves in this way."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    monkeypatch.setenv("FAKE_NVML", way)
    monkeypatch.setattr(nvml_child, "WITHIN_S", within_s)
