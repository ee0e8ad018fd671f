"""Laws of an experiment's words: short verdicts, their causes, whole sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.core.declare import Experiment
from experiments.core.problems import Problem
from experiments.core.words import Words, asked

MOST_VERDICT_WORDS, MOST_CAUSE_WORDS = 12, 20
CAUSE = "Because "
OF_FINDINGS = ("findings", "because", "limits", "in_short")  # these speak of values
SENTENCES = ("findings", "because", "limits", "about")
OF_RUNS = ("notes", "problems")  # of whatever is known when they are said
ALWAYS = frozenset({"program"})  # what any text may name
# In the key of a finding that nobody can tell: it has no cause.
UNTOLD = frozenset({"cannot", "few", "nobody", "nothing", "unclear"})
IN_PART = "in_part"


def broken(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield what is wrong with the words of an experiment."""
    yield from placeholders(experiment, words)
    yield from verdicts(experiment, words)
    yield from sentences(experiment, words)


def placeholders(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield each text that asks for something that is no declared value."""
    declared = [value.name for value in experiment.values]
    for section, name in _keys(experiment, words):
        if section in OF_RUNS:
            continue
        known = declared if section in OF_FINDINGS else []
        for wanted in asked(words.text(f"{experiment.id}.{name}")):
            if wanted not in ALWAYS and wanted not in known:
                values = {"key": name, "name": wanted, "known": ", ".join(known) or "-"}
                yield Problem("own_placeholder", values)


def verdicts(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield findings that are long, and those whose cause is missing, long or left over.

    A finding of "cannot tell" needs no cause.
    """
    text = {name: words.text(f"{experiment.id}.{name}") for _, name in _keys(experiment, words)}
    findings = {name.partition(".")[2] for name in text if name.startswith("findings.")}
    causes = {name.partition(".")[2] for name in text if name.startswith("because.")}
    for key in sorted(findings - causes):
        if not is_untold(key):
            yield Problem("own_no_cause", {"finding": key})
    if causes - findings:
        keys = ", ".join(f"because.{key}" for key in sorted(causes - findings))
        yield Problem("own_words_left_over", {"keys": keys})
    for name in sorted(text):
        section = name.partition(".")[0]
        if section == "findings":
            yield from _too_long(name, text[name], MOST_VERDICT_WORDS)
        elif section == "because":
            if not text[name].startswith(CAUSE):
                yield Problem("own_no_because", {"key": name})
            for sentence in text[name].split(". "):
                yield from _too_long(name, sentence, MOST_CAUSE_WORDS)


def is_untold(finding: str) -> bool:
    """Does the key of a finding say that it is unclear, or that too little was measured?"""
    return bool(UNTOLD & {*finding.split("_")}) or IN_PART in finding


def sentences(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield findings, causes, limits and descriptions of values that are no whole sentences."""
    for section, name in _keys(experiment, words):
        text = words.text(f"{experiment.id}.{name}")
        is_small = section == "about" and text[:1].islower()
        if section in SENTENCES and (is_small or not text.endswith(".")):
            yield Problem("own_no_sentence", {"key": name})


def _keys(experiment: Experiment[Any], words: Words) -> Iterator[tuple[str, str]]:
    """Yield (section, name) of each text of the experiment's own."""
    start = f"{experiment.id}."
    for key in words.keys(start):
        name = key.removeprefix(start)
        yield name.partition(".")[0], name


def _too_long(key: str, text: str, most: int) -> Iterator[Problem]:
    if (count := len(text.split())) > most:
        yield Problem("own_too_long", {"key": key, "count": count, "most": most})
