"""Functions that the lesson of roofline calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import GPU
from .gpu import ROOF
from .known_kernels import POLYNOMIAL

ON_THE_SLOPE = 0.5  # of the ridge: clearly left of it
MORE, HARDLY_LONGER = 2.0, 1.5  # times: more arithmetic in hardly more time
NEAR_RIDGE = 2.0  # FLOP per byte
PIECE_BYTES = 24  # three numbers of the triad
PIECES, MOST_PIECES = 6, 50  # beyond the ridge while the drawing moves, and of the triad at most


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the ridge, what the cores could do meanwhile, and what more arithmetic costs."""
    found: dict[str, float] = {}
    ridge, triad = _ridge(run), run.values.get("triad_flop_per_byte")
    if ridge is None:
        return found
    found["ridge_flop_per_byte"] = ridge
    if triad:
        found["could_do"] = round(ridge / triad)
    line = {at: rate for at, rate in _points(run, POLYNOMIAL).items() if at < ON_THE_SLOPE * ridge}
    if len(line) > 1:
        least, most = min(line), max(line)
        found["arithmetic_over_first"] = most / least
        # More arithmetic is never quicker; where it seems so, that is chance.
        found["time_over_first"] = max(1.0, most / line[most] / (least / line[least]))
    return found


def side_of_the_triad(run: x.LessonRun) -> int | None:
    """Return the memory where the triad lies left of the ridge, else the cores."""
    ridge, triad = _ridge(run), run.values.get("triad_flop_per_byte")
    return None if ridge is None or triad is None else int(triad < ridge)


def lowest_on_the_slope(run: x.LessonRun) -> x.Spot:
    """Return the loop with the fewest operations for each byte."""
    loops = [row for row in run.tables["points"] if not row.kernel.startswith(ROOF)]
    if not loops:
        return x.Spot()
    return x.Spot(names=(min(loops, key=lambda row: row.flop_per_byte).kernel,))


on_a_gpu = x.found("gpu_both_sides")
small_matrices = x.found("all_on_the_slope")  # did even the product wait for memory?
triad_is_the_slope = x.limited("triad_is_the_slope")
writes_cost = x.limited("write_allocate_not_counted")
in_cache = x.limited("partly_in_cache", "partly_in_gpu_cache")
roof_is_low = x.limited("above_the_roof")


def arithmetic_is_free(run: x.LessonRun) -> bool:
    """Did a polynomial on the slope take hardly longer with much more arithmetic?"""
    found = numbers(run, None)
    more, longer = found.get("arithmetic_over_first", 0.0), found.get("time_over_first", MORE)
    return more >= MORE and longer <= HARDLY_LONGER


def one_core_near(run: x.LessonRun) -> bool:
    """Does the ridge of a single core lie far to the left?"""
    ridge = run.values.get("ridge_cpu_flop_per_byte")
    return run.params.threads == 1 and ridge is not None and ridge < NEAR_RIDGE


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Pieces of the triad, and of the first loop clearly beyond the ridge, on one clock.

    A piece comes at the rate of the slope, and is computed at that of the flat part.
    """
    ridge, triad = _ridge(run), run.values.get("triad_flop_per_byte")
    rates = {row.flop_per_byte for row in run.tables["points"] if not row.kernel.startswith(ROOF)}
    peak = next((run.values[key] for key in _of("peak_{}_flop_per_s") if key in run.values), None)
    if ridge is None or triad is None or not peak:
        return None
    beyond = min((at for at in rates if at >= ridge / ON_THE_SLOPE), default=None)
    if beyond is None:
        return None
    comes_s = PIECE_BYTES * ridge / peak
    duration_s = min(comes_s + PIECES * PIECE_BYTES * beyond / peak, MOST_PIECES * comes_s)
    scenes = [
        _pieces(comes_s, PIECE_BYTES * at / peak, duration_s, title)
        for at, title in ((triad, "little"), (beyond, "much"))
    ]
    return x.Motion(
        scenes=tuple(scenes),
        duration_s=duration_s,
        stills=(0.5 * comes_s, 0.5 * duration_s, duration_s),
        says=(x.Say(text="waiting", start_s=0.0),),
    )


def _pieces(comes_s: float, computes_s: float, duration_s: float, title: str) -> x.Scene:
    """Return pieces that come and are computed; one may wait until the previous is computed."""
    events: list[x.Travel | x.Hold | x.Count] = []
    done: list[float] = []
    start_s = free_s = 0.0
    while (here_s := start_s + comes_s) <= duration_s * (1 + 1e-9):
        begin_s = max(here_s, free_s)
        free_s = begin_s + computes_s
        here_s = min(here_s, duration_s)
        events.append(x.Travel(along=("memory", "cores"), start_s=start_s, end_s=here_s))
        if begin_s < duration_s:
            events.append(x.Hold(shape="cores", start_s=begin_s, end_s=min(free_s, duration_s)))
        if free_s <= duration_s:
            done.append(free_s)
        start_s = begin_s
    events.append(x.Count(shape="cores", label="done", times=tuple(done)))
    return x.Scene(events=tuple(events), title=title)


def _of(key: str) -> tuple[str, str]:
    """Return the names of a value of the processor and of the GPU."""
    return key.format("cpu"), key.format(GPU)


def _ridge(run: x.LessonRun) -> float | None:
    """Return the FLOP per byte of the ridge; None without a roof."""
    keys = _of("ridge_{}_flop_per_byte")
    return next((run.values[key] for key in keys if key in run.values), None)


def _points(run: x.LessonRun, kernel: str) -> dict[float, float]:
    """Return the median FLOP/s of a loop at each of its FLOP per byte."""
    rows = (row for row in run.tables["points"] if row.kernel == kernel)
    return x.medians((row.flop_per_byte, row.flop_per_s) for row in rows)
