from __future__ import annotations

import time

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need
from experiments.core.judging.trust import DOUBTS, Trust
from experiments.core.needs import missing_need
from experiments.core.teaching.lesson_run import Spot
from experiments.core.teaching.motion import Count, Hold, Pointed
from experiments.engine.disturbance import Disturbance
from experiments.engine.recording import analysed
from experiments.inside_a_core.noise import accounts, kernels, lesson
from experiments.inside_a_core.noise.experiment import (
    CAUSES,
    EXPERIMENT,
    Gap,
    Length,
    Params,
    Share,
    Watched,
    analyse,
    measure,
    place_of,
)
from machine.inspect import inspect
from machine.model import OperatingSystem
from tests.experiments.core.teaching.shown import recorded
from tests.experiments.inside_a_core.lessons_of_noise import RUNS, SHORT, made, tables
from tests.experiments.kernel_checks import check_kept, kernels_of
from tests.experiments.machines import machine

AGREED = {"lost_fraction", "longest_gap_s", "gaps_per_s", "stolen_fraction"}
AGREED_COLUMNS = {"lengths": {"gap_s", "gaps"}, "gaps": {"thread", "start_s", "end_s"}}


def found(rows, here=None):
    return analyse(Params(), rows, here or machine(cores=2))


def test_gaps_are_added_up_over_all_cores_and_slices():
    finding = found(tables(((8e-3,) * 10, ())))

    assert finding.message == "other_programs"
    assert finding.values["lost_fraction"] == pytest.approx(0.16)
    assert finding.values["gaps_per_s"] == pytest.approx(20)
    assert finding.values["longest_gap_s"] == 8e-3
    assert finding.values["left_fraction"] == 0


@pytest.mark.parametrize(
    ("queued", "stolen", "message"),
    [(0.9, 0.0, "other_programs"), (0.1, 0.8, "the_host"), (0.2, 0.1, "not_explained"),
     (0.3, 0.3, "not_explained")],
)  # fmt: skip
def test_what_explains_most_of_the_lost_time_is_named(queued, stolen, message):
    assert found(tables(queued=queued, stolen=stolen)).message == message


def test_little_lost_time_needs_no_cause_and_no_rows_say_nothing():
    assert found(tables((SHORT, SHORT))).message == "hardly_any"
    assert found(tables(((), ()))).message == "hardly_any"
    assert found(dict.fromkeys(EXPERIMENT.tables, ())).message == "nothing_watched"


def test_a_quantile_stands_only_where_enough_gaps_are_longer():
    assert "gap_p999_s" not in found(tables()).values
    many = tables(((2e-5,) * 300, (1e-3,)), slices=40)
    assert found(many).values["gap_p50_s"] == 2e-5
    assert found(many).values["gap_p999_s"] == 1e-3


def test_a_host_that_says_nothing_is_named_where_time_is_unexplained():
    virtual = machine(cores=2, virtualization="kvm")
    assert "stolen_untold" in found(tables(queued=0.5), virtual).limits
    assert "stolen_untold" not in found(tables(queued=0.5, stolen=0.1), virtual).limits
    assert "stolen_untold" not in found(tables(queued=0.5)).limits
    assert "stolen_untold" not in found(tables(), virtual).limits, "the queue explains all"


def test_load_is_its_finding_and_no_reason_to_doubt_it(monkeypatch):
    """A busy machine made every run disturbed, and noise would never have found anything."""
    used = iter((0.0, 0.9))
    usual = Disturbance()._start  # noqa: SLF001  (no other way to be busy in a test)
    monkeypatch.setattr(
        "experiments.engine.disturbance._Used.now",
        lambda: usual._replace(clock_s=(at := next(used)) * 10, busy_s=at * 10 * 64),
    )
    (note, *_) = Disturbance(is_measured=EXPERIMENT.measures_load).notes()

    assert note.key == "load_was_measured"
    assert note.key not in DOUBTS
    assert note.values["others_fraction"] > 0.5
    finding = analysed(EXPERIMENT, Params(), tables(), machine(cores=2), [note])
    assert (finding.message, finding.trust) == ("other_programs", Trust.SOLID)


# --- what is measured ---------------------------------------------------------------------------


def test_the_loop_notes_a_pause_and_knows_how_long_it_watched():
    gaps = np.ones((16, 2), dtype=np.int64)
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    begin, end, readings, count, lost = kernels.watch(20_000_000, 10_000_000_000, gaps)
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    assert before <= begin < end <= after
    assert end - begin >= 20_000_000
    assert readings > 1000
    assert (count, lost) == (0, 0)
    assert gaps.tolist() == [[1, 1]] * 16
    *_, count, lost = kernels.watch(20_000_000, 1, gaps)  # each reading is a gap now
    assert count > 1000
    assert lost <= after
    assert all(begin < start < stop for start, stop in gaps.tolist())


