from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage, QTextDocument
from PySide6.QtWidgets import QWidget

from experiments.core import words
from experiments.core.shelves import homes
from experiments.core.views import Ruler
from tests.gallery import slides
from widgets.lecture.slide import Slide
from widgets.lecture.slide_code import SlideCode
from widgets.lecture.slide_text import SlideText
from widgets.lecture.vote_board import VoteBoard
from widgets.plots.contents import label_column
from widgets.plots.plot import Plot
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load()
TAUGHT = [id_ for id_, home in homes().items() if home.has_lesson and home.recording]
LIGHT = themes.load("light")
STEPS = ("question", "vote", "again", "run", "reveal", "explain")
SIZES = ((1280, 720), (1920, 1080))
LONG = "A word that is put into the file of a lecture can be of any length. " * 12


def seen(slide: Slide) -> list[QWidget]:
    """Return the parts that are in sight."""
    return [
        part
        for part in slide.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if part.isVisible()
    ]


def texts(slide: Slide) -> list[str]:
    """Return what can be read beside votes and plot."""
    return [part.text() for part in seen(slide) if isinstance(part, SlideText)]


def text_of(slide: Slide, beginning: str) -> SlideText:
    """Return the text that begins so."""
    parts = [part for part in seen(slide) if isinstance(part, SlideText)]
    return next(part for part in parts if part.text().startswith(beginning[:20]))


def head(slide: Slide) -> SlideText:
    assert slide.data is not None
    return text_of(slide, slide.data.verdict or slide.data.title)


def pixels(image: QImage) -> np.ndarray:
    """Return the colours of an image as rows of (red, green, blue)."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    whole = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(image.height(), -1)
    return whole[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).astype(int)


def grabbed(slide: Slide) -> np.ndarray:
    return pixels(slide.grab().toImage())


def is_colour(picture: np.ndarray, colour: str) -> np.ndarray:
    """Return where a picture has a colour."""
    wanted = QColor(colour)
    return np.abs(picture - [wanted.red(), wanted.green(), wanted.blue()]).max(axis=2) < 3


def letters_px(slide: Slide, text: SlideText, size: tuple[int, int]) -> int:
    """Return the height of the letters of a text's first line in a picture of this size."""
    fast = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    small = pixels(slide.grab().toImage().scaled(*size, *fast))
    share = size[1] / slide.height()
    line = text.letters()
    top, bottom = round(line.top() * share), round(line.bottom() * share)
    left, right = round(line.left() * share), round(line.right() * share)
    ground = small[0, 0]
    ink = np.abs(small[top : bottom + 1, left:right] - ground).max(axis=2) > 60
    return int(ink.any(axis=1).sum())


# --- what is in sight ---------------------------------------------------------------------------


def test_a_question_without_a_lesson_stands_alone(make):
    slide = make("question")
    assert slide.data is not None
    slide.show_data(replace(slide.data, context="", code=""))

    assert texts(slide) == [
        ENGLISH.say("slide.place", {"place": 3, "count": 10}), slide.data.title, slide.data.key,
    ]  # fmt: skip
    assert len(seen(slide)) == 3


def code_of(slide: Slide) -> SlideCode:
    (code,) = [part for part in seen(slide) if isinstance(part, SlideCode)]
    return code


@pytest.mark.parametrize("id_", TAUGHT)
def test_code_stands_below_its_question_and_stays_beside_the_answers(make, id_):
    slide = make("question", id_)
    on = slides.CATALOGUE.lesson(slides.recorded(id_).experiment).stands_on

    assert on.context in texts(slide)
    assert code_of(slide).accessibleDescription() == on.code
    shown = code_text(code_of(slide)).splitlines()  # a question's code needs no second row
    assert [" ".join(line.split()) for line in shown] == [
        " ".join(line.split()) for line in on.code.splitlines()
    ]
    assert code_px(slide) >= 20  # it can be read from the back

    for step in ("vote", "again"):
        slides.fill(slide, step, ENGLISH, id_)
        code = code_of(slide)
        assert "".join(code_text(code).split()) == "".join(on.code.split())  # nothing is cut
        assert code.sizeHint().height() <= code.height() + 1
        assert code_px(slide) >= 20
        assert on.context not in texts(slide)


