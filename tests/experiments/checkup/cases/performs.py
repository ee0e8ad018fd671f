"""Cases of stage three on the processor's side: memory, every core, the disk."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from experiments.checkup.judge import timed
from experiments.checkup.probes.core_sweep.experiment import CoreRate
from experiments.checkup.result import Row, Word
from experiments.core.judging.disturbed import Loss, mark
from experiments.engine import messages
from experiments.memory.storage.experiment import Read, Where
from experiments.memory.stream.experiment import Move
from machine.live.surroundings import Surroundings
from machine.live.threads import ThreadSample
from machine.model import Machine
from tests.experiments.checkup.made import (
    BUSY,
    ROUNDS,
    Case,
    baseline,
    broken,
    evidence,
    guest,
    ran,
    refused,
    rule,
    sample,
    workstation,
)
from tests.tools.made_machines.parts import link

PEAK = 96e9  # of the workstation's two channels


def one_die():
    here = workstation()
    return replace(here, cpu=replace(here.cpu, model="AMD Ryzen 7 9700X 8-Core Processor"))


def moves(fraction: float, noise: Sequence[float] = ROUNDS):
    return [
        Move(
            threads=threads, kernel=kernel, repeat=turn, bytes_per_s=PEAK * fraction * share * each
        )
        for turn, each in enumerate(noise)
        for threads, kernel, share in ((1, "copy", 0.4), (2, "copy", 0.9), (2, "triad", 1.0))
    ]


def memory(*fractions: float, here=workstation, noise=ROUNDS, notes=(), **known):
    """Runs whose best loop reaches these fractions of the peak."""
    runs = [ran("stream", moves(each, noise), here(), notes=notes) for each in fractions]
    return lambda: evidence(here(), *runs, **known)


def earlier(fraction: float) -> Row:
    """The row of memory bandwidth in a baseline."""
    made = rule("memory-bandwidth")
    samples = [[PEAK * fraction * each for each in ROUNDS]]
    run = ran("stream", moves(fraction), workstation())
    return timed(made, evidence(workstation()), [run], samples, "bytes/s", part="memory")


def all_disturbed(*notes: messages.Note):
    rows = [mark(move, Loss(0.5, 9)) for move in moves(0.8)]
    return evidence(workstation(), ran("stream", rows, workstation(), notes=notes))


NOISY = (1.0, 0.6, 1.1, 0.55, 0.9)
SAVING = Surroundings(power_saver=True, power_saver_by=("governor powersave",))
MEMORY = [
    Case("memory-bandwidth", Word.FINE, "measured", memory(0.8)),
    # A fine result stays fine, whatever went on beside it, and names that.
    Case("memory-bandwidth", Word.FINE, "machine_was_busy", memory(0.8, notes=[BUSY])),
    # One die reads less than two channels carry.
    Case("memory-bandwidth", Word.FINE, "measured", memory(0.6, here=one_die)),
    Case("memory-bandwidth", Word.LOOK, "below", memory(0.45, here=one_die)),
    Case("memory-bandwidth", Word.LOOK, "below", memory(0.6)),
    Case("memory-bandwidth", Word.LOOK, "between", memory(0.8, noise=NOISY)),
    Case("memory-bandwidth", Word.LOOK, "unconfirmed", memory(0.4)),  # half of the channels
    Case("memory-bandwidth", Word.PROBLEM, "low", memory(0.4, 0.41)),
    Case("memory-bandwidth", Word.LOOK, "between", memory(0.4, 0.8)),  # not confirmed
    Case(  # it may be given less than the machine has
        "memory-bandwidth",
        Word.LOOK,
        "guest",
        memory(0.4, 0.4, here=guest, baseline=baseline(earlier(0.8))),
    ),
    Case(
        "memory-bandwidth",
        Word.PROBLEM,
        "low",
        memory(0.72, 0.72, baseline=baseline(earlier(0.99))),
    ),
    Case("memory-bandwidth", Word.UNCHECKED, "no_expectation", memory(0.8, here=guest)),
    Case(
        "memory-bandwidth",
        Word.UNCHECKED,
        "machine_was_busy",
        memory(0.8, here=guest, notes=[BUSY]),
    ),
    Case("memory-bandwidth", Word.UNCHECKED, "machine_was_busy", memory(0.4, notes=[BUSY])),
    Case(
        "memory-bandwidth",
        Word.UNCHECKED,
        "on_battery",
        memory(0.6, surroundings=Surroundings(on_battery=True)),
    ),
    # So low that no load of that size makes it.
    Case("memory-bandwidth", Word.LOOK, "unconfirmed", memory(0.2, notes=[BUSY])),
    Case("memory-bandwidth", Word.PROBLEM, "low", memory(0.2, 0.2, notes=[BUSY])),
    Case("memory-bandwidth", Word.UNCHECKED, "power_saver", memory(0.6, surroundings=SAVING)),
    Case("memory-bandwidth", Word.UNCHECKED, "no_samples", all_disturbed),
    Case("memory-bandwidth", Word.UNCHECKED, "machine_was_busy", lambda: all_disturbed(BUSY)),
    Case("memory-bandwidth", Word.UNCHECKED, "not_run", lambda: evidence(workstation())),
    Case("memory-bandwidth", Word.UNCHECKED, "failed", lambda: broken(workstation(), "stream")),
    Case(
        "memory-bandwidth",
        Word.ABSENT,
        "needs",
        lambda: refused(workstation(), "stream", "needs_numba"),
    ),
]


def sweep(
    *slow: float,
    here: Machine | None = None,
    cores: int = 8,
    noise=ROUNDS,
    notes=(),
    hz: float | None = None,
):
    """Runs in which core 5 does these fractions of what the others do; one core has this clock."""
    here = here or workstation()
    looks = [
        replace(
            sample(at / 2),
            threads=tuple(
                ThreadSample(id=core, busy=None, hz=hz if core == at else 8e8, steal_fraction=None)
                for core in range(cores)
            ),
        )
        for at in range(8 if hz else 0)
    ]
    runs = [
        ran(
            "core-sweep",
            [
                CoreRate(
                    thread=core,
                    core=core,
                    repeat=turn,
                    flop_per_s=5e9 * each * (fraction if core == 5 else 1.0),
                )
                for turn, each in enumerate(noise)
                for core in range(cores)
            ],
            here,
            notes=notes,
            watched=looks,
        )
        for fraction in slow
    ]
    return lambda: evidence(here, *runs)


def unlike_dies():
    """The cores of the die with the larger cache are slower, all alike."""
    (run,) = sweep(1.0, cores=16)().runs["core-sweep", ""]
    rates = [
        replace(row, flop_per_s=row.flop_per_s * (0.9 if row.core < 8 else 1.0))
        for row in run.tables["rates"]
    ]
    return evidence(workstation(), ran("core-sweep", rates, workstation()))


def all_cores_disturbed():
    (run,) = sweep(1.0)().runs["core-sweep", ""]
    rows = [mark(row, Loss(0.5, 9)) for row in run.tables["rates"]]
    return evidence(workstation(), ran("core-sweep", rows, workstation()))


def stopped():
    run = ran("core-sweep", (), workstation(), outcome=messages.Outcome.STOPPED)
    return evidence(workstation(), run)


CORES = [
    Case("cores", Word.FINE, "measured", sweep(1.0)),
    Case("cores", Word.FINE, "measured", sweep(1.0, hz=5.5e9)),
    Case("cores", Word.FINE, "measured", unlike_dies),
    Case("cores", Word.LOOK, "slow_clock", sweep(1.0, hz=3.4e9)),  # of 5.7 GHz
    Case("cores", Word.PROBLEM, "slow_clock", sweep(1.0, 1.0, hz=8e8)),
    Case("cores", Word.LOOK, "below", sweep(0.9)),
    Case("cores", Word.LOOK, "between", sweep(0.95)),
    Case("cores", Word.LOOK, "unconfirmed", sweep(0.5)),
    Case("cores", Word.PROBLEM, "low", sweep(0.5, 0.5)),
    Case("cores", Word.LOOK, "guest", sweep(0.5, 0.5, here=guest())),
    Case("cores", Word.UNCHECKED, "guest", sweep(0.9, here=guest())),
    Case("cores", Word.UNCHECKED, "machine_was_busy", sweep(0.8, 0.8, notes=[BUSY])),
    Case("cores", Word.UNCHECKED, "stopped", stopped),
    Case("cores", Word.UNCHECKED, "no_samples", all_cores_disturbed),
    Case("cores", Word.ABSENT, "one_core", sweep(1.0, cores=1)),
    Case("cores", Word.ABSENT, "needs", lambda: refused(guest(), "core-sweep", "needs_core_pair")),
]


LINK = 7.88e9  # of the workstation's disk


WAYS = (
    (2**20, "sequential", 1.0),
    (4096, "sequential", 0.1),
    (4096, "random", 0.01),
    (4096, "random_32", 0.2),
)


def disk(
    *fractions: float,
    kind: str = "nvme",
    here=workstation,
    noise=ROUNDS,
    notes=(),
    ways=WAYS,
    model: str = "Samsung SSD 990 PRO 2TB",
    lanes: int = 4,
):
    """Runs that read in order at these fractions of the link that its disk has."""
    found = here()
    disks = tuple(replace(each, kind=kind, model=model) for each in found.storage)
    pci = tuple(
        replace(d, link=link(4, 4, slot=(4, lanes))) if d.address == disks[0].pci_address else d
        for d in found.pci
    )
    found = replace(found, storage=disks, pci=pci)
    runs = [
        ran(
            "storage",
            [
                Where(disk=disks[0].name, file_system="ext4"),
                *(
                    Read(
                        block_bytes=block,
                        way=way,
                        repeat=turn,
                        bytes_per_s=LINK * fraction * share * each,
                        reads_per_s=LINK * fraction * share * each / block,
                        latency_s=block / (LINK * fraction * share * each),
                    )
                    for turn, each in enumerate(noise)
                    for block, way, share in ways
                ),
            ],
            found,
            notes=notes,
        )
        for fraction in fractions
    ]
    return lambda: evidence(found, *runs)


def in_a_cloud():
    here = workstation()
    disks = tuple(replace(each, peak_bytes_per_s=None) for each in here.storage)
    return replace(here, virtualization="kvm", storage=disks)


def container():
    return replace(workstation(), container="docker")


def without_reads():
    return evidence(workstation(), ran("storage", (), workstation()))


SLOW_MODEL, UNKNOWN_MODEL = "KINGSTON SNV2S1000G", "A disk that no table knows"
ONE_READER = ((2**20, "sequential", 0.5), (2**20, "random_32", 1.0), *WAYS[1:])
DISK = [
    Case("disk", Word.FINE, "measured", disk(0.8)),
    # One reader at a time is slower than makers promise for many.
    Case("disk", Word.FINE, "measured", disk(0.8, ways=ONE_READER)),
    Case("disk", Word.FINE, "measured", disk(0.42, model=SLOW_MODEL)),  # 3500 MB/s
    Case("disk", Word.FINE, "measured", disk(0.8, model=UNKNOWN_MODEL)),
    Case("disk", Word.LOOK, "below", disk(0.45)),
    Case("disk", Word.LOOK, "few_lanes", disk(0.45, lanes=2)),
    # The map marks such a slot, too.
    Case("disk", Word.LOOK, "few_lanes", disk(0.42, model=SLOW_MODEL, lanes=2)),
    Case("disk", Word.PROBLEM, "few_lanes", disk(0.22, 0.22, lanes=1)),
    Case("disk", Word.LOOK, "between", disk(0.7, noise=NOISY)),
    Case("disk", Word.LOOK, "guest", disk(0.22, 0.22, here=container)),
    Case("disk", Word.LOOK, "unconfirmed", disk(0.22)),
    Case("disk", Word.PROBLEM, "low", disk(0.22, 0.22)),
    Case("disk", Word.PROBLEM, "low", disk(0.02, 0.02, model=UNKNOWN_MODEL)),
    # Between its link and the slowest that are sold it may be as fast as it is made.
    Case("disk", Word.UNCHECKED, "model_unknown", disk(0.3, model=UNKNOWN_MODEL)),
    # A cloud gives out as much as was paid for.
    Case(
        "disk",
        Word.UNCHECKED,
        "no_expectation",
        disk(0.02, 0.02, model="Amazon Elastic Block Store", here=in_a_cloud),
    ),
    # A hard disk is never as fast as its link.
    Case("disk", Word.UNCHECKED, "no_expectation", disk(0.22, kind="hdd")),
    Case("disk", Word.UNCHECKED, "no_expectation", disk(0.22, kind="hdd", ways=WAYS[:1])),
    Case("disk", Word.UNCHECKED, "machine_was_busy", disk(0.45, notes=[BUSY])),
    Case("disk", Word.UNCHECKED, "no_samples", without_reads),
    Case("disk", Word.ABSENT, "needs", lambda: refused(guest(), "storage", "needs_direct_io")),
]

CASES = [*MEMORY, *CORES, *DISK]
