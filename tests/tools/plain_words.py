"""Names texts that are not plain, and counts the words of the program.

`python -m tests.tools.plain_words [FILE...]` names place, rule and text of each hit. It ends with 1
if there is any, or if the program's texts have more than `MOST_WORDS` words. It reads the texts of
the program and of its experiments and lessons, and the pages (README and others). It also reads
whole docstrings. `make lint` runs it over all of them.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests import ROOT

MOST_WORDS = 66_000  # of the program's texts
MOST_FINDING, MOST_SENTENCE = 40, 20  # words of a finding; of any sentence, values counted as one
NOT_SAID = {
    "a statement begins with a question word": (
        r"(?:^|[.!?:] )(?:Which|Whether|What|How|Where)\b[^?]*?\.(?: |$)"
    ),
    "tell": r"(?<!annot )\b[Tt]ell(?:s|ing)?\b|\b[Tt]old\b",
    "nobody, somebody": r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|[Aa]nybody)\b",
    "a pronoun without a noun": r"\b(?:the|that) one\b|\bso many\b|\bas much as that\b",
    "an idiom of another language": (
        r"\bstays? so\b|\blook after\b|\bturns? of the loop\b|\bdear(?:er|est)?\b|\bmiddle one\b"
    ),
    "two colons": r":\s[^.?!]*:\s",
    "one of many": r"(?<![\d.])1 (?:cores|workers|threads|jobs|processes)\b",
    "a multiple below 1": r"(?<![\d.])0\.\d+×",
}
CODE = r"```[\s\S]*?```|`[^`\n]*`"
TAG = r"|<[^>\n]+>"
# Ends at an empty line, the next item of a list, or the edge of a table's cell.
PARAGRAPH = r"[^\s|-][^|]*?(?=\n\s*\n|\n *(?:[-*]|\d+\.) |\||\Z)"
NO_TEXT = ("code", "right", "when", "view", "reached", "kind", "to", "answer", "sources")
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
ROOMS = ("app", "widgets", "experiments", "machine", "tests")


def words_files() -> list[Path]:
    """Return every file of words that the program shows."""
    names = ("words.en.toml", "lesson.en.toml")
    found = [path for name in names for path in (ROOT / "experiments").rglob(name)]
    return sorted([*(ROOT / "resources" / "text" / "en").glob("*.toml"), *found])


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every text of a file with its place, as file:line; code and sources are none."""
    name, source = path.relative_to(ROOT), path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        at = 0
        for key, text in _values(tomllib.loads(source), path.parent.name):
            begin = re.split(r'[\n"\\]', text.lstrip(), maxsplit=1)[0]
            at = max(source.find(begin, at + 1), 0)
            yield f"{name}:{source.count(chr(10), 0, at) + 1} {key}", " ".join(text.split())
    elif path.suffix == ".md":
        for before, text in _paragraphs(source, CODE + TAG):
            yield f"{name}:{1 + before}", text
    else:
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, kinds) and (said := ast.get_docstring(node)):
                for before, text in _paragraphs(said, CODE):
                    yield f"{name}:{node.body[0].lineno + before}", text


def _paragraphs(text: str, code: str) -> Iterator[tuple[int, str]]:
    """Yield the number of lines before each paragraph, and its text; code is an x."""
    kept = re.sub(code, lambda each: "x" + "\n" * each[0].count("\n"), text)
    for part in re.finditer(PARAGRAPH, kept):
        yield kept.count("\n", 0, part.start()), " ".join(part[0].split())


def _values(tree: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield path, tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key not in NO_TEXT:
                yield from _values(value, f"{path}.{key}")
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from _values(value, f"{path}.{place}")


def broken(place: str, text: str) -> Iterator[str]:
    """Yield the rules that a text breaks."""
    yield from (rule for rule, wrong in NOT_SAID.items() if re.search(wrong, text))
    filled = re.sub(r"\{[^{}]*\}", "x", text)
    if ".finding" in place and len(filled.split()) > MOST_FINDING:
        yield f"a finding of more than {MOST_FINDING} words"
    if any(len(each.split()) > MOST_SENTENCE for each in re.split(r"(?<=[.?!:;])\s", filled)):
        yield f"a sentence of more than {MOST_SENTENCE} words"


def found(paths: Sequence[Path]) -> Iterator[str]:
    """Yield place, rule and text of each hit in these files."""
    for path in paths:
        for place, text in texts(path):
            yield from (f"{place}: {rule}: {text[:160]}" for rule in broken(place, text))


def main(arguments: Sequence[str]) -> int:
    """Name what breaks a rule; return 1 if there is any, or too many words."""
    words = words_files()
    code = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    asked = [Path(each).resolve() for each in arguments]
    hits = list(found(asked or [*words, *(ROOT / name for name in PAGES), *code]))
    sys.stdout.writelines(f"{each}\n" for each in hits)
    count = sum(len(text.split()) for path in words for _, text in texts(path))
    said = f"{len(hits)} hits; the program's texts have {count} words, at most {MOST_WORDS}.\n"
    sys.stdout.write(said)
    return 1 if hits or count > MOST_WORDS else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
