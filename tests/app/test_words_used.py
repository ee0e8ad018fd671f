"""Every text has a use in the code, and every text that the code names exists."""

from __future__ import annotations

import ast
import functools
import re
import typing
from collections.abc import Iterator
from pathlib import Path

from app.checkup.compare import Refusal
from app.lecture.lecture_state import Hint
from app.lecture.lecture_state import Step as LectureStep
from app.runs.comparison import Verdict
from experiments.checkup.result import Kind, Word
from experiments.checkup.rules import Source, Stage, rules
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need, Part, Use
from experiments.core.laws.code import is_declared
from experiments.core.shelves import LESSON, PROBES, SHELVES, homes
from experiments.core.teaching.glossary import Glossary
from experiments.engine.messages import Outcome
from experiments.presentation.guesses.questions import questions
from experiments.presentation.guesses.quick_round import Mark as GuessMark
from experiments.presentation.guesses.quick_round import Source as GuessSource
from experiments.presentation.paths import paths
from machine.parts import KINDS, facts_of
from machine.processor.counters import EVENTS, KNOWN_REFUSALS
from tests import ROOT
from tests.tools.plain_words import texts, words_files
from widgets.live.page import EXPLAINED
from widgets.map.layout.boxes import Kind as BoxKind

# Every text may name these.
ALWAYS = {"program", "add_torch", "add_numba", "add_qt"}
ENGLISH = words.load("en")
HOMES = homes((*SHELVES, PROBES))
TEMPLATE = (ROOT / "resources" / "templates" / "report.html.j2").read_text("utf-8")
EXPERIMENTS = {experiment.id: experiment for experiment in Catalogue((*SHELVES, PROBES))}

CHECKUP_NAMES = {*Stage, *Word, *Source, *typing.get_args(Refusal), *typing.get_args(Kind)}

