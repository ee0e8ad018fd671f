"""The form of every experiment, filled in by keyboard and by mouse."""

from __future__ import annotations

import typing

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QRadioButton

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import specs
from experiments.core.problems import UserError
from widgets.controls.choices import Check
from widgets.controls.slider import StopSlider
from widgets.form.form import ParamsForm
from widgets.form.inputs import Input
from widgets.style import theme
from widgets.style.look import Look

ENGLISH = words.load("en")
EXPERIMENTS = {experiment.id: experiment for experiment in Catalogue()}
PYTHONS = ("3.12", "3.13", "3.14t")
DEVICES = ("cpu", "cuda:0")
OFFERED = {"pythons": PYTHONS, "device": DEVICES, "beside": DEVICES}  # what a machine has
MIB, GIB = 2**20, 2**30


def shape(experiment, name: str) -> tuple[object, ...]:
    """Return what its input is made from, whatever the parameter is called."""
    spec, usual = specs(experiment.params)[name], getattr(experiment.params(), name)
    choices = spec.choices if callable(spec.choices) else len(spec.choices)
    is_at_end = usual in (spec.minimum, spec.maximum)
    return type(usual), spec.unit, spec.scale, choices, is_at_end, spec.used_with is None


# One parameter of each shape: the others are made of the same parts.
PARAMETERS = {
    shape(experiment, name): pytest.param(experiment, name, id=f"{experiment.id}-{name}")
    for experiment in EXPERIMENTS.values()
    for name, spec in specs(experiment.params).items()
    if not spec.is_folder
}.values()


def choices_of(experiment) -> dict[str, tuple[str, ...]]:
    return {
        name: OFFERED[name] if callable(spec.choices) else spec.choices
        for name, spec in specs(experiment.params).items()
        if spec.choices
    }


def all_used(experiment, *names):
    """Return parameters with which each of these makes a difference."""
    declared = specs(experiment.params)
    used_with = dict(other for name in names if (other := declared[name].used_with))
    return msgspec.structs.replace(experiment.params(), **used_with)


@pytest.fixture
def form_of(qtbot):
    """Return a function that shows the form of an experiment."""
    look = Look(theme.load("dark"))

    def make(experiment_id, params=None, choices=None, **more):
        experiment = EXPERIMENTS[experiment_id]
        form = ParamsForm(experiment, ENGLISH, look)
        qtbot.addWidget(form)
        form.show_params(
            params or experiment.params(),
            choices_of(experiment) if choices is None else choices,
            **more,
        )
        form.resize(345, 700)
        form.show()
        form.activateWindow()
        qtbot.waitUntil(form.isActiveWindow)
        return form

    return make


def input_of(form, name) -> Input:
    return next(each for each in form.findChildren(Input) if each.info.name == name)


def controls(form, name):
    return input_of(form, name).controls()


def edit_of(form, name) -> QLineEdit:
    return next(each for each in controls(form, name) if isinstance(each, QLineEdit))


def slider_of(form, name) -> StopSlider:
    return next(each for each in controls(form, name) if isinstance(each, StopSlider))


def is_beside_the_chosen(control) -> bool:
    """Return whether Tab passes over a choice, because arrow keys reach it."""
    return isinstance(control, QRadioButton) and not control.isChecked()


def enter(form, name, text, *, finish=True):
    edit = edit_of(form, name)
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)
    if finish:
        QTest.keyClick(edit, Qt.Key.Key_Return)


def doubts(form) -> list[str]:
    found = [each.text() for each in form.findChildren(QLabel) if each.property("role") == "doubt"]
    return [text for text in found if text]


def button(form) -> QPushButton:
    return form.findChild(QPushButton)


# --- every parameter ----------------------------------------------------------------------------


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.id)
def test_what_is_shown_comes_back_and_every_control_has_a_name_and_says_its_help(
    form_of, experiment
):
    form = form_of(experiment.id)

    assert form.params() == experiment.params()
    for name in specs(experiment.params):
        assert controls(form, name), name
        key = f"{experiment.id}.help.{name}"
        help_ = ENGLISH.say(key) if ENGLISH.has(key) else ""
        for control in controls(form, name):
            assert control.accessibleName()
            assert help_ in control.accessibleDescription()
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
        shown = [input_of(form, name), *input_of(form, name).findChildren(QLabel)]
        assert help_ in [each.toolTip() for each in shown]


