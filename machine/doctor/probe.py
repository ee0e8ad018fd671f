"""The probe: a script that reports on the PyTorch of the Python that runs it.

It imports torch, reads what it was built for, lists its devices, and adds eight numbers on each. It
reports before each stage, so that a hang or crash can be located. Each answer is a line of its own:
a mark, then JSON.
"""

from __future__ import annotations

MARK = "@coreopsis "

# Runs under any Python, even 2.7, so that an interpreter too old for torch can say so.
PROBE = r"""
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, os, platform

try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # Linux: torch may hang, and who asks be killed
except Exception:
    pass

out = os.fdopen(os.dup(1), "w")  # torch may take sys.stdout for itself

def tell(**known):
    out.write("\n" + sys.argv[1] + json.dumps(known) + "\n")
    out.flush()

def text(error):
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (type(error).__name__ + ": " + (said[0] if said else ""))[:400]

try:
    from importlib.util import find_spec
    there = [name for name in ("pip", "torchvision", "torchaudio") if find_spec(name)]
except ImportError:
    there = ["pip"]

def torches():
    found, seen = [], set()
    for folder in filter(os.path.isdir, sys.path):
        for name in (os.path.join("torch", "__init__.py"), "torch.py"):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                if os.path.realpath(path) not in seen:
                    seen.add(os.path.realpath(path))
                    found.append(path)
                break
    return found

tell(torches=torches(), implementation=platform.python_implementation().lower())
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
    with open("/proc/self/maps") as maps:
        files = [line.split(None, 5)[5].strip() for line in maps if ".so" in line]
    tell(mapped=[each for each in sorted(set(files)) if os.path.basename(each).startswith("lib")])
except (OSError, IOError, IndexError):
    pass
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
