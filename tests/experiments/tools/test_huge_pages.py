from __future__ import annotations

from itertools import takewhile

import pytest

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.memory.banks_mlp import experiment as banks_mlp
from experiments.memory.burst_random import experiment as burst_random
from experiments.memory.cache_ladder import experiment as cache_ladder
from experiments.memory.stream import experiment as stream
from experiments.tools.huge_pages import huge_pages_told
from machine.inspect import inspect

MIB = 2**20
SMALL = {
    banks_mlp: {"memory_bytes": MIB, "rounds": 1},
    burst_random: {"largest_bytes": 4 * MIB, "rounds": 1},
    cache_ladder: {"largest_bytes": 4 * MIB, "rounds": 1},
    stream: {"array_bytes": 2 * MIB, "threads": 1, "rounds": 1, "loaded": False},
}


def test_what_the_system_gave_is_told():
    (given,) = huge_pages_told(0.98)
    (refused,) = huge_pages_told(0.25)

    assert given == Note("huge_pages_given", {"on_huge_fraction": 0.98})
    assert refused == Note("huge_pages_refused", {"on_huge_fraction": 0.25})
    assert list(huge_pages_told(None)) == []


@pytest.mark.parametrize("module", SMALL, ids=lambda module: module.EXPERIMENT.id)
@pytest.mark.parametrize(("asked", "told"), [(True, ["huge_pages_refused"]), (False, [])])
def test_a_run_says_how_much_of_it_the_system_gave(module, asked, told, monkeypatch):
    monkeypatch.setattr(module, "huge_pages_told", lambda _fraction: huge_pages_told(0.1))
    params = module.Params(**SMALL[module], huge_pages=asked)

    begun = takewhile(lambda item: isinstance(item, Note), module.measure(params, Bench(inspect())))

    assert [note.key for note in begun if "huge" in note.key] == told
