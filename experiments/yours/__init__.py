"""The shelf of the user's own experiments: the folders that `use` or the environment names."""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from experiments.core.shelves import VARIABLE


def use(folders: Sequence[Path]) -> None:
    """Look for experiments in these folders, and in no others."""
    __path__[:] = [str(folder) for folder in folders]
    os.environ[VARIABLE] = os.pathsep.join(__path__)


class _Fresh(SourceFileLoader):
    """Compiles the source at each import: compiled files cannot tell two changes in one second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder:
    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(f"{__name__}."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Fresh(spec.loader.name, spec.loader.path)
        return spec


__path__ = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
sys.meta_path.insert(0, _Finder())
