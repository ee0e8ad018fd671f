from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime

import msgspec
import pytest
from msgspec.structs import replace

from app.runs.known_values import known_numbers, known_values
from app.runs.library import Library
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need, Part, specs
from experiments.core.units import show
from experiments.engine import messages
from experiments.presentation.known import KnownValues
from tests.app.recordings import burst, crossover, ladder, many_small, threads
from tests.experiments.machines import machine
from tests.shipped import SHIPPED

WORDS = words.load()
HERE = replace(machine(), fingerprint="here")
ELSEWHERE = replace(machine(), fingerprint="elsewhere")
LATER = "2026-05-04T03:30:00+00:00"
NOW = datetime(2026, 5, 4, 4, 2, 1, tzinfo=UTC)
OF_GPUS = (Part.GPU, Part.PCIE, Part.NVLINK)
# Machines of these tests have no two threads on a core, one memory node, and at most one GPU.
NEVER = {Need.SMT, Need.NUMA, Need.TWO_GPUS}
WITH_GPU = [v.part for e in Catalogue() if not NEVER & {*e.needs} for v in e.values if v.part]
WITHOUT_GPU = [
    value.part
    for experiment in Catalogue()
    if not (NEVER | {Need.GPU}) & {*experiment.needs}
    for value in experiment.values
    if value.part and value.part not in OF_GPUS
]
POSSIBLE = len(WITHOUT_GPU)
USUAL_BYTES = Catalogue().load("cache-ladder").params_for(HERE, quick=False).largest_bytes


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path)


def keep(library, made, name="run.coreopsis.jsonl"):
    return made.write(library.folder / "runs" / name)


def look(library, here=HERE) -> KnownValues:
    return known_values(library.runs(), Catalogue(), WORDS, here, NOW)


def counts(found) -> tuple[int, int]:
    return sum(map(len, found.values.values())), sum(found.possible.values())


def quickly(started):
    return msgspec.structs.replace(started, quick=True)


def on_small_pages_alone(started):
    return msgspec.structs.replace(started, params=started.params | {"huge_pages": False})


def shown(found, part):
    return [(value.text, value.is_quick) for value in found.values.get(part, ())]


def test_of_reads_in_several_orders_only_the_chained_one_is_the_time_of_memory(library):
    keep(library, burst(here=HERE))
    (value,) = look(library).values[Part.MEMORY]

    assert value.label.startswith(WORDS.say("burst-random.values.dependent_s"))


@pytest.mark.torch  # counts its experiments too
def test_without_runs_nothing_is_earned_and_every_part_invites(library):
    found = look(library)

    assert found.values == {}
    assert counts(found) == (0, POSSIBLE)
    l3 = found.invitations[Part.L3]
    invited = [(one.experiment, one.fills) for one in l3]
    assert invited[0] == ("cache-ladder", True)
    assert ("burst-random", False) in invited
    ranks = [(bool(one.lack), not one.fills) for one in l3]
    assert ranks == sorted(ranks)  # what cannot run here comes last, and says so
    cores = {one.experiment: one.lack for one in found.invitations[Part.CORES]}
    assert "two hardware threads" in cores["smt"]
    assert cores["gil-threads"] == ""
    assert l3[0].question == "How far away is a byte?"


@pytest.mark.torch  # counts its experiments too
def test_a_completed_run_fills_the_parts_it_is_about(library):
    keep(library, ladder(here=HERE))

    found = look(library)

    (value,) = found.values[Part.L1]
    assert (value.text, value.label) == ("1.50 ns", "read from the L1 cache")
    assert (value.when, value.experiment) == ("1 hour ago", "cache-ladder")
    assert set(found.values) == {Part.L1, Part.L2, Part.L3, Part.MEMORY}
    # It gets the whole of its L3; neither clock nor translation was timed.
    assert counts(found) == (4, POSSIBLE - 3)


def test_the_clock_that_was_timed_stands_with_the_cores(library):
    keep(library, ladder(here=HERE, clock_hz=3e9))

    (value,) = look(library).values[Part.CORES]
    assert (value.text, value.label) == ("3 GHz", "clock of the core, measured")


def test_what_is_not_measured_yet_is_named_by_the_experiment_that_has_it(library):
    def missing() -> dict[str, tuple[str, ...]]:
        return {one.experiment: one.missing for one in look(library).invitations[Part.L3]}

    assert "read from the L3 cache" in missing()["cache-ladder"]
    assert "read from the L3 cache" in missing()["latency-numbers"]
    keep(library, ladder(here=HERE))
    assert missing()["cache-ladder"] == ()
    assert "its own read from the L3 cache" in missing()["latency-numbers"]
    assert missing()["stream"]


