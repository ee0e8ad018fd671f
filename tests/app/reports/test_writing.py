"""The content of the files, and that they are whole."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import pytest

from app.reports import pictures
from app.reports.document import (
    Bullets,
    Code,
    Document,
    Facts,
    Heading,
    Paragraph,
    Plot,
    State,
    Table,
)
from app.reports.pictures import drawer
from app.reports.plain import COLUMNS
from app.reports.run_report import RunParts, run_report, source_of
from app.reports.writing import PREVIEW_LINES, SUFFIXES, as_text, preview, written
from app.runs.run_notes import RunNotes
from experiments.core.teaching.lesson_run import Guess
from experiments.engine import report_file
from experiments.engine.recording import read
from experiments.engine.report_file import BLOCK
from tests.app.recordings import CATALOGUE, ladder, threads
from tests.app.reports.made import ALL, NOTES, WORDS, report

TEXTS = tuple(kind for kind in SUFFIXES if kind != "pdf")
VOID = {"meta", "path", "rect", "line", "polyline", "ellipse", "circle", "use", "polygon"}
EVIL = "<script>alert(1)</script> </script> [x](http://e.vil) `a` *b* | c & d <!-- "


class Page(HTMLParser):
    """All tags and attributes of a page; open ones must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.said: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] not in ("script", "style"):
            self.said.append(data)

    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


@pytest.fixture
def document(qapp, tmp_path) -> Document:
    return report(tmp_path)


@pytest.fixture
def evil() -> Document:
    """Return a document of every kind of part, whose texts look like markup."""
    table = Table(
        head=("", EVIL),
        rows=((EVIL, "1"), ("Q" * 200, "2")),
        states=(State("✓", EVIL, "good"), State("✗", "off", "fault")),
        numbers=frozenset({1}),
        left_out=7,
    )
    return Document(
        title=EVIL,
        subtitle=EVIL,
        date="2026-05-04T03:02:01+00:00",
        parts=(
            Heading(EVIL),
            Paragraph(EVIL, "strong"),
            Code((EVIL, "```", "    " + EVIL)),
            Bullets((EVIL, "- 1. # no list")),
            Facts(((EVIL, EVIL),)),
            table,
            Plot(caption=EVIL, table=table),
        ),
        data={"x": EVIL},
    )


def test_a_report_of_a_run_tells_question_prediction_result_values_limits_and_note(document):
    said = Page(as_text(document, "html", WORDS)).text()

    question = WORDS.say("gil-threads.question")
    for text in (
        question,
        "On battery",
        WORDS.say("lesson.you_predicted"),
        WORDS.say("lesson.sure_2"),
        WORDS.say("page.cannot_tell"),
        WORDS.say("gil-threads.method"),
        WORDS.say("gil-threads.values.threads_speedup"),
        "Test CPU",
        "First <b>run</b> of & mine.",
    ):
        assert text in said
    verdict = next(part.text for part in document.parts if getattr(part, "role", "") == "strong")
    assert verdict in said