def test_the_loop_lets_go_of_the_lock_and_is_kept_on_disk():
    check_kept(kernels_of(kernels))


def test_a_run_watches_each_core_in_each_slice_and_its_lengths_grow():
    params = Params(threads=2, slice_s=0.02, rounds=4)
    here = inspect()
    rows = list(measure(params, Bench(here)))
    watched = [r for r in rows if isinstance(r, Watched)]
    cores = {r.thread for r in watched}

    assert {(r.thread, r.repeat) for r in watched} == {(t, n) for t in cores for n in range(4)}
    assert all(r.watched_s >= 0.02 for r in watched)
    assert all(0 <= r.lost_s <= r.watched_s for r in watched)
    assert all(5e-9 < r.reading_s < 1e-6 for r in watched)
    assert {r.cause for r in rows if isinstance(r, Share)} == {*CAUSES}
    for gap in (r for r in rows if isinstance(r, Gap)):
        assert gap.start_s >= 0
        assert gap.end_s - gap.start_s > 1e-5
    lengths: dict[float, int] = {}
    for row in (r for r in rows if isinstance(r, Length)):
        assert row.gaps > lengths.get(row.gap_s, 0)
        lengths[row.gap_s] = row.gaps
    assert sum(lengths.values()) == sum(r.gaps for r in watched)


def test_a_gap_lies_in_the_bin_of_its_length():
    assert [place_of(s) for s in (1e-5, 2e-5, 4e-5, 1.024e-2)] == [0, 2, 4, 20]


def test_a_system_that_counts_nothing_of_it_is_refused():
    assert missing_need(EXPERIMENT, inspect()) is None
    elsewhere = replace(inspect(), os=OperatingSystem(kind="windows"))
    assert missing_need(EXPERIMENT, elsewhere) is Need.POSIX


def test_what_the_system_counts_is_read_by_hardware_thread(tmp_path):
    (tmp_path / "stat").write_text(
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 0 1 5 0 0 0 25 0 0\ncpu2 1 0 1 5 0 0 0 3 0 0\nintr 9\n"
    )
    (tmp_path / "interrupts").write_text(
        "      CPU0   CPU2\n 24:  1  5  IO-APIC edge\nLOC:  10  20  Local timer\nERR:  7\n"
    )

    assert accounts.of_cores(tmp_path) == {0: (0.25, 11), 2: (0.03, 25)}
    assert accounts.of_cores(tmp_path / "none") == {}


# --- the lesson ---------------------------------------------------------------------------------


def test_the_length_to_click_is_that_which_cost_the_most_not_the_most_frequent():
    run = made(tables(((2e-5,) * 100 + (4e-3,) * 3, (8e-3,))))
    assert lesson.costliest_length(run) == Spot(low=2e-3, high=8e-3)
    assert lesson.costliest_length(RUNS["no_gap"]) == Spot()


def test_in_the_longest_gap_the_readings_stand_still_and_the_clock_goes_on():
    moved = lesson.motion(RUNS["usual"], None)
    (scene,) = moved.scenes
    taken = [e for e in scene.events if isinstance(e, Hold) and e.shape == "others"]
    before, after = (e for e in scene.events if isinstance(e, Count))

    assert moved.duration_s == pytest.approx(2 * 8e-3)
    assert max(e.end_s - e.start_s for e in taken) == pytest.approx(8e-3)
    assert before.at(before.end_s) == before.at(after.start_s) == round(4e-3 / 2e-8 / 1000)
    assert lesson.motion(RUNS["no_gap"], None) is None


def test_readings_are_counted_from_the_gap_before_the_longest_to_the_one_behind_it():
    run = made(tables(((4e-3, 8e-3, 4e-3),)))  # 0.1 ms apart, so 5 thousand readings
    (scene,) = lesson.motion(run, None).scenes
    counts = [e for e in scene.events if isinstance(e, Count)]
    assert [each.at(each.end_s) for each in counts] == pytest.approx([5, 5], abs=1)


def test_a_core_that_is_pointed_at_shows_its_own_gap():
    run = made(tables(((8e-3,), (2e-3,))))
    pointed = lesson.motion(run, Pointed(view="lanes", name="1"))
    assert pointed.duration_s == pytest.approx(2 * 2e-3)


def test_goals_want_one_core_alone_and_a_long_quiet_watch():
    assert lesson.one_core_alone(RUNS["one_core_alone"])
    assert not lesson.one_core_alone(RUNS["usual"])
    assert lesson.long_and_undisturbed(RUNS["long_and_undisturbed"])
    assert not lesson.long_and_undisturbed(RUNS["hardly_any"])


def test_the_recording_found_gaps_and_what_explains_them():
    run = recorded(EXPERIMENT)

    assert run.values["longest_gap_s"] > 1e-4
    assert run.trust is Trust.SOLID
    assert Catalogue().lesson(EXPERIMENT).explain(run, None) is not None
    assert 0 < run.values["lost_fraction"] < 1
