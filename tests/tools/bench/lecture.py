"""The time from its key until a run moves on the slide, for each item of our lecture."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from app.lecture.file import read
from app.lecture.lectures import SHIPPED, lectures
from experiments.core.units import show
from tests.tools.bench.lines import Line

BUDGET_S = 0.3


def lines() -> Iterator[Line]:
    (shipped, *_) = lectures(SHIPPED)
    with tempfile.TemporaryDirectory() as data:
        said = subprocess.run(
            [sys.executable, "-m", "tests.tools.bench.lecture_window", data, shipped.path],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    seen = [json.loads(line) for line in said.stdout.splitlines()]
    assert len(seen) == len(read(shipped.path).item)
    ready = sum(each["is_ready"] for each in seen)
    yield Line(
        "items of a lecture whose run was ready for its first turn at the key",
        f"{ready} of {len(seen)}",
        "all",
        ready == len(seen),
    )
    yield _line(
        "from the key to the first moving point on the slide",
        "point_s",
        seen,
        BUDGET_S,
        f"to the first row of any series: {_told(_times('row_s', seen))}",
    )


def _line(what: str, name: str, seen: list[dict[str, Any]], budget_s: float, why: str = "") -> Line:
    times = _times(name, seen)
    return Line(what, _told(times), show(budget_s, "s"), max(times.values()) <= budget_s, why)


def _times(name: str, seen: list[dict[str, Any]]) -> Mapping[str, float]:
    """Return the seconds by experiment; what did not come within a minute is left out."""
    return {each["id"]: each[name] for each in seen if each.get(name) is not None}


def _told(times: Mapping[str, float]) -> str:
    ordered = sorted(times, key=lambda id_: times[id_])
    told = {"fastest": ordered[0], "half": ordered[len(ordered) // 2], "slowest": ordered[-1]}
    return ", ".join(f"{how} {show(times[id_], 's')} ({id_})" for how, id_ in told.items())