def test_code_stands_off_the_edge_of_its_ground_in_a_window_with_a_style(make, qapp):
    qapp.setStyleSheet("QLabel { color: red; font-size: 9px }")
    try:
        slide = make("run", "race")
        slides.fill(slide, "question", ENGLISH, "race")
        code, ground = code_of(slide), QColor(LIGHT.aside)
        picture = pixels(slide.grab(code.geometry()).toImage())
    finally:
        qapp.setStyleSheet("")
    inside = is_colour(picture, ground.name())

    assert inside[4:-4, 4:10].all()  # no letter begins at the edge
    assert is_colour(picture, LIGHT.ink).any()  # in the colours of the slide, not of the window


@pytest.mark.parametrize("step", ["run", "reveal", "explain"])
def test_beside_a_plot_there_is_no_code(make, step):
    assert not [part for part in seen(make(step)) if isinstance(part, SlideCode)]


def code_px(slide: Slide) -> int:
    """Return the height of the letters of the code, which is one."""
    (px,) = set(re.findall(r"font-size:(\d+)px", code_of(slide).text()))
    return int(px)


def code_text(code: SlideCode) -> str:
    document = QTextDocument()
    document.setHtml(code.text())
    return document.toPlainText()


@pytest.mark.parametrize("step", ["vote", "again"])
def test_a_vote_shows_the_question_the_answers_and_the_hint_alone(make, step):
    slide = make(step)

    board = [part for part in seen(slide) if not isinstance(part, SlideText)]
    assert [type(part) for part in board] == [SlideCode, VoteBoard]
    assert slide.data is not None
    assert slide.data.hint in texts(slide)
    assert len(texts(slide)) == 4


@pytest.mark.parametrize("step", ["run", "reveal", "explain"])
def test_a_run_shows_one_plot_and_no_votes(make, step):
    slide = make(step)

    assert [part for part in seen(slide) if not isinstance(part, SlideText)] == [slide.plot]
    assert isinstance(slide.plot, Plot)


def test_the_head_asks_until_there_is_a_verdict(make):
    slide = make("run")
    assert slide.data is not None
    data = slide.data
    assert data.title in texts(slide)

    slide.show_data(replace(data, step="reveal", verdict="Threads took turns."))

    assert "Threads took turns." in texts(slide)
    assert data.title not in texts(slide)


def test_what_goes_on_gives_way_to_what_is_wrong(make):
    slide = make("run")
    assert slide.data is not None
    assert slide.data.busy in texts(slide)

    slide.show_data(replace(slide.data, problem="It vanished.", key="R: recording"))

    assert "It vanished." in texts(slide)
    assert "R: recording" in texts(slide)
    assert slide.data.busy not in texts(slide)


def test_going_back_takes_the_plot_away(make):
    slide = make("explain")
    assert slide.data is not None

    slide.show_data(replace(slide.data, step="vote", options=("one", "two"), votes=(0, 0)))

    assert slide.plot not in seen(slide)
    assert slide.data.source not in texts(slide)


def test_an_item_without_an_experiment_has_no_plot(make):
    slide = make("run")
    slide.show_experiment(None)

    assert slide.plot is None
    assert all(isinstance(part, SlideText) for part in seen(slide))


def test_an_explanation_has_at_most_forty_words_in_whole_sentences(make):
    slide = make("explain")
    assert slide.data is not None
    sentence = "The first of ten words that stand in one sentence."

    slide.show_data(replace(slide.data, said=" ".join([sentence] * 7)))

    assert " ".join([sentence] * 4) in texts(slide)


