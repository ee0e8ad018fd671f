from __future__ import annotations

from machine.system import moment


def test_an_answer_is_remembered_for_a_second_and_no_longer(monkeypatch):
    asked = []
    ask = moment.for_a_moment(lambda name: asked.append(name) or len(asked))
    monkeypatch.setattr(moment.time, "monotonic", lambda: 5.1)

    assert [ask("a"), ask("a"), ask("b")] == [1, 1, 2]

    monkeypatch.setattr(moment.time, "monotonic", lambda: 6.1)
    assert ask("a") == 3