def test_choices_do_not_share_the_tip_of_what_they_are_chosen_for(form_of):
    form = form_of("gil-threads")
    for each in (input_of(form, "methods"), input_of(form, "job")):
        assert each.toolTip() == ""  # which all that have none of their own would show
        assert {control.toolTip() for control in each.controls()} == {""}


@pytest.mark.parametrize(("experiment", "name"), PARAMETERS)
def test_a_parameter_of_each_shape_can_be_changed_by_keyboard_and_by_mouse(
    form_of, qtbot, experiment, name
):
    form = form_of(experiment.id, all_used(experiment, name))
    before = form.params()
    reached = [each for each in controls(form, name) if not is_beside_the_chosen(each)]
    for control in reached:
        control.setFocus()
        with qtbot.waitSignal(form.changed):
            key = Qt.Key.Key_Space if isinstance(control, Check) else Qt.Key.Key_Right
            if isinstance(control, QLineEdit):
                key = Qt.Key.Key_Up
            QTest.keyClick(QApplication.focusWidget(), key)
        assert getattr(form.params(), name) != getattr(before, name)
        form.show_params(before, choices_of(experiment))

    control = controls(form, name)[-1]
    with qtbot.waitSignal(form.changed):
        middle = control.rect().center()
        far = QPoint(control.width() - 2, middle.y())
        place = far if isinstance(control, StopSlider) else middle
        QTest.mouseClick(control, Qt.MouseButton.LeftButton, pos=place)
    assert getattr(form.params(), name) != getattr(before, name)


WITH_ALL_SHAPES = {case.values[0].id: case.values[0] for case in PARAMETERS}.values()


@pytest.mark.parametrize("experiment", WITH_ALL_SHAPES, ids=lambda e: e.id)
def test_tab_goes_through_the_parameters_in_their_order(form_of, experiment):
    wanted = list(specs(experiment.params))
    form = form_of(experiment.id, all_used(experiment, *wanted))
    controls(form, wanted[0])[0].setFocus()
    passed = []
    for _ in range(40):
        owner = QApplication.focusWidget().parentWidget()
        if isinstance(owner, Input) and owner.info.name not in passed:
            passed.append(owner.info.name)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)

    assert passed == wanted


def test_what_makes_no_difference_with_the_others_cannot_be_turned(form_of, qtbot):
    form = form_of("amdahl")
    (slider, *_), (_arithmetic, memory) = (controls(form, n) for n in ("array_bytes", "kernel"))
    assert not slider.isEnabled()

    QTest.mouseClick(memory, Qt.MouseButton.LeftButton)
    assert slider.isEnabled()
    form.reset()
    assert not slider.isEnabled()


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "largest_bytes"),
    [("64 MiB", 64 * MIB), ("64 GiB", 64 * GIB), ("3000000000 B", 3_000_000_000), ("1g", GIB)],
)
def test_sizes_are_typed_with_their_unit_also_beyond_32_bits(form_of, typed, largest_bytes):
    form = form_of("cache-ladder")

    enter(form, "largest_bytes", typed)

    assert form.params().largest_bytes == largest_bytes
    assert doubts(form) == []


def test_the_slider_of_a_size_goes_by_powers_of_two_to_its_ends(form_of):
    form = form_of("cache-ladder")
    slider = slider_of(form, "largest_bytes")
    slider.setFocus()

    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert form.params().largest_bytes == 512 * MIB
    assert edit_of(form, "largest_bytes").text() == "512 MiB"
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert form.params().largest_bytes == 64 * GIB
    QTest.keyClick(slider, Qt.Key.Key_PageDown)
    assert MIB < form.params().largest_bytes < 64 * GIB
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert form.params().largest_bytes == MIB


def test_the_slider_of_a_time_goes_by_one_two_five(form_of):
    form = form_of("gil-threads")
    slider = slider_of(form, "job_s")
    slider.setFocus()
    passed = []
    QTest.keyClick(slider, Qt.Key.Key_Home)
    for _ in range(4):
        passed.append(form.params().job_s)
        QTest.keyClick(slider, Qt.Key.Key_Right)

    assert passed == [0.005, 0.01, 0.02, 0.05]


def test_a_value_between_the_stops_is_kept_exactly_and_is_a_stop_itself(form_of):
    odd = 143_654_912
    params = EXPERIMENTS["cache-ladder"].params(largest_bytes=odd)
    form = form_of("cache-ladder", params)
    edit, slider = edit_of(form, "largest_bytes"), slider_of(form, "largest_bytes")

    edit.setFocus()
    slider.setFocus()
    assert form.params() == params
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert form.params().largest_bytes == 256 * MIB
    QTest.keyClick(slider, Qt.Key.Key_Home)
    form.reset()
    assert form.params() == params


