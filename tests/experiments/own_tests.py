"""The test module of an experiment."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

from experiments.core.declare import Experiment
from tests import ROOT


def own_tests(experiment: Experiment[Any]) -> ModuleType:
    """Return the test module of an experiment.

    Its `AGREED` names the values, and `AGREED_COLUMNS` the columns of tables, that reports,
    comparisons and outside checks rely on.
    """
    home, _, _ = experiment.params.__module__.rpartition(".")
    shelf, _, name = home.rpartition(".")
    module = f"tests.{shelf}.test_{name}"
    path = module.replace(".", "/") + ".py"
    if not (ROOT / path).exists():
        pytest.fail(f"{experiment.id} has no tests of its own; write {path}", pytrace=False)
    return importlib.import_module(module)