def test_a_single_long_sentence_is_not_left_out(make):
    slide = make("explain")
    assert slide.data is not None
    slide.show_data(replace(slide.data, said="word " * 60))

    assert any(text.startswith("word word") for text in texts(slide))


# --- how large it is ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("step", STEPS)
def test_the_head_can_be_read_at_a_sixth_of_the_size(make, step, size):
    slide = make(step, size=size)

    assert letters_px(slide, head(slide), (213, 120)) >= 6


@pytest.mark.parametrize("step", STEPS)
def test_everything_grows_with_the_slide(make, step):
    small, large = make(step), make(step, size=(1920, 1080))

    for one, other in zip(seen(small), seen(large), strict=True):
        wanted = [1.5 * each for each in one.geometry().getRect()]
        assert other.geometry().getRect() == pytest.approx(wanted, abs=6)


@pytest.mark.parametrize("step", STEPS)
def test_no_font_is_smaller_than_twenty_pixels(make, step):
    slide = make(step)

    for part in seen(slide):
        if isinstance(part, SlideText):
            assert part.letters().height() >= 24  # a line of that font
    assert slide.plot is not None
    sizes = [label.font.pixelSize() for label in slide.plot.painted().labels]
    assert min(sizes, default=20) >= 20


def test_lines_are_at_least_four_pixels_thick(make):
    slide = make("reveal", "storage")
    picture = grabbed(slide)
    line = is_colour(picture, slide.plot.painted().colour(0))
    column = line[:, round(slide.width() * 0.88)]  # where it is nearly level

    assert column.sum() >= 4


def test_dashed_lines_are_three_pixels_wide(make):
    slide = make("reveal")
    finding = slides.recorded("gil-threads").finding()
    plot = slide.plot
    column = plot.x() + plot.painted().area.x_px(finding.values["perfect_s"])
    below = grabbed(slide)[plot.y() : plot.y() + 80, round(column) - 6 : round(column) + 2]

    assert is_colour(below, LIGHT.soft).sum(axis=1).max() == 3


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (640, 360), (400, 900), (2560, 1080)])
@pytest.mark.parametrize("step", STEPS)
def test_long_texts_stay_on_the_slide_and_off_each_other(make, step, size):
    slide = make(step, size=size)
    assert slide.data is not None
    options = (LONG[:130], "", LONG[:70], "short")
    long = dict.fromkeys(("title", "said", "hint", "busy"), LONG)
    verdict = LONG if slide.data.verdict else ""
    data = replace(slide.data, options=options, votes=(1, 2, 3, 4), verdict=verdict, **long)
    slide.show_data(data)
    parts = [part.geometry() for part in seen(slide)]

    for number, one in enumerate(parts):
        assert slide.rect().contains(one)
        assert not [other for other in parts[:number] if _overlap(one, other) > 4]


def _overlap(one: QRect, other: QRect) -> int:
    both = one.intersected(other)
    return min(both.width(), both.height())


def test_what_fits_nowhere_ends_in_dots(make):
    slide = make("vote")
    assert slide.data is not None
    slide.show_data(replace(slide.data, title=LONG))
    before = grabbed(slide)
    slide.show_data(replace(slide.data, title=LONG + "and more"))

    assert (before == grabbed(slide)).all()


# --- what is shown of a run ---------------------------------------------------------------------


@pytest.mark.parametrize("id_", TAUGHT)
def test_an_explanation_keeps_the_whole_plot(make, id_):
    slide, run_state = make("explain", id_), slides.recorded(id_)
    plot = slide.plot
    view = plot.chart.terms.view
    column, only = label_column(view), getattr(view, "only", ())
    rows = run_state.tables[view.table]
    for size in SIZES:
        slide.resize(*size)
        labels = {str(getattr(row, column)) for row in rows} if column else drawn(plot)
        wanted = labels.intersection(only) if only else labels
        if isinstance(view, Ruler):  # each pin that is shown has its flag
            wanted = {label.of for label in plot.painted().labels}
            assert drawn(plot) <= wanted
        else:
            assert drawn(plot) == wanted
        room = plot.rect().adjusted(-1, -1, 1, 1)
        assert not [
            label.text
            for label in plot.painted().labels
            if not room.contains(label.rect.toAlignedRect())
        ]


