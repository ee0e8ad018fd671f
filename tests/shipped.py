"""The recordings that come with experiments, as files to read."""

from __future__ import annotations

from pathlib import Path

from experiments.core.shelves import homes

SHIPPED: dict[str, Path] = {
    name: home.recording for name, home in homes().items() if home.recording is not None
}
