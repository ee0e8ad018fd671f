"""A limit says once what the system of a run cannot do; no note repeats it."""

import pytest
from msgspec.structs import replace

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Note
from experiments.engine import measuring, messages
from machine.inspect import inspect
from machine.model import OperatingSystem


@pytest.mark.parametrize(("kind", "is_noted"), [("linux", True), ("macos", False)])
def test_a_thread_that_stays_on_no_core_is_noted_where_the_system_could_keep_it(
    kind, is_noted, monkeypatch
):
    there, told = replace(inspect(), os=OperatingSystem(kind=kind)), []
    monkeypatch.setattr(measuring, "inspect", lambda: there)
    monkeypatch.setattr(measuring, "limit_memory", lambda: None)  # this process is the tests'
    catalogue = Catalogue()
    experiment = catalogue.load("ilp")
    unmeasured = replace(experiment, measure=lambda *_: (each for each in [Note("not_pinned")]))
    monkeypatch.setattr(catalogue, "load", lambda _: unmeasured)
    command = messages.Measure(experiment="ilp", params={}, quick=True, run="a-run")

    measuring.measure(command, catalogue, told.append, lambda: False)

    notes = [each.key for each in told if isinstance(each, messages.Note)]
    assert ("not_pinned" in notes) is is_noted
