"""One after the other or together: can one thread keep two devices busy?

Method: A and B are batches of matrix products that each take their device about the same time. One
thread calls A and waits, then B and waits (in sequence); calls A, reads one number of it, then
calls B; or calls both and waits at the end (together). Each alone gives the limits: their sum, and
the longer of the two. Times are by the caller's clock until all is done, in shuffled rounds. Lanes
of a few products come from marks in each queue, one before and one behind each product; the clocks
of the devices are laid on the caller's by a mark that he waits for. With one GPU the processor is
B, called second, as a call of it comes back when it is done. Without a GPU, A and B are two halves
of the processor with a queue each (`feeding`). One thread could feed n GPUs if it makes n calls in
the time of a product on the GPU. Both times are measured with the queue held, for products of
several sizes.
Source: "Automatic Parallelism" in Dive into Deep Learning.

Not shown: how two devices work on one model (see `data-parallel` and `split-model`).

Seen on an H100 with the processor beside it: together 1.96 times as fast as in sequence.
To be confirmed on a GPU: two of them. Open are: whether a single thread keeps both busy, the lanes
of both on the caller's clock, tiny products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from experiments import api as x
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, cores_of, devices_of
from experiments.devices.timing import enough, taken

from .feeding import Job, Moment, Worker, workers

FP32_BYTES = 4
ALONE_A, ALONE_B, SEQUENCE, READ, TOGETHER = "a", "b", "in_sequence", "item", "together"
WAYS = (ALONE_A, ALONE_B, SEQUENCE, READ, TOGETHER)
SHOWN_WAYS = (TOGETHER, READ, SEQUENCE)
CALLER, LANE_A, LANE_B = "caller", "job_a", "job_b"
SHOWN = 40  # products of each on the lanes
NEAR = 0.15  # longer than the longer one: counts as equally long
CALLING = 0.9  # of the time: then the calls set the pace
GPU_ROWS, CPU_ROWS = 4096, 512
LEAST_ROWS, ROWS_STEP = 64, 2  # of the products that one thread calls; times, to the next size
EIGHT = 8  # GPUs, as a large server has


class Params(x.Params):
    """The parameters; `job_s` is how long A takes alone, about."""

    device: str = x.param(CPU, choices=devices_of)
    beside: str = x.param(CPU, choices=devices_of)
    job_s: float = x.param(0.15, minimum=0.002, maximum=5.0, scale="log10")
    b_over_a: float = x.param(1.0, minimum=0.05, maximum=20.0, scale="log10", unit="")
    a_rows: int = x.param(CPU_ROWS, minimum=8, maximum=16384, scale="log2")
    b_rows: int = x.param(CPU_ROWS, minimum=8, maximum=16384, scale="log2")
    rounds: int = x.param(10, minimum=1, maximum=50)


class Took(x.Row):
    """One way, once: until all was done, and until the last call returned."""

    way: str
    repeat: int
    took_s: float
    called_s: float


class LaneSpan(x.Row):
    """One product of A or B, or an act of the caller; time from this way's first call."""

    way: str
    lane: str
    start_s: float
    end_s: float


class Feed(x.Row):
    """One product: its own time, its call's, and how many GPUs such calls could keep busy."""

    rows: int = x.column(scale="log2")
    repeat: int
    device_s: float = x.column(scale="log10")
    call_s: float = x.column(scale="log10")
    fed_gpus: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield each way in shuffled rounds, the lanes of three of them, and what calls could feed."""
    cores = cores_of(bench.machine)
    with workers(bench, params.device, params.beside, cores) as found:
        found[0][1].torch.set_float32_matmul_precision("highest")  # no TF32
        jobs = []
        for (worker, device), rows in zip(found, (params.a_rows, params.b_rows), strict=True):
            fitting = device.fitting(rows, lambda rows: 4 * FP32_BYTES * rows**2, least=8)
            if fitting < rows:
                yield x.Note("less_on_gpu", {"largest_bytes": FP32_BYTES * fitting**2})
            jobs.append(Job(worker, device, fitting))
        a, b = jobs
        a.size_for(params.job_s)
        yield x.Progress(0.05)
        b.size_for(params.job_s * params.b_over_a)
        yield x.Progress(0.1)
        conditions = Conditions(a.device)
        for turn, way in bench.interleave(WAYS, params.rounds):
            took_s, called_s = _run(bench, way, a, b)
            yield Took(way=way, repeat=turn.round, took_s=took_s, called_s=called_s)
            if way == TOGETHER:
                yield from conditions.rows(turn.round)
            yield x.Progress(0.1 + 0.8 * turn.fraction)
        for way in SHOWN_WAYS:
            yield from _lanes(bench, way, a, b)
        if a.device.is_gpu:
            yield from _feeds(a, params.rounds)


def _call(way: str, a: Job, b: Job, call: Callable[[Job], None]) -> None:
    """Call A and B in one way, waiting only where that way waits between them."""
    if way != ALONE_B:
        call(a)
    if way == SEQUENCE:
        a.worker.wait()
    if way == READ:
        a.worker.read(a.product)
    if way != ALONE_A:
        call(b)


def _run(bench: x.Bench, way: str, a: Job, b: Job) -> tuple[float, float]:
    """Return the caller's seconds for one way: until all is done, and until the calls return."""
    bench.check_stop()
    start_s = bench.now_s()
    _call(way, a, b, Job.call)
    called_s = bench.now_s() - start_s
    a.worker.wait()
    b.worker.wait()
    return bench.now_s() - start_s, called_s


