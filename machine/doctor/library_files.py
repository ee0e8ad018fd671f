"""Finds library files that are cut off, and foreign ones that take the place of PyTorch's own."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from machine.doctor.evidence import ShortFile

_HEADER_BYTES = 64  # of an ELF file, for 64 bits
_LOAD = 1  # PT_LOAD, a part that is loaded into memory

# Places of NVIDIA's libraries: Debian, Red Hat, containers, NixOS, WSL.
NVIDIA_FOLDERS = (
    "usr/lib/*-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/lib/*-linux-gnu/nvidia/current",
    "usr/local/nvidia/lib64",
    "run/opengl-driver/lib",
    "usr/lib/wsl/lib",
)
# Libraries of CUDA, ROCm and SYCL that PyTorch brings along.
_BROUGHT = re.compile(
    r"(lib(?:cudart|cublas|cublasLt|cudnn\w*|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvJitLink"
    r"|cupti|amdhip64|hsa-runtime64|rocblas|hipblas|hipblaslt|MIOpen|rccl|sycl|ur_loader))"
    r"(?:-[0-9a-f]{8})?\.so"
)


def cut_off(path: Path) -> ShortFile | None:
    """Return the file if it ends before the parts that its own header names."""
    if not os.path.isfile(path):
        return None
    try:
        size_bytes = path.stat().st_size
        with open(path, "rb") as file:
            start = file.read(_HEADER_BYTES)
            needed_bytes = _HEADER_BYTES
            if start[:6] == b"\x7fELF\x02\x01" and len(start) == _HEADER_BYTES:
                (table,) = struct.unpack_from("<Q", start, 32)
                each, count = struct.unpack_from("<HH", start, 54)
                needed_bytes = table + each * count
                file.seek(table)
                parts = file.read(each * count)
                for part in range(0, len(parts) - 40, each or 1):
                    if struct.unpack_from("<I", parts, part) == (_LOAD,):
                        offset, length = struct.unpack_from("<Q16xQ", parts, part + 8)
                        needed_bytes = max(needed_bytes, offset + length)
    except (OSError, struct.error):
        return None
    if size_bytes >= needed_bytes:
        return None
    return ShortFile(path=str(path), size_bytes=size_bytes)


def short_nvidia(root: Path) -> tuple[ShortFile, ...]:
    """Return NVIDIA's libraries that programs would load and that are cut off."""
    found = []
    for folder in (place for pattern in NVIDIA_FOLDERS for place in sorted(root.glob(pattern))):
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            path = folder / name
            for _ in range(3):  # links lead to files beside them
                with contextlib.suppress(OSError):  # it is none, or not readable
                    path = folder / os.path.basename(os.readlink(path))
            short = None if os.path.islink(path) else cut_off(path)
            if short is not None:
                path_here = f"/{path.relative_to(root)}"
                found.append(ShortFile(path=path_here, size_bytes=short.size_bytes))
    return tuple(dict.fromkeys(found))


def short_torch(torch: Path, said: str) -> ShortFile | None:
    """Return the library that is cut off: the file that a message names, or a file of PyTorch."""
    told = re.search(r"(/[^:]*\.so[^:]*): (?:file too short|invalid ELF header)", said)
    files = [Path(told[1])] if told else []
    files += sorted((*torch.glob("lib/*.so*"), *torch.glob("_C*.so")))
    files += sorted(torch.parent.glob("nvidia/*/lib/*.so*"))
    return next((each for each in map(cut_off, files) if each is not None), None)


def foreign(torch: Path, prefix: str | None, files: Iterable[str]) -> str | None:
    """Return the first of `files` that stands for a library that this PyTorch brings itself."""
    own = [torch / "lib", *torch.parent.glob("nvidia/*/lib")]
    own += [Path(prefix, "lib")] if prefix else []
    folders = {os.path.realpath(folder) for folder in own}
    found = (_BROUGHT.match(name) for folder in folders for name in _names(folder))
    names = {match[1] for match in found if match}
    for file in files:
        match = _BROUGHT.match(os.path.basename(file))
        is_own = os.path.realpath(os.path.dirname(file)) in folders
        if match and match[1] in names and not is_own:
            return file
    return None


def offered(path: str) -> Iterator[str]:
    """Yield the files in the folders of a variable such as LD_LIBRARY_PATH."""
    for folder in filter(None, path.split(os.pathsep)):
        yield from sorted(glob.glob(os.path.join(glob.escape(folder), "*.so*")))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
