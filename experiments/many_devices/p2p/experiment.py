"""Who talks to whom, how fast? Copies between every two GPUs, in each direction.

Method: large copies one after another give the bandwidth, copies of a few numbers the latency. Each
is queued behind a hold of the source's queue, and timed by that device's clock. The caller's clock
times two more ways: in two hops through pinned memory of the host, and in both directions at once.
All pairs are measured in shuffled rounds. Before that, each pair sends numbers that no other pair
has, and checks that they arrive. Beside the answer stand those of NVIDIA's management library and
of CUDA: the three do not always agree. Between two machines data goes over the network, so the rate
of the fastest connection here stands beside.
Source: p2pBandwidthLatencyTest of NVIDIA's CUDA samples, and nvbandwidth.

Not shown: how fast a kernel reads the other GPU's memory by itself. The latency is that of a copy,
with what it takes to start one. A driver that goes through the host does so in pieces that overlap,
and is faster than two whole hops.

To be confirmed on a GPU: rates and delays against nvbandwidth; that copies in both directions at
once do not wait for each other; what PyTorch does without peer access; wrong data behind an IOMMU.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from experiments import api as x
from experiments.devices.assumed import PINNED_BYTES_PER_S
from experiments.devices.device import CPU, Device, default_device, gpus_of
from experiments.devices.timing import warm

from .links import (
    CUDA,
    MEASURED,
    NO,
    NVLINK_PATHS,
    NVML,
    PCIE_PATHS,
    RIGHT,
    WRONG,
    Access,
    access,
    disagrees,
    limit_of,
    link_of,
    network_bytes_per_s,
    path_of,
)
from .pairs import Pair, all_pairs

ALIKE = 1.25  # times: pairs that differ by less are one kind
TOO_MUCH = 1.02  # of a limit
Pairs = Mapping[tuple[str, str], x.Spread]
PAIR_S = 2e-3  # assumed, not measured: to tell the time beforehand


class Params(x.Params):
    """The parameters; `gpus` is how many take part, from `device` on."""

    device: str = x.param(CPU, choices=gpus_of)
    gpus: int = x.param(2, minimum=2, maximum=16)
    size_bytes: int = x.param(128 * x.MIB, minimum=x.MIB, maximum=4 * x.GIB, scale="log2")
    through_host: bool = True
    both_ways: bool = True
    rounds: int = x.param(10, minimum=1, maximum=50)


class Copied(x.Row):
    """The rate from one GPU to another, as PyTorch copies."""

    source: str
    target: str
    path: str
    repeat: int
    bytes_per_s: float


class Staged(Copied):
    """The same through the host."""


class Both(Copied):
    """Both directions at once, added up."""


class Delay(x.Row):
    """The time of a copy of a few numbers; if not `is_clean`, it includes the call."""

    source: str
    target: str
    repeat: int
    latency_s: float
    is_clean: bool


class StagedDelay(Delay):
    """The same through the host."""


class Verdict(x.Row):
    """The number of pairs with the same answer from one source."""

    witness: str
    verdict: str
    pairs: int


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the reports on each pair, and its rates and delays in shuffled rounds."""
    devices = [Device(name, bench) for name in chosen(params, bench.machine)]
    size_bytes = params.size_bytes
    for device in devices:
        size_bytes = device.fitting(size_bytes, lambda size: 5 * size, x.MIB)
    if size_bytes < params.size_bytes:
        yield x.Note("less_on_gpu", {"largest_bytes": size_bytes})
    pairs = all_pairs(devices, size_bytes)
    right = []
    said: Counter[tuple[str, str]] = Counter()
    for place, pair in enumerate(pairs):
        found = access(pair, bench.machine)
        said.update((who, getattr(found, who)) for who in (NVML, CUDA, MEASURED))
        right += [pair] * (found.measured == RIGHT)
        yield found
        yield x.Progress(0.1 * (place + 1) / len(pairs))
    for (witness, verdict), count in said.items():
        yield Verdict(witness=witness, verdict=verdict, pairs=count)
    if right:
        warm(right[0].source.device, right[0].copy)
    arms = [(pair, row) for pair in right for row in _kinds(params, pair)]
    for turn, (pair, row) in bench.interleave(arms, params.rounds):
        yield _sample(pair, row, turn.round, bench.machine)
        yield x.Progress(0.1 + 0.9 * turn.fraction)


