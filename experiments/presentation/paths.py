"""Paths: ordered ways through the experiments, read from resources/paths.toml."""

from __future__ import annotations

import functools
import tomllib

from experiments.core.resources import read_resource
from machine.convert import convert
from machine.record import Record


class Path(Record, forbid_unknown_fields=True):
    """One path; words say its title under `paths.ID`."""

    id: str
    experiments: tuple[str, ...]

    def after(self, experiment: str) -> str:
        """Return the experiment that comes next, "" after the last one and for a stranger."""
        if experiment not in self.experiments:
            return ""
        rest = self.experiments[self.experiments.index(experiment) + 1 :]
        return rest[0] if rest else ""


class _File(Record, forbid_unknown_fields=True):
    """The content of paths.toml."""

    path: tuple[Path, ...]


@functools.cache
def paths() -> dict[str, Path]:
    """Return all paths by id, in their order."""
    found = convert(tomllib.loads(read_resource("paths.toml")), _File)
    return {path.id: path for path in found.path}
