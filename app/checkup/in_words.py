"""A checkup in words: what terminal, window and reports say of each row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from app.checkup.compare import Compared, RowPair, known
from app.checkup.gather import Gathered, Odd
from experiments.checkup.judge import BY_SEVERITY
from experiments.checkup.result import Expected, Result, Row, Word
from experiments.core.judging.statistics import spread
from experiments.core.units import digits, show
from experiments.core.words import VALUE_LETTERS, Words
from machine.convert import convert
from machine.live.surroundings import Surroundings
from machine.text import plain

if TYPE_CHECKING:
    from experiments.checkup.checks.order import Answer
    from experiments.checkup.run_checkup import Began

MARKS = {
    Word.FINE: "✓",
    Word.LOOK: "▲",
    Word.PROBLEM: "✗",
    Word.UNCHECKED: "?",
    Word.ABSENT: "–",
}
BUSY = 0.05  # of the machine, used by others
_BEFORE_COMMANDS = re.compile(r"(?<=\.) [^.]*:$")  # "Install it:", which the doctor ends with
_GPU = re.compile(r"gpu(\d+)(?:\.(\w+))?")


class RowText(NamedTuple):
    """A row in words; what does not apply is empty."""

    stage: str
    word: str
    title: str
    found: str
    expected: str
    sure: str
    meaning: str  # what it usually means
    advice: str  # what to do next
    rule: str


def row_text(words: Words, row: Row) -> RowText:
    """Return a row in words."""
    said = _Said(words, row)
    titles = f"rules.{row.rule}.titles.{row.reason}", f"rules.{row.rule}.title"
    is_open = row.word is not Word.FINE
    found = RowText(
        stage=words.say(f"checkup.stages.{row.stage}"),
        word=words.say(f"checkup.words.{row.word}"),
        title=said.line or said.first(*titles) or row.rule,
        found=said.first(
            f"rules.{row.rule}.found.{row.reason}",
            f"rules.{row.rule}.found.measured" if row.samples else "",
            f"reasons.{row.reason}",
        )
        or row.reason,
        expected=_expected(said, words, row),
        sure=_sure(words, row),
        meaning=said.about("meaning", "usually") if is_open else "",
        advice=said.about("advice", "next") if is_open else "",
        rule=words.say("checkup.rule", {"rule": row.rule, "number": str(row.version)}),
    )
    return RowText(*(plain(text, VALUE_LETTERS) for text in found))  # of a stranger's file


class _Said:
    """The texts of one row, with its values."""

    def __init__(self, words: Words, row: Row) -> None:
        self._words, self._row = words, row
        told = {name: listed(value) for name, value in row.values.items()}
        self._values: dict[str, Any] = {**told, "part": part_name(words, row.part)}
        for name in ("a", "b"):  # the ends of a pair
            if name in row.values:
                self._values[name] = part_name(words, str(row.values[name]))
        if "from" in row.values:
            self._values["from"] = words.say(f"checkup.sources.{row.values['from']}")
        key = row.values.get("key")
        if key is not None:  # of the doctor
            said = words.say(f"doctor.{key}", row.values)
            self._values["sentence"] = _BEFORE_COMMANDS.sub("", said)

    @property
    def line(self) -> str:
        """The line of the order that the row is about, "" for none."""
        return str(self._row.values.get("line", ""))

    def first(self, *keys: str) -> str:
        """Return the text of the first key that there is, "" for none."""
        for key in keys:
            if self._words.has(f"checkup.{key}"):
                return self._words.say(f"checkup.{key}", self._values)
        return ""

    def about(self, general: str, of_rule: str) -> str:
        """Return what a row means, or what to do: of its reason, else of its rule."""
        row = self._row
        said = self.first(
            f"rules.{row.rule}.{general}.{row.reason}",
            f"{general}.{row.reason}",
            f"rules.{row.rule}.{of_rule}",
        )
        problem = row.values.get("problem")
        if general == "meaning" and problem is not None:
            return f"{said} {self._words.say(f'problems.{problem}', row.values)}"
        return said


def listed(value: object) -> object:
    """Return a list as a text, anything else as it is."""
    return " · ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _expected(said: _Said, words: Words, row: Row) -> str:
    """Return what was expected: of several expectations that which decided."""
    judged = deciding(row)
    if judged is None:
        told = said.first(f"rules.{row.rule}.expected.{row.reason}")
        return told or (words.say("checkup.expected.none") if row.samples else "")
    values = {"ok_fraction": judged.ok, "value": show(judged.value or 0.0, judged.unit or row.unit)}
    own = (f"checkup.rules.{row.rule}.expected.{name}" for name in (row.reason, judged.source))
    key = next(filter(words.has, own), f"checkup.expected.{judged.source}")
    return words.say(key, values)


def deciding(row: Row) -> Expected | None:
    """Return the expectation with the worst word; of equals the surest."""
    judged = [each for each in row.expected if each.word in BY_SEVERITY]
    return max(judged, key=lambda each: BY_SEVERITY.index(each.word), default=None)


def _sure(words: Words, row: Row) -> str:
    """Return how sure a row is: its samples, and its interval against each expectation."""
    of = spread(row.samples)
    if of is None:
        return words.say("checkup.sure.fact") if row.word in BY_SEVERITY else ""
    values = {
        "count": of.count,
        "runs": row.runs,
        "low": show(of.low, row.unit),
        "high": show(of.high, row.unit),
    }
    parts = [words.say("checkup.sure.samples", values)]
    for each in row.expected:
        if each.low is not None and each.high is not None:
            held = {
                "source": words.say(f"checkup.sources.{each.source}"),
                "low_fraction": each.low,
                "high_fraction": each.high,
                "ok_fraction": each.ok,
                "floor_fraction": each.floor,
            }
            parts.append(words.say("checkup.sure.share", held))
    if row.disturbance is not None:
        cause = words.say(f"checkup.reasons.{row.disturbance}", row.values)
        parts.append(words.say("checkup.sure.disturbed", {"cause": cause}))
    return " ".join(parts)


def doing(words: Words, event: Began) -> str:
    """Return what a checkup is doing."""
    key = f"checkup.measures.{event.experiment}"
    title = words.say(key) if words.has(key) else event.experiment
    device = f", {event.device}" if event.device not in ("", "cpu") else ""
    return words.say(f"checkup.doing.{event.doing}", {"title": title + device})


def part_name(words: Words, part: str) -> str:
    """Return the name of a part: "gpu0.fp16" is GPU 0, fp16."""
    gpu = _GPU.fullmatch(part)
    if gpu is not None:
        key = "gpu" if gpu[2] is None else "gpu_precision"
        return words.say(f"checkup.parts.{key}", {"number": gpu[1], "precision": gpu[2]})
    key = f"checkup.parts.{part or 'whole'}"
    return words.say(key) if words.has(key) else part


def summary(words: Words, rows: Iterable[Row]) -> str:
    """Return the sentence of counts: 19 fine, 2 to look at, ..."""
    counts = dict.fromkeys(Word, 0)
    for row in rows:
        counts[row.word] += 1
    values: Mapping[str, int] = {str(word): count for word, count in counts.items()}
    return words.say("checkup.summary", values)


def absent(words: Words, rows: Iterable[Row]) -> str:
    """Return how many rows are about what is not here, "" for none."""
    count = sum(row.word is Word.ABSENT for row in rows)
    return words.say("checkup.absent", {"absent": count}) if count else ""


def facts(words: Words, result: Result) -> Iterator[str]:
    """Yield what a checkup says of itself: when, how long, rules, baseline."""
    yield words.say(f"checkup.kinds.{result.kind}")
    yield day(result.at)
    yield words.say("checkup.took", {"duration": result.seconds})
    yield words.say("checkup.rules_version", {"number": str(result.rules_version)})


def day(at: str) -> str:
    """Return the local date and time of an ISO-8601 time, or what was there instead."""
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return plain(at)


class PairText(NamedTuple):
    """A row of two checkups in words."""

    title: str
    before: str
    now: str
    ratio: str  # now over before with its interval, or why there is none


def pair_text(words: Words, pair: RowPair) -> PairText:
    """Return a row of two checkups in words."""
    texts = [row_text(words, row) if row else None for row in (pair.before, pair.now)]
    before, now = (f"{text.found} ({text.word})" if text else "" for text in texts)
    ratio = words.say(f"checkup.compared.{pair.refusal}") if pair.refusal else ""
    if pair.ratio is not None:
        found = pair.ratio
        values = {
            "ratio": digits(found.ratio),
            "low": digits(found.low),
            "high": digits(found.high),
        }
        ratio = words.say("checkup.compared.ratio", values)
    return PairText(row_text(words, pair.row).title, before, now, ratio)


def compared_lines(words: Words, compared: Compared) -> Iterator[str]:
    """Yield the sentences beside the rows: since when, what changed with it, what is left out."""
    before = compared.before
    if before.machine.get("fingerprint") != compared.now.machine.get("fingerprint"):
        name = before.name or known(before).get("processor", "")
        yield words.say("checkup.compared.other_machine", {"name": name})
    elif not compared.changed:
        yield words.say("checkup.compared.nothing", {"date": day(before.at)})
    else:
        yield words.say("checkup.compared.title", {"date": day(before.at)})
    if compared.changes:
        facts = [
            words.say(
                "checkup.compared.fact",
                {
                    "name": words.say(f"checkup.facts.{each.key}"),
                    "before": each.before or "–",
                    "now": each.now or "–",
                },
            )
            for each in compared.changes
        ]
        yield words.say("checkup.compared.changed_with_it", {"facts": ", ".join(facts)})
    if compared.refused:
        names = ", ".join(
            f"{pair_text(words, pair).title} ({words.say(f'checkup.compared.{pair.refusal}')})"
            for pair in compared.refused
        )
        yield words.say("checkup.compared.refused", {"names": names})


def odd_text(words: Words, odd: Odd) -> str:
    """Return in which row a machine is clearly below its equals."""
    values = {
        "name": odd.name,
        "title": row_text(words, odd.row).title,
        "ratio_fraction": odd.ratio,
        "low_fraction": odd.low,
        "high_fraction": odd.high,
    }
    return words.say("checkup.gathered.odd", values)


def slower_text(words: Words, odd: Odd) -> str:
    """Return the same beside the machine itself, in few words."""
    return words.say("checkup.gathered.slower", {"title": row_text(words, odd.row).title})


def gathered_title(words: Words, gathered: Gathered) -> str:
    """Return how many machines of how many kinds were gathered."""
    machines, kinds = len(gathered.nodes), gathered.kinds
    key = "one" if machines == 1 else "one_kind" if kinds == 1 else "kinds"
    return words.say(f"checkup.gathered.{key}", {"machines": machines, "kinds": kinds})


def answer_text(words: Words, answer: Answer) -> tuple[str, str, str]:
    """Return the answer to a line of the order in a word, the line, and what was found."""
    said = words.say(f"checkup.answers.{answer.kind}")
    return said, plain(answer.line), plain(answer.found, VALUE_LETTERS)


def preconditions(
    words: Words, surroundings: Surroundings | Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield what may disturb or limit a checkup, each in one line with what to do.

    `surroundings` may be those of a kept result.
    """
    around = _known(surroundings)
    if around is None:
        return
    if around.on_battery:
        yield words.say("checkup_page.gates.on_battery")
    if around.power_saver:
        names = ", ".join(around.power_saver_by)
        yield words.say("checkup_page.gates.power_saver", {"names": names})
    if (around.busy_fraction or 0.0) > BUSY:
        values = {"busy_fraction": around.busy_fraction}
        yield words.say("checkup_page.gates.busy", values)
    for gpu in around.gpus:
        if gpu.compute_processes:
            yield words.say("checkup_page.gates.gpu_shared", {"number": gpu.index})
    if _is(around.virtualization):
        yield words.say("checkup_page.gates.virtual")
    elif _is(around.container):
        yield words.say("checkup_page.gates.container")
    if around.quota_cpus is not None:
        yield words.say("checkup_page.gates.quota", {"quota": f"{around.quota_cpus:g}"})
    if around.memory_limit_bytes is not None:
        values = {"limit_bytes": around.memory_limit_bytes}
        yield words.say("checkup_page.gates.memory_limit", values)


def _is(kind: str | None) -> bool:
    return kind not in (None, "", "none")


def _known(surroundings: Surroundings | Mapping[str, Any] | None) -> Surroundings | None:
    if surroundings is None or isinstance(surroundings, Surroundings):
        return surroundings
    try:
        return convert(surroundings, Surroundings) if surroundings else None
    except msgspec.ValidationError:
        return None  # of another version
