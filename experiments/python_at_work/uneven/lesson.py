"""Functions that the lesson of uneven calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import AS_IT_COMES, BLOCK, DYNAMIC, INTERLEAVED, SHOWN_CHUNKS, ChunkSpan

HELD_BACK = (BLOCK,)
WAYS = (BLOCK, INTERLEAVED, DYNAMIC)  # in the order of the options; the last hands out single rows
LIKE = 1.1  # times: ways that are this close end together
FAR_SLOWER = 3.0  # times
DRAWN = 8  # workers
MOST_PIECES = 80  # each flies to a worker and is computed there
EVEN = 0.9  # of the workers' time: they end almost together


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how busy blocks kept the workers, what handing out gained, and what is drawn."""
    found: dict[str, float] = {}
    shares = x.medians((row.way, row.efficiency_fraction) for row in run.tables["shares"])
    if BLOCK in shares:
        found["busy_fraction"] = shares[BLOCK]
    if run.values.keys() >= {"block_s", "dynamic_best_s"}:
        found["handed_out_gain"] = run.values["block_s"] / run.values["dynamic_best_s"]
    chunk, spans = _handed_out(run)
    return found | ({"rows_at_a_time": chunk, "pieces": len(spans)} if spans else {})


def slowest_way(run: x.LessonRun) -> int | None:
    """Return the option of the way that was done last, or of none; None where it was close."""
    names = ("block_s", "interleaved_s", "dynamic_1_s")
    if run.params.workers == 1 or not run.values.keys() >= {*names}:
        return None
    times = [run.values[name] for name in names]
    first, second, last = sorted(times)
    if last <= LIKE * first:
        return len(WAYS)
    return times.index(last) if last > LIKE * second else None


def longest_tail(run: x.LessonRun) -> x.Spot:
    """Return the way in which a worker stops longest before the last one."""
    ends: dict[str, dict[int, float]] = {}
    for row in run.tables["slices"]:
        lanes = ends.setdefault(row.way, {})
        lanes[row.worker] = max(row.end_s, lanes.get(row.worker, 0.0))
    tails = {way: max(lanes.values()) - min(lanes.values()) for way, lanes in ends.items()}
    return x.Spot(names=(max(tails, key=lambda way: tails[way]),) if tails else ())


def one_core(run: x.LessonRun) -> bool:
    """Do all workers share one core?"""
    return x.physical_cores(run.machine) == 1


ways_alike = x.found("ways_alike")  # did blocks take the same as the best piece handed out?
blocks_won = x.found("block_wins")  # did handing out cost more than it evened out?
# Did dealing out in turn do as well as handing out?
dealt_as_well = x.limited("interleaved_as_good", "interleaved_as_good_by_order")


def dealt_beat_blocks(run: x.LessonRun) -> bool:
    """Was dealing out in turn clearly faster than blocks, and not said to equal handing out?"""
    took_s = run.values.get("interleaved_s")
    if took_s is None or run.params.order != AS_IT_COMES or run.message != "handing_out_wins":
        return False
    return LIKE * took_s < run.values["block_s"] and not dealt_as_well(run)


below_ideal = x.limited("below_ideal")  # was the best piece quicker than even sharing allows?
best_by_chance = x.limited("best_chunk_by_chance")  # may several pieces be equally fast?


def split_is_even(run: x.LessonRun) -> bool:
    """Did the workers end almost together, with what each got beforehand?"""
    busy = _busy_with_blocks(run)
    return run.params.workers > 1 and busy is not None and busy >= EVEN


def rows_slower_than_one_worker(run: x.LessonRun) -> bool:
    """Did handing out single rows take far longer than one worker alone?"""
    if run.params.workers == 1 or not run.values.keys() >= {"dynamic_1_s", "serial_s"}:
        return False
    return run.values["dynamic_1_s"] >= FAR_SLOWER * run.values["serial_s"]


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return when the pieces of the first round went to workers: blocks, and handed out."""
    blocks, (_, handed) = _spans(run, BLOCK), _handed_out(run)
    if not blocks or not handed or not 1 < run.params.workers <= DRAWN:
        return None
    done_s, handed_s = (max(each.end_s for each in spans) for spans in (blocks, handed))
    idle_s = min(each.end_s for each in blocks)
    duration_s = max(done_s, handed_s)
    says = [x.Say(text="begin", start_s=0.0)]
    if idle_s < min(handed_s, done_s):
        says.append(x.Say(text="waits", start_s=idle_s))
    if handed_s < done_s:
        says.append(x.Say(text="handed_done", start_s=handed_s))
    return x.Motion(
        scenes=(
            x.Scene(events=_at_work(blocks), title="blocks"),
            x.Scene(events=_at_work(handed), title="handed"),
        ),
        duration_s=duration_s,
        stills=(duration_s / 10, duration_s / 2, duration_s * 0.9),
        says=tuple(says),
        without=tuple(f"worker_{n}" for n in range(run.params.workers, DRAWN)),
    )


def _at_work(spans: list[ChunkSpan]) -> tuple[x.Travel | x.Hold, ...]:
    """Return how the pieces fly to their workers, and which of these are idle before the end."""
    end_s = max(each.end_s for each in spans)
    events: list[x.Travel | x.Hold] = []
    free_s: dict[int, float] = {}
    for each in spans:
        name = f"worker_{each.worker}"
        asked_s = free_s.get(each.worker, 0.0)
        events += [
            x.Travel(along=("rows", name), start_s=min(asked_s, each.start_s), end_s=each.start_s),
            x.Hold(shape=name, start_s=each.start_s, end_s=each.end_s),
        ]
        free_s[each.worker] = each.end_s
    idle = (
        x.Hold(shape=f"worker_{n}", start_s=at_s, end_s=end_s, role="soft", label="idle")
        for n, at_s in free_s.items()
        if at_s < end_s
    )
    return (*events, *idle)


def _handed_out(run: x.LessonRun) -> tuple[int, list[ChunkSpan]]:
    """Return the rows of a piece and the pieces of the way that is drawn; none if too many."""
    for chunk in reversed(SHOWN_CHUNKS):
        spans = _spans(run, f"{DYNAMIC}_{chunk}")
        if 0 < len(spans) <= MOST_PIECES:
            return chunk, spans
    return 0, []


def _spans(run: x.LessonRun, way: str) -> list[ChunkSpan]:
    """Return the pieces of a way in the order in which they began."""
    rows = [row for row in run.tables.get("slices", ()) if row.way == way]
    return sorted(rows, key=lambda row: row.start_s)


def _busy_with_blocks(run: x.LessonRun) -> float | None:
    """Return the share of the time in which the workers were busy with their blocks."""
    shares = x.medians((row.way, row.efficiency_fraction) for row in run.tables["shares"])
    return shares.get(BLOCK)
