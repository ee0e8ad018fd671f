"""Evidence from the PyTorch of an interpreter, which runs a probe.

The probe imports torch, reads what it was built for, lists its devices, and adds eight numbers on
each. It reports before each stage, so that a hang or crash can be located.

The interpreter is not isolated: packages of `pip install --user` and PYTHONPATH count, as for its
user. Only the working folder is left out, because a file torch.py there would hide the package.

LIMIT: devices that PyTorch does not find are not searched in another way. The sum wakes a sleeping
laptop GPU and briefly needs 300 to 500 MB of its memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec

from machine.doctor.asking import Answer, ask
from machine.doctor.environments import program_in
from machine.doctor.evidence import Outcome, Torch

WITHIN_S = 90.0  # torch on a cold network disk needs half a minute
_MARK = "@coreopsis "

# Runs under any Python, even 2.7, so that an interpreter too old for torch can say so.
_PROBE = r"""
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, platform

def tell(**known):
    sys.stdout.write("\n" + sys.argv[1] + json.dumps(known) + "\n")
    sys.stdout.flush()

def text(error):
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (type(error).__name__ + ": " + (said[0] if said else ""))[:400]

try:
    from importlib.util import find_spec
    there = [name for name in ("pip", "torchvision", "torchaudio") if find_spec(name)]
except ImportError:
    there = ["pip"]
tell(python_version=platform.python_version(), architecture=platform.machine(),
     prefix=sys.prefix, has_pip="pip" in there,
     companions=[name for name in there if name != "pip"], stage="import")
try:
    import torch
    version = str(torch.__version__)
except BaseException as error:
    missing = isinstance(error, ImportError) and getattr(error, "name", "torch") == "torch" \
        and "No module named" in str(error)
    tell(is_missing=missing, import_problem=text(error))
    sys.exit()
tell(version=version, stage="look")

def dotted(number):
    return [number // 1000, number % 1000 // 10] if number else None

built = torch.version
cuda, hip = getattr(built, "cuda", None), getattr(built, "hip", None)
xpu = getattr(built, "xpu", None)
backends = getattr(torch.backends, "mps", None)
has_mps = backends is not None and backends.is_built()
tell(cuda=cuda, hip=hip, xpu=xpu, has_mps=has_mps)
try:
    if cuda or hip:
        tell(targets=(torch._C._cuda_getArchFlags() or "").split())
    if cuda:
        tell(driver_cuda=dotted(torch._C._cuda_getDriverVersion()))
except Exception:
    pass

kind = "cuda" if cuda or hip else "xpu" if xpu or version.endswith("+xpu") else \
    "mps" if has_mps else ""
devices = []

def look():
    if kind == "mps":
        if not torch.backends.mps.is_available():
            raise RuntimeError("torch.backends.mps.is_available() is False")
        devices.append(dict(kind=kind, index=0))
    elif kind:
        family = getattr(torch, kind)
        family.init()
        for index in range(family.device_count()):
            device = dict(kind=kind, index=index)
            devices.append(device)
            device["name"] = family.get_device_name(index)
            if hip:
                shown = family.get_device_properties(index)
                device["target"] = str(getattr(shown, "gcnArchName", "")).split(":")[0] or None
            elif cuda:
                device["target"] = "%d.%d" % tuple(family.get_device_capability(index))
        if not devices:
            raise RuntimeError("torch.%s.device_count() is 0" % kind)

try:
    look()
except BaseException as error:
    tell(problem=text(error))
tell(devices=devices, stage="use")

for device in devices:
    try:
        place = "%s:%d" % (kind, device["index"])
        total = (torch.ones(8, device=place) + 1).sum().item()
        device["has_computed"] = total == 16
        if total != 16:
            device["problem"] = "8 times 1 + 1 gives %s" % total
    except BaseException as error:
        device["problem"] = text(error)
    tell(devices=devices)
tell(stage="done")
"""


class BadPython(ValueError):
    """There is no Python to examine; the text says why, and what to give instead."""


def find_python(path: str) -> str:
    """Return the program of a Python, given its path, name, environment, or project.

    Raises:
        BadPython: there is none.
    """
    given = Path(path).expanduser()
    if os.path.isdir(given):
        for place in ("", ".venv", "venv"):
            if found := program_in(given / place):
                return found
            link = given / place / "bin/python"
            if link.is_symlink():  # the environment's Python was removed or updated
                raise BadPython(
                    f"The Python of {given / place} is gone: there is no {link.resolve()}; "
                    "make the environment anew."
                )
        raise BadPython(
            f"There is no Python in the folder {path}; give an environment (venv or conda), "
            "or the program itself."
        )
    if not os.path.exists(given):
        found = None if os.sep in path else shutil.which(path)
        if found is None:
            raise BadPython(f"There is no {path}; give a Python, or the folder of an environment.")
        given = Path(found)
    names = (given.name, given.resolve().name)
    if not any(name.lower().startswith(("python", "pypy")) for name in names):
        raise BadPython(f"{path} does not look like a Python; its name begins otherwise.")
    if not os.access(given, os.X_OK):
        raise BadPython(f"{path} cannot be run: it is not executable, or not by you.")
    return str(given.absolute())  # not resolved: the link selects the venv


def examine(
    python: str = sys.executable,
    *,
    within_s: float = WITHIN_S,
    stop: threading.Event | None = None,
) -> Torch:
    """Return the evidence about an interpreter's PyTorch. May block; raises only Stopped."""
    try:
        answer = ask((python, "-c", _PROBE, _MARK), within_s=within_s, stop=stop)
    except OSError as error:
        return Torch(
            python=python, outcome=Outcome.UNSTARTABLE, stage="start", detail=error.strerror
        )
    return _parsed(python, answer)


def _parsed(python: str, answer: Answer) -> Torch:
    known: dict[str, Any] = {"stage": "start"}
    for line in answer.lines:
        if line.startswith(_MARK):
            with contextlib.suppress(ValueError):  # the line was cut off
                known.update(json.loads(line.removeprefix(_MARK)))
    prefix, has_pip = known.pop("prefix", None), known.pop("has_pip", True)
    outcome = Outcome.ANSWERED
    if answer.status is None:
        outcome = Outcome.SILENT
    elif known["stage"] == "start":
        outcome = Outcome.UNSTARTABLE
    elif answer.status and not known.get("import_problem"):
        outcome = Outcome.CRASHED
    detail = None
    if outcome is not Outcome.ANSWERED:
        detail = answer.last_error or _ending(answer.status)
    return msgspec.convert(
        {
            **known,
            "python": python,
            "outcome": outcome,
            "detail": detail,
            "installer": _installer(prefix, has_pip=has_pip),
        },
        Torch,
    )


def _ending(status: int | None) -> str | None:
    if status is None:
        return None
    return f"signal {-status}" if status < 0 else f"status {status}"


def _installer(prefix: str | None, *, has_pip: bool) -> str:
    """Return the installer of an environment: conda leaves metadata, uv's lack pip."""
    if prefix and any(Path(prefix, "conda-meta").glob("pytorch-*.json")):
        return "conda"
    return "pip" if has_pip else "uv"