def test_the_newest_run_counts(library):
    keep(library, ladder(2.0, here=HERE, at="2026-05-01T03:02:01+00:00"), "a.coreopsis.jsonl")
    keep(library, ladder(1.0, here=HERE, at="2026-05-03T03:02:01+00:00"), "b.coreopsis.jsonl")
    keep(library, ladder(3.0, here=HERE, at="2026-05-02T03:02:01+00:00"), "c.coreopsis.jsonl.gz")

    assert shown(look(library), Part.L1) == [("1.50 ns", False)]


def test_a_quick_run_counts_only_where_there_is_no_full_one(library):
    later = "2026-05-04T03:30:00+00:00"
    keep(library, ladder(2.0, here=HERE, at=later, change=quickly), "q.coreopsis.jsonl")
    assert shown(look(library), Part.L1) == [("3 ns", True)]

    keep(library, ladder(here=HERE), "f.coreopsis.jsonl")
    assert shown(look(library), Part.L1) == [("1.50 ns", False)]


@pytest.mark.parametrize("outcome", ["stopped", "failed", "killed", "lost"])
def test_a_run_that_did_not_end_well_earns_nothing(library, outcome):
    keep(library, ladder(here=HERE, outcome=outcome))

    assert counts(look(library))[0] == 0


def test_a_run_from_another_machine_never_counts(library):
    keep(library, ladder(here=ELSEWHERE))

    assert counts(look(library))[0] == 0
    assert counts(look(library, ELSEWHERE))[0] == 4


def test_a_machine_without_a_fingerprint_has_earned_nothing(library):
    keep(library, ladder(here=replace(machine(), fingerprint=None)))

    assert counts(look(library, replace(HERE, fingerprint=None)))[0] == 0


def test_what_a_full_run_could_not_measure_is_not_asked_for(library):
    keep(library, threads(here=HERE))  # in rows and threads only

    found = look(library)

    assert not shown(found, Part.CORES)
    assert counts(found)[1] < POSSIBLE
    assert counts(found)[0] == 0


@pytest.mark.torch  # counts its experiments too
def test_numbers_of_what_is_not_there_are_not_counted(library):
    with_gpu = replace(machine(gpus=1), fingerprint="here")

    assert counts(look(library)) == (0, POSSIBLE)
    assert counts(look(library, with_gpu)) == (0, len(WITH_GPU))
    assert not any(one.fills for one in look(library).invitations[Part.GPU])


def test_a_run_with_other_choices_counts_only_where_there_is_none_with_the_usual_ones(library):
    small = ladder(0.5, here=HERE, at=LATER, change=on_small_pages_alone)
    keep(library, small, "small.coreopsis.jsonl")
    (alone,) = look(library).values[Part.L1]

    keep(library, ladder(here=HERE), "usual.coreopsis.jsonl")
    (beside,) = look(library).values[Part.L1]

    assert (alone.text, alone.label) == ("0.750 ns", "read from the L1 cache (Huge pages: no)")
    assert (beside.text, beside.label) == ("1.50 ns", "read from the L1 cache")
    assert "newer" not in alone.when
    assert beside.when.endswith("; a newer run had other settings")


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"largest_bytes": 2**22}, " (Largest working set: 4 MiB)"),
        ({"rounds": 1, "points_per_octave": 1}, ""),  # effort, as a quick run has less of
        ({"largest_bytes": USUAL_BYTES * 2}, ""),  # it depends on the memory that is free
        (
            {"largest_bytes": USUAL_BYTES * 4},
            f" (Largest working set: {show(USUAL_BYTES * 4, 'bytes')})",
        ),
    ],
)
def test_another_setting_is_named_where_it_makes_another_number(library, others, told):
    def otherwise(started):
        return msgspec.structs.replace(started, params=started.params | others)

    keep(library, ladder(here=HERE, change=otherwise))

    (value,) = look(library).values[Part.L1]
    assert value.label == f"read from the L1 cache{told}"


@pytest.mark.parametrize(("share", "is_open"), [(1.0, False), (0.95, False), (0.6, True)])
def test_a_number_that_a_run_of_less_memory_did_not_reach_is_still_to_come(library, share, is_open):
    def smaller(started):
        largest = {"largest_bytes": int(USUAL_BYTES * share)}
        return msgspec.structs.replace(started, params=started.params | largest)

    keep(library, ladder(here=HERE, change=smaller, reaches=2**20), "less.coreopsis.jsonl")

    by_id = {one.experiment: one for one in look(library).invitations[Part.MEMORY]}
    assert ("read from memory" in by_id["cache-ladder"].missing) is is_open