def test_the_handle_follows_the_mouse(form_of):
    form = form_of("cache-ladder")
    slider = slider_of(form, "largest_bytes")
    y = slider.height() // 2

    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(2, y))
    assert form.params().largest_bytes == MIB
    QTest.mouseMove(slider, QPoint(slider.width() - 2, y))
    assert form.params().largest_bytes == 64 * GIB
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() - 2, y))
    QTest.mouseMove(slider, QPoint(2, y))
    assert form.params().largest_bytes == 64 * GIB


def test_the_wheel_turns_a_slider_only_with_the_focus(form_of):
    form = form_of("cache-ladder")
    slider = slider_of(form, "largest_bytes")

    def turn():
        middle = slider.rect().center()
        event = QWheelEvent(
            middle, slider.mapToGlobal(middle), QPoint(), QPoint(0, 120),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(slider, event)

    edit_of(form, "rounds").setFocus()
    turn()
    assert form.params() == EXPERIMENTS["cache-ladder"].params()
    slider.setFocus()
    turn()
    assert form.params() != EXPERIMENTS["cache-ladder"].params()


@pytest.mark.parametrize(
    ("name", "typed", "key", "values"),
    [
        ("workers", "65", "parameter_too_large", {"most": "64"}),
        ("workers", "0", "parameter_too_small", {"least": "1"}),
        ("workers", "2.5", "parameter_not_whole", {"like": "4", "text": "2.5"}),
        ("job_s", "a while", "parameter_not_a_number", {"like": "150 ms", "text": "a while"}),
        ("job_s", "", "parameter_not_a_number", {"like": "150 ms", "text": ""}),
        ("job_s", "11 s", "parameter_too_large", {"most": "10 s"}),
    ],
)
def test_text_that_cannot_be_is_kept_and_answered_with_a_sentence(
    form_of, name, typed, key, values
):
    form = form_of("gil-threads")
    edit = edit_of(form, name)
    edit.clear()
    edit.setModified(True)
    edit.textEdited.emit("")
    enter(form, name, typed)

    shown = {**values, "name": ENGLISH.say(f"gil-threads.params.{name}")}
    assert edit.text() == typed
    assert doubts(form) == [ENGLISH.say(f"problems.{key}", shown)]
    with pytest.raises(UserError) as caught:
        form.params()
    problem = caught.value.problem
    assert [ENGLISH.say(f"problems.{problem.key}", problem.values)] == doubts(form)
    enter(form, name, "7 s" if name == "job_s" else "7")
    assert doubts(form) == []
    assert getattr(form.params(), name) == 7


def test_nobody_is_interrupted_while_typing(form_of, qtbot):
    form = form_of("cache-ladder")

    with qtbot.waitSignal(form.changed):
        enter(form, "largest_bytes", "6", finish=False)
    assert doubts(form) == []
    with pytest.raises(UserError):
        form.params()
    QTest.keyClicks(edit_of(form, "largest_bytes"), "4 MiB")
    assert form.params().largest_bytes == 64 * MIB
    assert slider_of(form, "largest_bytes").values[
        slider_of(form, "largest_bytes").value()
    ] == 64 * MIB  # fmt: skip


def test_escape_takes_back_what_was_typed(form_of):
    form = form_of("cache-ladder")
    enter(form, "rounds", "500", finish=False)

    QTest.keyClick(edit_of(form, "rounds"), Qt.Key.Key_Escape)

    assert edit_of(form, "rounds").text() == "15"
    assert form.params() == EXPERIMENTS["cache-ladder"].params()


def test_one_bad_text_leaves_the_others_as_they_are(form_of):
    form = form_of("gil-threads")
    enter(form, "workers", "many")
    enter(form, "rounds", "3")
    controls(form, "job")[2].click()

    assert edit_of(form, "workers").text() == "many"
    enter(form, "workers", "2")
    params = form.params()
    assert (params.workers, params.rounds, params.job) == (2, 3, "sleep")


# --- choices ------------------------------------------------------------------------------------


def test_one_of_few_is_chosen_with_the_arrow_keys(form_of):
    form = form_of("gil-threads")
    chips = controls(form, "job")
    assert all(isinstance(chip, QRadioButton) for chip in chips)
    chips[0].setFocus()

    QTest.keyClick(chips[0], Qt.Key.Key_Right)
    assert form.params().job == "sort"
    assert chips[1].hasFocus()
    QTest.keyClick(chips[1], Qt.Key.Key_Left)
    assert form.params().job == "loop"


def test_some_of_many_keep_the_order_in_which_they_are_declared(form_of):
    form = form_of("gil-threads")
    serial, threads = controls(form, "methods")[:2]

    serial.click()
    assert form.params().methods[0] == "threads"
    threads.click()
    serial.click()
    assert form.params().methods[:2] == ("serial", "released")


def test_a_device_is_called_as_pytorch_calls_it_whatever_else_has_that_name(form_of):
    assert ENGLISH.say("async.choices.cpu") == ".cpu()"
    form = form_of("async", None, {**choices_of(EXPERIMENTS["async"]), "device": ("cpu",)})

    assert [each.text() for each in controls(form, "device")] == ["cpu"]


def test_choices_that_this_machine_lacks_are_not_there_and_that_is_said(form_of):
    experiment = EXPERIMENTS["gil-threads"]
    params = experiment.params(pythons=("3.13", "3.14t"))
    some = {**choices_of(experiment), "pythons": ("3.13",)}
    form = form_of("gil-threads", params, some)

    assert [each.text() for each in controls(form, "pythons")] == ["3.13"]
    assert form.params().pythons == ("3.13",)
    lacking = ENGLISH.say("form.not_here", {"names": "3.14t"})
    assert lacking in [label.text() for label in form.findChildren(QLabel)]

    form.show_params(experiment.params(), {**some, "pythons": ()})
    assert controls(form, "pythons") == []
    assert form.params().pythons == ()
    none = ENGLISH.say("form.none_here")
    assert none in [label.text() for label in form.findChildren(QLabel)]


# --- the whole form -----------------------------------------------------------------------------


def test_reset_is_there_only_where_something_differs(form_of, qtbot):
    form = form_of("burst-random")
    assert not button(form).isVisible()

    enter(form, "rounds", "2")
    assert button(form).isVisible()
    with qtbot.waitSignal(form.changed):
        button(form).click()

    assert form.params() == EXPERIMENTS["burst-random"].params()
    assert not button(form).isVisible()


def test_reset_of_an_opened_run_goes_back_to_what_suits_the_machine(form_of):
    experiment = EXPERIMENTS["burst-random"]
    run = experiment.params(rounds=2, huge_pages=True)
    form = form_of("burst-random", run, start=experiment.params())

    assert form.params() == run
    assert button(form).isVisible()
    button(form).click()
    assert form.params() == experiment.params()


def test_showing_parameters_is_no_change(form_of, qtbot):
    form = form_of("gil-threads")
    params = msgspec.structs.replace(form.params(), job="sleep", workers=2, methods=("threads",))

    with qtbot.assertNotEmitted(form.changed):
        form.show_params(params, choices_of(EXPERIMENTS["gil-threads"]))

    assert form.params() == params


def test_nothing_can_be_changed_while_a_run_is_on(form_of):
    form = form_of("gil-threads")
    form.set_enabled_for_run(False)
    for name in specs(EXPERIMENTS["gil-threads"].params):
        assert not any(control.isEnabled() for control in controls(form, name))

    form.set_enabled_for_run(True)
    assert all(control.isEnabled() for control in controls(form, "job"))


def test_help_is_shown_for_what_has_the_focus(form_of):
    form = form_of("cache-ladder")
    slider_of(form, "rounds").setFocus()
    shown = [each.text() for each in form.findChildren(QLabel)]

    assert ENGLISH.say("cache-ladder.help.rounds") in shown


def test_help_has_room_for_all_its_words(form_of):
    form = form_of("roofline")
    slider_of(form, "array_bytes").setFocus()
    QApplication.processEvents()
    text = ENGLISH.say("roofline.help.array_bytes")
    (shown,) = (each for each in form.findChildren(QLabel) if each.text() == text)

    assert shown.height() >= shown.heightForWidth(shown.width())


def test_a_long_form_scrolls_to_what_has_the_focus(form_of):
    form = form_of("gil-threads")
    form.resize(345, 240)
    last = slider_of(form, "switch_interval_s")
    assert last.visibleRegion().isEmpty()

    last.setFocus()

    assert not last.visibleRegion().isEmpty()


def test_every_kind_of_parameter_is_tried_here():
    kinds = {
        (typing.get_origin(kind) or kind)
        for experiment in EXPERIMENTS.values()
        for kind in typing.get_type_hints(experiment.params).values()
    }

    assert kinds == {int, float, bool, str, tuple}
