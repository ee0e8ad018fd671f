"""The libraries that the program needs and a bare Python lacks, and the sentence that names them.

Imports only the standard library at its top: it is asked before anything else is imported.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable

# By the name that Python imports, the name that pip installs.
TERMINAL = {
    "msgspec": "msgspec",
    "platformdirs": "platformdirs",
    "psutil": "psutil",
    "rich": "rich",
    "numpy": "numpy",
    "pynvml": "nvidia-ml-py",
}
GPU_CHECK = TERMINAL | {"numba": "numba", "pygments": "Pygments", "torch": "torch"}


def missing(libraries: Iterable[str] = TERMINAL) -> list[str]:
    """Return those of these imports that this Python does not find."""
    return [name for name in libraries if importlib.util.find_spec(name) is None]


def missing_sentence(libraries: dict[str, str] = TERMINAL) -> str | None:
    """Return the sentence that names what is missing and how pip installs it, None if all is there.

    `libraries` are the names that pip installs, by the names that Python imports.
    """
    packages = [libraries[name] for name in missing(libraries)]
    if not packages:
        return None
    from experiments.core import words

    command = f"{sys.executable} -m pip install {' '.join(packages)}"
    key, values = "libraries_missing", {"libraries": ", ".join(packages), "command": command}
    return words.load(words.ENGLISH).say(f"problems.{key}", values)
