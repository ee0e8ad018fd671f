"""NVIDIA's management library (NVML) in a process of its own, with a time limit.

The library may hang, abort, end its process or answer nonsense. Then only the child is lost, and
the reason names the library. A child cannot outlive a hang for long: an alarm ends it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, get_type_hints

import msgspec

from machine.convert import UNREADABLE
from machine.facts import Facts, Reason, Unanswered
from machine.gpus.nvml import ODD

WITHIN_S = 5.0
_MORE_S = 3.0  # without persistence, each further GPU takes two to three seconds to start
_GRACE_S = 1.0  # for a killed child to end; after that it is abandoned
_ALARM_S = 120  # ends a child that hangs and whose parent is gone
LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
_NAMED = f"The NVIDIA library {LIBRARY}"
_HOW = "nvidia-smi asks the same library; sudo dmesg | grep NVRM says more."
_LOADER_CACHE = "/etc/ld.so.cache"
_FOLDERS = (
    *("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/usr/lib/wsl/lib"),
    *(f"/usr/lib/{kind}-linux-gnu" for kind in ("x86_64", "aarch64")),
)
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); import importlib; "
    "importlib.import_module(sys.argv[2]).tell(*sys.argv[3:])"
)


class Broken(Unanswered):
    """The library hung, crashed or answered nonsense: no sentence about the GPUs follows."""


def within_s(gpus: int) -> float:
    """Return how long the library of a machine with this many GPUs may take."""
    return WITHIN_S + _MORE_S * max(0, gpus - 1)


def is_here() -> bool:
    """Is the library installed? Loading it would show that, but may hang or crash."""
    if sys.platform == "win32":
        homes = os.environ.get("WINDIR", r"C:\Windows"), os.environ.get("PROGRAMFILES", "")
        folders = [f"{homes[0]}/System32", f"{homes[1]}/NVIDIA Corporation/NVSMI"]
    else:
        with contextlib.suppress(OSError):
            if LIBRARY.encode() in Path(_LOADER_CACHE).read_bytes():
                return True
        chosen = os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
        folders = [*chosen, f"{sys.prefix}/lib", f"{sys.base_prefix}/lib", *_FOLDERS]
    return any(os.path.exists(os.path.join(folder, LIBRARY)) for folder in folders if folder)


# --- in the parent --------------------------------------------------------------------------------


def command(module: str, *arguments: str) -> list[str]:
    """Return the command of a child that calls `tell(*arguments)` of a module."""
    rooms = str(Path(__file__).parents[2])
    return [sys.executable, "-P", "-c", _START, rooms, module, *arguments]


def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a child that calls `tell(*arguments)` of a module. Raises Unanswered."""
    try:
        return subprocess.Popen(
            command(module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        why = f"The process that asks {LIBRARY} cannot be started: {error.strerror}."
        raise Unanswered(Reason(why, "Try again.")) from error


def answer(module: str, request: bytes, limit_s: float) -> Any:
    """Return the child's answer to one request, decoded. Raises Unanswered."""
    child = start(module)
    try:
        said, _ = child.communicate(request, timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise Broken(silent(limit_s)) from None
    finally:  # also after Ctrl-C
        if child.returncode is None:
            end(child)
        if child.returncode is not None and child.stdout is not None:  # else it may block
            child.stdout.close()
    if not said:
        raise Broken(ended(child))
    return decoded(said)


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child. A broken driver may hold even a killed one; it is left to the system."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_S)
    if child.stdin is not None:
        with contextlib.suppress(OSError):  # what was not sent yet
            child.stdin.close()


def silent(limit_s: float) -> Reason:
    """Return the reason for a child that was waited for so long."""
    return Reason(f"{_NAMED} did not answer within {limit_s:g} s.", _HOW)


def ended(child: subprocess.Popen[bytes]) -> Reason:
    """Return the reason for a child that ended without an answer."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_S)
    status = child.returncode
    if status is not None and status < 0:
        names = {number.value: number.name for number in signal.Signals}
        return Reason(f"{_NAMED} crashed when asked ({names.get(-status, -status)}).", _HOW)
    return Reason(f"{_NAMED} ended the process that asked it.", _HOW)


def nonsense() -> Reason:
    """Return the reason for answers that contradict themselves."""
    return Reason(f"{_NAMED} gave answers that make no sense.", _HOW)


def decoded(said: bytes) -> Any:
    """Return an answer without control characters. Raises Unanswered."""
    try:
        return _printable(msgspec.json.decode(said))
    except UNREADABLE:
        raise Broken(nonsense()) from None


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isprintable() else "".join(c for c in value if c.isprintable())
    if isinstance(value, list):
        return [_printable(each) for each in value]
    if isinstance(value, dict):
        return {_printable(key): _printable(each) for key, each in value.items()}
    return value


# --- facts between the two ------------------------------------------------------------------------


def unpacked(said: Mapping[str, Any], kind: type) -> Facts:
    """Return the facts of a record of this kind; a value of another type is unknown."""
    facts, types = Facts(), get_type_hints(kind)
    facts.missing = {name: Reason(*reason) for name, reason in said["missing"].items()}
    facts.sources = {**said["sources"]}
    for name, value in said["values"].items():
        try:
            facts.values[name] = msgspec.convert(value, types[name], strict=True)
        except (msgspec.ValidationError, KeyError):
            facts.drop(name, ODD)
    return facts


# --- in the child ---------------------------------------------------------------------------------


def own_output() -> BinaryIO:
    """Return the pipe to the parent; what the library itself prints goes nowhere."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return out


def set_alarm() -> None:
    """Let the system end this process if it hangs from now on."""
    if hasattr(signal, "alarm"):
        signal.alarm(_ALARM_S)


def send(out: BinaryIO, value: Any) -> None:
    """Send one line to the parent."""
    out.write(msgspec.json.encode(value) + b"\n")
    out.flush()