def drawn(plot: Plot) -> set[str]:
    """Return the labels of the series that a plot draws."""
    return {label for track in plot.chart.tracks() for label in (track.labels or (track.label,))}


def test_a_bar_is_never_without_the_one_that_it_is_compared_with(make):
    slide = make("explain", "gil-threads")

    assert {"released_serial", "released_threads"} <= drawn(slide.plot)


def test_arms_stay_held_back_while_rows_come(make):
    slide = make("run")
    rows, plot = slides.recorded("gil-threads").tables["timings"], slide.plot
    assert {track.label for track in plot.chart.tracks()} == {"serial"}

    plot.draw([*rows, rows[0]], {})
    assert {track.label for track in plot.chart.tracks()} == {"serial"}

    plot.hold_back(())
    assert len({track.label for track in plot.chart.tracks()}) == 6


def test_before_the_first_row_the_plot_says_nothing(make):
    slide = make("run")
    experiment = slide.plot.chart.terms.experiment
    slide.show_experiment(None)
    slide.show_experiment(experiment)
    rect = slide.plot.geometry()

    picture = grabbed(slide)[rect.top() : rect.bottom(), rect.left() : rect.right()]
    assert is_colour(picture, LIGHT.ground).all()


def test_a_recording_has_its_band_in_every_picture(make):
    slide = make("reveal")
    assert slide.data is not None
    assert slide.data.band in texts(slide)
    where = text_of(slide, slide.data.band).geometry()
    with_band, own = grabbed(slide), slide.plot.picture()

    slide.show_data(replace(slide.data, band=""))

    changed = (with_band != grabbed(slide)).any(axis=2)
    assert changed[where.top() : where.bottom(), where.left() : where.right()].any()
    assert pixels(own).shape == pixels(slide.plot.picture()).shape
    assert (pixels(own) != pixels(slide.plot.picture())).any()


def test_a_band_names_a_long_machine_and_the_date(make):
    slide = make("reveal")
    assert slide.data is not None
    band = "RECORDED · Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz · 2026-11-25"
    slide.show_data(replace(slide.data, band=band))

    assert text_of(slide, band).letters().width() > slide.width() / 2


def test_a_band_takes_the_place_of_the_source(make):
    slide = make("reveal")
    assert slide.data is not None
    slide.show_data(replace(slide.data, source="measured live"))

    assert "measured live" not in texts(slide)


# --- look, freeze, halo, keys -------------------------------------------------------------------


@pytest.mark.parametrize("mode", themes.MODES)
def test_the_ground_is_that_of_the_mode(make, mode):
    slide = make("reveal", mode=mode)
    picture = grabbed(slide)

    assert is_colour(picture, themes.load(mode).ground).mean() > 0.5


def test_another_mode_is_taken_over(qtbot):
    look = Look(themes.load("light"))
    slide = Slide(ENGLISH, look)
    qtbot.addWidget(slide)
    slide.resize(1280, 720)
    slides.fill(slide, "vote", ENGLISH, "gil-threads")
    look.theme = themes.load("dark")
    look.changed.emit()
    fresh = Slide(ENGLISH, look)
    qtbot.addWidget(fresh)
    fresh.resize(1280, 720)
    slides.fill(fresh, "vote", ENGLISH, "gil-threads")

    assert (grabbed(slide) == grabbed(fresh)).all()


def test_a_frozen_slide_keeps_its_picture_whatever_is_shown(make):
    slide = make("vote")
    before = grabbed(slide)
    slide.freeze()
    slide.freeze()
    slides.fill(slide, "reveal", ENGLISH, "storage")
    slide.set_halo(True)

    assert slide.is_frozen
    assert (grabbed(slide) == before).all()

    slide.thaw()
    assert not slide.is_frozen
    assert (grabbed(slide) != before).any()
    assert slide.plot in seen(slide)