# Sentences whose values come from elsewhere than the line that names them.
GIVEN = {
    "problems.machine_busy": {"experiment", "since"},  # what the holder of the lock says
    "problems.points_machine_busy": {"experiment", "since"},
    "notes.waiting_for_machine": {"experiment", "since"},
    "notes.waiting_for_stopped": {"experiment", "since", "stopped"},
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Yield each module, after the id of its experiment and a dot, or "" for all others."""
    owners = {home.folder: f"{name}." for name, home in HOMES.items()}
    for room in ("app", "widgets", "experiments", "machine"):
        for path in sorted((ROOT / room).rglob("*.py")):
            yield owners.get(path.parent, ""), ast.parse(path.read_text(encoding="utf-8"))


Said = tuple[str, set[str] | None]  # a key, and the names of its values; None where not plain


@functools.cache  # not when this file is imported, which every process of pytest does
def read_source() -> tuple[set[str], list[Said]]:
    """Return all texts of the source, and the keys that it says."""
    texts: set[str] = set()
    found: list[Said] = []
    for owner, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.Call):
                found += said(owner, node)
    return texts, found


def constants() -> set[str]:
    return read_source()[0]


def is_said(key: str) -> bool:
    section, _, name = key.partition(".")
    match section:
        case "systems":
            return name in {"windows", "macos"}
        case "without":
            return name in {*Use, "sentence", "or"}
        case "shelves":
            return name in {shelf.rpartition(".")[2].replace("_", "-") for shelf in SHELVES}
        case "parts":
            return name in set(Part)
        case "verdicts":
            return name in typing.get_args(Verdict)
        case "outcomes":
            return name in set(Outcome) or name in constants() or key in constants()
        case "problems":
            return name in constants() or name in {f"needs_{need}" for need in Need}
        case "notes" if name.startswith("no_counters_"):
            return name.removeprefix("no_counters_") in KNOWN_REFUSALS
        case "notes" | "because" | "stands" | "badges" | "preflight":
            known = {name, key, name.removesuffix("_why"), name.removeprefix("disturbed.")}
            return bool(known & constants())
        case "collage" | "worksheet" | "shared" if name.startswith("sheet."):
            last = name.rpartition(".")[2]
            return (
                bool({f".{last}", last.removesuffix("_help")} & constants()) or key in constants()
            )
        case "paths":
            return name.removesuffix("_about") in paths()
        case "found_by":
            return name in {*Part, *Need}
        case "glossary":
            return name in used_terms()
        case "doctor":
            return key in constants() or name.rpartition(".")[2] in constants()
        case "checkup" if name.startswith("rules."):
            rule, part, *reason = name.removeprefix("rules.").split(".")
            ids = {each.id for each in rules().rule}
            of_rule = part in ("title", "usually", "next") and not reason
            return rule in ids and (of_rule or reason[-1] in constants())
        case "checkup":
            last = name.rpartition(".")[2]
            return key in constants() or last in {*constants(), *CHECKUP_NAMES, *EXPERIMENTS}
        case "checkup_page":
            last = name.rpartition(".")[2]
            known = {last, last.removesuffix("_help"), last.removesuffix("_one")}
            is_told = bool(known & (constants() | CHECKUP_NAMES)) or is_put_together(last)
            return key in constants() or is_told
        case "part_facts" if "." in name:
            facts = {fact for kind in KINDS for fact in facts_of(kind)}
            return name.rpartition(".")[2] in {*KINDS, *facts}
        case "part_facts":
            return bool({key, name} & constants())
        case "places":
            return key.removesuffix("_found_by") in constants()
        case "lecture" | "playlist" | "handout" if "." in name or key not in constants():
            last = name.rpartition(".")[2]
            parts = {last, f".{last}", last.removeprefix("next_"), last.removesuffix("_help")}
            return bool(parts & {*constants(), *Hint, *LectureStep}) or is_put_together(last)
        case "guess" if "." in name:
            question, _, part = name.partition(".")
            return question in {each.id for each in questions()} and f".{part}" in constants()
        case "guess":
            said = {*constants(), *GuessMark, *GuessSource}
            return name in said or key.removesuffix("_found_by") in constants()
        case "report":
            part = name.removeprefix("include_").removesuffix("_help")
            is_told = bool({key, part, f".{name}"} & constants()) or f'"{key}"' in TEMPLATE
            return is_told or is_put_together(name)
        case "map" if name.startswith("about_"):
            kind = name.removeprefix("about_")
            return kind in {*BoxKind, *Part, "instructions", "c2c"} or key in constants()
        case "live" if name.endswith(("_head", "_text")):
            return key in constants() or name.rpartition("_")[0] in EXPLAINED
        case "live" if name.endswith(("_is", "_from")):  # of a tile
            tile = name.rpartition("_")[0]
            return bool({tile, tile.removeprefix("gpu_")} & constants())
        case "counted":
            return name in EVENTS or key in constants()
        case "shared":
            return any(is_said_of_experiment(each, name) for each in EXPERIMENTS.values())
        case _ if section in EXPERIMENTS:
            return is_said_of_experiment(EXPERIMENTS[section], name)
        case _:
            return key in constants()


@functools.cache
def used_terms() -> set[str]:
    """Return the terms of the glossary that a text or a lesson uses."""
    glossary = Glossary(ENGLISH)
    told = [ENGLISH.text(key) for key in ENGLISH.keys("") if not key.startswith("glossary.")]
    told += [path.read_text("utf-8") for path in (ROOT / "experiments").rglob("lesson.*.toml")]
    return {found.term for text in told for found in glossary.find(text)}


def is_said_of_experiment(experiment, name: str) -> bool:
    section, _, key = name.partition(".")
    if (is_known := is_declared(experiment, name)) is not None:
        return is_known
    match section:
        case "choices":
            # Also by those who work for it, and with a number behind: "dynamic_16".
            told = {key, key.rstrip("0123456789").rstrip("_")}
            is_told = key in source_of(experiment) or key.isdigit() or bool(told & constants())
            return is_told or is_put_together(key)
        case "notes" | "problems":
            return key in constants()
        case _:
            return True  # tests/experiments/test_every_experiment.py looks closer


def is_put_together(key: str) -> bool:
    """Is it said as f"roof_{precision}", or as "_" between two words?"""
    parts = [(key[:at], key[at + 1 :]) for at, mark in enumerate(key) if mark == "_"]
    return any(
        {one, f"{one}_"} & constants() and {other, f"_{other}"} & constants()
        for one, other in parts
    )


def source_of(experiment) -> str:
    folder = HOMES[experiment.id].folder
    return "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))


def test_no_word_is_left_over():
    assert [key for key in ENGLISH.keys("") if not is_said(key)] == []


def test_no_experiment_repeats_what_is_said_for_all():
    assert [
        key
        for name in EXPERIMENTS
        for key in ENGLISH.keys(f"{name}.")
        if ENGLISH.text(key) == ENGLISH.text(f"shared.{key.removeprefix(f'{name}.')}")
    ] == []


def test_no_section_says_a_text_twice():
    """A text of several keys is written once, `"a, b" = "..."`."""
    assert [
        f"{path.parent.name}: {place}"
        for path in words_files()
        if path.name != LESSON
        for place in said_twice(path)
    ] == []


def said_twice(path: Path) -> Iterator[str]:
    """Yield the places of texts of three words or more that stand in their section already."""
    seen: set[tuple[str, str]] = set()
    for place, text in texts(path):
        section = place.partition(" ")[2].rpartition(".")[0]  # after file and line
        said_there = (section, text)
        if said_there in seen and len(text.split()) >= 3:
            yield place
        seen.add(said_there)


def test_no_two_words_say_the_same_in_one_section():
    seen: dict[tuple[str, str], str] = {}
    for key in ENGLISH.keys("problems."):
        text = ENGLISH.say(key)
        assert ("problems", text) not in seen, key
        seen["problems", text] = key


# --- what is said has words ---------------------------------------------------------------------


def said(owner: str, call: ast.Call) -> Iterator[Said]:
    """Yield each key that a call says; the trees themselves would slow down every collection."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "UserError":
        key = first(call.args, arguments, "key")
        yield from named(f"{owner}problems", key, set(arguments) - {"detail", "key", None})
    elif name == "_invented":
        key = call.args[1] if len(call.args) > 1 else arguments.get("key")
        yield from named(f"{owner}problems", key, set(arguments) - {"key"})
    elif name in ("Problem", "ProblemSent", "Note"):
        key = first(call.args, arguments, "key")
        values = call.args[1] if len(call.args) > 1 else arguments.get("values")
        section = "notes" if name == "Note" else "problems"
        yield from named(owner + section, key, literal(values))
    elif name == "say" and call.args:
        values = call.args[1] if len(call.args) > 1 else None
        yield from named("", call.args[0], literal(values))


def first(arguments, keywords, name):
    return arguments[0] if arguments else keywords.get(name)


def named(section, key, values):
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        yield (f"{section}.{key.value}" if section else key.value), values


def literal(values) -> set[str] | None:
    if values is None:
        return set()
    if isinstance(values, ast.Dict):
        return {str(key.value) for key in values.keys if isinstance(key, ast.Constant)}
    return None


def test_what_is_said_has_words_and_its_words_know_their_values():
    _, found = read_source()
    assert len(found) > 60
    assert ("problems.parameter_unknown", {"name", "known"}) in found
    assert ("gil-threads.notes.no_subinterpreters", {"python"}) in found
    wrong = []
    for key, values in found:
        given = GIVEN.get(key, values)
        known = None if given is None else given | ALWAYS
        if not ENGLISH.has(key) or (known is not None and not asked_by(key) <= known):
            wrong.append(key)

    assert wrong == []


def asked_by(key):
    return {*words.asked(text_of(key))}


def text_of(key: str) -> str:
    return ENGLISH.text(key)


# --- how it is said -----------------------------------------------------------------------------


def test_a_problem_is_a_sentence_or_two_on_one_line():
    blunt = re.compile(r"\b(error|invalid|illegal|fatal|oops)\b", re.IGNORECASE)

    def is_right(text):
        begins = text[0].isupper() or text[0] in "{'"
        # The reason is a sentence of its own.
        ends = text.endswith((".", "?", "{reason}"))
        on_one_line = "\n" not in text and "  " not in text
        return begins and ends and on_one_line and not blunt.search(re.sub(r"\{\w+\}", "", text))

    assert [key for key in ENGLISH.keys("problems.") if not is_right(text_of(key))] == []
