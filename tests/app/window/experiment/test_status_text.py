from __future__ import annotations

from app.window.experiment.status_text import State, during
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from experiments.engine.run_state import RunState


def test_a_gpu_whose_libraries_load_gives_a_sign_of_life():
    said = words.load("en")
    run_state = RunState(Catalogue().load("roofline"))
    before = during(said, State.RUNNING, run_state, "")
    run_state.add(messages.Note(key="loading_gpu_libraries"))
    loading = during(said, State.RUNNING, run_state, "")

    assert loading.detail == said.say("notes.loading_gpu_libraries") != before.detail
