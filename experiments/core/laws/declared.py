"""Laws of a declaration: numbers to read first, a next step, and runs that fit."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any

from experiments.core.declare import Experiment, Next, specs
from experiments.core.parameters import from_json, from_text, to_json, to_text
from experiments.core.problems import Problem, UserError
from experiments.core.rules import lacking_words
from experiments.core.words import Words
from machine.model import Machine

MOST_KEYS = 3
MOST_S = {"full": 30.0, "quick": 5.0}  # of a run
MEMORY_SHARE = 0.5  # of what is free
SLACK_BYTES = 2**22  # more or less may be free a moment later
OFTEN = 9  # followed so often, what comes next has nothing left to change


def keys(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield what is wrong with the numbers that are to be read first."""
    if not 0 < len(experiment.keys) <= MOST_KEYS:
        yield Problem("own_keys", {"count": len(experiment.keys), "most": MOST_KEYS})
    values = [value.name for value in experiment.values]
    views = [view.key for view in experiment.views]
    for key in experiment.keys:
        names: object = key.names
        if isinstance(names, str):  # ("calling") is a text, and ("calling",) a tuple
            what = f"names of the key {key.value}"
            wrong = {"what": what, "wanted": "a tuple of texts", "found": "str"}
            yield Problem("own_wrong_type", wrong)
            continue
        if not key.names and not key.at:
            yield Problem("own_key_unmarked", {"value": key.value})
        for what, name, declared in (
            ("value", key.value, values),
            ("value", key.at, values),
            ("view", key.view, views),
        ):
            if name and name not in declared:
                known = ", ".join(declared)
                told = {"where": "keys", "what": what, "name": name, "known": known}
                yield Problem("own_unknown", told)
        lacking = [f"choices.{name}" for name in key.names if needs_words(name)]
        yield from lacking_words(experiment, words, lacking)


def needs_words(name: str) -> bool:
    """Is the name of a mark made for code? Numbers, versions and names such as NV4 are not."""
    return name.isidentifier() and not name.isupper()


def what_is_next(
    experiment: Experiment[Any], words: Words, machine: Machine, known: Collection[str]
) -> Iterator[Problem]:
    """Yield what is wrong with what to do after a run; `known` are the ids of all experiments."""
    following = experiment.next
    if following is None:
        yield Problem("own_no_next")
        return
    if following.experiment not in {*known} - {experiment.id}:
        yield Problem("own_next_unknown", {"id": following.experiment})
    if following.setting:
        yield from lacking_words(experiment, words, ["next.setting"])
        yield from _next_setting(experiment, following, words, machine)


def _next_setting(
    experiment: Experiment[Any], following: Next, words: Words, machine: Machine
) -> Iterator[Problem]:
    """Yield that the settings to change cannot be, change nothing, or change for ever."""
    params = to_json(experiment.params_for(machine, quick=False))
    changed = {**params, **following.changes(params)}
    if changed == params:
        yield Problem("own_next_changes_nothing")
        return
    with _refused("next", words) as problems:
        from_json(experiment.params, changed)
        for _ in range(OFTEN):
            changed |= following.changes(changed)
        from_json(experiment.params, changed)
    yield from problems
    if following.changes(changed):
        yield Problem("own_next_endless")


def runs(
    experiment: Experiment[Any], words: Words, machine: Machine, free_bytes: int
) -> Iterator[Problem]:
    """Yield what is wrong with the parameters of a full and of a quick run on a machine."""
    params = {kind: experiment.params_for(machine, quick=kind == "quick") for kind in MOST_S}
    took_s = {kind: experiment.seconds(each) for kind, each in params.items()}
    for kind, most_s in MOST_S.items():
        if not 0 < took_s[kind] <= most_s:
            yield Problem(
                "own_too_long_run", {"kind": kind, "takes_s": took_s[kind], "most_s": most_s}
            )
        needed_bytes = experiment.memory_bytes(params[kind])
        if not 0 <= needed_bytes <= free_bytes * MEMORY_SHARE + SLACK_BYTES:
            told = {"kind": kind, "needed_bytes": needed_bytes, "free_bytes": free_bytes}
            yield Problem("own_too_large_run", told)
        with _refused("defaults", words) as problems:
            _type_and_send(experiment, params[kind], machine)
        yield from problems
    if not took_s["quick"] < took_s["full"]:
        yield Problem("own_quick_is_full", {"quick_s": took_s["quick"]})


def _type_and_send(experiment: Experiment[Any], params: Any, machine: Machine) -> None:
    """Type each parameter as it is shown, and send it. Raises UserError where that cannot be."""
    known = specs(experiment.params)
    from_text(
        params, {n: to_text(getattr(params, n), spec.unit) for n, spec in known.items()}, machine
    )
    from_json(experiment.params, to_json(params), machine)


@contextlib.contextmanager
def _refused(where: str, words: Words) -> Iterator[list[Problem]]:
    """Give a list, and put into it the sentence of a UserError."""
    problems: list[Problem] = []
    try:
        yield problems
    except UserError as error:
        reason = words.say(f"problems.{error.problem.key}", error.problem.values)
        problems.append(Problem("own_cannot_be_set", {"where": where, "reason": reason}))
