"""The course of a checkup, with an engine that measures made-up machines in no time."""

from __future__ import annotations

import itertools
from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace

from experiments.checkup import run_checkup
from experiments.checkup.result import Word
from experiments.checkup.rules import Stage
from experiments.checkup.run_checkup import Began, Checkup, Ended, Found, Moved, Planned
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.memory.roofline.arms import Peak, Rate
from machine.system.asking import Stopped
from tests.experiments.checkup.made import ROUNDS, baseline, server, workstation

ROOFLINE = "roofline"


class FakeEngine:
    """Hands out runs whose rows `rows_of(experiment, device)` makes; the rest fails."""

    def __init__(self, rows_of):
        self._rows_of = rows_of
        self.started = []
        self.is_closed = False

    def start(self, experiment, params, *, quick):
        device = params.get("device", "")
        self.started.append((experiment.id, device))
        return FakeRun(experiment, self._rows_of(experiment.id, device))

    def close(self):
        self.is_closed = True


class FakeRun:
    def __init__(self, experiment, rows):
        self._experiment, self._rows = experiment, rows
        self._is_stopped = False

    def stop(self):
        self._is_stopped = True

    def events(self):
        yield messages.Progress(fraction=0.5)
        names = {kind: name for name, kind in self._experiment.tables.items()}
        for n, row in enumerate(self._rows or ()):
            plain = msgspec.to_builtins(row)
            yield messages.Row(n=n, t_s=0.0, table=names[type(row)], row=plain)
        outcome = messages.Outcome.COMPLETED if self._rows else messages.Outcome.FAILED
        if self._is_stopped:
            outcome = messages.Outcome.STOPPED
        yield messages.Finished(outcome=outcome)


@pytest.fixture(autouse=True)
def no_looking(monkeypatch):
    """Ask neither this machine's driver nor PyTorch, and do not wait a second."""

    def stopped(**_):
        raise Stopped

    monkeypatch.setattr(run_checkup, "gather", stopped)
    monkeypatch.setattr(run_checkup, "look_around", lambda _here, **_: run_checkup.Surroundings())


@pytest.fixture
def unwatched(monkeypatch):
    """Start no worker that watches: for checkups of which only the rows are looked at."""

    class Unwatched:
        def take(self):
            return []

        def close(self): ...

    monkeypatch.setattr(run_checkup, "_Watching", Unwatched)


def roof(share):
    return [
        row
        for turn, noise in enumerate(ROUNDS)
        for row in (
            Rate(kernel="copy", repeat=turn, bytes_per_s=2.5e12 * noise * share),
            Peak(precision="fp16", cores=1, repeat=turn, flop_per_s=7e14 * noise * share),
        )
    ]


def carried(checkup):
    events = list(checkup.events())
    assert isinstance(events[-1], Ended)
    return events, events[-1].result


def of_gpus(slow, share):
    return FakeEngine(
        lambda experiment, device: (
            roof(share if device == slow else 1.0) if experiment == ROOFLINE else None
        )
    )


def test_a_slow_gpu_found_at_the_end_is_measured_again_before_it_goes_red():
    """The first of eight is known to be slow only when others of its like were measured."""
    engine = of_gpus("cuda:0", 0.6)
    events, result = carried(Checkup("quick", machine=server, engine=engine))
    counted = Counter(device for name, device in engine.started if name == ROOFLINE)
    assert counted["cuda:0"] == 2
    assert set(counted.values()) == {1, 2}
    assert Began("confirming", ROOFLINE, "cuda:0") in events
    moved = [event for event in events if isinstance(event, Moved)]
    assert all(0.0 <= each.fraction <= 1.0 and each.left_s >= 0.0 for each in moved)
    slow = {row.part: row for row in result.rows if row.rule == "gpu-memory"}
    assert slow["gpu0"].word is Word.PROBLEM
    assert {row.word for part, row in slow.items() if part != "gpu0"} == {Word.FINE}
    assert engine.is_closed


def test_a_slow_first_run_that_is_not_confirmed_is_no_problem():
    turns = itertools.count()
    engine = FakeEngine(
        lambda experiment, device: (
            roof(0.6 if device == "cuda:0" and next(turns) == 0 else 1.0)
            if experiment == ROOFLINE
            else None
        )
    )
    _, result = carried(Checkup("quick", machine=server, engine=engine))
    row = next(r for r in result.rows if (r.rule, r.part) == ("gpu-memory", "gpu0"))
    assert row.word is not Word.PROBLEM
    assert row.runs > 1


