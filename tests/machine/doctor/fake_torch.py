"""Writes fake PyTorch packages, which the real probe imports."""

from __future__ import annotations

from pathlib import Path

WELL = """
import types

__version__ = "2.13.0+cpu"
version = types.SimpleNamespace(cuda=None, hip=None, xpu=None)
backends = types.SimpleNamespace(mps=types.SimpleNamespace(is_built=lambda: False))

class Number:
    def __add__(self, other): return self
    def sum(self): return self
    def item(self): return 16.0

def ones(count, device):
    places.append(device)
    return Number()

places = []
"""
CUDA = (
    WELL
    + """
__version__ = "2.13.0+cu130"
version.cuda = "13.0"
_C = types.SimpleNamespace(
    _cuda_getArchFlags=lambda: "sm_75 sm_90 compute_90",
    _cuda_getDriverVersion=lambda: 12080,
)
cuda = types.SimpleNamespace(
    init=lambda: None,
    device_count=lambda: 2,
    get_device_name=lambda index: "Fake %d" % index,
    get_device_capability=lambda index: (9, index),
)
"""
)
HIP = (
    CUDA
    + """
version.cuda, version.hip = None, "7.2.26015"
cuda.get_device_properties = lambda index: types.SimpleNamespace(gcnArchName="gfx90a:sramecc+")
"""
)
XPU = (
    WELL
    + """
__version__, version.xpu = "2.13.0+xpu", "20250201"
xpu = types.SimpleNamespace(
    init=lambda: None, device_count=lambda: 1, get_device_name=lambda index: "Arc"
)
"""
)
MPS = (
    WELL
    + """
backends.mps.is_built = backends.mps.is_available = lambda: True
"""
)


def install(folder: Path, code: str) -> Path:
    """Write a PyTorch whose module is `code`, and return what must be on the path to load it."""
    package = folder / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code)
    return folder