def test_a_frozen_picture_follows_the_size_of_the_window(make):
    slide = make("vote")
    slide.freeze()
    slide.resize(640, 360)

    small = is_colour(grabbed(slide), LIGHT.accent)
    assert small.any()
    assert np.argwhere(small).max(axis=0)[0] < 300


def test_a_halo_follows_the_mouse_once_it_is_asked_for(make, qtbot):
    slide = make("reveal")
    before = grabbed(slide)
    qtbot.mouseMove(slide, QPoint(600, 400))
    assert (grabbed(slide) == before).all()

    slide.set_halo(True)
    qtbot.mouseMove(slide, QPoint(700, 300))
    changed = np.argwhere((grabbed(slide) != before).any(axis=2))
    middle = (changed.min(axis=0) + changed.max(axis=0)) / 2
    assert middle.tolist() == pytest.approx([300, 700], abs=2)

    slide.set_halo(False)
    assert not slide.has_halo
    assert (grabbed(slide) == before).all()


def test_nothing_on_a_slide_takes_the_keyboard_or_the_mouse(make):
    for step in STEPS:
        slide = make(step)
        for part in seen(slide):
            assert part.focusPolicy() is Qt.FocusPolicy.NoFocus
    assert slide.childAt(QPointF(900, 400).toPoint()) is None


def test_it_says_what_it_shows(make):
    slide = make("again")
    assert slide.data is not None
    values = {"place": 3, "count": 10, "head": slide.data.title}
    assert slide.accessibleName() == ENGLISH.say("slide.named", values)
    (board,) = [part for part in seen(slide) if isinstance(part, VoteBoard)]
    assert board.accessibleName() == ENGLISH.say("slide.votes")
    values = {"letter": "C", "option": slide.data.options[2], "count": 62}
    assert ENGLISH.say("slide.option", values) in board.accessibleDescription()


# --- votes --------------------------------------------------------------------------------------


def bar_px(slide: Slide, colour: str) -> list[int]:
    """Return the widths of the bars of a colour, from above."""
    (board,) = [part for part in seen(slide) if isinstance(part, VoteBoard)]
    rect = board.geometry()
    inside = grabbed(slide)[rect.top() : rect.bottom(), rect.left() + 64 : rect.right() - 90]
    widths = is_colour(inside, colour).sum(axis=1)
    rows = np.flatnonzero(widths > 12)
    groups = np.split(widths[rows], np.flatnonzero(np.diff(rows) > 3) + 1)
    return [int(group.max()) for group in groups if len(group)]


def test_bars_are_as_long_as_their_share_of_all_hands(make):
    slide = make("vote")
    assert slide.data is not None
    slide.show_data(replace(slide.data, votes=(10, 20, 30, 40)))

    lengths = bar_px(slide, LIGHT.accent)
    shares = [each / sum(lengths) for each in lengths]
    assert shares == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.02)


def test_without_hands_there_are_no_bars(make):
    slide = make("vote")
    assert slide.data is not None
    slide.show_data(replace(slide.data, votes=(0, 0, 0, 0)))

    assert bar_px(slide, LIGHT.accent) == []


def test_a_second_vote_shows_the_first_behind_it(make):
    slide = make("again")
    assert slide.data is not None
    with_first = grabbed(slide)
    slide.show_data(replace(slide.data, before=()))

    changed = (with_first != grabbed(slide)).any(axis=2)
    (board,) = [part for part in seen(slide) if isinstance(part, VoteBoard)]
    rows, columns = np.argwhere(changed).min(axis=0), np.argwhere(changed).max(axis=0)
    assert board.geometry().contains(QRect(rows[1], rows[0], columns[1] - rows[1], 10))
    assert len(bar_px(slide, LIGHT.accent)) == 4
