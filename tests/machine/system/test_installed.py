from __future__ import annotations

import os
from importlib import metadata

import pytest

from machine.system.installed import version_of


def test_the_version_is_the_one_that_python_itself_tells():
    for library in ("numpy", "msgspec", "pytest-qt"):
        assert version_of(library) == metadata.version(library)


@pytest.mark.parametrize("name", ["my_lib-1.2.3+cpu.dist-info", "my_lib-1.2.3+cpu-py3.11.egg-info"])
def test_what_comes_and_goes_while_the_program_runs_is_seen(tmp_path, monkeypatch, name):
    def seen_at(second: int) -> str | None:
        os.utime(tmp_path, (second, second))  # a test is quicker than a tick of the file system
        return version_of("my-lib")

    monkeypatch.syspath_prepend(tmp_path)
    assert seen_at(1) is None
    (tmp_path / name).mkdir()
    assert seen_at(2) == "1.2.3+cpu"
    assert version_of("my") is None
    (tmp_path / name).rmdir()
    assert seen_at(3) is None
