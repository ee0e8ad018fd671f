from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton

from experiments.core import words
from experiments.core.teaching.lessons import Explained, Source
from tests.cases import in_one
from widgets.controls.wrapped import WrappedLink
from widgets.lesson.explanation import Explanation
from widgets.lesson.paragraph import Paragraph, with_numbers
from widgets.lesson.remembered_guess import GuessNote
from widgets.style.theme import MONO

ENGLISH = words.load("en")
Left = Qt.MouseButton.LeftButton
TOLD = Explained(
    headline="You said 14×.",
    text="A load takes 171 ns & more.",
    beside=("One core here.", "A quiet machine."),
    belief="All bytes are alike.",
    answer="They are <not>.",
    confirm="The steps lie there.",
    why_not_double="Why not twice as fast? Each load waits.",
    transfer="What do two cores pay?",
)
SOURCES = (Source(fact="the GIL", source="PEP 703"),)


@pytest.fixture
def explanation(look, shown):
    made = Explanation(ENGLISH, look)
    made.show_explained(TOLD, view="Latency", to="race", title="Who loses?", sources=SOURCES)
    return shown(made)


def texts(widget):
    """Return what is read, without its markup."""
    QApplication.processEvents()  # a layout shows what is new
    return [
        plain(
            QTextDocumentFragment.fromHtml(each.text()).toPlainText()
            if each.textFormat() is Qt.TextFormat.RichText
            else each.text()
        )
        for each in widget.findChildren(QLabel)
        if each.isVisibleTo(widget)
    ]


def plain(text):
    """Return a text as it is written, without what keeps its units together."""
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")


def link(widget, text):
    return next(each for each in widget.findChildren(WrappedLink) if text in each.accessibleName())


def test_all_parts_are_read(explanation):
    read = texts(explanation)

    for told in (TOLD.headline, TOLD.text, *TOLD.beside, TOLD.belief, TOLD.answer, TOLD.confirm):
        assert told in read
    assert TOLD.transfer in read
    # The question of the limit leads its block.
    assert read.index("Why not twice as fast?") + 1 == read.index("Each load waits.")


def test_the_question_of_a_limit_may_hold_a_number(explanation):
    limit = "Why is no load quicker than 0.92 ns? Even L1 needs ticks."
    explanation.show_explained(msgspec.structs.replace(TOLD, why_not_double=limit))

    read = texts(explanation)
    assert read.index("Why is no load quicker than 0.92 ns?") + 1 == read.index(
        "Even L1 needs ticks."
    )


def test_a_limit_without_a_question_gets_one(explanation):
    explanation.show_explained(msgspec.structs.replace(TOLD, why_not_double="Each load waits."))
    read = texts(explanation)

    head = ENGLISH.say("lesson.why_not_double")
    assert read.index(head) + 1 == read.index("Each load waits.")


def test_its_links_lead_on(explanation, qtbot):
    with qtbot.waitSignal(explanation.confirm_wanted):
        qtbot.mouseClick(link(explanation, "Latency"), Left)
    with qtbot.waitSignal(explanation.experiment_wanted) as heard:
        qtbot.keyClick(link(explanation, "Who loses?"), Qt.Key.Key_Space)

    assert heard.args == ["race"]


def test_without_ways_on_there_are_no_links(explanation):
    explanation.show_explained(TOLD)

    assert [each for each in explanation.findChildren(WrappedLink) if each.isVisible()] == []


def test_sources_are_folded(explanation, qtbot):
    source = ENGLISH.say("lesson.source", {"fact": "the GIL", "source": "PEP 703"})
    fold = next(
        each
        for each in explanation.findChildren(QPushButton)
        if each.text() == ENGLISH.say("lesson.show_sources")
    )
    assert source not in texts(explanation)
    qtbot.mouseClick(fold, Left)
    assert source in texts(explanation)
    qtbot.keyClick(fold, Qt.Key.Key_Space)
    assert source not in texts(explanation)


