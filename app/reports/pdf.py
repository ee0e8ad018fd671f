"""A report as a PDF on A4: words by QTextDocument, plots painted straight onto the page.

Both stay text and vectors; Inter is embedded. LIMIT: digits of equal width (`tnum`) cannot be
searched or copied in a PDF, so that no font here has them.
"""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QObject, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from app.reports.document import Bullets, Document, Facts, Heading, Paragraph, Part, Plot, Table
from app.reports.plain import MOST_ROWS, foot
from experiments.core.words import Words
from widgets.style import theme as themes

MARGINS_MM = QMarginsF(18, 16, 18, 16)
RESOLUTION, POINTS_AN_INCH = 600, 96  # dots of the paper; a pixel is as large as in CSS
FOOT_PX, TEXT_PX, NOTE_PX, HEAD_PX, TITLE_PX = 28, 13, 11, 16, 24
PLOT = QTextFormat.ObjectTypes.UserObject + 1
PLACE = 1  # the property of the text that says which plot stands there


def to_pdf(document: Document, words: Words) -> bytes:
    """Return the whole file; only from a thread with an application of Qt."""
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
    plots = [part for part in document.parts if isinstance(part, Plot) and part.picture]
    text, painted = QTextDocument(), _Plots(plots, page.width())
    text.documentLayout().registerHandler(PLOT, painted)
    text.setDefaultFont(_font(TEXT_PX))
    text.setDocumentMargin(0)
    text.setDefaultStyleSheet(_style())
    text.setPageSize(page)
    cursor = QTextCursor(text)
    cursor.insertHtml(_head(document))
    places = iter(range(len(plots)))
    for part in document.parts:
        _insert(cursor, part, places, words)
    cursor.insertHtml(f"<p class='soft'><br>{_safe(foot(document, words))}</p>")
    with QPainter(writer) as painter:
        painter.scale(scale, scale)
        count = text.pageCount()
        for number in range(count):
            if number:
                writer.newPage()
            painter.save()
            painter.translate(0, -number * page.height())
            text.drawContents(painter, QRectF(QPointF(0, number * page.height()), page))
            painter.restore()
            _number(painter, words, number + 1, count, page)
    return bytes(buffer.data().data())


class _Plots(QPyTextObject):
    """Paints the plots where the text has left room for them."""

    def __init__(self, plots: list[Plot], width: float) -> None:
        super().__init__()
        self._plots, self._width = plots, width

    def intrinsicSize(self, _document: QTextDocument, _at: int, format_: QTextFormat) -> QSizeF:
        """Return the room that a plot needs."""
        picture = self._plots[format_.property(PLACE)].picture
        assert picture is not None
        return QSizeF(self._width - 1, (self._width - 1) * picture.height_over_width)

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF,
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


def _insert(cursor: QTextCursor, part: Part, places: object, words: Words) -> None:
    raise NotImplementedError


def _number(painter: QPainter, words: Words, number: int, count: int, page: QSizeF) -> None:
    painter.setFont(_font(NOTE_PX))
    painter.setPen(themes.load("light").soft)
    said = words.say("report.page", {"number": number, "count": count})
    room = QRectF(0, page.height(), page.width(), FOOT_PX)
    painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, said)


def _font(px: int) -> QFont:
    font = QFont(themes.SANS)
    font.setPixelSize(px)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
