"""The element with a report's data, found in its HTML."""

from __future__ import annotations

from html.parser import HTMLParser

BLOCK = "coreopsis-data"  # the id of the element with the data
HEAD_LETTERS = 2**16  # the data begins within these: the parser of Python is slow on bad HTML


class _Finder(HTMLParser):
    """Finds the first element with the data, and takes its text."""

    text = ""
    is_inside = is_done = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        is_data = found.get("id") == BLOCK and found.get("type") == "application/json"
        self.is_inside = tag == "script" and is_data and not self.is_done

    def handle_data(self, data: str) -> None:
        if self.is_inside:
            self.text = data

    def handle_endtag(self, tag: str) -> None:
        self.is_done = self.is_done or self.is_inside
        self.is_inside = False


def block(text: str) -> str:
    """Return the data of an HTML report, "" where it has none."""
    finder = _Finder()
    try:
        finder.feed(text[:HEAD_LETTERS])
        if finder.is_inside:  # within a script it only looks for the end
            finder.feed(text[HEAD_LETTERS : text.find("</script>", HEAD_LETTERS) + 9])
    except AssertionError:  # what the parser raises for some bad HTML
        return ""
    return finder.text if finder.is_done else ""