def test_another_one_takes_its_place_and_none_is_told(explanation):
    explanation.show_explained(msgspec.structs.replace(TOLD, headline="It was 158×."))
    read = texts(explanation)
    assert read[0] == "It was 158×."
    assert TOLD.headline not in read

    explanation.show_explained(None)
    assert texts(explanation) == [ENGLISH.say("lesson.cannot_tell")]

    explanation.show_explained(TOLD)
    assert texts(explanation)[0] == TOLD.headline


def test_only_what_holds_of_this_run_stands_beside_it(explanation):
    for beside in (("A quiet machine.",), (), ("Three", "new", "ones.")):
        explanation.show_explained(msgspec.structs.replace(TOLD, beside=beside))
        read = texts(explanation)
        place = read.index(TOLD.text) + 1
        end = read.index(ENGLISH.say("lesson.many_believe"))
        assert tuple(read[place:end]) == beside


def test_the_links_of_the_run_before_are_gone(explanation, qtbot):
    explanation.show_explained(TOLD, view="Lanes", to="simd", title="How wide is a lane?")

    with qtbot.waitSignal(explanation.experiment_wanted) as heard:
        qtbot.mouseClick(link(explanation, "How wide"), Left)
    assert heard.args == ["simd"]
    links = [each.accessibleName() for each in explanation.findChildren(WrappedLink)]
    assert links == [
        ENGLISH.say("lesson.look_at", {"view": "Lanes"}),
        "How wide is a lane? \N{RIGHTWARDS ARROW}",
    ]
    assert [
        each.text().replace("\n", " ") for each in explanation.findChildren(WrappedLink)
    ] == links


def test_a_paragraph_is_as_high_as_its_text(look, shown):
    paragraph = shown(Paragraph(look, "Short."))
    height = paragraph.heightForWidth(200)
    assert paragraph.heightForWidth(200) == height

    paragraph.tell("Long enough for more than one line of two hundred pixels.")
    higher = paragraph.heightForWidth(200)
    assert higher > height
    assert paragraph.heightForWidth(100) > higher

    font = paragraph.font()
    font.setPointSize(30)
    paragraph.setFont(font)
    assert paragraph.heightForWidth(200) > higher


def test_it_is_as_wide_as_its_column(explanation):
    assert explanation.minimumSizeHint().width() <= 345
    for each in explanation.findChildren(QFrame):
        if each.isVisible():
            assert each.mapTo(explanation, each.rect().topRight()).x() <= 345


@in_one(
    ("text", "numbers"),
    [
        ("takes 1.1 ns, then 171 ns.", ["1.1 ns", "171 ns"]),
        ("4 threads reach 12.5 GB/s in 3 of 4 runs", ["12.5 GB/s"]),
        ("It was 1.44× (not 2×).", ["1.44×", "2×"]),
        ("after 2.3 × 10⁹ adds, 30 %", ["2.3 × 10⁹", "30 %"]),
        ("Python 3.13 has 2 of them", []),
        ("1 < 2 & done", []),
    ],
)
def test_measured_numbers_are_set_apart(text, numbers):
    html = with_numbers(text)
    mono = [each.partition(">")[2] for each in html.split("</span>")[:-1]]
    apart = [
        each.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "") for each in mono
    ]

    assert [each.rpartition(">")[2] for each in apart] == numbers
    assert (MONO in html) == bool(numbers)
    read = QTextDocumentFragment.fromHtml(html).toPlainText()
    assert read.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "") == text


def test_a_guess_is_remembered_with_how_sure_it_was(look, shown):
    note = GuessNote(ENGLISH, look)
    note.show_guess("the <same>", 3)
    assert not note.isVisible()  # it would be a window of its own
    shown(note)
    assert texts(note) == [
        ENGLISH.say("lesson.you_predicted"),
        f"the <same> · {ENGLISH.say('lesson.sure_3')}",
    ]

    note.show_guess("4 s")
    assert texts(note)[1] == "4 s"
    note.show_guess("")
    assert texts(note) == []