def test_values_of_one_part_come_from_all_experiments(library):
    keep(library, ladder(here=HERE), "a.coreopsis.jsonl")
    keep(library, burst(here=HERE), "b.coreopsis.jsonl")

    labels = [value.label for value in look(library).values[Part.MEMORY]]

    assert labels[0] == "read from memory"
    assert "chained, per element (Largest array: 1 MiB)" in labels


def test_numbers_of_one_name_say_which_experiment_they_are_of(library):
    keep(library, ladder(here=HERE))
    lines = gzip.decompress(SHIPPED["latency-numbers"].read_bytes()).decode()
    fingerprint = json.loads(lines.splitlines()[0])["machine"]["fingerprint"]
    path = library.folder / "runs" / "numbers.coreopsis.jsonl"
    lines = re.sub(r',"crc32":"\w+"', "", lines)  # it would tell of the change
    usual = Catalogue().load("latency-numbers").params().memory_bytes
    lines = re.sub(r'"memory_bytes":\d+', f'"memory_bytes":{usual}', lines)  # else it is named
    path.write_text(lines.replace(fingerprint, "here"))

    labels = [value.label for value in look(library).values[Part.L3]]

    assert "read from the L3 cache (Caches and memory latency)" in labels
    assert "read from the L3 cache (The numbers of this machine)" in labels


def test_damaged_files_are_passed_over(library):
    path = keep(library, ladder(here=HERE))
    path.write_bytes(b"not a run\n")
    keep(library, burst(here=HERE), "b.coreopsis.jsonl")

    assert set(look(library).values) == {Part.MEMORY}


def test_a_speedup_that_is_no_clear_gain_is_not_shown_as_a_number(library):
    made = threads(here=HERE)
    finished = messages.decode_event(made.lines[-1])
    unclear = msgspec.structs.replace(
        finished.finding, values={"processes_speedup": 0.855}, unclear=["processes_speedup"]
    )
    last = messages.encode(msgspec.structs.replace(finished, finding=unclear))
    keep(library, replace(made, lines=(*made.lines[:-1], last)))

    (value,) = look(library).values[Part.CORES]
    assert value.label.startswith("speedup by processes")
    assert value.text == WORDS.say("verdicts.unclear")

    keep(library, crossover(7e10, here=HERE), "other.coreopsis.jsonl")
    units = [value.unit for value in look(library).values[Part.CORES]]
    assert units == ["flop/s", "ratio"]  # what says something of the part itself comes first


@pytest.mark.torch  # counts its experiments too
def test_what_was_measured_on_the_processor_is_no_number_of_a_gpu(library):
    with_gpu = replace(machine(gpus=1), fingerprint="here")
    keep(library, many_small(device="cpu", here=with_gpu))
    found = look(library, with_gpu)
    assert not shown(found, Part.GPU)
    assert counts(found)[1] == len(WITH_GPU)  # on the GPU it can still be measured

    keep(library, many_small(device="cuda:0", here=with_gpu, at=LATER), "other.coreopsis.jsonl")
    assert shown(look(library, with_gpu), Part.GPU)


# --- what experiments start from ----------------------------------------------------------------


def numbers(library, *ids, here=HERE):
    catalogue = Catalogue()
    asking = [catalogue.load(each) for each in ids]
    return known_numbers(asking, here, library.runs, catalogue)


def test_what_was_earned_here_is_what_a_later_run_starts_from(library):
    keep(library, crossover(7e10, here=HERE))
    found = numbers(library, "gpu-or-not")

    assert found == {"crossover.cpu_peak_flop_per_s": 7e10}
    gpu_or_not = Catalogue().load("gpu-or-not")
    for quick in (False, True):
        assert gpu_or_not.params_for(HERE, quick=quick, earned=found).cpu_flop_per_s == 7e10
    assert gpu_or_not.params_for(HERE, quick=False).cpu_flop_per_s == 0


def test_another_machine_or_another_precision_is_another_number(library):
    keep(library, crossover(7e10, here=ELSEWHERE), "a.coreopsis.jsonl")
    keep(library, crossover(8e10, here=HERE, precision="fp64"), "b.coreopsis.jsonl")

    assert numbers(library, "gpu-or-not") == {}


def test_the_library_is_not_read_for_experiments_that_start_from_no_number():
    def nobody_reads():
        raise AssertionError

    catalogue = Catalogue()
    asking = [catalogue.load("stream")]
    assert known_numbers(asking, HERE, nobody_reads, catalogue) == {}


def test_every_number_that_is_asked_for_is_a_value_of_an_experiment():
    catalogue = Catalogue()
    asked = [
        (spec.earned, spec.unit)
        for experiment in catalogue
        for spec in specs(experiment.params).values()
        if spec.earned
    ]

    assert asked
    for name, unit in asked:
        source, _, value = name.partition(".")
        assert (value, unit) in [(v.name, v.unit) for v in catalogue.load(source).values]
