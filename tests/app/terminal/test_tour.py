"""The summary at the end of the tour in the terminal."""

from __future__ import annotations

import msgspec

from app.context import Context, ExitCode
from app.report import report
from app.terminal import tour
from app.terminal.run import Ended
from experiments.core.judging.trust import Trust
from experiments.engine import messages

FINDING = messages.FindingSent(message="cannot_tell", values={}, limits=[])
ENDED = messages.Finished(outcome=messages.Outcome.COMPLETED, finding=FINDING)
BUSY = messages.Note(key="machine_was_busy", values={"others_fraction": 0.3})


def test_what_disturbed_a_result_is_told_beside_it_at_the_end(tmp_path, monkeypatch, capsys):
    def measure(context, experiment, *_args, **_options):
        notes = [BUSY] if experiment.id == "stream" else []
        trust = Trust.DISTURBED if notes else Trust.SOLID
        finding = msgspec.structs.replace(FINDING, trust=trust)
        ended = msgspec.structs.replace(ENDED, finding=finding)
        told = report(context.words, experiment, ended, tables={}, quick=True, notes=notes)
        return Ended(ExitCode.DONE, FINDING, told)

    monkeypatch.setattr(tour, "measure", measure)
    context = Context(data=tmp_path)

    assert tour.run(context) is ExitCode.DONE
    said = " ".join(capsys.readouterr().out.split("What was found")[1].split())
    because = context.words.say("because.machine_was_busy", BUSY.values)
    assert f"{because} {context.words.say('outcomes.was_disturbed')}" in said
    assert said.count(because) == 1