def chosen(params: Params, machine: x.Machine) -> list[str]:
    """Return the GPUs that take part: the chosen one first, then others of its maker."""
    kind = params.device.partition(":")[0]
    others = [name for name in gpus_of(machine) if name.startswith(kind) and name != params.device]
    return [params.device, *others][: params.gpus]


def _kinds(params: Params, pair: Pair) -> Iterator[type[Copied] | type[Delay]]:
    yield from (Copied, Delay)
    if params.through_host:
        yield from (Staged, StagedDelay)
    if params.both_ways and pair.source.device.index < pair.target.device.index:
        yield Both


def _sample(
    pair: Pair, row: type[Copied] | type[Delay], repeat: int, machine: x.Machine
) -> Copied | Delay:
    source, target = pair.source.device.name, pair.target.device.name
    if issubclass(row, Delay):
        if row is StagedDelay:  # by the caller's clock, so it always includes the call
            latency_s, is_clean = pair.staged_delay_s(), False
        else:
            delay = pair.delay()
            latency_s, is_clean = delay.device_s, delay.is_clean
        return row(
            source=source, target=target, repeat=repeat, latency_s=latency_s, is_clean=is_clean
        )
    rates: Mapping[type[Copied], Callable[[], float]] = {
        Copied: pair.bytes_per_s,
        Staged: pair.staged_bytes_per_s,
        Both: pair.both_bytes_per_s,
    }
    path = path_of(link_of(machine, source, target))
    return row(source=source, target=target, path=path, repeat=repeat, bytes_per_s=rates[row]())


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the pairs with each other, with their links, and with the way through the host."""
    best = x.best_of(tables["copies"], "bytes_per_s", "source", "target", choose=max)
    rates = x.spreads_of(tables["copies"], "bytes_per_s", "source", "target")
    delays = [row.latency_s for row in tables["delays"]]
    staged = [row.bytes_per_s for row in tables["staged"]]
    both = [row.bytes_per_s for row in tables["both"]]
    limits = x.Limits()
    looked_at = tables["access"]
    wrong = sum(row.measured == WRONG for row in looked_at)
    values: dict[str, float] = {}
    if looked_at:
        values |= {"pairs_looked_at": len(looked_at), "wrong_pairs": wrong}
        values["disagreeing_pairs"] = sum(disagrees(row) for row in looked_at)
        limits.add("reports_disagree", values["disagreeing_pairs"])
        limits.add("without_peer_access", any(row.cuda == NO for row in looked_at))
    if best:
        values |= {"fastest_bytes_per_s": max(best.values())}
        values |= {"slowest_bytes_per_s": min(best.values())}
    if delays:
        values |= {"least_latency_s": min(delays)}
    if both:
        values["both_bytes_per_s"] = max(both)
    for pair, rate in best.items():
        limit = limit_of(machine, *pair)
        if limit is None:
            continue
        kind, most = limit
        name, most_name = f"{kind}_bytes_per_s", f"{kind}_limit_bytes_per_s"
        values[name] = max(values.get(name, 0.0), rate)
        values[most_name] = max(values.get(most_name, 0.0), most)
        limits.add("above_the_limit", rate > TOO_MUCH * most and "above_the_limit" not in limits)
    limits.add("calling_is_in_it", not all(row.is_clean for row in tables["delays"]))
    limits.append("latency_of_a_copy")
    network = network_bytes_per_s(machine)
    if network is None:
        limits.append("no_network_speed")
    else:
        values["network_limit_bytes_per_s"] = network
        if best:
            values["fastest_over_network"] = max(best.values()) / network
    unclear: tuple[str, ...] = ()
    if best and staged:
        values["staged_bytes_per_s"] = max(staged)
        ways = x.spreads_of(tables["staged"], "bytes_per_s", "source", "target")
        over_staged, unclear = _over_staged(rates, ways)
        values |= over_staged
    if wrong:
        return x.Finding("wrong_data", values, tuple(limits), unclear)
    if not best or not delays:
        return x.Finding("in_part", values, tuple(limits), unclear)
    slowest, fastest = (rates[find(best, key=best.__getitem__)] for find in (min, max))
    if x.too_few((slowest, fastest)):
        return x.Finding(x.TOO_FEW, values, tuple(limits), unclear)
    # The two are picked of all pairs, so each pair against each is one family.
    pairs = dict(enumerate(itertools.combinations(rates.values(), 2)))
    compared = x.family(pairs, x.Spread.against, within=ALIKE - 1).values()
    outcomes = {each.outcome for each in compared}
    if x.Outcome.DIFFERS in outcomes:
        message = "some_are_nearer"
    else:
        message = x.CANNOT_TELL if x.Outcome.UNKNOWN in outcomes else "all_alike"
    return x.Finding(message, values, tuple(limits), unclear)


def _over_staged(rates: Pairs, staged: Pairs) -> tuple[dict[str, float], tuple[str, ...]]:
    """Compare the fastest pair's own copies with its copies through the host."""
    name = "direct_over_staged"
    both = {pair: (rates[pair], staged[pair]) for pair in rates.keys() & staged.keys()}
    judged = x.family(both, x.Spread.against)  # the fastest is picked of all pairs
    if not judged:
        return {}, ()
    nearest = judged[max(judged, key=lambda pair: rates[pair].median)]
    return {name: nearest.ratio}, (name,) if nearest.outcome is x.Outcome.UNKNOWN else ()


