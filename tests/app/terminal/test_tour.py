"""The summary at the end of the tour in the terminal."""

from __future__ import annotations

from app.context import Context, ExitCode
from app.terminal import tour
from app.terminal.run import Ended
from experiments.engine import messages

FINDING = messages.FindingSent(message="nothing_to_compare", values={}, limits=[])


def test_what_disturbed_a_result_is_told_beside_it_at_the_end(tmp_path, monkeypatch, capsys):
    def measure(_context, experiment, *_args, **_options):
        return Ended(
            ExitCode.DONE, FINDING, ("Others were busy.",) if experiment.id == "stream" else ()
        )

    monkeypatch.setattr(tour, "measure", measure)
    monkeypatch.setattr(tour, "sentence", lambda _words, experiment, _finding: experiment.id)

    assert tour.run(Context(data=tmp_path)) is ExitCode.DONE
    told = capsys.readouterr().out.split("What was found")[1]
    assert "stream Others were busy." in told
    assert told.count("Others were busy.") == 1
