"""Did the system give the huge pages that were asked for?"""

from __future__ import annotations

from collections.abc import Iterator

from experiments.core.declare import Note

GIVEN = 0.9  # of the memory: the rest is what does not fill a huge page


def huge_pages_told(on_huge_fraction: float | None) -> Iterator[Note]:
    """Yield what to say of memory of which this share lies on huge pages; None is not known."""
    if on_huge_fraction is not None:
        key = "huge_pages_given" if on_huge_fraction >= GIVEN else "huge_pages_refused"
        yield Note(key, {"on_huge_fraction": on_huge_fraction})
