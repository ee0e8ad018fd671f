"""A document has the colours of paper, whatever the window shows."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QColor

from app.lecture.handout import handout
from app.reports.checkup_report import checkup_report
from app.reports.document import PAPER, Bullets, Document, Facts, Heading, Paragraph, Plot, Table
from app.reports.pictures import LOW_PX, drawer
from app.reports.privacy import Include
from app.reports.writing import written
from tests.app.checkup.made import checkup
from tests.app.lecture.made import held
from tests.app.recordings import ladder, threads
from tests.app.reports.made import WORDS, report
from tests.app.reports.pdf_texts import coloured_texts, painted
from tests.app.reports.test_checkup_report import ticket
from widgets.style import theme as themes
from widgets.style.theme import MODES, contrast

READABLE = 4.5  # WCAG 2.1
DOCUMENTS = {
    "run": lambda folder: report(folder, threads()),
    "run of lines": lambda folder: report(folder, ladder()),
    "checkup": lambda _: checkup_report(WORDS, checkup(), Include()),
    "ticket": lambda _: checkup_report(WORDS, ticket(), Include(), None, drawer(WORDS, LOW_PX)),
    "handout": lambda folder: handout(WORDS, *held(folder), drawer(WORDS)),
}


@pytest.fixture(params=DOCUMENTS, scope="module")
def document(request, qapp, tmp_path_factory) -> Document:
    return DOCUMENTS[request.param](tmp_path_factory.mktemp("document"))


@pytest.fixture(scope="module")
def pdfs(qapp, document) -> dict[str, bytes]:
    """Return the document as it is written from a window of each mode."""
    made = {}
    for mode in MODES:
        themes.apply(qapp, themes.load(mode))
        made[mode] = written(document, "pdf", WORDS)
    return made


def words_of(document: Document) -> set[str]:
    """Return the words of titles, sentences and tables, without spaces."""
    texts = [document.title, document.subtitle]
    for part in document.parts:
        match part:
            case Heading(text) | Paragraph(text) | Plot(caption=text):
                texts.append(text)
            case Bullets(items):
                texts += items
            case Facts(pairs):
                texts += [text for pair in pairs for text in pair]
            case Table():
                texts += [*part.head, *(cell for row in part.rows for cell in row)]
    return {word for text in texts for word in text.split()}


@pytest.mark.parametrize("mode", MODES)
def test_every_text_of_a_pdf_can_be_read_on_white_paper(document, pdfs, mode):
    texts = coloured_texts(pdfs[mode])

    found = {word for text, _ in texts for word in text.split()}
    assert len(words_of(document) - found) <= 0.05 * len(found)  # all pages were read
    pale = [
        (text, colour) for text, colour in texts
        if contrast(QColor(colour), QColor("white")) < READABLE
    ]  # fmt: skip
    assert pale == []
    heads = {document.title.split()[0], *(part.text.split()[0] for part in document.parts
                                          if isinstance(part, Heading))}  # fmt: skip
    ink = themes.load(PAPER).ink.lower()
    for head in heads:
        assert ink in {colour for text, colour in texts if text.split()[:1] == [head]}


def test_pdf_and_html_are_the_same_from_a_dark_and_a_light_window(qapp, document, pdfs):
    made = []
    for mode in MODES:
        themes.apply(qapp, themes.load(mode))
        made.append((painted(pdfs[mode]), written(document, "html", WORDS)))

    (pages, html), (pages_of_dark, html_of_dark) = made
    assert pages_of_dark == pages
    assert html_of_dark == html


def test_the_plots_of_a_printed_page_are_those_for_paper(qapp, tmp_path):
    themes.apply(qapp, themes.load("dark"))

    page = written(report(tmp_path, threads()), "html", WORDS).decode()

    paper, dark = themes.load(PAPER), themes.load("dark")
    for mode, theme in (("light", paper), ("dark", dark)):
        drawn = re.findall(rf'<svg class="{mode}".*?</svg>', page, re.DOTALL)
        assert drawn
        assert all(theme.ink.lower() in each.lower() for each in drawn)
    style = page.partition("<style>")[2].partition("</style>")[0]
    outside_screen = re.sub(r"@media screen.*", "", style)
    assert "svg.dark { display: none; }" in outside_screen
    assert dark.ground not in outside_screen
