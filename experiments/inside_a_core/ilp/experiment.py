"""Can one core add four numbers at once? Additions that wait for each other, or do not.

Method: one thread, kept on the last core (pinned), does the same number of operations in 1 to 16
chains. The operations are additions, multiplications or divisions. Within a chain each operation
waits for the previous one; between chains nothing waits. One chain shows the latency, many show how
many operations the core starts in a cycle. As a control, each addition adds the result of the chain
before it: the sums are as many, but each waits. The core's clock is measured in each round. Rounds
are shuffled; compared are one chain and four, round by round.
Source: J. L. Hennessy, D. A. Patterson, Computer Architecture, chapter 3 (instruction-level
parallelism); A. Fog, Instruction tables (latency and throughput).

Not shown: how many chains your own loop has.
"""

from __future__ import annotations

from experiments import api as x
from experiments.tools.core_clock import Clock, clocks, core_hz

LINKED = "linked_add"  # the control
OPERATIONS = ("add", "multiply", "divide", "integer_add", "integer_multiply", LINKED)
COUNTS = (1, 2, 4, 8, 12, 16)
FOUR = 4  # in the question
SAMPLE_S = 0.0015  # of the fastest; one chain takes up to eight times as long
FIRST_STEPS = 2_000
PIPELINED = 0.9  # a unit that starts nearly one operation in each cycle
ALIKE = 1.1  # times as fast: up to this, sums that wait gained nothing worth a name
MOST = max(COUNTS)


class Params(x.Params):
    """The parameters."""

    operations: tuple[str, ...] = x.param(OPERATIONS, choices=OPERATIONS)
    rounds: int = x.param(15, minimum=1, maximum=200)


class ChainTime(x.Row):
    """One repeat with `chains`: time and cycles of an operation, all chains together."""

    operation: str
    chains: int = x.column(scale="log2")
    repeat: int
    operation_s: float = x.column(scale="log10")
    cycles: float = x.column(scale="log2")
    per_cycle: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each operation, number of chains and round, and each round's clock."""
    from experiments.kernels.clock import COUNTS_CYCLES

    if not COUNTS_CYCLES:
        raise x.UserError("no_clock")
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        # In numbers of operations that all numbers of chains divide.
        of = {name: operations_for(name, bench) for name in params.operations}
        arms = [(name, chains) for name in params.operations for chains in COUNTS]
        clock_hz, clocked = 0.0, -1
        for turn, (name, chains) in bench.interleave(arms, params.rounds):
            if turn.round > clocked:
                for clock in clocks(bench, turn.round):
                    clock_hz, clocked = clock.core_hz, turn.round
                    yield clock
            taken_s = operation_s(name, chains, of[name], bench)
            yield ChainTime(
                operation=name,
                chains=chains,
                repeat=turn.round,
                operation_s=taken_s,
                cycles=taken_s * clock_hz,
                per_cycle=1 / (taken_s * clock_hz),
            )
            yield x.Progress(turn.fraction)


def operations_for(name: str, bench: x.Bench) -> int:
    """Return how many operations take a sample's time in the most chains."""
    from .kernels import in_chains

    steps = bench.repeat_for(in_chains(name, MOST), at_least_s=SAMPLE_S, start=FIRST_STEPS)
    return steps * MOST


def operation_s(name: str, chains: int, operations: int, bench: x.Bench) -> float:
    """Return the seconds of one operation, of about that many in `chains`."""
    from .kernels import STEPS, in_chains

    steps = -(-operations // (chains * STEPS)) * STEPS
    work = in_chains(name, chains)
    return bench.time(lambda: work(steps), steps * chains) / (steps * chains)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare four chains with one, for each operation."""
    of = x.spreads_of(tables["steps"], "cycles", "operation", "chains")
    limits = x.Limits()
    values: dict[str, float] = {}
    for name in params.operations:
        found = {chains: each.median for (op, chains), each in of.items() if op == name}
        if 1 in found:
            values[f"{name}_latency_cycles"] = found[1]
        if len(found) > 1:
            values[f"{name}_per_cycle"] = 1 / min(found.values())
    if values:
        values["least_cycles"] = min(each.median for each in of.values())
    if (clock_hz := core_hz(tables)) is not None:
        values["core_hz"] = clock_hz
    pairs = {
        f"{name}_gain": (of[name, 1], of[name, FOUR])
        for name in params.operations
        if {(name, 1), (name, FOUR)} <= of.keys()
    }
    gains, unclear = x.ratios(pairs)
    values |= gains
    if "add_gain" not in pairs:
        return x.Finding("nothing_to_compare", values, (), unclear)
    one, four = pairs["add_gain"]
    limits.append("sums_keep_their_order")
    limits.add("divider_is_busy", values.get("divide_per_cycle", 1.0) < PIPELINED)
    if any(_falls_back(of, name) for name in params.operations):
        limits.append("more_chains_than_registers")
    if gains.get(f"{LINKED}_gain", 0.0) > ALIKE and of[LINKED, FOUR].is_below(of[LINKED, 1]):
        limits.append("linked_gain")
    limits.add("virtual_machine", x.is_virtual(machine))
    values["add_four_cycles"] = four.median
    if "add_gain" in unclear:
        message = x.TOO_FEW if x.too_few((one, four)) else x.CANNOT_TELL
    else:
        message = "several_at_once" if four.is_below(one) else "one_at_a_time"
    return x.Finding(message, values, tuple(limits), unclear)


def _falls_back(of: dict[tuple[str, int], x.Spread], name: str) -> bool:
    """Do sixteen chains clearly take longer for an operation than eight?"""
    eight, sixteen = of.get((name, 8)), of.get((name, 16))
    return eight is not None and sixteen is not None and eight.is_below(sixteen)


def seconds(params: Params) -> float:
    """Estimate: one chain takes up to eight times as long as many; loading the compiled loops."""
    samples_s = sum(8 / min(chains, 8) for chains in COUNTS) * 0.6 * SAMPLE_S
    return 0.8 + params.rounds * (0.015 + len(params.operations) * samples_s)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"steps": ChainTime, "clocks": Clock},
    measure=measure,
    confirmed_by="cycles",
    loop="kernels.py:_chains.walk",
    analyse=analyse,
    views=(
        x.Lines(
            "cycles",
            "steps",
            x.Axis("chains"),
            x.Axis("cycles"),
            series="operation",
            order=OPERATIONS,
            limits=(x.Limit("fastest", "least_cycles"),),
        ),
        x.Lines(
            "per_cycle",
            "steps",
            x.Axis("chains"),
            x.Axis("per_cycle"),
            series="operation",
            order=OPERATIONS,
        ),
    ),
    values=x.values(
        *(x.Value(f"{name}_latency_cycles", x.Part.PORTS) for name in OPERATIONS),
        *(x.Value(f"{name}_per_cycle", x.Part.PORTS) for name in OPERATIONS),
        *(f"{name}_gain" for name in OPERATIONS),
        "add_four_cycles",
        "least_cycles",
        x.Value("core_hz", x.Part.CORES),
    ),
    keys=(
        x.Key("add_latency_cycles", "cycles", ("add",)),
        x.Key("add_per_cycle", "per_cycle", ("add",)),
        x.Key("divide_per_cycle", "per_cycle", ("divide",)),
    ),
    next=x.Next("simd"),
    parts=(x.Part.CORES, x.Part.PORTS),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=5),
    smallest=x.change(rounds=2),
    seconds=seconds,
    memory_bytes=lambda _params: x.MIB,
)