def test_what_several_rules_need_is_measured_once():
    engine = of_gpus("", 1.0)
    events, result = carried(Checkup("quick", machine=workstation, engine=engine))
    planned = next(event for event in events if isinstance(event, Planned))
    of_roof = [rule.id for rule in planned.rules if rule.measure == ROOFLINE]
    assert len(of_roof) > 1
    assert engine.started.count((ROOFLINE, "cuda:0")) == 1
    assert {row.rule for row in result.rows} == {rule.id for rule in planned.rules}


def test_a_measurement_that_fails_is_no_verdict_and_the_others_go_on():
    _, result = carried(Checkup("quick", machine=workstation, engine=of_gpus("", 1.0)))
    words = {row.rule: row.word for row in result.rows}
    assert words["memory-bandwidth"] is Word.UNCHECKED
    assert words["gpu-memory"] is Word.FINE
    failed = {m.experiment: m.outcome for m in result.measurements}
    assert failed["stream"] == "failed"


def test_stop_ends_it_and_what_was_not_reached_is_said():
    engine = of_gpus("", 1.0)
    checkup = Checkup("check", machine=workstation, engine=engine)
    found = []
    for event in checkup.events():
        if isinstance(event, Began) and event.doing == "measuring":
            checkup.stop()
        if isinstance(event, Ended):
            found.append(event.result)
    (result,) = found
    assert result.outcome == "stopped"
    assert len(engine.started) == 1
    measured = [row for row in result.rows if row.stage is Stage.STAYS]
    assert measured
    assert {row.word for row in measured} <= {Word.UNCHECKED, Word.ABSENT}


def test_a_machine_known_to_be_good_is_what_is_expected(unwatched):
    good = carried(Checkup("quick", machine=server, engine=of_gpus("", 1.0)))[1]
    slower = FakeEngine(lambda experiment, _: roof(0.6) if experiment == ROOFLINE else None)
    _, result = carried(Checkup("quick", machine=server, engine=slower, references=[good]))
    row = next(r for r in result.rows if (r.rule, r.part) == ("gpu-memory", "gpu3"))
    assert row.word is Word.PROBLEM
    assert {each.source for each in row.expected} == {"ceiling", "consistency", "reference"}


@pytest.mark.parametrize("kind", ["baseline", "references"])
def test_what_another_version_of_a_rule_found_is_no_expectation(kind, unwatched):
    found = carried(Checkup("quick", machine=server, engine=of_gpus("", 1.0)))[1]
    older = replace(found, rows=tuple(replace(r, version=r.version + 1) for r in found.rows))
    always = {"ceiling", "consistency"}
    for earlier, sources in ((found, always | {kind.removesuffix("s")}), (older, always)):
        given = {"baseline": earlier} if kind == "baseline" else {"references": [earlier]}
        _, result = carried(Checkup("quick", machine=server, engine=of_gpus("", 1.0), **given))
        row = next(r for r in result.rows if (r.rule, r.part) == ("gpu-memory", "gpu0"))
        assert {each.source for each in row.expected} == sources


def test_one_gpu_known_to_be_good_serves_all_of_its_model(unwatched):
    """Of the reference's one GPU nothing was expected; here all eight are slow."""

    def alone():
        here = server()
        return replace(here, gpus=here.gpus[:1])

    good = carried(Checkup("quick", machine=alone, engine=of_gpus("", 1.0)))[1]
    slower = FakeEngine(lambda experiment, _: roof(0.6) if experiment == ROOFLINE else None)
    _, result = carried(Checkup("quick", machine=server, engine=slower, references=[good]))
    slow = [r for r in result.rows if r.rule == "gpu-memory"]
    assert len(slow) == 8
    assert {row.word for row in slow} == {Word.PROBLEM}


def test_a_reference_of_other_parts_says_nothing(unwatched):
    good = carried(Checkup("quick", machine=server, engine=of_gpus("", 1.0)))[1]
    _, result = carried(
        Checkup("quick", machine=workstation, engine=of_gpus("", 1.0), references=[good])
    )
    assert not [r for r in result.rows if any(e.source == "reference" for e in r.expected)]


def test_the_baseline_is_named():
    earlier = baseline()
    _, result = carried(
        Checkup("quick", machine=workstation, engine=of_gpus("", 1.0), baseline=earlier)
    )
    assert result.baseline == earlier.id


def test_rows_come_as_they_are_found():
    events, _ = carried(Checkup("quick", machine=workstation, engine=of_gpus("", 1.0)))
    first = next(n for n, e in enumerate(events) if isinstance(e, Found))
    measuring = next(n for n, e in enumerate(events) if isinstance(e, Began) and e.experiment)
    assert first < measuring


def test_a_machine_that_cannot_be_read_is_one_sentence():
    def broken():
        raise UserError("machine_not_read", reason="x")

    with pytest.raises(UserError, match="machine_not_read"):
        list(Checkup("quick", machine=broken, engine=of_gpus("", 1.0)).events())
