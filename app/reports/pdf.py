"""A report as a PDF on A4: words by QTextDocument, plots painted straight onto the page.

Both have the colours of paper, whatever the window shows. Both stay text and vectors; Inter is
embedded. LIMIT: substituted letters of Inter, such as digits of equal width, cannot be searched or
copied. No font here uses them.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from html import escape

from PySide6.QtCore import (
    QBuffer,
    QEventLoop,
    QIODevice,
    QMarginsF,
    QObject,
    QPointF,
    QRect,
    QRectF,
    QSizeF,
    Qt,
)
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPyTextObject,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from app.reports.document import (
    PAPER,
    Bullets,
    Code,
    Document,
    Facts,
    Heading,
    Paragraph,
    Part,
    Plot,
    Ruled,
    Table,
)
from app.reports.plain import MOST_ROWS, foot
from experiments.core.words import Words
from widgets.style import theme as themes

MARGINS_MM = QMarginsF(18, 16, 18, 16)
RESOLUTION, POINTS_AN_INCH = 600, 96  # dots of the paper; a pixel is as large as in CSS
FOOT_PX, TEXT_PX, NOTE_PX, HEAD_PX, TITLE_PX = 28, 13, 11, 16, 24
PLOT = QTextFormat.ObjectTypes.UserObject + 1
HOLE = "\ue000"  # stands where a plot comes; no text of ours has such a letter
_RULED = "<p class='ruled'>&nbsp;</p><hr>"
PLACE = 1  # the property of the text that says which plot stands there


def to_pdf(document: Document, words: Words) -> bytes:
    """Return the whole file. There must be an application of Qt; the thread may be any."""
    loop = QEventLoop()  # held: a layout starts timers, which a thread without one refuses
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(RESOLUTION)
    writer.setPageLayout(
        QPageLayout(
            QPageSize(QPageSize.PageSizeId.A4),
            QPageLayout.Orientation.Portrait,
            MARGINS_MM,
            QPageLayout.Unit.Millimeter,
        )
    )
    writer.setTitle(document.title)
    writer.setCreator("Coreopsis")
    scale = RESOLUTION / POINTS_AN_INCH
    page = QSizeF(writer.width() / scale, writer.height() / scale - FOOT_PX)
    text = _laid_out(document, words, page)
    colours = QAbstractTextDocumentLayout.PaintContext()
    colours.palette = themes.palette(themes.load(PAPER))  # Qt's own is that of the window
    with QPainter(writer) as painter:
        painter.scale(scale, scale)
        count = text.pageCount()
        for number in range(count):
            if number:
                writer.newPage()
            painter.save()
            painter.translate(0, -number * page.height())
            seen = QRectF(QPointF(0, number * page.height()), page)
            painter.setClipRect(seen)
            colours.clip = seen
            text.documentLayout().draw(painter, colours)
            painter.restore()
            _number(painter, words, number + 1, count, page)
    del loop
    return bytes(buffer.data().data())


class _Plots(QPyTextObject):
    """Paints the plots where the text has left room for them."""

    def __init__(self, plots: list[Plot], width: float, parent: QObject) -> None:
        super().__init__(parent)
        self._plots, self._width = plots, width

    def intrinsicSize(self, _document: QTextDocument, _at: int, format_: QTextFormat) -> QSizeF:
        """Return the room that a plot needs."""
        picture = self._plots[format_.property(PLACE)].picture
        assert picture is not None
        return QSizeF(self._width - 1, (self._width - 1) * picture.height_over_width)

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        _document: QTextDocument,
        _at: int,
        format_: QTextFormat,
    ) -> None:
        """Paint a plot."""
        picture = self._plots[format_.property(PLACE)].picture
        assert picture is not None
        painter.save()
        painter.translate(rect.topLeft())
        picture.paint(painter, rect.width())
        painter.restore()


def _laid_out(document: Document, words: Words, page: QSizeF) -> QTextDocument:
    """Return the text on pages, with no heading at the end of one."""
    breaks: set[int] = set()  # headings that begin a page
    while True:
        # WORKAROUND: anew each time, because Qt 6.11 lays out wrongly what changes afterwards.
        text = _filled(document, words, page, breaks)
        found = _last_on_page(text, page.height())
        if found is None or found in breaks:
            return text
        breaks.add(found)


def _filled(
    document: Document, words: Words, page: QSizeF, breaks: Collection[int]
) -> QTextDocument:
    """Return a text with every part, with room for the plots."""
    plots = [part for part in document.parts if isinstance(part, Plot) and part.picture]
    text = QTextDocument()
    text.documentLayout().registerHandler(PLOT, _Plots(plots, page.width(), text))
    text.setDefaultFont(_font(TEXT_PX))
    text.setDocumentMargin(0)
    text.setDefaultStyleSheet(_style())
    date = document.date[:19].replace("T", " ")
    html = [f"<h1>{_safe(document.title)}</h1>"]
    html.append(_paragraph(f"{document.subtitle} · {date}", "soft"))
    headings = itertools.count()
    for part in document.parts:
        begins = isinstance(part, Heading | Plot) and next(headings) in breaks
        html.append(_html(part, words, " style='page-break-before: always'" * begins))
    text.setHtml("".join([*html, _paragraph(foot(document, words), "soft foot")]))
    cursor = QTextCursor(text)
    for number in range(len(plots)):
        cursor = text.find(HOLE, cursor)
        room = QTextCharFormat()
        room.setObjectType(PLOT)
        room.setProperty(PLACE, number)
        cursor.insertText("\N{OBJECT REPLACEMENT CHARACTER}", room)
    text.setPageSize(page)
    return text


def _last_on_page(text: QTextDocument, page_px: float) -> int | None:
    """Return the first heading that what it is the heading of does not follow on its page."""
    text.pageCount()  # lays all of it out
    layout = text.documentLayout()

    def page(block: QTextBlock) -> int:
        top, lines = layout.blockBoundingRect(block).top(), block.layout()
        below = lines.lineAt(0).rect().bottom() if lines.lineCount() else 0.0
        return int((top + below) // page_px)

    count, first = 0, None  # headings so far; the first of those that follow each other
    block = text.begin().next()  # after the title
    while block.isValid():
        is_heading = block.blockFormat().headingLevel() > 1
        if first is not None and page(block.previous()) != page(block):
            return first
        if is_heading:
            first = count if first is None else first
            count += 1
        else:
            first = None
        block = block.next()
    return None


def _html(part: Part, words: Words, style: str) -> str:
    """Return a part as the HTML that QTextDocument knows; a heading may have a style."""
    match part:
        case Heading(text):
            return f"<h2{style}>{_safe(text)}</h2>"
        case Paragraph(text, role):
            return _paragraph(text, role)
        case Code(lines):
            return f"<pre>{escape(chr(10).join(lines).replace(HOLE, ''))}</pre>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_safe(item)}</li>' for item in items)}</ul>"
        case Ruled(count):
            return _RULED * count
        case Facts(pairs):
            rows = [f"<tr><td class='soft'>{_safe(name)}</td><td>{_safe(value)}</td></tr>"
                    for name, value in pairs]  # fmt: skip
            return f"<table cellpadding='3' cellspacing='0'>{''.join(rows)}</table>"
        case Table():
            return _table(part, words)
        case Plot(caption=caption, table=table):
            html = f"<h3{style}>{_safe(caption)}</h3>" + f"<p>{HOLE}</p>" * (
                part.picture is not None
            )
            is_short = table is not None and len(table.rows) + table.left_out <= MOST_ROWS
            return html + _table(table, words) if table is not None and is_short else html


def _table(table: Table, words: Words) -> str:
    theme = themes.load(PAPER)
    rows = []
    for at, row in enumerate(table.rows):
        cells = [_cell("td", cell, place in table.numbers) for place, cell in enumerate(row)]
        if table.states:
            state = table.states[at]
            said = _safe(f"{state.sign} {state.word}")
            cells.insert(0, f"<td style='color: {getattr(theme, state.colour)}'>{said}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = [_cell("th", name, place in table.numbers) for place, name in enumerate(table.head)]
    heads = ["<th></th>", *heads] if table.states else heads
    head = f"<thead><tr>{''.join(heads)}</tr></thead>"
    html = f"<table width='100%' cellpadding='4' cellspacing='0'>{head}{''.join(rows)}</table>"
    if table.left_out:
        html += _paragraph(words.say("report.rows_left_out", {"count": table.left_out}), "soft")
    return html


def _cell(tag: str, text: str, is_number: bool) -> str:
    align = "right" if is_number else "left"
    # WORKAROUND: behind a table that ends in an empty cell, Qt 6.11 drops the margin of a heading.
    return f"<{tag} align='{align}'>{_safe(text) or '&nbsp;'}</{tag}>"


def _paragraph(text: str, role: str) -> str:
    return f"<p class='{role}'>{_safe(text)}</p>"


def _safe(text: str) -> str:
    return escape(text.replace(HOLE, "")).replace("\n", "<br>")


def _style() -> str:
    """Return the style of the words, in the colours of paper."""
    theme = themes.load(PAPER)
    return f"""
        p, td, li {{ color: {theme.ink}; margin-top: 4px; margin-bottom: 4px; }}
        table {{ margin-top: 6px; margin-bottom: 6px; }}
        pre {{ font-family: '{themes.MONO}'; font-size: {NOTE_PX}px; color: {theme.ink};
               margin-top: 6px; margin-bottom: 6px; margin-left: 12px; }}
        ul {{ margin-left: -20px; }}
        h1 {{ font-size: {TITLE_PX}px; font-weight: 700; }}
        h2 {{ font-size: {HEAD_PX}px; font-weight: 700; margin-top: 22px; margin-bottom: 4px; }}
        h3 {{ font-size: {TEXT_PX}px; font-weight: 600; margin-top: 14px; margin-bottom: 2px; }}
        .strong {{ font-size: {HEAD_PX}px; font-weight: 600; }}
        .soft {{ color: {theme.soft}; font-size: {NOTE_PX}px; }}
        .ruled {{ margin-top: 8px; margin-bottom: 0px; }}
        .foot {{ margin-top: 20px; }}
        td, th {{ font-size: {NOTE_PX}px; }}
        th {{ color: {theme.soft}; font-weight: 500; }}
    """


def _number(painter: QPainter, words: Words, number: int, count: int, page: QSizeF) -> None:
    painter.setFont(_font(NOTE_PX))
    painter.setPen(themes.load(PAPER).soft)
    said = words.say("report.page", {"number": number, "count": count})
    room = QRectF(0, page.height(), page.width(), FOOT_PX)
    painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, said)


def _font(px: int) -> QFont:
    font = QFont(themes.SANS)
    font.setPixelSize(px)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setFeature(QFont.Tag("calt"), 0)
    return font
