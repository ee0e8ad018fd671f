"""Functions that the lesson of pinned calls."""

from __future__ import annotations

from itertools import pairwise

from experiments import api as x

from .experiment import CHOICES

BEFORE, AS_IT_IS, FOR_THIS = CHOICES
HELD_BACK = (FOR_THIS,)
PARTED = 0.05  # of the highest rate: what one sees
NEARLY = 2.0  # times: so exactly can one click
FILLED = 0.8  # of the link's limit
LATE_COPIES, TWICE = 50, 2.0
MILLISECOND_S, WITHIN = 1e-3, 0.1
PIECES = 8


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the rates at the largest size, by the caller's clock."""
    return {
        f"{name}_large_bytes_per_s": run.values["largest_bytes"] / took_s
        for name, took_s in zip(("pinned", "pageable"), _largest(run), strict=False)
    }


def where_they_part(run: x.LessonRun) -> x.Spot:
    """Return the stretch up to the first size at which pinned memory is clearly faster."""
    rates = x.medians(
        ((row.size_bytes, row.choice), row.bytes_per_s) for row in run.tables["written"]
    )
    sizes = sorted(size for size, way in rates if way == BEFORE and (size, AS_IT_IS) in rates)
    seen = PARTED * max((rates[size, BEFORE] for size in sizes), default=0.0)
    for before, size in pairwise(sizes):
        if rates[size, BEFORE] - rates[size, AS_IT_IS] > seen:
            return x.Spot(low=before / NEARLY, high=size * NEARLY)
    return x.Spot()


no_gain = x.found("no_difference")  # was pinned memory no faster even at the largest size?
nothing_pinned = x.found("pageable_alone")  # was there no pinned memory?


def pinning_costs(run: x.LessonRun) -> bool:
    """Was the cost of pinning measured, and does it pay?"""
    return "copies_to_pay_back" in run.values


def link_is_filled(run: x.LessonRun) -> bool:
    """Did pinned copies use most of the link?"""
    return run.values.get("link_fraction", 0.0) >= FILLED and not nothing_pinned(run)


def repays_late(run: x.LessonRun) -> bool:
    """Does pinning pay after many copies only, though each gains much?"""
    gain, copies = (run.values.get(name, 0) for name in ("large_speedup", "copies_to_pay_back"))
    return gain >= TWICE and copies >= LATE_COPIES


def a_millisecond(run: x.LessonRun) -> bool:
    """Did the largest copy from pinned memory take about a millisecond?"""
    took = _largest(run)
    return bool(took) and abs(took[0] / MILLISECOND_S - 1) <= WITHIN


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let the largest copy go from pinned and from pageable memory, on one clock.

    Each piece takes its share of the measured time: what a pinned one takes on the link, and the
    rest on its way into the buffer. None where pinned memory was no faster.
    """
    took = _largest(run)
    if not took or took[0] >= took[1]:
        return None
    pinned_s, pageable_s = took
    link_s = pinned_s / PIECES
    directly = _pieces(pinned_s, link_s, ("memory", "gpu"))
    return x.Motion(
        scenes=(
            x.Scene(title="pageable", events=_pieces(pageable_s, link_s, ("buffer", "gpu"))),
            x.Scene(title="pinned", events=directly),
        ),
        duration_s=pageable_s,
        stills=(pinned_s / 2, pageable_s / 2, pageable_s),
        says=(
            x.Say(text="twice", start_s=0.0),
            x.Say(text="is_there", start_s=(pinned_s + pageable_s) / 2),
        ),
    )


def _pieces(
    whole_s: float, link_s: float, way: tuple[str, str]
) -> tuple[x.Travel | x.Hold | x.Count, ...]:
    """Return how all pieces go over the link, and into the buffer before where their way begins."""
    edges = [number * whole_s / PIECES for number in range(PIECES + 1)]
    events: list[x.Travel | x.Hold | x.Count] = [
        x.Count(shape="gpu", label="there", times=tuple(edges[1:]))
    ]
    for start_s, end_s in pairwise(edges):
        read_s = max(start_s, end_s - link_s)
        if way[0] == "buffer":
            events += [
                x.Travel(along=("memory", "buffer"), start_s=start_s, end_s=read_s),
                x.Hold(shape="buffer", label="copies", start_s=start_s, end_s=read_s),
            ]
        events.append(x.Travel(along=way, start_s=read_s, end_s=end_s, role="good"))
    return tuple(events)


def _largest(run: x.LessonRun) -> tuple[float, ...]:
    """Return the seconds of the largest copy from pinned and from pageable memory, or nothing."""
    size = run.values.get("largest_bytes")
    took_s = x.medians(
        (row.choice, row.took_s) for row in run.tables["written"] if row.size_bytes == size
    )
    return (took_s[BEFORE], took_s[AS_IT_IS]) if {BEFORE, AS_IT_IS} <= took_s.keys() else ()