def _feeds(job: Job, rounds: int) -> Iterator[Feed]:
    """Yield the time of products of A's size and smaller, and that of calling them."""
    device = job.device
    sizes = [job.rows]
    while sizes[-1] // ROWS_STEP >= LEAST_ROWS:
        sizes.append(sizes[-1] // ROWS_STEP)
    jobs = {rows: Job(job.worker, device, rows) for rows in sizes}
    counts = {rows: enough(device, each.once) for rows, each in jobs.items()}
    for turn, rows in device.bench.interleave(sizes, rounds):
        found = taken(device, jobs[rows].once, counts[rows])
        yield Feed(
            rows=rows,
            repeat=turn.round,
            device_s=found.device_s,
            call_s=found.queued_s,
            fed_gpus=found.device_s / found.queued_s,
        )


def _lanes(bench: x.Bench, way: str, a: Job, b: Job) -> Iterator[LaneSpan]:
    """Yield the caller's calls, and a few products of A and B, on the caller's clock."""
    zeros = {job: _zero(bench, job.worker) for job in (a, b)}
    begin_s = bench.now_s()
    calling: list[x.Interval] = []
    marks: dict[Job, list[tuple[Moment, Moment]]] = {a: [], b: []}

    def call(job: Job) -> None:
        from_s = bench.now_s()
        for _ in range(min(job.count, SHOWN)):
            before = job.worker.mark()
            job.call(1)
            marks[job].append((before, job.worker.mark()))
        calling.append((from_s, bench.now_s()))

    _call(way, a, b, call)
    a.worker.wait()
    b.worker.wait()
    found = [(CALLER, span) for span in calling]
    for lane, job in ((LANE_A, a), (LANE_B, b)):
        zero, at_s = zeros[job]
        found += [(lane, (at_s + x.since(zero), at_s + y.since(zero))) for x, y in marks[job]]
    for lane, (from_s, to_s) in found:
        start_s = max(0.0, from_s - begin_s)
        yield LaneSpan(way=way, lane=lane, start_s=start_s, end_s=max(start_s, to_s - begin_s))


def _zero(bench: x.Bench, worker: Worker) -> tuple[Moment, float]:
    """Return an idle device's moment, and the same moment on the caller's clock."""
    before_s = bench.now_s()
    moment = worker.mark()
    worker.wait()
    return moment, (before_s + bench.now_s()) / 2


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare both together with one after the other, and with each alone."""
    took = x.spreads_of(tables["runs"], "took_s", "way")
    called = x.spreads_of(tables["runs"], "called_s", "way")
    values = {f"{way}_s": found.median for way, found in took.items()}
    limits = x.Limits()
    if params.device == CPU:
        limits.append("halves_of_the_processor")
        values["half_cores"] = max(1, cores_of(machine) // 2)
        limits.add("one_core_for_both", cores_of(machine) < 2)
    elif params.beside == CPU:
        limits.append("processor_beside_gpu")
    elif params.beside == params.device:
        limits.append("one_device_for_both")
    if {ALONE_A, ALONE_B} <= took.keys():
        alone_s = values["a_s"], values["b_s"]
        values |= {"sum_s": sum(alone_s), "longest_s": max(alone_s)}
    if TOGETHER in took and params.beside != CPU:
        values["called_s"] = called[TOGETHER].median
        limits.add("calls_set_the_pace", values["called_s"] > CALLING * values["together_s"])
    fed = x.medians((row.rows, row.fed_gpus) for row in tables["feeds"])
    if fed:
        values["feed_call_s"] = x.medians((0, row.call_s) for row in tables["feeds"])[0]
        values["fed_gpus"] = fed[max(fed)]
        limits.add("cannot_feed_eight", values["fed_gpus"] < EIGHT)
        enough_rows = [rows for rows, gpus in fed.items() if gpus >= EIGHT]
        if enough_rows:
            values["rows_for_eight"] = min(enough_rows)
    if not set(WAYS) <= took.keys():
        return x.Finding("in_part", values, tuple(limits))
    found, unclear = x.ratios({"together_speedup": (took[SEQUENCE], took[TOGETHER])})
    values |= found
    if x.too_few(took[way] for way in (SEQUENCE, TOGETHER, READ)):
        return x.Finding(x.TOO_FEW, values, tuple(limits), unclear)
    message = "halves_of_one_processor" if params.device == CPU else _message(took)
    return x.Finding(message, values, tuple(limits), unclear)


def _message(took: Mapping[str, x.Spread]) -> str:
    """Compare both together with one after the other, with a read between, and with the longer."""
    pairs = {way: (took[way], took[TOGETHER]) for way in (SEQUENCE, READ)}
    gain, read = x.family(pairs, x.Spread.against).values()
    if gain.outcome is x.Outcome.UNKNOWN:
        return x.CANNOT_TELL
    if gain.outcome is x.Outcome.SAME:
        return "no_gain"
    if not gain.is_above:
        return "together_takes_longer"
    if read.outcome is x.Outcome.UNKNOWN:
        return x.CANNOT_TELL
    if read.outcome is x.Outcome.SAME or not read.is_above:
        return "together_whatever_is_read"
    longest = max(took[ALONE_A], took[ALONE_B], key=lambda way: way.median)
    over_longest = took[TOGETHER].against(longest, within=NEAR)
    if over_longest.outcome is x.Outcome.UNKNOWN:
        return "less_than_the_sum"
    is_longer = over_longest.outcome is x.Outcome.DIFFERS and over_longest.is_above
    return "longer_than_the_longer" if is_longer else "as_long_as_the_longer"


def defaults(machine: x.Machine) -> Params:
    """Take the first two GPUs; or one and the processor; or its two halves."""
    first, second = (*devices_of(machine), CPU)[:2]
    return Params(
        device=first,
        beside=second,
        a_rows=CPU_ROWS if first == CPU else GPU_ROWS,
        b_rows=CPU_ROWS if second == CPU else GPU_ROWS,
    )


def seconds(params: Params) -> float:
    """Count the runs of A and B; a GPU must also start and warm up."""
    pair_s = params.job_s * (1 + params.b_over_a)
    begin_s = 0.2 if params.device == CPU else 2.0  # assumed, not measured
    return begin_s + (4 * params.rounds + 5) * pair_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of the processor's matrices."""
    rows = [params.a_rows] * (params.device == CPU)
    rows += [params.b_rows] * (CPU in (params.device, params.beside))
    return sum(3 * FP32_BYTES * each**2 for each in rows)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"runs": Took, "lanes": LaneSpan, "feeds": Feed, "conditions": Condition},
    measure=measure,
    loop="experiment.py:_run",
    analyse=analyse,
    views=(
        x.Bars(
            "ways",
            "runs",
            "way",
            "took_s",
            order=WAYS,
            limits=(x.Limit("sum", "sum_s", "x"), x.Limit("longest", "longest_s", "x")),
        ),
        x.Timeline(
            "lanes", "lanes", "lane", "start_s", "end_s", group="way", detail="lane", order=WAYS
        ),
        x.Lines("feeds", "feeds", x.Axis("rows"), x.Axis("fed_gpus")),
    ),
    values=x.values(
        "a_s",
        "b_s",
        "in_sequence_s",
        "item_s",
        x.Value("together_s", x.Part.GPU),
        "together_speedup",
        "sum_s",
        "longest_s",
        "called_s",
        "fed_gpus",
        "rows_for_eight",
        "feed_call_s",
        "half_cores",
    ),
    keys=(
        x.Key("in_sequence_s", "ways", ("in_sequence",)),
        x.Key("together_s", "ways", ("together",)),
        x.Key("item_s", "ways", ("item",)),
    ),
    next=x.Next("data-parallel", {"b_over_a": 4.0}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=defaults,
    quick=x.change(rounds=5, at_most={"job_s": 0.05}),
    smallest=x.change(job_s=0.004, a_rows=128, b_rows=128, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
)
