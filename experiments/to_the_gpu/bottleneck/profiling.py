"""Reads from torch's profile what host and device did, and when.

The profiler writes a file for Perfetto. The same file is read here, so the display and the saved
trace agree. `spans` and `divided` are pure.
Source: the trace event format; the categories of events as Kineto (libkineto) names them.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.devices.device import Device

WAITING, STEP = "coreopsis: waiting for data", "coreopsis: step"  # ranges that the caller marks
_CATEGORIES = {
    "cpu_op": "operator",
    "cuda_runtime": "call",
    "cuda_driver": "call",
    "xpu_runtime": "call",
    "xpu_driver": "call",
    "gpu_memcpy": "copy",
    "gpu_memset": "kernel",
    "kernel": "kernel",
}
_WITHIN = ("DtoD", "Device -> Device")  # a copy inside the device's memory
_BLOCKING = ("ynchronize", "QueueFinish")  # in the names of calls that wait for the device
_PRIVATE = ("host_name", "traceName")
US = 1e-6


class Span(x.Record, kw_only=False):
    """A recorded event; `kind` is "waiting", "step", "operator", "call", "copy"...

    A "blocked" call waits for the device.
    """

    kind: str
    name: str
    start_s: float
    end_s: float


def traced(device: Device, work: Callable[[], object]) -> dict[str, Any]:
    """Return the trace of some work, as Perfetto reads it; it names neither machine nor folder."""
    from torch import profiler

    wanted = {profiler.ProfilerActivity.CPU}
    if device.is_gpu:
        wanted |= set(profiler.supported_activities())
    with warnings.catch_warnings():
        # WORKAROUND: torch up to 2.11 warns of several cycles, of which there is one.
        warnings.filterwarnings("ignore", ".*Profiler clears events", UserWarning)
        with profiler.profile(activities=sorted(wanted, key=str)) as profile:
            work()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profile.export_chrome_trace(str(path))
        trace: dict[str, Any] = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    return {key: value for key, value in trace.items() if key not in _PRIVATE}


def marked(name: str) -> contextlib.AbstractContextManager[Any]:
    """Mark the block's work in the trace."""
    from torch.profiler import record_function

    made: contextlib.AbstractContextManager[Any] = record_function(name)
    return made


def save(trace: Mapping[str, Any], folder: Path, name: str) -> str:
    """Write a trace that ui.perfetto.dev opens, and return its file name. Raises OSError."""
    for number in itertools.count(1):
        path = folder / f"{name}-{number}.trace.json.gz"
        with contextlib.suppress(FileExistsError), path.open("xb") as file:
            file.write(gzip.compress(json.dumps(trace).encode()))
            return path.name
    raise AssertionError


def spans(trace: Mapping[str, Any]) -> list[Span]:
    """Return a trace's known events, in order; the first one starts at 0."""
    found = []
    for event in trace.get("traceEvents", ()):
        kind = _kind(event) if event.get("ph") == "X" else None
        if kind is not None:
            start_s = float(event["ts"]) * US
            end_s = start_s + float(event.get("dur", 0.0)) * US
            found.append(Span(kind, str(event["name"]), start_s, end_s))
    found.sort(key=lambda span: (span.start_s, -span.end_s))
    first_s = found[0].start_s if found else 0.0
    return [Span(s.kind, s.name, s.start_s - first_s, s.end_s - first_s) for s in found]


def _kind(event: Mapping[str, Any]) -> str | None:
    category, name = event.get("cat"), str(event.get("name"))
    if category == "user_annotation":
        return {WAITING: "waiting", STEP: "step"}.get(name)
    kind = _CATEGORIES.get(str(category))
    if kind == "copy" and any(word in name for word in _WITHIN):
        return "kernel"
    if kind == "call" and any(word in name for word in _BLOCKING):
        return "blocked"
    return kind


def lanes(found: Iterable[Span]) -> dict[str, list[x.Interval]]:
    """Return when events of each kind were going on."""
    of: dict[str, list[tuple[float, float]]] = {}
    for span in found:
        of.setdefault(span.kind, []).append((span.start_s, span.end_s))
    return {kind: x.merged(each) for kind, each in of.items()}


def has_device(found: Iterable[Span]) -> bool:
    """Does the trace contain a GPU's work? Some GPUs and users cannot record it."""
    return any(span.kind == "kernel" for span in found)


def divided(found: Iterable[Span], *, on_gpu: bool) -> dict[str, list[x.Interval]]:
    """Return the part of the steps that each moment belongs to; each belongs to one.

    With a GPU the parts are its computing and its copying alone. Otherwise the host waits for data,
    works, or is blocked ("idle": GPU and host both wait). On the processor alone the parts are the
    loading, the operators, and the Python between them. Idle is the time between steps.
    """
    of = lanes(found)
    ranges = [of.get("waiting", []), of.get("step", [])]
    edges = [edge for each in ranges for span in each for edge in span]
    left: list[x.Interval] = [(min(edges), max(edges))] if edges else []
    waiting, step = ranges
    order = {"waiting": waiting, "compute": x.in_both(step, of.get("operator", [])), "host": step}
    if on_gpu:
        order = {
            "compute": of.get("kernel", []),
            "copy": of.get("copy", []),
            "waiting": waiting,
            "host": x.without(step, of.get("blocked", [])),
        }
    parts: dict[str, list[x.Interval]] = {}
    for part, when in order.items():
        parts[part], left = x.in_both(left, when), x.without(left, when)
    return {**parts, "idle": left}