def test_the_page_is_whole_and_asks_nothing_of_the_network(document):
    html = as_text(document, "html", WORDS)

    page = Page(html)
    svgs = [attrs for tag, attrs in page.tags if tag == "svg"]
    drawn = [part for part in document.parts if isinstance(part, Plot)]
    assert len(svgs) == 2 * len(drawn) > 0
    assert {attrs["class"] for attrs in svgs} == {"light", "dark"}
    assert all(attrs["aria-label"] for attrs in svgs)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    inner = set(re.findall(r"url\(#([^)]+)\)", html))
    assert inner <= set(ids)
    loads = {"src", "href", "xlink:href", "srcset", "action", "data", "poster"}
    links = [value for _, attrs in page.tags for key, value in attrs.items() if key in loads]
    assert [link for link in links if not link.startswith("#")] == []
    assert "@import" not in html
    assert "url(http" not in html
    policy = next(attrs for tag, attrs in page.tags if "http-equiv" in attrs)
    assert policy["content"].startswith("default-src 'none'")
    assert not any(key.startswith("on") for _, attrs in page.tags for key in attrs)
    scripts = [attrs for tag, attrs in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": BLOCK}]


@pytest.mark.skipif(shutil.which("tidy") is None, reason="tidy is not installed")
def test_tidy_finds_no_error(document, evil, tmp_path):
    for each in (document, evil):
        path = tmp_path / "x.html"
        path.write_bytes(written(each, "html", WORDS))
        done = subprocess.run(["tidy", "-e", "-q", path], capture_output=True, text=True)
        assert done.returncode < 2, done.stderr


def test_the_rows_of_a_plot_stand_below_it_and_those_left_out_are_counted(qapp, tmp_path):
    document = report(tmp_path, ladder())

    page = Page(as_text(document, "html", WORDS))

    plot = next(part for part in document.parts if isinstance(part, Plot))
    count = len(plot.table.rows) + plot.table.left_out
    assert WORDS.say("report.rows_of_plot", {"count": count}) in page.text()
    assert plot.table.rows[0][0] == "4 KiB"
    if plot.table.left_out:
        left = WORDS.say("report.rows_left_out", {"count": plot.table.left_out})
        assert left in page.text()


def test_texts_are_no_markup(evil):
    page = Page(as_text(evil, "html", WORDS))
    scripts = [attrs for tag, attrs in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": BLOCK}]
    assert page.text().count(EVIL.strip()) >= 6

    markdown = as_text(evil, "markdown", WORDS)
    outside = re.sub(r"(`{3,})python\n.*?\n\1\n", "", markdown, flags=re.DOTALL)
    assert outside != markdown
    bare = re.sub(r"\\.", "", outside)
    assert "<script" not in bare
    assert "](" not in bare
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert len({re.sub(r"\\\|", "", row).count("|") for row in rows}) == 1


def test_code_keeps_its_lines_and_indents_in_every_format(qapp):
    lines = ("while a < b & c:", "    a <<= 1", "", "```")
    parts = (Paragraph("Before."), Code(lines), Paragraph("After."))
    document = Document(title="x", subtitle="", date="", parts=parts)

    html = as_text(document, "html", WORDS)
    assert "<pre>while a &lt; b &amp; c:\n    a &lt;&lt;= 1\n\n```</pre>" in html
    text = as_text(document, "text", WORDS)
    assert "\n    while a < b & c:\n        a <<= 1\n\n    ```\n" in text
    markdown = as_text(document, "markdown", WORDS)
    fence = "`" * 6  # more than any of its lines has
    assert "\n".join((f"{fence}python", *lines, fence)) in markdown
    data = json.loads(as_text(document, "json", WORDS))
    assert {"kind": "code", "lines": list(lines)} in data["parts"]
    assert b"JetBrainsMono" in written(document, "pdf", WORDS)


def test_numbers_and_lists_are_left_as_they_read_in_markdown():
    facts = Facts((("3.1 GHz", "-5"), ("1. first", "2) second")))
    document = Document(title="+ x", subtitle="", date="", parts=(facts, Bullets(("1", "= y"))))
    markdown = as_text(document, "markdown", WORDS)
    for line in ("# \\+ x", "- 3.1 GHz: \\-5", "- 1\\. first: 2\\) second", "- 1", "- \\= y"):
        assert line in markdown.splitlines()


def test_no_formula_and_no_entity_is_markdown_either():
    document = Document(title="$x$ &lt;b&gt;", subtitle="a", date="", parts=(Bullets(("$y$",)),))
    lines = as_text(document, "markdown", WORDS).splitlines()
    assert lines[0] == r"# \$x\$ \&lt;b\&gt;"
    assert r"- \$y\$" in lines


def test_text_has_80_columns_and_loses_nothing(document, evil):
    for each in (document, evil):
        text = as_text(each, "text", WORDS)
        assert max(map(len, text.splitlines())) <= COLUMNS
    text = re.sub(r"\s", "", as_text(evil, "text", WORDS))
    assert text.count("Q") == 400  # in a table, and in that of a plot
    assert "✓" in text


def test_html_and_json_open_again_as_the_run_that_they_tell_of(document, tmp_path):
    original = read(tmp_path / "run.coreopsis.jsonl")
    for kind in ("html", "json"):
        path = tmp_path / f"report{SUFFIXES[kind]}"
        path.write_bytes(written(document, kind, WORDS))

        again = read(path)

        assert again == original
        assert again.notes == ()  # its checksum holds
        notes = json.loads(report_file.carried_by(path).notes)
        assert notes["note"] == NOTES.note


def test_json_tells_the_words_too(document):
    data = json.loads(as_text(document, "json", WORDS))
    assert data["format"] == "coreopsis.report"
    assert data["title"] == WORDS.say("gil-threads.question")
    kinds = [part["kind"] for part in data["parts"]]
    assert {"heading", "paragraph", "facts", "table", "plot"} <= set(kinds)


def test_a_pdf_has_pages_fonts_and_words_that_are_found(document, tmp_path):
    data = written(document, "pdf", WORDS)

    assert data.startswith(b"%PDF-")
    assert b"Inter" in data
    if shutil.which("pdftotext") is None:
        pytest.skip("poppler is not installed")
    (tmp_path / "x.pdf").write_bytes(data)
    command = ["pdftotext", "-layout", str(tmp_path / "x.pdf"), "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    said = " ".join(said.split())
    assert WORDS.say("report.page", {"number": 1, "count": data.count(b"/Type /Page\n")}) in said
    assert "2026-05-04 03:02:01" in said
    assert NOTES.note.splitlines()[0] in said
    plot = next(part for part in document.parts if isinstance(part, Plot) and part.table)
    shown = plot.picture.said.partition(": ")[2].partition(".")[0]  # such as "320 ms"
    assert re.search(r"\d", shown)
    assert shown in said


@pytest.mark.parametrize("kind", ["pdf", "html"])
def test_it_is_written_by_another_thread_without_a_word_of_qt(document, qtlog, kind):
    with ThreadPoolExecutor(max_workers=1) as thread:
        data = thread.submit(written, document, kind, WORDS).result()
    assert len(data) > 10_000
    assert [record.message for record in qtlog.records] == []


def test_no_heading_ends_a_page(qapp, tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("poppler is not installed")
    document = report(tmp_path, threads())
    heads = {part.text for part in document.parts if isinstance(part, Heading)}
    heads |= {part.caption for part in document.parts if isinstance(part, Plot)}
    (tmp_path / "x.pdf").write_bytes(written(document, "pdf", WORDS))
    command = ["pdftotext", "-layout", str(tmp_path / "x.pdf"), "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pages = [page.strip().splitlines() for page in text.split("\f") if page.strip()]
    assert len(pages) > 1
    for lines in pages:
        body = [line.strip() for line in lines if line.strip()][:-1]  # without its number
        assert body[-1] not in heads


def test_a_motion_is_three_stills_and_its_sentences_below_the_explanation(qapp, tmp_path):
    path = CATALOGUE.recording("cache-ladder")
    guess = Guess(kind="sketch", at=(1e-9, 4e-9, 1e-8, 1e-7, 1e-7))
    source = dataclasses.replace(source_of(path, CATALOGUE), notes=RunNotes(guess=guess))
    lesson = source.lesson
    (run,) = [RunParts(WORDS, source, ALL, None).lesson_run()]
    texts, motion = lesson.motion_texts(run), lesson.motion(run)

    for kind in TEXTS:
        told = as_text(run_report(source, WORDS, ALL, drawer(WORDS)), kind, WORDS)
        said = " ".join(told.split())
        assert texts["title"] in said
        assert all(texts[say.text] in said for say in motion.says), kind
        unguessed = dataclasses.replace(source, notes=RunNotes())
        without = as_text(run_report(unguessed, WORDS, ALL, drawer(WORDS)), kind, WORDS)
        assert texts["title"] not in " ".join(without.split())  # nothing is explained there
    page = Page(as_text(run_report(source, WORDS, ALL, drawer(WORDS)), "html", WORDS))
    (still,) = [attrs for tag, attrs in page.tags
                if tag == "svg" and attrs.get("aria-label") == lesson.words.diagram["about"]
                and attrs["class"] == "light"]  # fmt: skip
    width, height = still["viewbox"].split()[2:]
    assert float(height) > 0.5 * float(width)
    assert written(run_report(source, WORDS, ALL, drawer(WORDS)), "pdf", WORDS)


def test_without_qt_the_plots_are_left_out_and_that_has_a_reason(tmp_path, monkeypatch):
    from app.reports.privacy import Include
    from app.reports.run_report import run_report, source_of
    from tests.app.recordings import CATALOGUE

    path = threads().write(tmp_path / "run.coreopsis.jsonl")
    monkeypatch.setitem(sys.modules, "PySide6.QtGui", None)
    _, problem = pictures.qt_or_problem()
    assert problem is not None

    document = run_report(source_of(path, CATALOGUE), WORDS, Include(), None)

    html = as_text(document, "html", WORDS)
    assert "<svg" not in html
    assert "<table>" in html


def test_the_preview_speaks_of_plots_only_where_there_are_any(document):
    said = WORDS.say("report.and_plots")
    parts = [part for part in document.parts if not isinstance(part, Plot)]
    bare = dataclasses.replace(document, parts=parts)
    assert said in preview(document, "pdf", WORDS)
    assert said not in preview(bare, "pdf", WORDS)


@pytest.mark.parametrize("kind", SUFFIXES)
def test_the_preview_shows_all_words_and_cuts_what_is_long(document, kind):
    shown = preview(document, kind, WORDS)

    assert WORDS.say("gil-threads.question") in shown.replace("\\", "")
    lines = shown.splitlines()
    assert len(lines) <= PREVIEW_LINES + 1
    assert ('"type":"started"' in shown) == (kind in ("html", "json"))


def test_html_and_text_are_written_where_qt_cannot_be_imported(tmp_path):
    path = threads().write(tmp_path / "run.coreopsis.jsonl")
    code = f"""
import sys
sys.modules["PySide6"] = None
from pathlib import Path
from experiments.core import words
from experiments.core.catalogue import Catalogue
from app.reports.privacy import Include
from app.reports.run_report import run_report, source_of
from app.reports.writing import as_text
source = source_of(Path({str(path)!r}), Catalogue())
document = run_report(source, words.load(), Include(), None)
for kind in {TEXTS!r}:
    assert "gil-threads" in as_text(document, kind, words.load()) or kind in ("text", "markdown")
assert not [name for name in sys.modules if name.startswith(("PySide6.", "torch", "numba"))]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