def defaults(machine: x.Machine) -> Params:
    """Take all GPUs, eight at most; the more pairs, the less data."""
    first = default_device(machine)
    kind = first.partition(":")[0]
    gpus = min(8, max(2, sum(name.startswith(kind) for name in gpus_of(machine))))
    return Params(device=first, gpus=gpus, size_bytes=128 * x.MIB if gpus <= 4 else 64 * x.MIB)


def seconds(params: Params) -> float:
    """Estimate from the bytes of every pair and round."""
    pairs = params.gpus * (params.gpus - 1)
    copies = 4 + 2 * params.through_host + 2 * params.both_ways
    pair_s = copies * params.size_bytes / PINNED_BYTES_PER_S + PAIR_S * (3 + params.through_host)
    return 1.5 + 0.3 * params.gpus + (params.rounds + 1) * pairs * pair_s / 2


def _matrix(key: str, value: str) -> x.Heatmap:
    return x.Heatmap(
        key,
        key,
        "source",
        "target",
        value,
        statistic="greatest" if value == "bytes_per_s" else "least",
    )


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={
        "access": Access,
        "verdicts": Verdict,
        "copies": Copied,
        "delays": Delay,
        "staged": Staged,
        "staged_delays": StagedDelay,
        "both": Both,
    },
    measure=measure,
    loop="pairs.py:Pair.both_bytes_per_s",
    analyse=analyse,
    views=(
        _matrix("copies", "bytes_per_s"),
        _matrix("delays", "latency_s"),
        x.Bars(
            "paths",
            "copies",
            "path",
            "bytes_per_s",
            statistic="greatest",
            limits=(
                x.Limit("nvlink", "nvlink_limit_bytes_per_s", "x"),
                x.Limit("pcie", "pcie_limit_bytes_per_s", "x"),
                x.Limit("network", "network_limit_bytes_per_s", "x"),
            ),
        ),
        _matrix("staged", "bytes_per_s"),
        _matrix("staged_delays", "latency_s"),
        _matrix("both", "bytes_per_s"),
        x.Bars(
            "verdicts",
            "verdicts",
            "witness",
            "pairs",
            detail="verdict",
            order=(NVML, CUDA, MEASURED),
        ),
    ),
    values=x.values(
        "fastest_bytes_per_s",
        "slowest_bytes_per_s",
        "least_latency_s",
        x.Value("nvlink_bytes_per_s", x.Part.NVLINK),
        x.Value("pcie_bytes_per_s", x.Part.PCIE),
        "nvlink_limit_bytes_per_s",
        "pcie_limit_bytes_per_s",
        "network_limit_bytes_per_s",
        "fastest_over_network",
        "staged_bytes_per_s",
        "direct_over_staged",
        "both_bytes_per_s",
        "pairs_looked_at",
        "wrong_pairs",
        "disagreeing_pairs",
    ),
    keys=(
        x.Key("nvlink_bytes_per_s", "paths", NVLINK_PATHS),
        x.Key("pcie_bytes_per_s", "paths", PCIE_PATHS),
    ),
    next=x.Next("two-gpus", {"size_bytes": x.MIB}),
    parts=(x.Part.PCIE, x.Part.GPU, x.Part.NVLINK),
    needs=(x.Need.TWO_GPUS,),
    imports=("torch",),
    defaults=defaults,
    quick=x.change(rounds=5, at_most={"size_bytes": 16 * x.MIB}),
    smallest=x.change(size_bytes=x.MIB, rounds=2),
    budget=x.Budget(quick={"gpus": 2}),
    seconds=seconds,
    memory_bytes=lambda params: params.size_bytes,  # pinned, for the way through the host
    quiet_limit_s=60.0,  # pinned memory is made first
)
