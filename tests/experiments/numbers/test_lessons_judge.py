"""Lessons of this shelf: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.teaching.motion import Count, Hold, Travel
from experiments.core.views import BROKEN
from experiments.numbers.amp import lesson as amp
from experiments.numbers.amp.experiment import Scale
from experiments.numbers.clinic import lesson as clinic
from experiments.numbers.clinic.experiment import IMAGES, PLANTED, TIMED, TRAIN, TrainingStep
from experiments.numbers.compile import lesson
from experiments.numbers.compile.experiment import Params
from tests.cases import in_one
from tests.experiments.numbers import lessons_of_amp as learners
from tests.experiments.numbers import lessons_of_clinic
from tests.experiments.numbers.lessons_of_compile import GPU, REACHING, RUNS, modelled


@pytest.mark.parametrize(("paid", "right"), [(90, 0), (700, 1), (5000, 2)])
def test_the_answer_goes_by_when_it_has_paid(paid, right):
    run = RUNS["usual"]

    assert (
        lesson.option_by_steps(replace(run, values={**run.values, "break_even_steps": paid}))
        == right
    )


def test_what_never_pays_is_an_answer_too():
    assert lesson.option_by_steps(RUNS["never_pays"]) == 3
    assert lesson.crossing(RUNS["never_pays"]).low is None
    assert lesson.motion(RUNS["never_pays"], None) is None


def test_a_quick_run_is_held_against_its_older_compiler():
    run = RUNS["older_compiler"]
    paid = run.values["script_break_even_steps"]

    assert lesson.numbers(run, None)["paid_steps"] == paid
    assert lesson.crossing(run).low < paid < lesson.crossing(run).high


def test_torch_compile_counts_where_both_were_measured():
    run = RUNS["usual"]

    assert lesson.numbers(run, None)["paid_steps"] == run.values["break_even_steps"]


@pytest.mark.parametrize("params", [Params(), Params(device=GPU, width=256, batch=64)])
def test_calls_take_what_is_left_without_them(params):
    """On a processor that of next to no arithmetic, on a GPU the time that it waits."""
    run = modelled(params)
    rest = {
        Params().device: run.values.get("calls_s"),
        GPU: 88 * 1e-5 - run.values.get("busy_s", 0),
    }

    assert lesson.numbers(run, None)["calling_s"] == pytest.approx(rest[params.device], rel=0.01)


@pytest.mark.parametrize("goal", REACHING)
def test_each_of_the_two_settings_of_a_goal_alone_misses_it(goal):
    usual, reaching = Params(), REACHING[goal]
    for name in ("width", "layers", "batch"):
        alone = replace(usual, **{name: getattr(reaching, name)})
        assert not getattr(lesson, goal)(modelled(alone))


def test_the_compiled_steps_overtake_where_they_were_measured_to():
    run = RUNS["usual"]
    motion = lesson.motion(run, None)
    eager, compiled = (event for event in motion.events() if isinstance(event, Travel))
    (works,) = (event for event in motion.events() if isinstance(event, Hold))
    counts = [event for event in motion.events() if isinstance(event, Count)]
    crossed_s = motion.says[-1].start_s

    assert works.end_s == compiled.start_s == run.values["compile_s"]
    passed = [(crossed_s - e.start_s) / (e.end_s - e.start_s) for e in (eager, compiled)]
    assert passed[0] == pytest.approx(passed[1], rel=0.01)
    assert counts[0].at(crossed_s) == pytest.approx(counts[1].at(crossed_s), rel=0.01)
    assert counts[0].every_s / counts[1].every_s == pytest.approx(run.values["compiled_speedup"])


def test_a_gpu_waits_for_calls_and_a_processor_times_them():
    on_gpu, on_processor = RUNS["on_a_gpu"], RUNS["usual"]

    assert (lesson.gpu_waits(on_gpu), lesson.calls_cost(on_gpu)) == (True, False)
    assert (lesson.gpu_waits(on_processor), lesson.calls_cost(on_processor)) == (False, True)
    assert not lesson.gpu_waits(RUNS["a_gpu_that_calls_never_keep"])


@pytest.mark.parametrize(("script_s", "is_quicker"), [(3.7e-4, True), (6.5e-4, False)])
def test_the_older_compiler_may_be_the_quicker_one(script_s, is_quicker):
    usual = RUNS["usual"]
    times = {"script_step_s": script_s, "compiled_step_s": 6.4e-4}

    assert lesson.script_is_quicker(replace(usual, values=usual.values | times)) is is_quicker
    assert not lesson.script_is_quicker(RUNS["older_compiler"])


@pytest.mark.parametrize(
    ("name", "compiler"), [("usual", "torch.compile"), ("older_compiler", "TorchScript")]
)
def test_the_compiler_that_is_held_against_the_guess_is_named(name, compiler):
    assert lesson.numbers(RUNS[name], None)["compiler"] == compiler


@pytest.mark.parametrize(("learnt", "at_least"), [(0.9964, 0.99), (0.575, 0.57), (1.0, 1.0)])
def test_what_was_learnt_is_not_rounded_up(learnt, at_least):
    run = lessons_of_clinic.made("both_gain", learnt_mended_fraction=learnt)

    assert clinic.numbers(run, None)["learnt_at_least_fraction"] == pytest.approx(at_least)


@pytest.mark.parametrize(("stopping", "option"), [(2, 1), (3, 2), (5, 3)])
def test_the_right_option_is_the_share_of_the_programs_that_stop(stopping, option):
    """A recording of the first three programs, of which one stops, gives the usual answer too."""
    run = lessons_of_clinic.made("both_gain")
    steps = [TrainingStep(code="", piece=IMAGES, version=BROKEN, repeat=0, step_s=1.0)]
    stop = lessons_of_clinic.remarks(*[*PLANTED][:stopping])
    of_three = [row for row in lessons_of_clinic.remarks(IMAGES) if row.piece in TIMED]

    def right(remarks):
        return clinic.programs_that_stop(replace(run, tables={"remarks": remarks, "steps": steps}))

    assert right(stop) == option
    assert right([row for row in stop if row.where != TRAIN]) == 0
    assert right(of_three) == right(lessons_of_clinic.remarks()) == 1
    assert clinic.programs_that_stop(run) is None  # no step has been timed


@pytest.mark.parametrize(
    ("message", "is_said"),
    [("feed_gains", True), ("feed_gains_shapes_unclear", True), ("both_gain", False)],
)
def test_odd_sizes_cost_nothing_only_where_none_was_gained(message, is_said):
    assert clinic.sizes_cost_nothing(lessons_of_clinic.made(message)) is is_said


@in_one(
    ("name", "right"),
    [("usual", 0), ("bf16_alone", 1), ("bf16_too", 2), ("holds", 3), ("without_bf16", None),
     ("on_a_processor", 0), ("fp32_alone", None)],
)  # fmt: skip
def test_the_answer_goes_by_which_losses_fall(name, right):
    assert amp.option_by_losses(learners.RUNS[name]) == right


def test_the_line_that_stays_behind_leaves_where_the_others_begin_to_fall():
    run = learners.RUNS["usual"]  # by a tenth within one step, and by a fifth within three
    spot = amp.leaves_the_others(run)

    assert (spot.low, spot.high) == (0.5, 3.5)
    assert amp.leaves_the_others(learners.RUNS["holds"]).low is None


@in_one(
    ("powers", "most"),
    [([41, 41, 42], 65504 / 2**41), ([41, 40, 40], 65504 / 2**40), ([41, 40, 39], None)],
)
def test_no_gradient_was_larger_than_what_the_first_good_step_leaves_room_for(powers, most):
    rows = [
        Scale(step=n, power=power, is_skipped=n > 0 and power < powers[n - 1])
        for n, power in enumerate(powers)
    ]
    run = learners.RUNS["usual"]
    found = amp.numbers(replace(run, tables={**run.tables, "scales": rows}), None)

    assert found.get("most_gradient") == most


def test_fp16_learns_by_ones_own_scaler_where_torchs_is_at_rest():
    assert amp.own_scaler(learners.RUNS["own_scaler"])
    assert not amp.own_scaler(learners.RUNS["usual"])
    unlearned = replace(learners.RUNS["own_scaler"])
    lost = [row for row in unlearned.tables["losses"] if row.arm != "fp16"]
    lost += [replace(row, arm="fp16") for row in lost if row.arm == "fp16_unscaled"]
    assert not amp.own_scaler(replace(unlearned, tables={**unlearned.tables, "losses": lost}))
    needless = replace(learners.ON_GPU, loss_weight=1.0)
    assert not amp.own_scaler(learners.modelled(needless, own=True))  # no scaler learns that, too


@in_one(
    ("changed", "is_reached"),
    [
        ({"loss_weight": 3e-5, "batch": 32}, True),
        ({"loss_weight": 3e-5}, False),  # each of many samples counts less
        ({"batch": 32}, False),
        ({"loss_weight": 1.0}, False),  # not little
    ],
)
def test_a_loss_that_counts_little_needs_few_samples_to_do_without_a_scaler(changed, is_reached):
    assert amp.little_weight(learners.modelled(replace(learners.ON_GPU, **changed))) is is_reached


def test_gradients_move_at_the_pace_of_the_measured_steps():
    run = learners.RUNS["usual"]
    motion = amp.motion(run, None)
    bare, scaled = (scene.events for scene in motion.scenes)
    step_s = run.params.batch / run.values["fp16_samples_per_s"]
    learned = [next(e for e in events if isinstance(e, Count)) for events in (bare, scaled)]

    assert [each.at(motion.duration_s) for each in learned] == [0, amp.SHOWN]
    assert motion.duration_s == pytest.approx(amp.SHOWN * step_s)
    assert {e.token for e in bare if isinstance(e, Travel)} == {"tiny", "0"}
    assert {e.token for e in scaled if isinstance(e, Travel)} == {"tiny", "large"}
    assert amp.motion(learners.RUNS["holds"], None) is None


def test_units_gain_most_where_tf32_which_is_as_wide_as_fp32_brings_most_of_it():
    run = learners.RUNS["usual"]
    bytes_gain = {**run.values, "tf32_samples_per_s": 1.2 * run.values["fp32_samples_per_s"]}

    assert amp.units_gain(run)
    assert not amp.units_gain(replace(run, values=bytes_gain))
