"""What the page of the checkup shows of one result, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from widgets.checkup.counts import Count
from widgets.checkup.row_data import RowData


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """`about` is the line above the title; `notes` are what may have disturbed the checks."""

    about: str = ""
    counts: Sequence[Count] = ()
    notes: Sequence[str] = ()
    rows: Sequence[RowData] = ()
    absent: Sequence[RowData] = ()
    trace: Sequence[Mapping[str, Any]] = ()
